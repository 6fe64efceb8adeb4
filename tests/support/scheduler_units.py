"""The unit scenarios: pure functions of the scheduler, one checker a function."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.records import keys, reasons, sla
from scheduler_core import scheduling
from scheduler_core.model import facts as f
from scheduler_core.model import policy, resources, snapshot, status
from scheduler_core.model.amounts import Amounts
from scheduler_core.model.jobs import Queue
from scheduler_core.model.refusal import Refusal, Report
from scheduler_core.model.resources import Axis
from scheduler_core.model.tasks import LastPlace
from scheduler_core.model.why import Why
from scheduler_core.plugins import capacity, gang, proportion
from scheduler_core.plugins import sla as sla_plugin
from scheduler_core.session import arguments, combine, phases, placing, texts
from scheduler_core.session.accounts import Account
from scheduler_core.session.plugin import Plugin
from tests.support.scheduler_scenarios import only


def check(scenario):
    """Runs one unit scenario: `cases` with one result each, or `input` with `expect`."""
    run = CHECKS[scenario["fn"]]
    if "cases" in scenario:
        only("expect", scenario["expect"])
        for case in scenario["cases"]:
            run(case, case)
    else:
        run(scenario["input"], only("expect", scenario["expect"], "result", "tolerance", "error"))


# --- durations ------------------------------------------------------------------------------------------------------------


def parse_duration(given, expect):
    only("case", given, "input", "resultNs", "error", "name")
    if expect.get("error"):
        with pytest.raises(ValueError):
            sla.parse_duration_ns(given["input"])
    else:
        assert sla.parse_duration_ns(given["input"]) == expect["resultNs"]


GIVEN = ("input", "arg", "argument", "args", "arguments", "value", sla_plugin.ARGUMENT)


def sla_global_waiting_time(given, expect):
    """The argument stands under its own name, alone or among the plugin's arguments."""
    only("case", given, *GIVEN, "result", "resultNs", "error", "name")
    value = next(given[key] for key in GIVEN if key in given)
    if isinstance(value, dict):
        value = value.get(sla_plugin.ARGUMENT)
    expected = expect.get("resultNs", expect.get("result"))
    if isinstance(expected, str):
        expected = sla.parse_duration_ns(expected)
    assert sla_plugin.default_waiting_ns(value) == expected


# --- aggregation ----------------------------------------------------------------------------------------------------------

VOTES = {"Permit": combine.PERMIT, "Abstain": combine.ABSTAIN, "Reject": combine.reject(Why(""))}


def saying(tiers, asked=None):
    """Tiers of functions that answer so, each counted when it is asked."""

    def says(answer):
        def ask(*_):
            if asked is not None:
                asked.append(answer)
            return answer

        return ask

    return [[says(answer) for answer in tier] for tier in tiers]


def votes(tiers):
    return [[VOTES[vote] for vote in tier] for tier in tiers]


def aggregate_votes(given, expect):
    only("case", given, "tiers", "result", "name")
    assert combine.vote(saying(votes(given["tiers"])), "a job").passed is expect["result"]


def aggregate_votes_trace(given, expect):
    only("case", given, "tiers", "result", "name")
    expected = only("result", expect["result"], "result", "asked")
    asked = []
    assert combine.vote(saying(votes(given["tiers"]), asked), "a job").passed is expected["result"]
    assert len(asked) == expected["asked"]


def given_tiers(given):
    """The answers of those who are asked, by tier."""
    only("case", given, "tiers", "result", "name")
    return [[each for each in tier if each is not None] for tier in given["tiers"]]


def simple(rule):
    def run(given, expect):
        assert rule(saying(given_tiers(given))) == expect["result"]

    return run


def asking(point, tiers):
    """A session whose plugins answer so at one point, and its queue and job, of which there is one each."""
    known = {
        f"{level}-{at}": type("Says", (Plugin,), {point: lambda *_, answer=answer: answer})
        for level, tier in enumerate(tiers)
        for at, answer in enumerate(tier)
    }
    flags = frozenset(each for each, on in policy.FLAGS.items() if on)
    chosen = tuple(
        tuple(policy.PluginChoice(f"{level}-{at}", flags) for at in range(len(tier)))
        for level, tier in enumerate(tiers)
    )
    facts = f.ClusterFacts(
        queues=(f.QueueFacts(name="q"),), groups=(f.GroupFacts(namespace="ns", name="g", queue="q"),)
    )
    session = scheduling.open_session(facts, policy.Policy("p", (), chosen), 0, known)
    return session, session.queues["q"], session.jobs["ns/g"]


def aggregate_all(given, expect):
    session, _, job = asking("job_ready", given_tiers(given))
    assert session.ready(job) is expect["result"]


def aggregate_any(given, expect):
    tiers = [[Why(reasons.QUOTA) if each else None for each in tier] for tier in given_tiers(given)]
    session, queue, _ = asking("overused", tiers)
    assert (session.overused(queue) is not None) is expect["result"]


def aggregate_valid(given, expect):
    only("case", given, "tiers", "result", "name")
    answers = [
        [None if each is None or only("valid", each, "pass", "reason", "message")["pass"] else each for each in tier]
        for tier in given["tiers"]
    ]
    session, _, job = asking("job_valid", answers)
    first = session.invalid(job)
    expected = expect["result"]
    if isinstance(expected, dict):
        assert first is not None and first["reason"] == expected["reason"]
    else:
        assert (first and first["reason"]) == expected


def aggregate_victims(given, expect):
    only("input", given, "candidates", "tiers", "name", "result")
    tiers = []
    for tier in given["tiers"]:
        for each in tier:
            only("plugin", each, "vote", "victims")
        tiers.append([None if each["vote"].lower() == "abstain" else each.get("victims", []) for each in tier])
    assert combine.victims(saying(tiers), None, given["candidates"]) == expect["result"]


# --- gangs and phases -----------------------------------------------------------------------------------------------------


def job_of(given, namespace="ns"):
    """A job with these tasks in these states, and the snapshot it is in."""
    pods = tuple(
        f.PodFacts(
            uid=each["name"], namespace=namespace, name=each["name"], group=f"{namespace}/job",
            containers=(f.ContainerFacts({} if each.get("bestEffort") else {"cpu": 1}),),
            labels={keys.VOLCANO_ROLE: each["role"]} if each.get("role") else {},
        )
        for each in given["tasks"]
    )  # fmt: skip
    group = f.GroupFacts(
        namespace=namespace, name="job", queue="q", min_member=given["minMember"], phase=given.get("currentPhase", ""),
        min_task_member=given.get("minTaskMember", {}),
    )  # fmt: skip
    places = dict.fromkeys(each.get("node") for each in given["tasks"] if each.get("node"))
    for each in given["tasks"]:
        places |= dict.fromkeys(each.get("fitErrors", {}))
        if each.get("lastTransaction"):
            places[each["lastTransaction"]["node"]] = None
    nodes = tuple(f.NodeFacts(name=name, allocatable={"cpu": 1}) for name in places)
    built = snapshot.build(f.ClusterFacts(nodes=nodes, queues=(f.QueueFacts(name="q"),), groups=(group,), pods=pods))
    job = built.jobs[f"{namespace}/job"]
    for each in given["tasks"]:
        task = job.tasks[each["name"]]
        task.row = built.nodes.rows.get(each.get("node") or "", -1)
        job.move(task, status.named(each["status"]))
    return job, built


TASK = ("name", "status", "node", "bestEffort", "role", "lastTransaction", "fitErrors")


def with_tasks(*keys):
    def wrap(run):
        def checked(given, expect):
            only("input", given, "minMember", "minTaskMember", "tasks", "name", "result", *keys)
            for task in given["tasks"]:
                only("task", task, *TASK)
            run(given, expect)

        return checked

    return wrap


@with_tasks("currentPhase", "unschedulableInThisSession")
def pod_group_phase(given, expect):
    job, _ = job_of(given)
    assert phases.phase(job, unschedulable=given.get("unschedulableInThisSession", False)) == expect["result"]


@with_tasks()
def gang_counts(given, expect):
    job, _ = job_of(given)
    found = {
        "pendingBestEffort": job.pending_best_effort,
        "ready": gang.is_ready(job),
        "pipelined": gang.is_pipelined(job),
        "starving": gang.is_starving(job),
        "readyTasks": job.ready,
        "waiting": job.waiting,
        "valid": job.count(*status.VALID),
    }
    assert {key: found[key] for key in expect["result"]} == expect["result"]


@with_tasks()
def gang_skips(given, expect):
    """Sessions write no conditions, so the rule stands here; what it counts are theirs.

    An unready gang gets none if its tasks are only leaving and it would still have its minimum with them.
    """
    job, _ = job_of(given)
    comes = job.by_status[status.PENDING] or job.by_status[status.PIPELINED]
    skips = phases.leaving(job) > 0 and not comes and phases.scheduled(job) >= job.min_member
    assert skips is expect["result"]


# --- quotas ---------------------------------------------------------------------------------------------------------------


def amount(axis, values):
    """An amount in plain numbers, or in quantities."""
    found = axis.empty()
    for name, value in (values or {}).items():
        if isinstance(value, str):
            found.add(Amounts(axis).read({name: value}))
        else:
            found.set(axis.index[name], value)
    return found


def axis_of(*lists):
    return Axis({name for each in lists for name in each or ()})


def proportion_deserved(given, expect):
    only("input", given, "total", "queues", "name", "result")
    queues = given["queues"]
    for queue in queues:
        only("queue", queue, "name", "weight", "request", "guarantee", "capability")
    axis = axis_of(
        given["total"], *(queue.get(key) for queue in queues for key in ("request", "guarantee", "capability"))
    )
    total = amount(axis, given["total"])
    guaranteed = axis.empty()
    found = []
    for queue in queues:
        made = Queue(queue["name"], weight=queue["weight"])
        made.guarantee = amount(axis, queue.get("guarantee"))
        made.capability = amount(axis, queue["capability"]) if queue.get("capability") else None
        guaranteed.add(made.guarantee)
        found.append(Account(made, axis))
        found[-1].request = amount(axis, queue["request"])
    for account in found:
        account.real_capability = proportion.real_capability(account, total, guaranteed)
    proportion.deserve(found, total)
    for account in found:
        expected = expect["result"][account.queue.name]
        values = {name: account.deserved.values[axis.index[name]] for name in expected}
        assert values == pytest.approx(expected, abs=expect.get("tolerance", 1e-9))


def proportion_overused(given, expect):
    only("case", given, "deserved", "allocated", "share", "overused", "name")
    axis = axis_of(given["deserved"], given["allocated"])
    account = Account(Queue("q"), axis)
    account.deserved, account.allocated = amount(axis, given["deserved"]), amount(axis, given["allocated"])
    account.settle_deserved()
    assert proportion.share_of(account) == pytest.approx(expect["share"])
    assert proportion.is_overused(account.deserved, account.allocated) is expect["overused"]


def capacity_queue_share(given, expect):
    only("case", given, "name", "deserved", "allocated", "request", "result")
    axis = axis_of(given["deserved"], given["allocated"])
    found = capacity.share_of(amount(axis, given["deserved"]), amount(axis, given["allocated"]))
    assert found == pytest.approx(expect["result"])


def share(given, expect):
    only("case", given, "allocated", "total", "deserved", "l", "r", "result", "name")
    used, of = (given[key] for key in given if key not in ("result", "name"))
    assert resources.share(used, of) == pytest.approx(expect["result"])


def binpack_weights(given, expect):
    expected = only("result", expect["result"], "weight", "resources")
    assert arguments.weight(given, "binpack.weight") == expected["weight"]
    assert arguments.resource_weights(given, "binpack") == expected["resources"]


# --- messages and candidates ------------------------------------------------------------------------------------------------


def fit_errors_message(given, expect):
    """Nodes with their reasons, as a mapping or a list; a text instead of the number of nodes if there is one."""
    only("input", given, "nodes", "fitErrors", "nodeErrors", "message", "error", "text", "hyperNode", "name", "result")
    nodes = next((given[key] for key in ("nodes", "fitErrors", "nodeErrors") if key in given), {})
    listed = list(nodes.values() if isinstance(nodes, dict) else nodes)
    reasons = [
        each["reasons"] if isinstance(each, dict) else [each] if isinstance(each, str) else each for each in listed
    ]
    custom = next((given[key] for key in ("message", "error", "text") if key in given), "")
    assert texts.fit_errors(reasons, custom, given.get("hyperNode", "")) == expect["result"]


@with_tasks("namespace")
def task_scheduling_reasons(given, expect):
    job, built = job_of(given, given["namespace"])
    errors = {}
    for each in given["tasks"]:
        last = each.get("lastTransaction")
        if last is not None:
            only("lastTransaction", last, "status", "node", "evictionOccurred")
            row = built.nodes.rows[last["node"]]
            job.tasks[each["name"]].last = LastPlace(
                status.named(last["status"]), row, last.get("evictionOccurred", False)
            )
        if "fitErrors" in each:
            errors[each["name"]] = texts.fit_errors(each["fitErrors"].values())
    words = texts.Words(job, built.nodes.names, errors)
    for name, text in expect["result"].items():
        if name == "podGroup":
            assert words.group() == text
        else:
            assert words.task(job.tasks[name]).message == text


def preemption_candidate_nodes(given, expect):
    """Rows that were refused unresolvably are left out, task by task."""
    only("input", given, "nodes", "fitErrors", "name", "result")
    for name, nodes in expect["result"].items():
        errors = given["fitErrors"].get(name, {})
        left = [node for node in given["nodes"] if errors.get(node) != "UnschedulableAndUnresolvable"]
        assert candidates(given["nodes"], name, errors) == nodes == left


def candidates(nodes, name, errors):
    """What `placing.candidates` leaves of equal nodes for a task that allocate was refused so."""
    namespace, _, pod = name.partition("/")
    facts = f.ClusterFacts(
        nodes=tuple(f.NodeFacts(name=each, allocatable={"cpu": 1, "pods": 1}) for each in nodes),
        queues=(f.QueueFacts(name="q"),),
        groups=(f.GroupFacts(namespace=namespace, name="g", queue="q"),),
        pods=(f.PodFacts(uid="u", namespace=namespace, name=pod, group=f"{namespace}/g"),),
    )
    session = scheduling.open_session(facts, policy.Policy("p", (), ()), 0, {})
    task = session.snapshot.tasks["u"]
    never = np.array([errors.get(each) == "UnschedulableAndUnresolvable" for each in session.nodes.names])
    report = Report((), len(nodes), len(nodes), (), Why(""), never)
    task.job.refusals["u"] = Refusal(task, Why(""), report)
    return [session.nodes.names[row] for row in placing.candidates(session, task).tolist()]


CHECKS = {
    "parseDuration": parse_duration,
    "slaGlobalWaitingTime": sla_global_waiting_time,
    "aggregateVotes": aggregate_votes,
    "aggregateVotesTrace": aggregate_votes_trace,
    "aggregateAll": aggregate_all,
    "aggregateAny": aggregate_any,
    "aggregateStarving": simple(combine.first_tier_true),
    "aggregateCompare": simple(combine.compare),
    "aggregateValid": aggregate_valid,
    "aggregateVictims": aggregate_victims,
    "podGroupPhase": pod_group_phase,
    "gangCounts": gang_counts,
    "gangSkipUnschedulableCondition": gang_skips,
    "binpackWeights": binpack_weights,
    "capacityQueueShare": capacity_queue_share,
    "proportionDeserved": proportion_deserved,
    "proportionOverused": proportion_overused,
    "share": share,
    "fitErrorsMessage": fit_errors_message,
    "taskSchedulingReasons": task_scheduling_reasons,
    "preemptionCandidateNodes": preemption_candidate_nodes,
}
