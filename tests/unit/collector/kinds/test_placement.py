"""Counts per class of pods are what counting all nodes anew would give."""

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.kinds.placement import Placement
from pipeline.records import matching
from pipeline.records.objects import NodesWanted
from pipeline.records.shapes import pod as shapes
from pipeline.records.shapes.base import Condition, Meta
from pipeline.records.shapes.node import Node, NodeSpec, NodeStatus, Taint

LABELS = st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"), max_size=2)
TAINTS = st.lists(
    st.builds(
        Taint, key=st.sampled_from(["spot", matching.UNSCHEDULABLE, matching.NOT_READY]), effect=st.just("NoSchedule")
    ),
    max_size=2,
)


def made_node(name, labels, taints, cordoned, ready):
    conditions = [Condition(type="Ready", status=ready)]
    return matching.traits_of(
        Node(
            metadata=Meta(name=name, labels=labels),
            spec=NodeSpec(unschedulable=cordoned, taints=taints),
            status=NodeStatus(conditions=conditions),
        )
    )


def made_wants(selector, tolerated, named):
    affinity = None
    if named:
        field = shapes.LabelExpression(key="metadata.name", operator="In", values=[named])
        terms = shapes.NodeSelector(node_selector_terms=[shapes.NodeSelectorTerm(match_fields=[field])])
        required = shapes.NodeAffinity(required_during_scheduling_ignored_during_execution=terms)
        affinity = shapes.Affinity(node_affinity=required)
    tolerations = [shapes.Toleration(key=key, operator="Exists") for key in tolerated]
    return matching.wants_of(shapes.PodSpec(node_selector=selector, affinity=affinity, tolerations=tolerations))


NODES = st.builds(
    made_node, st.sampled_from("123"), LABELS, TAINTS, st.booleans(), st.sampled_from(["True", "False", "Unknown"])
)
WANTS = st.builds(
    made_wants,
    LABELS,
    st.lists(st.sampled_from(["spot", matching.UNSCHEDULABLE]), max_size=1),
    st.sampled_from(["", "1", "2"]),
)
STEPS = st.one_of(
    NODES, WANTS, st.tuples(st.just("gone"), st.sampled_from("123")), st.tuples(st.just("leave"), st.integers(0, 5))
)


def counted_anew(wants, nodes):
    found = [matching.obstacle(node, wants.tolerations) or "open" for node in nodes if matching.wanted(wants, node)]
    return NodesWanted(len(found), *(found.count(each) for each in ("open", "not_ready", "unschedulable", "tainted")))


@settings(max_examples=150, deadline=None)
@given(st.lists(STEPS, max_size=30))
def test_counts_are_those_of_counting_anew(steps):
    placement, nodes, joined = Placement(), {}, []
    for n, step in enumerate(steps):
        if isinstance(step, matching.Traits):
            before = {id(of): of.counted for of, _ in joined}
            changed = placement.learn(step.name, step)
            nodes[step.name] = step
            told = {id(of) for of in changed}
            assert all((of.counted != before[id(of)]) <= (id(of) in told) for of, _ in joined)
        elif isinstance(step, matching.Wants):
            joined.append((placement.join(step, f"pod-{n}"), f"pod-{n}"))
        elif step[0] == "gone":
            placement.learn(step[1], None)
            nodes.pop(step[1], None)
        elif step[1] < len(joined):
            placement.leave(*joined.pop(step[1]))
        for of, uid in joined:
            assert uid in of.members
            assert of.counted == counted_anew(of.wants, nodes.values())


def test_pods_that_ask_for_the_same_share_a_class_and_equal_wants_are_one_object():
    placement = Placement()
    first = placement.join(made_wants({"a": "x"}, ["spot"], ""), "one")
    second = placement.join(made_wants({"a": "x"}, ["spot"], ""), "two")
    assert first is second
    assert list(first.members) == ["one", "two"]
    assert made_wants({"a": "x"}, [], "") is made_wants({"a": "x"}, [], "")


def test_classes_in_which_nobody_waits_are_forgotten_in_the_end():
    placement = Placement()
    for n in range(1000):
        of = placement.join(made_wants({"n": str(n)}, [], str(n % 3)), "pod")
        placement.leave(of, "pod")
    assert len(placement._classes) <= 256
    assert sum(len(of) for of in placement._by_name.values()) + len(placement._anywhere) == len(placement._classes)
