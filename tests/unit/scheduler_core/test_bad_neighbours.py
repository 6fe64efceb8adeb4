"""A job whose data cannot be meant says so, and never keeps another from being scheduled, under any policy."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.records import keys, reasons
from pipeline.records.shapes.pod import (
    Affinity,
    LabelExpression,
    LabelSelector,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PreferredTerm,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model import amounts
from scheduler_core.model import facts as f
from scheduler_core.model.standing import Standing
from tests.support import scheduler_makers as make
from tests.support import scheduler_worlds as worlds

LONG = "x" * 200_000
ROOM = {"cpu": 4, "memory": "8Gi", "pods": 20}
GOOD = (make.group("good", "fine"), make.pod("good-0", "good"))
QUEUES = (f.QueueFacts(name="root"), f.QueueFacts(name="fine", parent="root"), f.QueueFacts(name="q", parent="root"))


def term(operator, *values):
    terms = [NodeSelectorTerm([LabelExpression("gen", operator, list(values))])]
    return Affinity(NodeAffinity(NodeSelector(terms)))


def near(key, selector):
    return Affinity(pod_affinity=PodAffinity([PodAffinityTerm(selector, key)]))


def preferred(weight):
    node = PreferredTerm(weight=weight, preference=NodeSelectorTerm([LabelExpression("gen", "Exists")]))
    pods = WeightedPodAffinityTerm(weight=weight, pod_affinity_term=PodAffinityTerm(LabelSelector({"a": "b"}), "zone"))
    return Affinity(NodeAffinity(None, [node]), PodAffinity(None, [pods]), PodAffinity(None, [pods]))


def spread(**fields):
    rule = TopologySpreadConstraint(1, "zone", "DoNotSchedule", LabelSelector({"a": "b"}))
    return (msgspec.structs.replace(rule, **fields),)


PODS = {
    "below zero": {"more": {"memory": "-1Gi"}},
    "overflow": {"more": {"memory": "99999999Ei"}},
    "a number that overflows": {"more": {"cpu": 10**400}},
    "not finite": {"more": {"cpu": float("inf")}},
    "no quantity": {"more": {"cpu": "three"}},
    "empty": {"more": {"cpu": ""}},
    "an unheard resource": {"more": {"example.com/unheard": 1}},
    "a word that is no resource": {"more": {"gpus": 8}},
    "the longest name of a resource": {"more": {f"{'x' * 253}/{'y' * 63}": 1}},
    "a long annotation": {
        "annotations": {keys.VOLCANO_PRIORITY: LONG, keys.VOLCANO_ROLE: LONG, keys.VOLCANO_PREEMPTABLE: LONG}
    },
    "long labels": {"labels": {LONG: LONG}, "node_selector": {LONG: LONG}},
    "a selector for nothing": {"affinity": Affinity(NodeAffinity(NodeSelector([])))},
    "an empty term": {"affinity": Affinity(NodeAffinity(NodeSelector([NodeSelectorTerm()])))},
    "an unheard operator": {"affinity": term("Almost", "3")},
    "greater than a word": {"affinity": term("Gt", "three")},
    "greater than nothing": {"affinity": term("Gt")},
    "near by no label": {"affinity": near("", LabelSelector({"a": "b"}))},
    "a weight that overflows": {"affinity": preferred(10**30)},
    "a weight below all": {"affinity": preferred(-(2**63) - 1)},
    "near nobody": {"affinity": near("zone", None)},
    "a toleration of nothing": {"tolerations": (Toleration(operator="Nearly"),)},
    "a spread over no label": {"spread": spread(topology_key="")},
    "a spread without selector": {"spread": spread(label_selector=None)},
    "a spread of no skew": {"spread": spread(max_skew=0, min_domains=-3)},
    "a skew that overflows": {"spread": spread(max_skew=10**400)},
    "a port that is none": {"ports": (("", -1, "nowhere"), ("TCP", 70_000, ""))},
    "a node that is gone": {"node": "gone", "phase": "Running"},
    "a phase that is none": {"phase": "Walking"},
    "a group that is gone": {"group": "gone"},
    "a huge priority": {"priority": 2**63},
    "containers that overflow together": {"containers": (f.ContainerFacts({"cpu": "9e99", "memory": "8Pi"}),) * 1100},
}
GROUPS = {
    "more than its pods": {"min_member": 500},
    "a minimum below zero": {"min_member": -5},
    "a huge minimum": {"min_member": 2**63},
    "minimums of roles that are not there": {"min_task_member": {"ps": 3, "": -1}},
    "a minimum of resources below zero": {"min_resources": {"cpu": "-4", "memory": "lots"}},
    "a minimum of resources that overflows": {"min_resources": {"cpu": "9e99", "x": 1}},
    "no queue": {"queue": ""},
    "a queue that is gone": {"queue": "gone"},
    "a phase that is none": {"phase": "Walking"},
    "a class that is gone": {"priority_class": "gone"},
    "a waiting time that is none": {"annotations": {"sla-waiting-time": "1 fortnight"}},
    "a long waiting time": {"annotations": {"sla-waiting-time": "1h" * 100_000}},
    "a tier that is not there": {"topology": f.TopologyFacts("hard", 99)},
    "a tier below all": {"topology": f.TopologyFacts("hard", -1, "nowhere")},
    "a mode that is none": {"topology": f.TopologyFacts("sideways")},
    "a place that is gone": {"allocated_domain": "gone", "topology": f.TopologyFacts("hard", 1)},
}


def bad_pod(name, group, fields):
    return make.pod(name, **{"group": group} | fields)


def session_with(groups, pods, kind, queues=QUEUES, nodes=()):
    facts = f.ClusterFacts(
        nodes=(make.node("n", labels={"gen": "3", "zone": "a"}), *nodes), queues=queues,
        groups=(GOOD[0], *groups), pods=(GOOD[1], *pods),
    )  # fmt: skip
    return scheduling.run(facts, worlds.POLICIES[kind], 10**10, plugins.ALL)


def assert_good_is_bound_and_everyone_else_has_a_place_or_a_reason(session):
    assert session.binds["good-0"][1] == "n"
    records = decisions.of_session(session, "simulate")
    assert records[-1].kind == "close"
    told = {each.job.name for each in records if each.job and (each.reason or each.kind in ("bind", "pipeline"))}
    waiting = {job.name for job in session.jobs.values() if any(job.pending())}
    assert waiting <= told
    assert all(len(each.message) < 1000 for each in records)
    assert all(len(str(each)) < 1000 for each in session.snapshot.mistakes)


@pytest.mark.parametrize("kind", worlds.POLICIES)
@pytest.mark.parametrize("what", PODS)
def test_a_pod_that_cannot_be_meant_stops_nobody_else(what, kind):
    session = session_with([make.group("bad", min_member=1)], [bad_pod("bad-0", "bad", PODS[what])], kind)
    assert_good_is_bound_and_everyone_else_has_a_place_or_a_reason(session)


@pytest.mark.parametrize("kind", worlds.POLICIES)
@pytest.mark.parametrize("what", GROUPS)
def test_a_group_that_cannot_be_meant_stops_nobody_else(what, kind):
    session = session_with([make.group("bad", **GROUPS[what])], [make.pod("bad-0", "bad")], kind)
    assert_good_is_bound_and_everyone_else_has_a_place_or_a_reason(session)


@pytest.mark.parametrize("kind", worlds.POLICIES)
@pytest.mark.parametrize(
    "allocatable", [{}, {"cpu": "-4", "pods": 9}, {"cpu": "9e99", "memory": "x", "pods": -1}, {"pods": "1.5", "": ""}]
)
def test_a_node_whose_capacity_cannot_be_meant_takes_nothing_and_the_others_do(allocatable, kind):
    session = session_with([], [], kind, nodes=[f.NodeFacts(name="a", allocatable=allocatable)])
    assert_good_is_bound_and_everyone_else_has_a_place_or_a_reason(session)
    assert any(each.kind == "Node" and each.name == "a" for each in session.snapshot.mistakes)


@pytest.mark.parametrize("kind", worlds.POLICIES)
def test_a_running_pod_whose_containers_overflow_together_fills_its_node_alone(kind):
    containers = (f.ContainerFacts({"cpu": "9e99", "memory": "8Pi"}),) * 1100
    running = make.pod("bad-0", "bad", on="a", containers=containers)
    session = session_with([make.group("bad")], [running], kind, nodes=[make.node("a")])
    assert_good_is_bound_and_everyone_else_has_a_place_or_a_reason(session)
    again = Standing(f.ClusterFacts(nodes=(make.node("a"),)))
    again.snapshot()
    again.put(running)
    assert again.snapshot().nodes.used.values[0] == amounts.MOST


@pytest.mark.parametrize("kind", ["default", "late"])
@pytest.mark.parametrize(
    "bad",
    [{"weight": -1}, {"weight": 0}, {"capability": {"cpu": "-1"}}, {"deserved": {"cpu": "x"}}, {"guarantee": {"cpu": "x"}},
     {"state": "Ajar"}, {"parent": "q"}, {"parent": "gone"}, {"priority": 2**63}, {"annotations": {"sla-waiting-time": LONG}}],
    ids=str,
)  # fmt: skip
def test_a_queue_that_cannot_be_meant_stops_no_job_of_another(bad, kind):
    queues = (QUEUES[1], f.QueueFacts(name="q", **bad))
    session = session_with([make.group("bad")], [make.pod("bad-0", "bad")], kind, queues)
    assert_good_is_bound_and_everyone_else_has_a_place_or_a_reason(session)


def test_of_two_pods_of_one_name_in_two_namespaces_each_has_its_own_place():
    other = make.group("good", "fine", namespace="other")
    twin = msgspec.structs.replace(make.pod("good-1", "x"), name="good-0", namespace="other", group="other/good")
    session = session_with([other], [twin], "default")
    assert {task.key for task, _ in session.binds.values()} == {"ns/good-0", "other/good-0"}


@settings(max_examples=100, deadline=None)
@given(r=st.randoms(use_true_random=False), kind=st.sampled_from(sorted(worlds.POLICIES)))
def test_any_mixture_of_broken_jobs_stops_nobody_else(r, kind):
    groups, pods = [], []
    for at in range(r.randint(1, 6)):
        groups.append(make.group(f"bad{at}", **GROUPS[r.choice(sorted(GROUPS))]))
        for number in range(r.randint(0, 3)):
            fields = {**PODS[r.choice(sorted(PODS))], **PODS[r.choice(sorted(PODS))]}
            pods.append(bad_pod(f"bad{at}-{number}", f"bad{at}", {"cpu": 0} | fields))
    first = msgspec.structs.replace(GOOD[0], priority_class="first")
    facts = f.ClusterFacts(
        nodes=(make.node("n", labels={"gen": "3", "zone": "a"}),), queues=QUEUES, groups=(first, *groups),
        pods=(GOOD[1], *pods), priority_classes=(f.PriorityClassFacts("first", 1000),),
    )  # fmt: skip
    session = scheduling.run(facts, worlds.POLICIES[kind], 10**10, plugins.ALL)
    assert_good_is_bound_and_everyone_else_has_a_place_or_a_reason(session)


def test_reasons_of_broken_jobs_are_told_apart():
    found = {}
    for what in ("more than its pods", "a queue that is gone"):
        session = session_with([make.group("bad", **GROUPS[what])], [make.pod("bad-0", "bad")], "default")
        found[what] = next(
            (each.reason, each.detail) for each in decisions.of_session(session, "simulate")
            if each.job and each.job.name == "bad" and each.reason
        )  # fmt: skip
    assert found["more than its pods"] == (reasons.GANG_INCOMPLETE, "members_missing")
    assert found["a queue that is gone"] == (reasons.NOT_ADMITTED, "queue_missing")
