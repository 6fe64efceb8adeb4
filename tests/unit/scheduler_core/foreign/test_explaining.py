"""Reasons of pods that kube-scheduler did not place, with their counts, and what would help."""

from __future__ import annotations

import random

import msgspec
import pytest

from pipeline.records import reasons
from pipeline.records.decisions import FailureSet
from scheduler_core import foreign
from scheduler_core.cache.reading import ClaimSeen
from scheduler_core.model import facts as f
from tests.support.foreign_worlds import (
    GPU,
    NOT_READY,
    apart_from,
    group,
    node,
    only_on,
    pod,
    spread_over,
    waits,
    world,
)


def explained(known, name="a"):
    """What is told of one pod."""
    return next(each for each in foreign.explain(known, 5000) if each.task == f"ns/{name}")


def reason(known, name="a"):
    found = explained(known, name)
    return found.reason, found.detail, found.resource


def counted(known):
    """Which filters the only node counts at."""
    return explained(known).failure_sets[0].filters


def test_nothing_is_told_while_nothing_waits():
    assert foreign.explain(world([node("n1")], []), 5000) == []


def test_in_a_cluster_without_nodes_none_matches():
    known = world([], [waits("a", cpu=2)])
    assert reason(known) == (reasons.NODE_AFFINITY, None, None)
    assert explained(known).message.startswith("there is no node")
    assert explained(known).total_nodes == 0


def test_a_node_counts_at_the_first_filter_that_refuses_it_and_for_every_short_resource():
    taint = ("gpu", "", "NoSchedule")
    nodes = [
        node("n1", cpu=1), node("n2", cpu=1, gpus=8), node("n3", unschedulable=True, taints=(taint,)),
        node("n4", taints=(taint,), labels={"pool": "b"}), node("n5", labels={"pool": "b"}),
    ]  # fmt: skip
    found = explained(world(nodes, [waits("a", cpu=2, gpus=1, node_selector={"pool": "b"})]))
    assert found.failure_sets == (
        FailureSet(("NodeAffinity",), 2), FailureSet(("NodeUnschedulable",), 1), FailureSet(("TaintToleration",), 1),
        FailureSet(("NodeResourcesFit/nvidia.com/gpu",), 1),
    )  # fmt: skip
    both = explained(world(nodes[:2], [waits("a", cpu=2, gpus=1)]))
    assert FailureSet(("NodeResourcesFit/cpu", "NodeResourcesFit/nvidia.com/gpu"), 1) in both.failure_sets
    assert (found.nodes, found.total_nodes, found.source, found.policy) == (1, 5, "shadow", "kube-scheduler")


def test_a_pod_may_ask_for_many_resources_and_each_that_is_short_counts():
    asked = {f"example.com/r{at}": 1 for at in range(9)}
    waiting = waits("a", containers=(f.ContainerFacts({"cpu": 1, **asked}),))
    has = f.NodeFacts(
        name="n1", allocatable={"cpu": 4, "memory": "8Gi", "pods": 9, **dict.fromkeys(list(asked)[::2], 1)}
    )
    found = explained(world([has, node("n2")], [waiting]))
    assert sorted((len(each.filters), each.nodes) for each in found.failure_sets) == [(4, 1), (9, 1)]


_TAINTED = {"taints": (("team", "x", "NoSchedule"),)}
_CORDONED = {"unschedulable": True}
_ELSEWHERE = {"labels": {"pool": "other"}}


@pytest.mark.parametrize(
    ("spoiled", "expected"),
    [
        (("cordon", "taint", "labels", "ports", "cpu", "spread", "pods"), ("NodeUnschedulable",)),
        (("taint", "labels", "ports", "cpu", "spread", "pods"), ("TaintToleration",)),
        (("labels", "ports", "cpu", "spread", "pods"), ("NodeAffinity",)),
        (("ports", "cpu", "spread", "pods"), ("NodePorts",)),
        (("cpu", "spread", "pods"), ("NodeResourcesFit/cpu",)),
        (("spread", "pods"), ("PodTopologySpread",)),
        (("pods",), ("InterPodAffinity",)),
    ],
)
def test_of_all_filters_that_refuse_a_node_the_first_in_order_counts(spoiled, expected):
    """Recordings have no node that fails some of these pairs; the order is that of the scheduler's source."""
    fields = {"labels": {"pool": "b"}} | (_ELSEWHERE if "labels" in spoiled else {})
    fields |= (_TAINTED if "taint" in spoiled else {}) | (_CORDONED if "cordon" in spoiled else {})
    taken = (("TCP", 80, ""),) if "ports" in spoiled else ()
    there = pod("there", on="n1", labels={"app": "web"}, ports=taken)
    wish = {"node_selector": {"pool": "b"}, "ports": (("TCP", 80, ""),), "labels": {"app": "web"}}
    wish |= {"affinity": apart_from(app="web")} if "pods" in spoiled else {}
    wish |= {"spread": (spread_over("zone", app="web"),)} if "spread" in spoiled else {}
    waiting = waits("a", cpu=9 if "cpu" in spoiled else 1, **wish)
    assert counted(world([node("n1", **fields)], [waiting], [there])) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"taints": (NOT_READY,)}, reasons.NODE_NOT_READY),
        ({"taints": (("node.kubernetes.io/unreachable", "", "NoExecute"),)}, reasons.NODE_NOT_READY),
        ({"unschedulable": True}, reasons.NODE_UNSCHEDULABLE),
        ({"taints": (("team", "x", "NoSchedule"),)}, reasons.UNTOLERATED_TAINT),
        ({"taints": (NOT_READY, ("team", "x", "NoSchedule"))}, reasons.UNTOLERATED_TAINT),
        ({"labels": {"pool": "c"}}, reasons.NODE_AFFINITY),
    ],
)
def test_which_taint_it_is_comes_from_the_nodes_that_are_wanted(fields, expected):
    wanted = node("n1", **{"labels": {"pool": "b"}} | fields)
    others = [node("n2", taints=(("team", "x", "NoSchedule"),)), node("n3", unschedulable=True)]
    assert reason(world([wanted, *others], [waits("a", node_selector={"pool": "b"})])) == (expected, None, None)


def test_a_node_that_is_not_ready_and_not_tainted_yet_is_as_good_as_any_to_the_scheduler():
    assert reason(world([node("n1", ready=False)], [waits("a")])) == (reasons.SCHEDULER_BACKLOG, "not_tried", None)


def test_room_in_pieces_is_fragmentation_and_only_then():
    nodes = [node("n1", gpus=8), node("n2", gpus=8)]
    used = [pod("x", gpus=5, on="n1"), pod("y", gpus=5, on="n2")]
    found = explained(world(nodes, [waits("a", gpus=6)], used))
    assert (found.reason, found.resource) == (reasons.FRAGMENTATION, GPU)
    assert found.helps[0] == f"it needs 1 place with 6 free {GPU}; 0 exist; 2 nodes have some free, but too little"
    one_more = [*used, pod("z", gpus=1, on="n1")]
    assert reason(world(nodes, [waits("a", gpus=6)], one_more)) == (reasons.INSUFFICIENT_RESOURCE, None, GPU)


def test_pods_of_one_job_need_their_places_together():
    nodes = [node("n1", gpus=8), node("n2", gpus=8), node("n3", gpus=8)]
    used = [pod("x", gpus=3, on="n1"), pod("y", gpus=3, on="n2"), pod("z", gpus=3, on="n3")]
    waiting = [waits("a", gpus=8, job="j"), waits("b", gpus=8, job="j")]
    found = explained(world(nodes, waiting, used))
    assert (
        found.helps[0] == f"it needs 2 places with 8 free {GPU} each; 0 exist; 3 nodes have some free, but too little"
    )
    assert found.reason == reasons.INSUFFICIENT_RESOURCE  # 15 free, 16 asked


def test_places_are_not_counted_where_there_are_enough_of_them_and_something_else_is_short_there():
    lean = msgspec.structs.replace(node("n2"), allocatable={"cpu": 4, "memory": "1Gi", "pods": 20})
    asks = (f.ContainerFacts({"cpu": 2, "memory": "2Gi"}),)
    used = [pod("x", cpu=3, on="n1"), pod("y", cpu=3, on="n3")]
    found = explained(world([node("n1"), lean, node("n3")], [waits("a", containers=asks)], used))
    assert (found.reason, found.resource) == (reasons.INSUFFICIENT_RESOURCE, "cpu")
    assert not any(each.startswith("it needs") for each in found.helps)
    assert found.helps[0].startswith("it would fit on node n")


def test_nodes_that_have_some_free_are_not_told_of_where_there_are_none():
    full = [pod("x", gpus=8, on="n1"), pod("y", gpus=8, on="n2")]
    found = explained(world([node("n1", gpus=8), node("n2", gpus=8)], [waits("a", gpus=8)], full))
    assert found.helps[0] == f"it needs 1 place with 8 free {GPU}; 0 exist"
    assert found.helps[1] == f"it would fit on node n1 if 8 more {GPU} were free there; 2 nodes lack nothing else"


def test_labels_and_taints_that_keep_nodes_shut_are_named():
    tainted = [node("n1", taints=(("team", "x", "NoSchedule"),)), node("n2", taints=(("team", "x", "NoSchedule"),))]
    assert explained(world(tainted, [waits("a")])).helps == (
        "it would fit on 2 nodes if they had no taint, or the task tolerated it (team=x:NoSchedule)",
    )
    others = [tainted[0], node("n2", taints=(("team", "", "NoExecute"),))]
    assert explained(world(others, [waits("a")])).helps == (
        "it would fit on 2 nodes if they had no taint, or the task tolerated it",
    )
    assert explained(world([node("n1")], [waits("a", node_selector={"pool": "b"})])).helps == (
        "it would fit on node n1 if the node had the labels that it asks for (pool=b)",
    )


def test_what_no_node_could_ever_hold_never_fits():
    found = explained(world([node("n1", gpus=4), node("n2", gpus=8, unschedulable=True)], [waits("a", gpus=6)]))
    assert (found.reason, found.detail, found.resource) == (reasons.INSUFFICIENT_RESOURCE, "never_fits", GPU)
    assert found.helps[0] == f"no node that it may use has more than 4 {GPU}; it asks for 6"
    assert not any("more nvidia.com/gpu free" in each for each in found.helps)


def test_the_deepest_filter_leads():
    nodes = [node("n1"), node("n2", cpu=1)]
    beside = [pod("x", on="n1", labels={"app": "web"})]
    known = world(nodes, [waits("a", cpu=2, affinity=apart_from(app="web"))], beside)
    assert reason(known) == (reasons.POD_ANTI_AFFINITY, None, None)


def test_a_place_promised_to_another_is_held_against_those_that_do_not_go_before_it():
    first = waits("first", gpus=8, priority=10, nominated_node="n1")
    nodes = [node("n1", gpus=8)]
    assert reason(world(nodes, [first, waits("a", gpus=8, priority=5)])) == (reasons.OUTRANKED, None, GPU)
    assert "ns/first" in explained(world(nodes, [first, waits("a", gpus=8, priority=5)])).message
    assert reason(world(nodes, [first, waits("a", gpus=8, priority=11)]))[0] == reasons.SCHEDULER_BACKLOG
    assert reason(world(nodes, [first, waits("a", gpus=8, priority=5)]), "first")[0] == reasons.SCHEDULER_BACKLOG


def test_of_two_pods_with_one_promise_each_is_told_of_the_other():
    pair = [waits(name, gpus=8, priority=5, nominated_node="n1") for name in ("a", "b")]
    known = world([node("n1", gpus=8)], pair)
    assert explained(known, "a").message.startswith("its place is promised to ns/b; ")
    assert explained(known, "b").message.startswith("its place is promised to ns/a; ")


def test_a_pod_waits_for_its_victims_by_name():
    victim = pod("low", gpus=8, on="n1", priority=1, deleting=True, victim=True)
    found = explained(world([node("n1", gpus=8)], [waits("a", gpus=8, priority=9, nominated_node="n1")], [victim]))
    assert (found.reason, found.node) == (reasons.WAITING_VICTIMS, "n1")
    assert found.message == "it gets n1 when ns/low has gone"


def test_a_pod_that_leaves_holds_its_room_until_it_is_gone():
    leaving = pod("x", gpus=8, on="n1", deleting=True)
    assert reason(world([node("n1", gpus=8)], [waits("a", gpus=8)], [leaving]))[0] == reasons.INSUFFICIENT_RESOURCE


def test_gates_are_named_and_no_node_is_looked_at():
    found = explained(world([node("n1")], [waits("a", gates=("quota", "data"))]))
    assert (found.reason, found.detail, found.failure_sets) == (reasons.NOT_ADMITTED, "gated", ())
    assert "quota, data" in found.message


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({}, reasons.VOLUME),
        ({("ns", "data"): ClaimSeen("ns", "data", "Pending")}, reasons.VOLUME),
        ({("ns", "data"): ClaimSeen("ns", "data", "Bound", "pv-1")}, reasons.SCHEDULER_BACKLOG),
        ({("ns", "data"): ClaimSeen("ns", "data", "Pending", "", "local")}, reasons.SCHEDULER_BACKLOG),
        (None, reasons.SCHEDULER_BACKLOG),
    ],
)
def test_a_claim_that_is_missing_or_unbound_ends_the_attempt_before_any_node(claims, expected):
    assert reason(world([node("n1")], [waits("a", claims=("data",))], claims=claims))[0] == expected


def test_what_is_not_known_here_is_taken_for_the_cause_only_after_the_scheduler_refused():
    nodes = [node("n1"), node("n2", unschedulable=True)]
    assert reason(world(nodes, [waits("a", devices=("gpu",))]))[0] == reasons.SCHEDULER_BACKLOG
    found = explained(world(nodes, [waits("a", devices=("gpu",), tried=True)]))
    assert (found.reason, found.nodes) == (reasons.DRA, 1)
    assert reason(world(nodes, [waits("a", claims=("data",), tried=True)]))[0] == reasons.VOLUME


def test_a_gang_without_group_or_members_is_told_without_looking_at_nodes():
    alone = waits("a", native_group="ns/g")
    assert reason(world([node("n1")], [alone])) == (reasons.GANG_INCOMPLETE, "group_missing", None)
    found = explained(world([node("n1")], [alone], groups=[group("g", 2)]))
    assert (found.reason, found.detail) == (reasons.GANG_INCOMPLETE, "members_missing")
    assert found.message == "1 of 2 members of ns/g exist"


def test_members_that_fit_carry_the_reason_of_the_first_that_does_not():
    waiting = [waits(name, gpus=4, native_group="ns/g") for name in ("a", "b", "c")]
    known = world([node("n1", gpus=8)], waiting, groups=[group("g", 3)])
    found = {each.task: each for each in foreign.explain(known, 5000)}
    assert {(each.reason, each.resource) for each in found.values()} == {(reasons.INSUFFICIENT_RESOURCE, GPU)}
    assert found["ns/c"].failure_sets == (FailureSet((f"NodeResourcesFit/{GPU}",), 1),)
    assert "3 scheduled" not in found["ns/a"].message
    assert found["ns/a"].message.endswith("2 scheduled, 0 remaining; see ns/c")


def test_a_gang_that_fits_waits_only_to_be_tried():
    waiting = [waits(name, gpus=4, native_group="ns/g") for name in ("a", "b")]
    known = world([node("n1", gpus=8)], waiting, groups=[group("g", 2)])
    assert {each.reason for each in foreign.explain(known, 5000)} == {reasons.SCHEDULER_BACKLOG}


def test_members_on_nodes_count_and_members_that_leave_do_not():
    placed = [pod("p", gpus=4, on="n1", group="ns/g"), pod("q", gpus=1, on="n1", group="ns/g", deleting=True)]
    known = world([node("n1", gpus=8)], [waits("a", native_group="ns/g")], placed, [group("g", 3)])
    assert explained(known).message == "2 of 3 members of ns/g exist"


def test_the_order_of_the_facts_changes_nothing_and_the_facts_stay_as_they_are():
    nodes = [node(f"n{place}", gpus=8, unschedulable=place == 3) for place in range(6)]
    used = [pod(f"x{place}", gpus=place, on=f"n{place}") for place in range(1, 6)]
    waiting = [waits(f"a{place}", gpus=4 + place, job=f"j{place % 2}", priority=place) for place in range(6)]
    waiting[2] = waits("a2", gpus=8, priority=9, nominated_node="n1")
    waiting += [waits(f"g{place}", gpus=8, native_group="ns/g") for place in range(3)]
    expected = foreign.explain(world(nodes, waiting, used, [group("g", 3)]), 5000)
    shuffle = random.Random(7).shuffle
    for _ in range(10):
        shuffle(nodes)
        shuffle(used)
        shuffle(waiting)
        known = world(nodes, waiting, used, [group("g", 3)])
        before = msgspec.json.encode(known.facts)
        assert foreign.explain(known, 5000) == expected
        assert msgspec.json.encode(known.facts) == before


def test_pods_by_name_of_a_node_are_cut_to_it():
    nodes = [node("n1", cpu=1), node("n2"), node("n3", unschedulable=True)]
    found = explained(world(nodes, [waits("a", cpu=2, affinity=only_on("n1"))]))
    assert found.message == (
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )
