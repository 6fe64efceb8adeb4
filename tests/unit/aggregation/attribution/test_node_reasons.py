"""Rules P1, P15 and P16: what of the nodes holds a pod."""

import pytest

from pipeline.records.objects import Facts, NodesWanted
from tests.support.story import NATIVE_GROUP, Story

CORDON_OR_TAINT = (
    "0/26 nodes are available: 1 node(s) were unschedulable, 3 node(s) had untolerated taint(s), "
    "22 node(s) didn't match Pod's node affinity/selector. preemption: 0/26 nodes are available: "
    "26 Preemption is not helpful for scheduling."
)
GPUS = "0/8 nodes are unavailable: 8 Insufficient nvidia.com/gpu."


def held(text, wanted):
    story = Story().batch_job().after(10).pod("a", text=text, wanted=wanted)
    return story.after(5000).tell()


@pytest.mark.parametrize(
    ("wanted", "reason", "nodes"),
    [
        (NodesWanted(total=0), "node_affinity", 22),
        (NodesWanted(total=1, not_ready=1), "node_not_ready", 1),
        (NodesWanted(total=2, unschedulable=2), "node_unschedulable", 2),
        (NodesWanted(total=2, tainted=2), "untolerated_taint", 2),
        (NodesWanted(total=5, tainted=3, unschedulable=1, not_ready=1), "node_not_ready", 1),
        (NodesWanted(total=4, tainted=3, unschedulable=1), "node_unschedulable", 1),
    ],
)
def test_p1_selection_is_read_off_the_nodes_that_are_wanted_never_off_the_text(wanted, reason, nodes):
    told = held(CORDON_OR_TAINT, wanted)
    assert told.codes() == [reason]
    assert (told.segments[0]["nodes"], told.segments[0]["total_nodes"]) == (nodes, 26)
    assert told.segments[0]["estimated"] is False


def test_p1_volcano_counts_resources_first_and_the_nodes_wanted_still_decide():
    assert held(GPUS, NodesWanted(total=1, tainted=1)).codes() == ["untolerated_taint"]


def test_p1_with_an_open_node_the_other_reasons_of_the_text_count():
    text = "0/9 nodes are available: 1 node(s) were unschedulable, 8 Insufficient cpu."
    assert held(text, NodesWanted(total=9, open=8, unschedulable=1)).reasons() == [
        ("insufficient_resource", None, "cpu")
    ]


def test_p1_an_obstacle_that_was_lifted_goes_on_leading_until_the_pod_is_tried_again():
    story = Story().batch_job().after(10).pod("a", text=CORDON_OR_TAINT, wanted=NodesWanted(total=1, unschedulable=1))
    story.after(5000).pod("a", wanted=NodesWanted(total=1, open=1)).after(5000)
    assert story.tell().codes() == ["node_unschedulable"]


def test_p1_a_node_change_alone_changes_the_reason():
    story = Story().batch_job().after(10).pod("a", text=CORDON_OR_TAINT, wanted=NodesWanted(total=1, unschedulable=1))
    story.after(5000).fact("a", story.facts["a"].__class__(nodes_wanted=NodesWanted(total=1, not_ready=1)))
    assert story.after(5000).tell().codes() == ["node_unschedulable", "node_not_ready"]


def test_p1_a_volume_text_without_counts_leads_whatever_the_nodes_say():
    text = '0/27 nodes are available: persistentvolumeclaim "data" not found. not found'
    assert held(text, NodesWanted(total=3, tainted=3)).codes() == ["volume"]


def test_p1_without_facts_the_texts_own_words_are_used_and_marked_as_an_estimate():
    told = held("0/9 nodes are available: 9 node(s) had untolerated taint(s).", None)
    assert told.codes() == ["untolerated_taint"]
    assert told.segments[0]["estimated"] is True
    assert told.wait["estimated_ms"] == told.wait["wait_ms"]


def test_the_deeper_filter_leads():
    text = "0/9 nodes are available: 5 Insufficient cpu, 4 node(s) didn't match pod topology spread constraints."
    assert held(text, NodesWanted(total=9, open=9)).codes() == ["topology_spread"]


@pytest.mark.parametrize(
    ("parts", "resource"),
    [
        ("2 Insufficient cpu, 5 Insufficient memory", "memory"),
        ("3 Insufficient cpu, 3 Insufficient nvidia.com/gpu", "nvidia.com/gpu"),
        ("3 Insufficient cpu, 3 Insufficient memory", "cpu"),
    ],
)
def test_p16_the_resource_short_on_most_nodes_leads_then_extended_ones(parts, resource):
    told = held(f"0/9 nodes are available: {parts}.", NodesWanted(total=9, open=9))
    assert told.reasons() == [("insufficient_resource", None, resource)]


def test_p15_only_a_decision_record_tells_fragmentation_from_a_shortage():
    story = Story().batch_job().after(10).pod("a", text=GPUS, wanted=NodesWanted(total=8, open=8)).after(5000)
    story.decision(reason="fragmentation", resource="nvidia.com/gpu", nodes=2, total_nodes=8).after(5000)
    told = story.tell()
    assert told.codes() == ["insufficient_resource", "fragmentation"]
    assert [row["evidence"] for row in told.segments] == ["condition", "decision"]


def test_a_decision_about_one_task_is_stronger_than_its_text():
    story = Story().batch_job().after(10).pod("a", text=GPUS, wanted=NodesWanted(total=8, open=8))
    story.after(5000).decision(task="a", reason="outranked").after(5000)
    assert story.tell().codes() == ["insufficient_resource", "outranked"]


def test_a_pod_whose_device_claim_is_missing_waits_for_it_though_nobody_says_a_word():
    story = Story().batch_job().after(10).pod("a").after(2000)
    story.fact("a", Facts(nodes_wanted=NodesWanted(total=1, open=1), claim_missing=True)).after(5000)
    story.fact("a", Facts(nodes_wanted=NodesWanted(total=1, open=1))).after(3000)
    told = story.tell()
    assert told.codes() == ["scheduler_backlog", "dra", "scheduler_backlog"]
    assert told.segments[1]["evidence"] == "count"


def test_a_missing_device_claim_leads_before_a_decision_about_nodes():
    story = Story().batch_job().after(10).pod("a", facts=Facts(claim_missing=True)).after(2000)
    assert story.decision(reason="node_affinity").after(5000).tell().codes() == ["dra"]


@pytest.mark.parametrize("task", [None, "a"])
def test_p1_claims_that_keep_everybody_from_the_nodes_lead_before_a_decision_about_nodes(task):
    missing = '0/27 nodes are available: persistentvolumeclaim "data" not found. not found'
    story = Story().batch_job().after(10).pod("a", text=missing, wanted=NodesWanted()).after(2000)
    story.decision(task=task, reason="node_affinity").after(5000)
    assert story.tell().codes() == ["volume"]
    story.pod("a", text="0/27 nodes are available: 27 node(s) didn't match Pod's node affinity/selector.").after(5000)
    assert story.tell().codes() == ["volume", "node_affinity"]
    assert story.decision(task=task, reason="outranked").after(5000).tell().codes()[-1] == "outranked"


def test_a_decision_that_was_wrong_stands_no_longer():
    story = Story().batch_job().after(10).pod("a", text=GPUS, wanted=NodesWanted(total=8, open=8))
    story.after(5000).decision(reason="outranked").after(5000).decision("diverged").after(5000)
    assert story.tell().codes() == ["insufficient_resource", "outranked", "insufficient_resource"]


def test_of_a_gang_the_reason_of_most_of_its_waiting_members_leads():
    story = Story("PodGroup", NATIVE_GROUP, "gang").native_group(minimum=3).after(10)
    wanted = NodesWanted(total=8, open=8)
    for name, text in (
        ("a", GPUS),
        ("b", GPUS),
        ("c", "0/8 nodes are available: 8 node(s) didn't match pod affinity rules."),
    ):
        story.after(1).pod(name, text=text, wanted=wanted)
    told = story.after(5000).tell()
    assert told.codes() == ["insufficient_resource"]
    assert told.segments[0]["also"] == '["pod_affinity"]', "what else is true stands beside it"


def test_the_text_of_a_native_gang_only_points_to_its_members():
    pointer = "pod group is unschedulable, minCount (2) cannot be satisfied: 1 scheduled, 0 remaining"
    story = Story("PodGroup", NATIVE_GROUP, "gang").native_group(minimum=2).after(10)
    story.pod("a", text=pointer).pod("b", text=GPUS, wanted=NodesWanted(total=8, open=8))
    assert story.after(5000).tell().codes() == ["insufficient_resource"]


def test_the_newest_words_and_counts_stand_in_the_segment():
    story = Story().batch_job().after(10)
    story.pod("a", text="0/8 nodes are available: 8 Insufficient cpu.", wanted=NodesWanted(total=8, open=8)).after(5000)
    story.pod("a", text="0/8 nodes are available: 6 Insufficient cpu.").after(60_000)
    told = story.tick().tell()
    assert told.codes() == ["insufficient_resource"]
    assert (told.segments[0]["nodes"], told.segments[0]["message"]) == (
        6,
        "0/8 nodes are available: 6 Insufficient cpu.",
    )


def test_words_that_nobody_knows_are_unknown_and_kept():
    told = held("the moon is in the wrong house", NodesWanted(total=1, open=1))
    assert told.codes() == ["unknown"]
    assert told.segments[0]["message"] == "the moon is in the wrong house"
