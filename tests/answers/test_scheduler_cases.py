"""Clusters, policies and the decisions that must follow: every scenario of every file, in many orders of its input.

A scenario is run as it is written, and then 24 times with nodes, queues, groups, pods, classes and domains shuffled; the
decisions must be the same. Scenarios of kind `unit` have no cluster: they ask one function, whose arguments have an order.
"""

import json
import os
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pipeline.records import reasons
from scheduler_core import actions, plugins, scheduling
from scheduler_core.actions import backfill
from scheduler_core.model import status
from scheduler_core.model.why import Why
from scheduler_core.session import combine, orders, placing
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.statement import Statement
from tests.support import scheduler_scenarios as read
from tests.support import scheduler_units as units
from tests.support.scheduler_scenarios import only

FOLDER = Path(os.environ.get("KC_CASES") or Path(__file__).parent.parent / "cases") / "scheduler"
KEYS = ("id", "topic", "kind", "profile", "source", "title", "group", "notes", "now", "cluster", "config", "expect")


class TestRejecter(Plugin):
    """The stub of the scenarios: rejects one group, abstains on the others."""

    __test__ = False
    name = "test-rejecter"

    def job_enqueueable(self, job):
        if job.name == self.arguments["rejectJob"] or job.uid == self.arguments["rejectJob"]:
            return combine.reject(Why(reasons.QUOTA, plugin=self.name))
        return combine.ABSTAIN


ORDERS = 25
"""Of each scenario, the one of its file among them."""

KNOWN = {**plugins.ALL, TestRejecter.name: TestRejecter}


def cases():
    if not FOLDER.is_dir():
        return []
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        file = only(path.name, json.loads(path.read_text(encoding="utf-8")), "schemaVersion", "topic", "scenarios")
        assert file["schemaVersion"] == 1
        found += file["scenarios"]
    return found


def now_of(scenario):
    return read.nanoseconds(scenario["now"]) if "now" in scenario else 0


def uid(name):
    """The uid of `namespace/name`."""
    return name.replace("/", "-", 1)


def task_of(session, name):
    return session.snapshot.tasks[uid(name)]


def row_of(session, node):
    return session.nodes.rows[node]


# --- sessions ---------------------------------------------------------------------------------------------------------------


def test_scenarios_are_there():
    assert cases() or not FOLDER.is_dir()


def test_every_kind_is_run_and_only_what_has_no_cluster_is_run_in_one_order():
    assert {scenario["kind"] for scenario in cases()} <= {*KINDS, *WITHOUT_CLUSTER}
    assert all(("cluster" in scenario) == (scenario["kind"] in KINDS) for scenario in cases())


@pytest.mark.skipif(not cases(), reason=f"no scenarios of the scheduler: {FOLDER} is missing")
@pytest.mark.parametrize("scenario", cases(), ids=lambda scenario: scenario["id"])
def test_scenario(scenario):
    if scenario["kind"] in WITHOUT_CLUSTER:
        WITHOUT_CLUSTER[scenario["kind"]](scenario)
    else:
        KINDS[scenario["kind"]](scenario, None)


@pytest.mark.skipif(not cases(), reason=f"no scenarios of the scheduler: {FOLDER} is missing")
@pytest.mark.parametrize(
    "scenario", [each for each in cases() if "cluster" in each], ids=lambda scenario: scenario["id"]
)
def test_scenario_in_other_orders(scenario):
    for seed in range(1, ORDERS):
        try:
            KINDS[scenario["kind"]](scenario, random.Random(seed))
        except AssertionError as error:
            error.add_note(f"in the order drawn with seed {seed}")
            raise


def run_session(scenario, order):
    only(scenario["id"], scenario, *KEYS)
    session = scheduling.run(
        read.cluster(scenario["cluster"], order), read.policy(scenario["config"]), now_of(scenario), KNOWN
    )
    check_session(session, scenario["expect"])


def check_session(session, expect):
    only("expect", expect, "binds", "bindCount", "bindCountsByTier1HyperNodeSorted", "evictions", "pipelined",
         "taskStatusCounts", "podGroupPhases")  # fmt: skip
    binds = {task.key: node for task, node in session.binds.values()}
    if "binds" in expect:
        assert binds == expect["binds"]
    if "bindCount" in expect:
        assert len(binds) == expect["bindCount"]
    if "bindCountsByTier1HyperNodeSorted" in expect:
        assert binds_by_leaf(session) == expect["bindCountsByTier1HyperNodeSorted"]
    if "evictions" in expect:
        assert Counter(each.task.key for each in session.evictions) == Counter(expect["evictions"])
    for name, nodes in expect.get("pipelined", {}).items():
        promised = session.jobs[name].by_status[status.PIPELINED].values()
        assert promised
        assert {session.nodes.names[task.row] for task in promised} <= set(nodes)
    for name, counts in expect.get("taskStatusCounts", {}).items():
        job = session.jobs[name]
        assert {key: job.count(status.named(key)) for key in counts} == counts
    for name, phase in expect.get("podGroupPhases", {}).items():
        job = session.jobs.get(name)
        found = (
            job.phase
            if job
            else next(g.phase for g, _ in session.snapshot.outside if f"{g.namespace}/{g.name}" == name)
        )
        assert found == phase


def binds_by_leaf(session):
    tier_1 = [domain for domain in session.domains.by_name.values() if domain.tier == 1]
    rows = [session.nodes.rows[node] for _, node in session.binds.values()]
    return sorted(count for domain in tier_1 if (count := sum(bool(domain.nodes[row]) for row in rows)))


def run_multi_session(scenario, order):
    only(scenario["id"], scenario, *KEYS, "steps")
    scenario = json.loads(json.dumps(scenario))  # pods are changed as they are bound
    cluster = scenario["cluster"]
    for step in scenario["steps"]:
        only("step", step, "actions", "add", "remove", "expect", "enqueueConfigured", "now")
        change(cluster, step)
        policy = read.policy(scenario["config"], step["actions"])
        session = scheduling.open_session(read.cluster(cluster, order), policy, now_of({**scenario, **step}), KNOWN)
        session.enqueues = step.get("enqueueConfigured", session.enqueues)
        for name in step["actions"]:
            actions.ALL[name](session)
        scheduling.finish(session)
        check_session(session, step["expect"])
        carry_over(cluster, session)


def change(cluster, step):
    for kind in ("podGroups", "pods"):
        gone = only("remove", step.get("remove", {}), "podGroups", "pods").get(kind, ())
        cluster[kind] = [each for each in cluster[kind] if f"{each['namespace']}/{each['name']}" not in gone]
        cluster[kind] += only("add", step.get("add", {}), "podGroups", "pods").get(kind, ())


def carry_over(cluster, session):
    evicted = {each.task.key for each in session.evictions}
    for pod in cluster["pods"]:
        name = f"{pod['namespace']}/{pod['name']}"
        bind = session.binds.get(uid(name))
        if bind is not None:
            pod |= {"node": bind[1], "binding": True}
        if name in evicted:
            pod["deletionTimestamp"] = "2024-01-01T00:00:00Z"


# --- queries ----------------------------------------------------------------------------------------------------------------


def run_query(scenario, order):
    only(scenario["id"], scenario, *KEYS, "setup")
    expect = only("expect", scenario["expect"], "queries", "nodeScores", "tolerance")
    session = scheduling.open_session(
        read.cluster(scenario["cluster"], order), read.policy(scenario["config"]), now_of(scenario), KNOWN
    )
    statement = Statement(session)
    for name, node in pipelines(only("setup", scenario.get("setup", {}), "pipeline")):
        statement.pipeline(task_of(session, name), row_of(session, node), evicted=False)
    for query in expect.get("queries", ()):
        QUERIES[query["fn"]](session, query)
    for name, scores in expect.get("nodeScores", {}).items():
        rows = np.array([row_of(session, node) for node in scores])
        found = placing.totals(session, task_of(session, name), rows)
        assert dict(zip(scores, found.tolist(), strict=True)) == pytest.approx(scores, abs=expect["tolerance"])


def pipelines(setup):
    listed = setup.get("pipeline", ())
    if isinstance(listed, dict):
        return list(listed.items())
    return [
        tuple(each) if isinstance(each, list) else (only("pipeline", each, "pod", "node")["pod"], each["node"])
        for each in listed
    ]


def asked(*keys):
    def wrap(function):
        def ask(session, query):
            only(query["fn"], query, "fn", *keys)
            function(session, query)

        return ask

    return wrap


VOTES = {combine.PERMITS: "Permit", combine.ABSTAINS: "Abstain", combine.REJECTS: "Reject"}
POINTS = {"jobEnqueueable": "job_enqueueable", "jobPipelined": "job_pipelined"}


@asked("plugin", "point", "job", "vote")
def plugin_vote(session, query):
    plugin = session.plugin(query["plugin"])
    vote = getattr(plugin, POINTS[query["point"]])(session.jobs[query["job"]])
    assert VOTES[vote.value] == query["vote"]


@asked("l", "r", "less")
def job_order(session, query):
    left, right = session.jobs[query["l"]], session.jobs[query["r"]]
    assert (session.orders.job(left) < session.orders.job(right)) is query["less"]


@asked("l", "r", "result")
def job_order_compare(session, query):
    left, right = session.jobs[query["l"]], session.jobs[query["r"]]
    assert orders.compare_keys(session.orders.job_keys(left), session.orders.job_keys(right)) == query["result"]


@asked("result")
def job_order_list(session, query):
    assert [job.uid for job in sorted(session.jobs.values(), key=session.orders.job)] == query["result"]


@asked("l", "r", "result")
def task_order_less(session, query):
    found = session.orders.compare_tasks(task_of(session, query["l"]), task_of(session, query["r"]))
    assert (found < 0) is query["result"]


@asked("group", "result")
def task_order_list(session, query):
    tasks = session.orders.sorted_tasks(session.jobs[query["group"]].tasks.values())
    assert [task.key for task in tasks] == query["result"]


@asked("job", "result")
def job_enqueueable(session, query):
    assert session.enqueueable(session.jobs[query["job"]]).passed is query["result"]


@asked("job")
def job_enqueued(session, query):
    phase = session.jobs[query["job"]].phase
    session.enqueue(session.jobs[query["job"]])
    session.jobs[query["job"]].phase = phase


@asked("job", "result")
def job_valid(session, query):
    why = session.invalid(session.jobs[query["job"]])
    if query["result"] is None:
        assert why is None
        return
    expected = only("result", query["result"], "pass", "reason", "message")
    assert expected["pass"] is (why is None)
    reason, _, message = why.message.partition(": ")
    assert reason == expected["reason"]
    assert message == expected.get("message", message)


def victims(session, query, ask, others):
    candidates = [task_of(session, name) for name in query["candidates"]]
    task = task_of(
        session, query.get(others) or query["candidates"][0]
    )  # where nobody is named, it is for nobody's sake
    found = ask(task, session.orders.lowest_first(candidates))
    assert sorted(each.key for each in found) == sorted(query["result"])


@asked("preemptor", "candidates", "result")
def preemptable(session, query):
    victims(session, query, session.preemptable, "preemptor")


@asked("preemptor", "reclaimer", "candidates", "result")
def reclaimable(session, query):
    victims(session, query, session.reclaimable, "reclaimer" if "reclaimer" in query else "preemptor")


@asked("pod", "node", "result")
def predicate(session, query):
    expected = only("result", query["result"], "pass", "reason", "code", "plugin")
    code = placing.code_at(session, task_of(session, query["pod"]), row_of(session, query["node"])) & 0xFFFFFFFF
    failed = session.judges.codes.as_volcano(code)
    assert expected["pass"] is (not failed)
    if failed:
        assert expected.get("reason", failed[-1].text) == failed[-1].text
        assert expected.get("code", failed[-1].code) == failed[-1].code
        assert expected.get("plugin", failed[-1].name) == failed[-1].name


@asked("job", "result", "tolerance")
def drf_share(session, query):
    assert session.plugin("drf").shares[query["job"]] == pytest.approx(query["result"], abs=1e-9)


@asked("result")
def backfill_order(session, query):
    assert [task.key for task in backfill.order(session)] == query["result"]


QUERIES = {
    "PluginVote": plugin_vote,
    "JobOrder": job_order,
    "JobOrderCompare": job_order_compare,
    "JobOrderList": job_order_list,
    "TaskOrderLess": task_order_less,
    "TaskOrderList": task_order_list,
    "JobEnqueueable": job_enqueueable,
    "JobEnqueued": job_enqueued,
    "JobValid": job_valid,
    "Preemptable": preemptable,
    "Reclaimable": reclaimable,
    "Predicate": predicate,
    "DrfShare": drf_share,
    "BackfillOrder": backfill_order,
}


# --- statements -------------------------------------------------------------------------------------------------------------


def run_statement(scenario, order):
    only(scenario["id"], scenario, *KEYS, "steps")
    assert not scenario["expect"]
    session = scheduling.open_session(
        read.cluster(scenario["cluster"], order), read.policy(scenario["config"]), now_of(scenario), KNOWN
    )
    statement = Statement(session)
    for step in scenario["steps"]:
        only("step", step, "op", "pod", "node", "expect", "reason")
        task = task_of(session, step["pod"]) if "pod" in step else None
        row = row_of(session, step["node"]) if "node" in step else None
        OPERATIONS[step["op"]](statement, task, row)
        check_statement(session, step["expect"])


OPERATIONS = {
    "allocate": lambda statement, task, row: statement.allocate(task, row),
    "pipeline": lambda statement, task, row: statement.pipeline(task, row, evicted=False),
    "evict": lambda statement, task, row: statement.evict(task, "preempt"),
    "discard": lambda statement, task, row: statement.discard(),
    "commit": lambda statement, task, row: statement.commit(),
}


def check_statement(session, expect):
    only("expect", expect, "node", "status", "binds", "evictions", "lastTransaction")
    for name, amounts in expect.get("node", {}).items():
        row = session.nodes.row(row_of(session, name))
        found = {
            "idleCpu": row.idle[0],
            "usedCpu": row.alloc[0] - row.idle[0],
            "releasingCpu": row.releasing[0],
            "pipelinedCpu": row.pipelined[0],
            "futureIdleCpu": row.free(0),
        }
        assert {key: found[key] / 1000 for key in amounts} == amounts
    for name, state in expect.get("status", {}).items():
        assert status.NAMES[task_of(session, name).status] == state
    if "binds" in expect:
        assert {task.key: node for task, node in session.binds.values()} == expect["binds"]
    if "evictions" in expect:
        assert Counter(each.task.key for each in session.evictions) == Counter(expect["evictions"])
    for name, last in expect.get("lastTransaction", {}).items():
        found = task_of(session, name).last
        if last is None:
            assert found is None
            continue
        only("lastTransaction", last, "status", "node", "evictionOccurred")
        assert status.NAMES[found.status] == last["status"]
        assert session.nodes.names[found.row] == last["node"]
        assert found.evicted == last.get("evictionOccurred", found.evicted)


def run_unit(scenario):
    only(scenario["id"], scenario, *KEYS, "fn", "input", "cases")
    units.check(scenario)


KINDS = {
    "session": run_session,
    "multi-session": run_multi_session,
    "query": run_query,
    "statement": run_statement,
}
WITHOUT_CLUSTER = {"unit": run_unit}
