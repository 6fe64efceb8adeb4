"""binpack, nodeorder and network-topology-aware: which of the nodes that fit is taken. Numbers are worked by hand."""

import numpy as np
import pytest

from pipeline.records.shapes.pod import (
    Affinity,
    LabelExpression,
    LabelSelector,
    NodeAffinity,
    NodeSelectorTerm,
    PreferredTerm,
    TopologySpreadConstraint,
)
from scheduler_core.model import facts as f
from scheduler_core.plugins import nodeorder
from scheduler_core.session import arguments, placing
from tests.support import scheduler_makers as make


def scores(nodes, pods, policy, name="p", groups=None):
    session = make.opened(nodes, groups or [make.group("j")], pods, policy)
    found = placing.totals(session, make.task(session, name), np.arange(len(session.nodes)))
    return dict(zip(session.nodes.names, found.tolist(), strict=True))


def test_binpack_is_the_weighted_mean_of_what_would_be_used():
    nodes = [make.node("a", cpu=4, memory="4Gi"), make.node("b", cpu=8, memory="8Gi")]
    pods = [make.pod("r", "j", cpu=2, on="a"), make.pod("p", "j", cpu=1, more={"memory": "1Gi"})]
    assert scores(nodes, pods, make.policy(("binpack",))) == pytest.approx({"a": 50.0, "b": 12.5})
    heavy = make.policy(("binpack",), binpack={"binpack.cpu": 3, "binpack.weight": 2})
    assert scores(nodes, pods, heavy) == pytest.approx({"a": 125.0, "b": 25.0})


def test_binpack_is_zero_where_one_resource_is_over_and_without_weight():
    nodes = [make.node("a", cpu=1, memory="4Gi"), make.node("b", cpu=2, memory="4Gi")]
    pods = [make.pod("p", "j", cpu=2, more={"memory": "4Gi"})]
    assert scores(nodes, pods, make.policy(("binpack",))) == pytest.approx({"a": 0, "b": 100.0})
    off = make.policy(("binpack",), binpack={"binpack.weight": 0})
    assert scores(nodes, pods, off) == {"a": 0, "b": 0}


def test_binpack_weighs_a_resource_that_a_node_does_not_have_with_nothing():
    nodes = [make.node("a", more={"example.com/gpu": 4}), make.node("b")]
    pods = [make.pod("p", "j", cpu=4, more={"example.com/gpu": 4})]
    policy = make.policy(
        ("binpack",), binpack={"binpack.resources": "example.com/gpu", "binpack.resources.example.com/gpu": 3}
    )
    assert scores(nodes, pods, policy) == pytest.approx({"a": 100.0, "b": 25.0})


def only(**weights):
    """nodeorder with nothing but these weights."""
    names = (
        "leastrequested", "mostrequested", "nodeaffinity", "podaffinity", "balancedresource", "tainttoleration",
        "imagelocality", "podtopologyspread",
    )  # fmt: skip
    return make.policy(("nodeorder",), nodeorder={f"{name}.weight": weights.get(name, 0) for name in names})


def test_least_and_most_requested_are_floored_means_of_cpu_and_memory():
    nodes = [make.node("a", cpu=3, memory="3Gi"), make.node("b", cpu=7, memory="8Gi")]
    pods = [make.pod("p", "j", cpu=1, more={"memory": "1Gi"})]
    assert scores(nodes, pods, only(leastrequested=1)) == {"a": 66, "b": (85 + 87) // 2}
    assert scores(nodes, pods, only(mostrequested=1)) == {"a": 33, "b": (14 + 12) // 2}


def test_a_container_without_request_counts_a_little_where_nodes_are_scored():
    nodes = [make.node("a", cpu=1, memory="2000Mi"), make.node("b", cpu=10, memory="20000Mi")]
    assert scores(nodes, [make.pod("p", "j", cpu=0)], only(leastrequested=1)) == {"a": 90, "b": 99}


def test_preferred_labels_are_scored_by_weight_against_the_best():
    terms = [
        PreferredTerm(weight=3, preference=NodeSelectorTerm([LabelExpression("a", "Exists")])),
        PreferredTerm(weight=1, preference=NodeSelectorTerm([LabelExpression("b", "Exists")])),
    ]
    nodes = [make.node("x", labels={"a": "", "b": ""}), make.node("y", labels={"a": ""}), make.node("z")]
    pods = [make.pod("p", "j", affinity=Affinity(NodeAffinity(None, terms)))]
    assert scores(nodes, pods, only(nodeaffinity=1)) == {"x": 100, "y": 75, "z": 0}


def test_soft_taints_cost_against_the_worst_and_without_any_all_have_the_most():
    soft = [("k", str(at), "PreferNoSchedule") for at in range(3)]
    nodes = [make.node("x"), make.node("y", taints=tuple(soft[:1])), make.node("z", taints=tuple(soft))]
    assert scores(nodes, [make.pod("p", "j")], only(tainttoleration=1)) == {"x": 100, "y": 67, "z": 0}
    assert set(scores([make.node("x"), make.node("y")], [make.pod("p", "j")], only(tainttoleration=3)).values()) == {
        300
    }


def domains():
    return [
        f.DomainFacts(name="left", tier=1, nodes=("n1", "n2")), f.DomainFacts(name="right", tier=1, nodes=("n3", "n4")),
        f.DomainFacts(name="top", tier=2, nodes=("n1", "n2", "n3", "n4"), children=("left", "right")),
    ]  # fmt: skip


@pytest.mark.parametrize(("tier", "cpu", "placed"), [(1, 2, {"right"}), (1, 4, set()), (2, 4, {"left", "right"})])
def test_a_gang_stays_within_the_tier_it_asks_for(tier, cpu, placed):
    nodes = [make.node(f"n{at}", cpu=4) for at in range(1, 5)]
    groups = [make.group("r", phase="Running", min_member=0),
              make.group("j", min_member=3, topology=f.TopologyFacts("hard", tier))]  # fmt: skip
    pods = [make.pod("r0", "r", cpu=3, on="n1")] if cpu == 2 else []
    pods += [make.pod(f"p{at}", "j", cpu=cpu) for at in range(3)]
    policy = make.policy(("gang", "predicates", "network-topology-aware"), actions=("allocate",))
    session = make.ran(nodes, groups, pods, policy, domains=domains())
    side = {"n1": "left", "n2": "left", "n3": "right", "n4": "right"}
    assert {side[node] for node in make.bound(session).values()} == placed


def test_a_resource_that_weighs_nothing_is_not_looked_at_by_binpack():
    """Not even where it is over: such a node may be taken for what is being released on it."""
    nodes = [make.node("a", cpu=1, memory="4Gi")]
    pods = [make.pod("p", "j", cpu=2, more={"memory": "2Gi"})]
    light = make.policy(("binpack",), binpack={"binpack.cpu": 0})
    assert scores(nodes, pods, light) == pytest.approx({"a": 50.0})
    none = make.policy(("binpack",), binpack={"binpack.cpu": 0, "binpack.memory": 0})
    assert scores(nodes, pods, none) == {"a": 0}


def test_a_weight_beyond_64_bits_counts_as_not_given():
    nodes = [make.node("a", cpu=4, memory="4Gi")]
    pods = [make.pod("p", "j", cpu=2)]
    for weight in (10**400, -(10**400), 2**63):
        for plugin, argument in (("binpack", "binpack.cpu"), ("nodeorder", "leastrequested.weight")):
            odd = make.policy((plugin,), **{plugin: {argument: weight}})
            assert scores(nodes, pods, odd) == scores(nodes, pods, make.policy((plugin,)))


def test_cpu_and_memory_have_their_own_arguments_also_if_they_are_named_among_resources():
    given = {
        "p.resources": "cpu, memory,, x",
        "p.resources.cpu": 7,
        "p.resources.memory": 8,
        "p.resources.x": 9,
        "p.cpu": 3,
    }
    assert arguments.resource_weights(given, "p") == {"cpu": 3, "memory": 1, "x": 9}


def test_a_skew_beyond_32_bits_counts_as_the_largest():
    nodes = [make.node(name, labels={"zone": name}) for name in "ab"]
    spread_out = make.policy(("predicates", "nodeorder"))

    def scored(skew):
        soft = TopologySpreadConstraint(skew, "zone", "ScheduleAnyway", LabelSelector({"app": "x"}))
        pods = [
            make.pod("r", "j", on="a", labels={"app": "x"}),
            make.pod("p", "j", spread=(soft,), labels={"app": "x"}),
        ]
        return scores(nodes, pods, spread_out)

    assert scored(10**400) == scored(2**31 - 1)
    assert scored(1)["a"] < scored(1)["b"]


def test_a_weight_below_zero_turns_a_score_round_on_top_of_what_every_node_has():
    """Without taints every node has three times a hundred: with that no total is below zero, and the fuller node wins."""
    policy = make.policy(
        ("gang", "predicates", "nodeorder"), actions=("allocate",), nodeorder={"leastrequested.weight": -2}
    )
    pods = [make.pod("r", "other", 3, on="b"), make.pod("p", "j")]
    groups = [make.group("j"), make.group("other", phase="Running")]
    assert make.bound(make.ran([make.node("a"), make.node("b")], groups, pods, policy)) == {"p": "b"}


@pytest.mark.parametrize("name", ["leastrequested.weight", "mostrequested.weight", "balancedresource.weight"])
def test_a_score_with_a_weight_is_the_same_on_one_node_as_on_many(name):
    """Tasks of two kinds take turns, so that nodes are judged one by one and all at once."""
    pods = [make.pod(f"p{at}", "j", cpu=1 + at % 2, more={"memory": f"{1 + at % 3}Gi"}) for at in range(6)]
    alone = dict.fromkeys(nodeorder.WEIGHTS, 0)

    def bound(weight):
        policy = make.policy(("predicates", "nodeorder"), actions=("allocate",), nodeorder=alone | {name: weight})
        return make.bound(make.ran([make.node(each) for each in "abcd"], [make.group("j")], pods, policy))

    assert len(bound(1)) == 6
    assert bound(7) == bound(1)
