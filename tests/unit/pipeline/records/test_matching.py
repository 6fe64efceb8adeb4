"""Selectors, affinity, taints and tolerations as kube-scheduler reads them; obstacles by rule P1."""

import pytest

from pipeline.records import matching
from pipeline.records.shapes.base import Condition, Meta
from pipeline.records.shapes.node import Node, NodeSpec, NodeStatus, Taint
from pipeline.records.shapes.pod import (
    Affinity,
    LabelExpression,
    LabelSelector,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodSpec,
    Toleration,
)


def node(name="n", labels=None, taints=(), cordoned=None, ready="True"):
    conditions = [Condition(type="Ready", status=ready)] if ready else None
    return matching.traits_of(
        Node(
            metadata=Meta(name=name, labels=labels),
            spec=NodeSpec(unschedulable=cordoned, taints=list(taints)),
            status=NodeStatus(conditions=conditions),
        )
    )


def taint(key, effect="NoSchedule", value=None):
    return Taint(key=key, effect=effect, value=value)


def exists(key=None, effect=None):
    return Toleration(key=key, operator="Exists", effect=effect)


def requires(*terms):
    required = NodeSelector(node_selector_terms=list(terms))
    return Affinity(node_affinity=NodeAffinity(required_during_scheduling_ignored_during_execution=required))


def term(*expressions, fields=()):
    return NodeSelectorTerm(match_expressions=list(expressions), match_fields=list(fields))


def expression(key, operator, *values):
    return LabelExpression(key=key, operator=operator, values=list(values) or None)


def wants(**spec):
    return matching.wants_of(PodSpec(**spec))


# requirements


@pytest.mark.parametrize(
    ("operator", "values", "zone", "absent"),
    [
        ("In", ["a", "b"], True, False),
        ("In", ["c"], False, False),
        ("NotIn", ["a"], False, True),
        ("NotIn", ["c"], True, True),
        ("Exists", [], True, False),
        ("DoesNotExist", [], False, True),
        ("Matches", ["a"], False, False),
    ],
)
def test_a_requirement_on_a_label_that_is_there_and_on_one_that_is_not(operator, values, zone, absent):
    labels = {"zone": "a"}
    assert matching.requirement_holds(expression("zone", operator, *values), labels) is zone
    assert matching.requirement_holds(expression("rack", operator, *values), labels) is absent


@pytest.mark.parametrize(
    ("operator", "value", "holds"),
    [
        ("Gt", "7", True),
        ("Gt", "8", False),
        ("Lt", "9", True),
        ("Lt", "8", False),
        ("Gt", "-1", True),
        ("Gt", "x", False),
        ("Lt", str(2**63 - 1), True),
        ("Lt", str(2**63), False),
    ],
)
def test_gt_and_lt_compare_integers(operator, value, holds):
    assert matching.requirement_holds(expression("gpus", operator, value), {"gpus": "8"}) is holds


@pytest.mark.parametrize("label", ["eight", "8.5", "1_0", " 8", ""])
def test_a_label_that_is_no_integer_is_neither_greater_nor_less(label):
    assert not matching.requirement_holds(expression("gpus", "Gt", "1"), {"gpus": label})
    assert not matching.requirement_holds(expression("gpus", "Lt", "99"), {"gpus": label})


def test_gt_with_no_or_several_values_never_holds():
    assert not matching.requirement_holds(expression("gpus", "Gt"), {"gpus": "8"})
    assert not matching.requirement_holds(expression("gpus", "Gt", "1", "2"), {"gpus": "8"})


def test_all_requirements_of_a_term_hold_and_a_term_without_any_matches_nothing():
    both = term(expression("zone", "In", "a"), expression("gpus", "Exists"))
    assert matching.term_matches(both, "n", {"zone": "a", "gpus": "8"})
    assert not matching.term_matches(both, "n", {"zone": "a"})
    assert not matching.term_matches(NodeSelectorTerm(), "n", {"zone": "a"})


def test_the_name_of_a_node_is_a_field_with_one_value():
    named = LabelExpression(key="metadata.name", operator="In", values=["n1"])
    other = LabelExpression(key="metadata.name", operator="NotIn", values=["n1"])
    several = LabelExpression(key="metadata.name", operator="In", values=["n1", "n2"])
    unknown = LabelExpression(key="spec.podCIDR", operator="In", values=["n1"])
    assert [matching.term_matches(term(fields=[each]), "n1", {}) for each in (named, other, several, unknown)] == [
        True,
        False,
        False,
        False,
    ]
    assert matching.term_matches(term(fields=[other]), "n2", {})


# what a pod wants


def test_a_pod_that_asks_for_nothing_wants_every_node():
    assert matching.wanted(wants(), node())


def test_selector_affinity_and_node_name_all_must_match():
    spec = {"node_selector": {"gpu": "a100"}, "affinity": requires(term(expression("zone", "In", "a")))}
    assert matching.wanted(wants(**spec), node(labels={"gpu": "a100", "zone": "a"}))
    assert not matching.wanted(wants(**spec), node(labels={"gpu": "a100", "zone": "b"}))
    assert not matching.wanted(wants(**spec), node(labels={"zone": "a"}))
    assert not matching.wanted(wants(**spec, node_name="other"), node(labels={"gpu": "a100", "zone": "a"}))
    assert matching.wanted(wants(**spec, node_name="n"), node(labels={"gpu": "a100", "zone": "a"}))


def test_terms_are_alternatives():
    either = requires(term(expression("zone", "In", "a")), term(expression("zone", "In", "b")))
    assert [matching.wanted(wants(affinity=either), node(labels={"zone": z})) for z in "abc"] == [True, True, False]


def test_required_affinity_without_terms_wants_nothing():
    assert not matching.wanted(wants(affinity=requires()), node())
    assert not matching.wanted(wants(affinity=requires(NodeSelectorTerm())), node())


def test_preferred_affinity_is_not_looked_at():
    assert matching.wanted(wants(affinity=Affinity(node_affinity=NodeAffinity())), node())


def test_wants_are_equal_when_the_specification_is_in_whatever_order_it_is_written():
    first = wants(node_selector={"a": "1", "b": "2"}, tolerations=[exists("spot")])
    second = wants(node_selector={"b": "2", "a": "1"}, tolerations=[exists("spot")])
    other = wants(node_selector={"a": "1", "b": "2"})
    assert first is second
    assert first.key != other.key


def test_nodes_that_a_pod_asks_for_by_name_are_known_without_looking():
    named = term(fields=[LabelExpression(key="metadata.name", operator="In", values=["n1"])])
    second = term(fields=[LabelExpression(key="metadata.name", operator="In", values=["n2"])])
    labelled = term(expression("zone", "In", "a"))
    assert matching.names_wanted(wants(affinity=requires(named, second))) == {"n1", "n2"}
    assert matching.names_wanted(wants(affinity=requires(named, labelled))) is None
    assert matching.names_wanted(wants(node_name="n3")) == {"n3"}
    assert matching.names_wanted(wants()) is None
    assert matching.names_wanted(wants(affinity=requires())) == set()


# taints and tolerations


@pytest.mark.parametrize(
    ("toleration", "covers"),
    [
        (exists(), True),
        (exists("spot"), True),
        (exists("spot", "NoExecute"), False),
        (exists("other"), False),
        (Toleration(key="spot", value="yes"), True),
        (Toleration(key="spot", operator="Equal", value="yes", effect="NoSchedule"), True),
        (Toleration(key="spot", operator="Equal", value="no"), False),
        (Toleration(key="spot"), False),
        (Toleration(key="spot", operator="Sometimes", value="yes"), False),
    ],
)
def test_what_a_toleration_covers(toleration, covers):
    assert matching.tolerates(toleration, "spot", "yes", "NoSchedule") is covers


def test_a_taint_without_value_equals_a_toleration_without_one():
    assert matching.tolerates(Toleration(key="spot"), "spot", "", "NoSchedule")


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_a_taint_that_is_not_tolerated_keeps_pods_away(effect):
    assert matching.obstacle(node(taints=[taint("spot", effect)]), ()) == "tainted"
    assert matching.obstacle(node(taints=[taint("spot", effect)]), (exists("spot"),)) is None


def test_a_taint_that_only_asks_is_no_obstacle():
    assert matching.obstacle(node(taints=[taint("spot", "PreferNoSchedule")]), ()) is None


# obstacles, by rule P1


def test_an_open_node_has_no_obstacle():
    assert matching.obstacle(node(), ()) is None


@pytest.mark.parametrize("ready", ["False", "Unknown", None])
def test_a_node_that_is_not_ready_or_does_not_say_so_is_an_obstacle_even_before_its_taint(ready):
    assert matching.obstacle(node(ready=ready), ()) == "not_ready"


@pytest.mark.parametrize("key", [matching.NOT_READY, matching.UNREACHABLE])
@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_taints_of_lost_nodes_are_no_taints_of_people(key, effect):
    assert matching.obstacle(node(taints=[taint(key, effect)]), ()) == "not_ready"


def test_tolerating_the_eviction_from_a_lost_node_does_not_let_pods_in():
    default = (exists(matching.NOT_READY, "NoExecute"), exists(matching.UNREACHABLE, "NoExecute"))
    assert matching.obstacle(node(ready="Unknown"), default) == "not_ready"
    everywhere = (exists(matching.NOT_READY), exists(matching.UNREACHABLE))
    assert matching.obstacle(node(ready="Unknown", taints=[taint(matching.UNREACHABLE)]), everywhere) is None


def test_a_cordon_is_an_obstacle_with_and_without_its_taint():
    assert matching.obstacle(node(cordoned=True), ()) == "unschedulable"
    assert matching.obstacle(node(cordoned=True, taints=[taint(matching.UNSCHEDULABLE)]), ()) == "unschedulable"
    assert matching.obstacle(node(taints=[taint(matching.UNSCHEDULABLE)]), ()) == "unschedulable"


def test_a_tolerated_cordon_is_undone():
    assert matching.obstacle(node(cordoned=True), (exists(matching.UNSCHEDULABLE),)) is None
    assert matching.obstacle(node(cordoned=True, ready="False"), (exists(matching.UNSCHEDULABLE),)) == "not_ready"


def test_the_hardest_obstacle_counts_whatever_comes_first():
    lost = taint(matching.UNREACHABLE, "NoExecute")
    assert matching.obstacle(node(taints=[lost, taint("spot")], cordoned=True, ready="Unknown"), ()) == "tainted"
    assert matching.obstacle(node(taints=[lost], cordoned=True, ready="Unknown"), ()) == "unschedulable"
    assert matching.obstacle(node(taints=[lost], ready="Unknown"), (exists("spot"),)) == "not_ready"


def test_all_taints_that_are_not_tolerated_can_be_listed():
    found = matching.untolerated(
        node(taints=[taint("spot"), taint("gpu", value="a100")], cordoned=True), (exists("spot"),)
    )
    assert found == (("gpu", "a100", "NoSchedule"), (matching.UNSCHEDULABLE, "", "NoSchedule"))


# label selectors


def test_a_missing_label_selector_matches_nothing_and_an_empty_one_everything():
    assert not matching.labels_match(None, {"a": "b"})
    assert matching.labels_match(LabelSelector(), None)


def test_a_label_selector_takes_labels_and_expressions_together():
    selector = LabelSelector(match_labels={"app": "x"}, match_expressions=[expression("tier", "NotIn", "web")])
    assert matching.labels_match(selector, {"app": "x"})
    assert not matching.labels_match(selector, {"app": "x", "tier": "web"})
    assert not matching.labels_match(selector, {"app": "y"})


def test_a_label_selector_does_not_compare_numbers():
    assert not matching.labels_match(LabelSelector(match_expressions=[expression("n", "Gt", "1")]), {"n": "2"})
