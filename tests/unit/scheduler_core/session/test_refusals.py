"""Why a task got no node, against a second opinion that shares no code with the scheduler."""

import random
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import pytest

from pipeline.records import matching, reasons
from pipeline.records.shapes.pod import (
    Affinity,
    LabelExpression,
    LabelSelector,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    Toleration,
)
from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model import facts as f
from scheduler_core.model import status
from scheduler_core.model.policy import PluginChoice
from scheduler_core.model.refusal import Refusal
from scheduler_core.session import placing, texts
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session
from tests.support import scheduler_brute as brute
from tests.support import scheduler_worlds as worlds


class Witness(Plugin):
    """Notes where every pod is, and what it had noted when a task was about to be tried."""

    name = "witness"

    def open(self, session):
        self.nodes = session.nodes.names
        self.places = {}
        self.tried = {}

    def before_filter(self, task):
        self.tried[task.uid] = dict(self.places)

    def allocated(self, task):
        how = brute.PROMISED if task.status == status.PIPELINED else brute.HOLDS
        self.places[task.uid] = (self.nodes[task.row], how)

    def deallocated(self, task):
        self.places.pop(task.uid)


KNOWN = {**plugins.ALL, Witness.name: Witness}
WITNESSED = msgspec.structs.replace(
    worlds.DEFAULT, actions=("enqueue", "allocate", "backfill"),
    tiers=(*worlds.DEFAULT.tiers, (PluginChoice(Witness.name, worlds.ON, {}),)),
)  # fmt: skip


class Told(NamedTuple):
    """A task that nodes refused, and the second opinion of the same moment."""

    session: Session
    refusal: Refusal
    failures: Mapping[str, frozenset[brute.Failed]]
    alone: Mapping[brute.Failed, brute.Alone]


def cluster(seed):
    """Every second one with ports, rules about other pods and spread."""
    return worlds.world(random.Random(seed), nodes=8, jobs=14, relations=seed % 2 == 1)


def refused(facts):
    """Every task that nodes refused. One of a role of which another was refused is not tried: it has the other's report."""
    session = scheduling.run(facts, WITNESSED, 10**10, KNOWN)
    second = brute.Brute(facts)
    opening, tried = second.at_opening(), session.plugin("witness").tried
    reports = [each for job in session.jobs.values() for each in job.refusals.values() if each.report is not None]
    for refusal in reports:
        uid = refusal.task.uid
        if uid not in tried:
            assert any(each.task.role == refusal.task.role and each.report is refusal.report for each in reports
                       if each.task.uid in tried)  # fmt: skip
            continue
        places = opening | tried[uid]
        yield Told(session, refusal, second.failures(uid, places), second.alone(uid, places))


def sets_of(session, report):
    """A report as nodes by the names of the checks they fail."""
    found = Counter()
    for code, nodes in report.counts:
        found[tuple(sorted(check.name for check in session.judges.codes.failed(code)))] += nodes
    return found


def blockers_are(told):
    """Whether the sole blockers are the second opinion's: names, nodes, what is missing least, and where."""
    names = told.session.nodes.names
    found = Counter(
        (each.check.name, each.check.reason, each.nodes, each.short) for each in told.refusal.report.blockers
    )
    wanted = Counter((name, reason, each.nodes, each.short) for (name, reason, _), each in told.alone.items())
    near = {name: [a.nearest for (which, _, _), a in told.alone.items() if which == name] for name, _, _ in told.alone}
    return found == wanted and all(
        any(names[each.row] in nearest for nearest in near[each.check.name]) for each in told.refusal.report.blockers
    )


@pytest.mark.parametrize("hundred", range(10))
def test_of_a_thousand_clusters_every_refusal_counts_what_a_second_opinion_counts(hundred):
    seen = Counter()
    for seed in range(100 * hundred, 100 * hundred + 100):
        for told in refused(cluster(seed)):
            uid = told.refusal.task.uid
            assert sets_of(told.session, told.refusal.report) == brute.by_sets(told.failures), (seed, uid)
            assert blockers_are(told), (seed, uid)
            seen.update(name for failed in told.failures.values() for name, _, _ in failed)
            seen.update(f"alone {name}" for name, _, _ in told.alone)
    assert set(seen) >= {*KINDS, *(f"alone {kind}" for kind in KINDS[:9])}


KINDS = (
    "NodeResourcesFit/cpu", "NodeResourcesFit/memory", f"NodeResourcesFit/{worlds.GPU}", "NodeAffinity",
    "TaintToleration", "NodeUnschedulable", "NodeNotReady", "NodePodNumber", "InterPodAffinity", "NodePorts",
    f"NodeResourcesFit/{worlds.CARD}", "NodeResourcesFit/pods", "PodTopologySpread",
)  # fmt: skip


@pytest.mark.parametrize("hundred", range(3))
def test_records_say_the_same_counts_by_set_by_reason_and_by_resource(hundred):
    told_of = 0
    for seed in range(100 * hundred, 100 * hundred + 100):
        opinions = {each.refusal.task.key: each for each in refused(cluster(seed))}
        session = next(iter(opinions.values())).session if opinions else None
        for record in decisions.of_session(session, "simulate") if session else ():
            if record.kind != "attribution" or record.task not in opinions or record.total_nodes is None:
                continue
            failures = opinions[record.task].failures
            assert {each.filters: each.nodes for each in record.failure_sets if each.filters}, seed
            sets = Counter()
            for each in record.failure_sets:
                sets[tuple(sorted(each.filters))] += each.nodes
            assert sets == brute.by_sets(failures)
            assert record.total_nodes == len(failures)
            short = brute.by_resource(failures) if record.resource else brute.by_reason(failures)
            assert record.nodes == short[record.resource or record.reason], (seed, record.task)
            assert bool(record.helps)
            told_of += 1
    assert told_of > 100


@pytest.mark.parametrize("hundred", range(3))
def test_who_only_looks_on_changes_no_decision(hundred):
    """A witness keeps the core from placing equal tasks in one step; without it the same must come out."""
    plain = msgspec.structs.replace(WITNESSED, tiers=worlds.DEFAULT.tiers)
    for seed in range(100 * hundred, 100 * hundred + 100):
        facts = cluster(seed)
        one, other = (scheduling.run(facts, policy, 10**10, KNOWN) for policy in (WITNESSED, plain))
        assert decisions.of_session(one, "simulate") == decisions.of_session(other, "simulate"), seed


CORDON = matching.UNSCHEDULABLE_TAINT


@pytest.mark.parametrize(("node", "reason", "checks", "help_"), [
    ({"unschedulable": True, "taints": (CORDON,)}, "node_unschedulable", ("NodeUnschedulable",), "was not cordoned"),
    ({"ready": False, "taints": worlds.LOST}, "node_not_ready", ("NodeNotReady",), "was ready"),
    ({"unschedulable": True, "taints": (CORDON, ("k", "", "NoSchedule"))}, "untolerated_taint",
     ("NodeUnschedulable", "TaintToleration"), "no single change makes it fit"),
    ({"taints": (CORDON,)}, "untolerated_taint", ("TaintToleration",), "had no taint"),
])  # fmt: skip
def test_a_cordon_or_a_lost_node_counts_once_though_controllers_repeat_it_as_a_taint(node, reason, checks, help_):
    nodes = (f.NodeFacts(name="n", allocatable={"cpu": 4, "pods": 9}, **node),)
    nodes += (f.NodeFacts(name="other", allocatable={"cpu": 4, "pods": 9}, labels={"far": "away"}, unschedulable=True),)
    found = record_of(*nodes, affinity=NOT_FAR)
    mine = next(each.filters for each in found.failure_sets if "NodeAffinity" not in each.filters)
    assert (found.reason, mine) == (reason, checks)
    assert any(help_ in each for each in found.helps)


def test_with_the_check_of_cordons_off_their_taint_keeps_pods_away():
    node = f.NodeFacts(name="n", allocatable={"cpu": 4, "pods": 9}, unschedulable=True, taints=(CORDON,))
    off = worlds.policy(
        ("gang", "predicates"), actions=("allocate",), predicates={"predicate.NodeUnschedulableEnable": "false"}
    )
    found = record_of(node, policy=off)
    assert [each.filters for each in found.failure_sets] == [("TaintToleration",)]


def test_a_node_that_is_full_of_pods_is_one_change_away():
    full = f.NodeFacts(name="n", allocatable={"cpu": 4, "pods": 1})
    found = record_of(full, running=[holder("n", {"cpu": 1})])
    assert found.helps == ("it would fit on node n if the node could hold one more pod",)


def test_an_amount_that_would_help_is_rounded_up():
    node = f.NodeFacts(name="n", allocatable={"memory": 2**30, "pods": 9})
    found = record_of(node, request={"memory": 3 * 2**30 + 1})
    assert found.helps[0].startswith("it would fit on node n if it asked for 2.001Gi memory less")


NOT_FAR = Affinity(NodeAffinity(NodeSelector([NodeSelectorTerm([LabelExpression("far", "DoesNotExist")])])))


def record_of(
    *nodes, policy=worlds.policy(("gang", "predicates"), actions=("allocate",)), running=(), request=None, **pod
):
    """What is told of the one task that waits."""
    facts = f.ClusterFacts(
        nodes=nodes, queues=(f.QueueFacts(name="q"),),
        groups=(f.GroupFacts(namespace="ns", name="j", queue="q", min_member=1, phase="Inqueue"),),
        pods=(
            *running,
            f.PodFacts(
                uid="w", namespace="ns", name="w", group="ns/j", containers=(f.ContainerFacts(request or {"cpu": 1}),),
                **pod,
            ),
        ),
    )  # fmt: skip
    session = scheduling.run(facts, policy, 0, plugins.ALL)
    return next(each for each in decisions.of_session(session, "simulate") if each.task == "ns/w")


def one_node(**node):
    return f.NodeFacts(name="n", allocatable={"cpu": "4", "memory": "8Gi", "pods": "10", "nvidia.com/gpu": "4"}, **node)


def why_of(*nodes, request=None, running=(), members=1, minimum=None, **pod):
    """The reason of the first task of a job of so many members."""
    group = f.GroupFacts(
        namespace="ns", name="j", queue="q", min_member=members if minimum is None else minimum, phase="Inqueue"
    )
    pods = [
        f.PodFacts(
            uid=f"w{at}", namespace="ns", name=f"w{at}", group="ns/j",
            containers=(f.ContainerFacts({"cpu": "1"} if request is None else request),), **pod,
        )
        for at in range(members)
    ]  # fmt: skip
    facts = f.ClusterFacts(nodes=nodes, queues=(f.QueueFacts(name="q"),), groups=(group,), pods=(*pods, *running))
    policy = worlds.policy(("gang", "predicates"), actions=("allocate",))
    session = scheduling.run(facts, policy, 0, plugins.ALL)
    return next(iter(session.jobs["ns/j"].refusals.values())).why


def holder(node, request, at=0):
    return f.PodFacts(
        uid=f"r{at}", namespace="other", name=f"r{at}", phase="Running", node=node,
        containers=(f.ContainerFacts(request),),
    )  # fmt: skip


def test_checks_stand_in_the_order_of_the_policy_whichever_was_failed_first():
    tainted = f.NodeFacts(name="n", allocatable={"cpu": 4, "pods": 9}, taints=(("k", "", "NoSchedule"),))
    groups = [f.GroupFacts(namespace="ns", name=name, queue="q", phase="Inqueue", min_member=1) for name in "ab"]
    wishes = {"a": {}, "b": {"zone": "x"}}
    pods = [
        f.PodFacts(
            uid=name, namespace="ns", name=name, group=f"ns/{name}", containers=(f.ContainerFacts({"cpu": 1}),),
            node_selector=wishes[name],
        )
        for name in "ab"
    ]  # fmt: skip
    facts = f.ClusterFacts(nodes=(tainted,), queues=(f.QueueFacts(name="q"),), groups=tuple(groups), pods=tuple(pods))
    session = scheduling.run(facts, worlds.policy(("gang", "predicates"), actions=("allocate",)), 0, plugins.ALL)
    ((code, _),) = session.jobs["ns/b"].refusals["b"].report.counts
    codes = session.judges.codes
    assert [check.name for check in codes.failed(code)] == ["NodeAffinity", "TaintToleration"]
    assert [check.name for check in codes.as_volcano(code)] == ["NodeAffinity"]


def of_two_that_keep_apart():
    """A pod waits, one like it runs on the only node, and each avoids the other."""
    apart = Affinity(pod_anti_affinity=PodAffinity([PodAffinityTerm(
        topology_key="host", label_selector=LabelSelector(match_labels={"app": "a"}),
    )]))  # fmt: skip
    like = {"namespace": "ns", "affinity": apart, "labels": {"app": "a"}, "group": "ns/j"}
    pods = (
        f.PodFacts(uid="r", name="r", phase="Running", node="n", containers=(f.ContainerFacts({"cpu": 1}),), **like),
        f.PodFacts(uid="p", name="p", containers=(f.ContainerFacts({"cpu": 1}),), **like),
    )
    node = f.NodeFacts(name="n", allocatable={"cpu": 4, "pods": 9}, labels={"host": "n"})
    group = f.GroupFacts(namespace="ns", name="j", queue="q", phase="Running", min_member=1)
    facts = f.ClusterFacts(nodes=(node,), queues=(f.QueueFacts(name="q"),), groups=(group,), pods=pods)
    return scheduling.run(facts, worlds.policy(("gang", "predicates"), actions=("allocate",)), 0, plugins.ALL)


def test_of_checks_that_are_one_filter_in_volcano_its_text_has_the_first_and_the_count_has_all():
    session = of_two_that_keep_apart()
    refusal = session.jobs["ns/j"].refusals["p"]
    codes = session.judges.codes
    ((code, _),) = refusal.report.counts
    both = ["node(s) didn't match pod anti-affinity rules", "node(s) didn't satisfy existing pods anti-affinity rules"]
    assert [check.text for check in codes.failed(code)] == both
    assert texts.of_refusal(refusal, codes) == f"0/1 nodes are unavailable: 1 {both[0]}."


def test_a_selector_that_no_node_matches_leads_whatever_else_nodes_fail():
    assert why_of(one_node(), request={"cpu": "40"}, node_selector={"a": "b"}).reason == reasons.NODE_AFFINITY


def test_of_closed_nodes_the_easiest_obstacle_leads():
    nodes = (
        f.NodeFacts(name="a", allocatable={"cpu": 4, "pods": 9}, taints=(("k", "", "NoSchedule"),)),
        f.NodeFacts(name="b", allocatable={"cpu": 4, "pods": 9}, unschedulable=True),
    )
    assert why_of(*nodes).reason == reasons.NODE_UNSCHEDULABLE
    assert why_of(nodes[0]).reason == reasons.UNTOLERATED_TAINT
    assert why_of(*nodes, one_node(ready=False)).reason == reasons.NODE_NOT_READY


def test_a_request_that_no_open_node_could_hold_when_empty_never_fits():
    why = why_of(one_node(), request={"cpu": "1", "nvidia.com/gpu": "5"})
    assert (why.reason, why.detail, why.resource) == (reasons.INSUFFICIENT_RESOURCE, "never_fits", "nvidia.com/gpu")


def test_of_resources_short_on_equally_many_nodes_extended_ones_lead():
    why = why_of(
        one_node(), request={"cpu": "3", "nvidia.com/gpu": "3"}, running=(holder("n", {"cpu": 2, "nvidia.com/gpu": 2}),)
    )
    assert (why.reason, why.detail, why.resource) == (reasons.INSUFFICIENT_RESOURCE, "", "nvidia.com/gpu")


def test_enough_in_pieces_that_are_too_small_is_fragmentation():
    nodes = [f.NodeFacts(name=name, allocatable={"cpu": 4, "memory": "8Gi", "pods": 9}) for name in "ab"]
    taken = [holder("a", {"cpu": 2}, 0), holder("b", {"cpu": 2}, 1)]
    assert why_of(*nodes, request={"cpu": "3"}, running=taken).reason == reasons.FRAGMENTATION
    assert why_of(*nodes, request={"cpu": "3"}, running=taken, members=2).reason == reasons.INSUFFICIENT_RESOURCE


def test_room_that_jobs_before_it_took_in_this_session_is_outranked():
    groups = tuple(
        f.GroupFacts(namespace="ns", name=name, queue="q", min_member=1, phase="Inqueue", created_ns=at)
        for at, name in enumerate(("first", "second"), 1)
    )
    pods = tuple(
        f.PodFacts(uid=name, namespace="ns", name=name, group=f"ns/{name}", containers=(f.ContainerFacts({"cpu": 3}),))
        for name in ("first", "second")
    )
    facts = f.ClusterFacts(nodes=(one_node(),), queues=(f.QueueFacts(name="q"),), groups=groups, pods=pods)
    session = scheduling.run(facts, worlds.policy(("gang", "predicates"), actions=("allocate",)), 0, plugins.ALL)
    assert session.jobs["ns/second"].refusals["second"].why.reason == reasons.OUTRANKED


def test_a_gang_says_how_far_it_came_and_is_counted_before_it_is_undone():
    group = f.GroupFacts(namespace="ns", name="j", queue="q", min_member=3, phase="Inqueue")
    pods = tuple(
        f.PodFacts(
            uid=f"w{at}", namespace="ns", name=f"w{at}", group="ns/j", containers=(f.ContainerFacts({"cpu": 2}),)
        )
        for at in range(3)
    )
    facts = f.ClusterFacts(nodes=(one_node(),), queues=(f.QueueFacts(name="q"),), groups=(group,), pods=pods)
    session = scheduling.run(facts, worlds.policy(("gang", "predicates"), actions=("allocate",)), 0, plugins.ALL)
    job = session.jobs["ns/j"]
    refusal = job.refusals["w2"]
    assert refusal.placed == 2
    assert sets_of(session, refusal.report) == {("NodeResourcesFit/cpu",): 1}
    assert not session.binds
    assert job.ready == 0
    assert placing.choose(session, job.tasks["w0"]) == (0, True)


def test_a_node_that_was_refused_to_another_of_the_role_is_a_reason_though_it_passes_every_check():
    """The first takes the tainted node, and its size was too much for the plain one; the second wants only the plain one."""
    role = {"namespace": "ns", "group": "ns/j", "labels": {"volcano.sh/task-spec": "w"}}
    pods = (
        f.PodFacts(
            uid="1",
            name="j-w-1",
            containers=(f.ContainerFacts({"cpu": 4}),),
            tolerations=(Toleration(operator="Exists"),),
            **role,
        ),
        f.PodFacts(uid="2", name="j-w-2", containers=(f.ContainerFacts({"cpu": 1}),), **role),
    )
    big = f.NodeFacts(name="big", allocatable={"cpu": 4, "pods": 9}, taints=(("k", "", "NoSchedule"),))
    small = f.NodeFacts(name="small", allocatable={"cpu": 2, "pods": 9})
    group = f.GroupFacts(namespace="ns", name="j", queue="q", phase="Inqueue", min_member=1)
    facts = f.ClusterFacts(nodes=(big, small), queues=(f.QueueFacts(name="q"),), groups=(group,), pods=pods)
    policy = worlds.policy(("gang", "predicates"), actions=("allocate",))
    session = scheduling.run(facts, policy, 0, plugins.ALL)
    assert [node for _, node in session.binds.values()] == ["big", "small"]
    gang = msgspec.structs.replace(facts, groups=(msgspec.structs.replace(group, min_member=2),))
    session = scheduling.run(gang, policy, 0, plugins.ALL)
    why = session.jobs["ns/j"].refusals["2"].why
    assert not session.binds
    assert (why.reason, why.message[:30]) == (reasons.UNKNOWN, "1 node passes every check, but")
