"""Rules P6 to P11, P13 and P14: what keeps a whole job out."""

import pytest

from pipeline.records.jobs import placeholder_uid
from pipeline.records.objects import NodesWanted
from tests.support.story import KUEUE, NATIVE_GROUP, VOLCANO, VOLCANO_GROUP, Story

OVERUSED = "resource in cluster is overused: overused cpu, overused memory"
CEILING = "queue resource quota insufficient: insufficient nvidia.com/gpu"
NO_TASKS = "0/0 tasks in gang unschedulable: pod group is not ready, 2 minAvailable"
SILENT = "pod group is not ready, 2 Pending, 2 minAvailable; Pending: 2 Unschedulable"
PROMISED = "Pod team-a/a can possibly be assigned to node-1, once resource is released and minAvailable is satisfied"
SHORT = "0/8 nodes are unavailable: 8 Insufficient nvidia.com/gpu."
LIMIT = (
    "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor default, previously considered "
    "podsets requests (0) + current podset request (12) > maximum capacity (8)"
)
UNUSED = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 2 more needed"
FLAVORS = "couldn't assign flavors to pod set main: "
MEMORY = "insufficient quota for memory in flavor default, previously considered podsets requests (0) + current podset request (100Gi) > maximum capacity (64Gi)"
TAINT = "untolerated taint {spot yes NoSchedule <nil>} in flavor b"
LABEL = "flavor a doesn't match node affinity"
RACKS = 'topology "racks" allows to fit only 2 out of 4 pod(s). Total nodes: 3; excluded: nodeSelector: 1, resource "cpu": 1'
OPEN = NodesWanted(total=8, open=8)


def kueue(*conditions, suspend=True, labels=True):
    story = Story()
    story.put(
        "Job", "batch", "train", spec={"parallelism": 1, "completions": 1, "suspend": suspend},
        labels={"kueue.x-k8s.io/queue-name": "main"} if labels else {},
    )  # fmt: skip
    return story.after(5).workload(*conditions).after(5000)


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        ((), ("not_admitted", "quota_check", None)),
        ((("QuotaReserved", "False", "Pending", UNUSED),), ("quota", None, "cpu")),
        ((("QuotaReserved", "False", "Pending", LIMIT),), ("queue_limit", "never_fits", "cpu")),
        ((("QuotaReserved", "False", "Pending", f"{UNUSED}. Pending the preemption of 1 workload(s)"),), ("waiting_victims", None, None)),
        ((("QuotaReserved", "False", "Pending", f"{UNUSED}, {MEMORY}"),), ("queue_limit", "never_fits", "memory")),
        ((("QuotaReserved", "False", "Pending", f"{UNUSED}, {TAINT}"),), ("quota", None, "cpu")),
        ((("QuotaReserved", "False", "Pending", f"{FLAVORS}{LABEL}"),), ("node_affinity", None, None)),
        ((("QuotaReserved", "False", "Pending", f"{FLAVORS}{LABEL}, {TAINT}"),), ("untolerated_taint", None, None)),
        ((("QuotaReserved", "False", "Pending", f"{FLAVORS}{RACKS}"),), ("topology", None, None)),
        ((("QuotaReserved", "False", "Pending", "Exceeded the PodsReady timeout team-a/wl"),), ("not_admitted", None, None)),
        ((("QuotaReserved", "False", "ReclaimBackoff", "words of a later release"),), ("quota", None, None)),
        ((("QuotaReserved", "False", "PendingEvaluation", "not looked at yet"),), ("not_admitted", "quota_check", None)),
        ((("QuotaReserved", "False", "Inadmissible", "LocalQueue late doesn't exist"),), ("not_admitted", "queue_missing", None)),
        ((("QuotaReserved", "False", "Inadmissible", "ClusterQueue cq-held is inactive"),), ("not_admitted", "queue_closed", None)),
        ((("QuotaReserved", "False", "Inadmissible", "ClusterQueue  doesn't exist"),), ("not_admitted", "queue_missing", None)),
        ((("QuotaReserved", "True", "QuotaReserved", ""),), ("not_admitted", "admission_check", None)),
        ((("QuotaReserved", "True", "", ""), ("Admitted", "True", "Admitted", "")), ("pods_not_created", "controller", None)),
    ],
)  # fmt: skip
def test_p6_p7_of_a_suspended_job_that_kueue_holds_the_workload_alone_says_why(conditions, reason):
    assert kueue(*conditions).tell().reasons() == [reason]


def test_p7_a_workload_that_somebody_deactivated_is_suspended_whatever_it_waited_for_before():
    story = kueue(("QuotaReserved", "False", "Pending", UNUSED))
    story.put("Workload", KUEUE, "wl", spec={"active": False}).after(5000)
    story.put("Workload", KUEUE, "wl", spec={"active": True}).after(5000)
    assert story.tell().codes() == ["quota", "not_admitted", "quota"]
    assert story.tell().reasons()[1] == ("not_admitted", "suspended", None)


def test_p7_a_workload_that_kueue_deactivated_says_why():
    story = kueue(
        ("QuotaReserved", "False", "Pending", "The workload is deactivated due to exceeding the maximum execution time")
    )
    story.put("Workload", KUEUE, "wl", spec={"active": False}).after(5000)
    (segment,) = story.tell().segments
    assert (segment["reason"], segment["detail"]) == ("not_admitted", "suspended")
    assert "execution time" in segment["message"]


def test_p6_a_workload_that_is_content_with_a_part_is_not_above_the_ceiling_because_the_whole_is():
    story = Story()
    story.put("Job", "batch", "train", spec={"parallelism": 6, "completions": 6, "suspend": True})
    part = {"podSets": [{"name": "main", "count": 6, "minCount": 2}]}
    story.after(5).workload(("QuotaReserved", "False", "Pending", LIMIT), spec=part).after(5000)
    assert story.tell().reasons() == [("quota", None, "cpu")]


def test_p7_a_suspended_job_without_kueue_is_suspended():
    story = Story()
    story.put("Job", "batch", "train", spec={"parallelism": 1, "suspend": True})
    assert story.after(5000).tell().reasons() == [("not_admitted", "suspended", None)]


def test_p7_a_kueue_queue_on_the_job_is_enough_before_its_workload_exists():
    story = Story()
    story.put("Job", "batch", "train", spec={"suspend": True}, labels={"kueue.x-k8s.io/queue-name": "main"})
    assert story.after(5000).tell().reasons() == [("not_admitted", "quota_check", None)]


def volcano(**group):
    return Story(group=VOLCANO).volcano_job(minimum=2).after(5).volcano_group(minimum=2, **group).after(2000)


def test_p8_a_group_that_was_not_let_in_waits_for_the_scheduler_until_its_queue_says_why():
    story = volcano().event("gang", "Unschedulable", OVERUSED).after(300_000)
    told = story.tell()
    assert told.reasons() == [("scheduler_backlog", "not_enqueued", None), ("quota", "cluster_enqueue_limit", "cpu")]
    assert told.segments[-1]["to_at"] is None, "the last refusal stands, however old"


def test_p8_a_text_about_a_group_without_tasks_is_no_evidence():
    story = (
        volcano()
        .event("gang", "Unschedulable", CEILING)
        .after(3000)
        .event("gang", "Unschedulable", NO_TASKS)
        .after(3000)
    )
    assert story.tell().reasons()[1:] == [("queue_limit", None, "nvidia.com/gpu")]


def test_p8_the_refusal_that_was_said_last_stands():
    story = (
        volcano()
        .event("gang", "Unschedulable", CEILING)
        .after(3000)
        .event("gang", "Unschedulable", OVERUSED)
        .after(3000)
    )
    story.event("gang", "Unschedulable", CEILING, at_ms=story.now - 60_000).after(3000)
    assert story.tell().codes()[1:] == ["queue_limit", "quota"], "an older sight changes nothing"


def test_p8_being_let_in_clears_the_refusal():
    story = (
        volcano()
        .event("gang", "Unschedulable", OVERUSED)
        .after(3000)
        .volcano_group(minimum=2, phase="Inqueue")
        .after(3000)
    )
    assert story.tell().reasons()[-1] == ("pods_not_created", "controller", None)


@pytest.mark.parametrize(
    ("facts", "detail"),
    [({"exists": False, "state": None}, "queue_missing"), ({"state": "Closed"}, "queue_closed"), ({"state": "Closing"}, "queue_closed")],
)  # fmt: skip
def test_p8_a_missing_or_closed_queue_comes_before_everything(facts, detail):
    story = Story(group=VOLCANO).volcano_job(minimum=1)
    story.volcano_group(minimum=1, facts=story.queue(**facts)).event("gang", "Unschedulable", OVERUSED).after(3000)
    assert story.tell().reasons() == [("not_admitted", detail, None)]


def test_p14_nothing_is_concluded_from_a_queue_that_was_not_listed_yet():
    story = Story(group=VOLCANO).volcano_job(minimum=1)
    story.volcano_group(minimum=1, facts=story.queue(exists=None, state=None)).after(3000)
    assert story.tell().reasons() == [("scheduler_backlog", "not_enqueued", None)]


def members(*texts):
    story = volcano(phase="Inqueue").after(1)
    for place, text in enumerate(texts):
        story.pod(f"p{place}", text=text, wanted=OPEN)
    return story.after(5000)


def test_p9_a_silent_refusal_of_the_queue_is_quota_for_the_member_that_carries_it():
    assert members(SILENT, SILENT).tell().reasons()[-1] == ("quota", "queue_refused", None)


def test_p9_below_the_minimum_the_same_text_is_a_gang_that_misses_members():
    assert members(SILENT).tell().reasons()[-1] == ("gang_incomplete", "members_missing", None)


def test_p9_a_queue_whose_ceiling_is_below_the_gang_can_never_let_it_in():
    story = Story(group=VOLCANO).volcano_job(minimum=2)
    story.volcano_group(minimum=2, phase="Inqueue", facts=story.queue(capability={"cpu": "3"})).after(2000)
    asks = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}
    for name in ("a", "b"):
        story.pod(name, text=SILENT, wanted=OPEN, spec=dict(asks))
    assert story.after(5000).tell().reasons()[-1] == ("queue_limit", "never_fits", None)


def test_p9_a_member_has_the_reason_that_its_groups_text_quotes():
    quoted = f"{SILENT}. Origin reason is p0: {SHORT}"
    assert members(quoted, quoted).tell().reasons()[-1] == ("insufficient_resource", None, "nvidia.com/gpu")


def test_p10_victims_lead_if_no_other_member_has_a_reason_of_its_own():
    assert members(PROMISED, PROMISED).tell().codes()[-1] == "waiting_victims"
    assert members(PROMISED, SHORT).tell().codes()[-1] == "insufficient_resource"
    assert members(PROMISED, SILENT).tell().codes()[-1] == "quota"


def test_p10_a_member_that_has_a_place_gives_no_reason():
    placed = "Pod team-a/p0 can possibly be assigned to node-1, once minAvailable is satisfied"
    assert members(placed, SHORT).tell().codes()[-1] == "insufficient_resource"


def test_p10_a_nomination_by_volcano_proves_nothing():
    story = volcano(phase="Inqueue").after(1)
    story.pod("a", text=SHORT, wanted=OPEN, nominated="node-1").pod("b", text=SHORT, wanted=OPEN).after(5000)
    assert story.tell().codes()[-1] == "insufficient_resource"


@pytest.mark.parametrize(
    ("said_of_preemption", "reason"),
    [
        ("", "waiting_victims"),
        (" preemption: found a potential placement for pod on node n1, preempting 2 victims", "waiting_victims"),
        (" preemption: not eligible due to a terminating pod on the nominated node.", "waiting_victims"),
        (" preemption: 0/8 nodes are available: 8 Preemption is not helpful for scheduling.", "insufficient_resource"),
    ],
)
def test_p10_a_nomination_by_kube_scheduler_counts_unless_preemption_helps_nowhere(said_of_preemption, reason):
    text = f"0/8 nodes are available: 8 Insufficient cpu.{said_of_preemption}"
    story = Story().batch_job().after(10).pod("a", text=text, wanted=OPEN, nominated="n1").after(5000)
    assert story.tell().codes() == [reason]


def test_p11_pods_that_do_not_exist_are_not_the_schedulers_backlog():
    story = Story().batch_job().after(5000).pod("a").after(5000)
    assert story.tell().reasons() == [
        ("pods_not_created", "controller", None),
        ("scheduler_backlog", "not_tried", None),
    ]


def test_p11_the_detail_says_what_the_controller_waits_for():
    story = Story().batch_job().after(10).pod("a", node="n").after(5000).pod("a", deleting=30).after(3000).gone("a")
    assert story.after(3000).tell().reasons(2) == [
        ("pods_not_created", "terminating_predecessor", None),
        ("pods_not_created", "controller", None),
    ]
    story = Story().batch_job().after(10).pod("a", node="n").after(5000).pod("a", phase="Failed").after(3000)
    assert story.tell().reasons(2) == [("pods_not_created", "back_off", None)]


def test_p11_a_pod_that_may_not_be_made_is_told_with_the_controllers_words():
    said = 'Error creating: pods "a" is forbidden: violates PodSecurity'
    story = Story().batch_job().after(2000).event("train", "FailedCreate", said).after(3000)
    told = story.tell()
    assert told.reasons()[-1] == ("pods_not_created", "create_failed", None)
    assert told.segments[-1]["message"] == said


def test_p6_a_resource_quota_that_refuses_pods_is_quota():
    said = (
        'Error creating: pods "a" is forbidden: exceeded quota: compute, requested: cpu=4, used: cpu=8, limited: cpu=10'
    )
    story = Story().batch_job().after(2000).event("train", "FailedCreate", said).after(3000)
    assert story.tell().codes()[-1] == "quota"


def test_p13_pods_of_a_group_that_does_not_exist_wait_for_it():
    story = Story("PodGroup", NATIVE_GROUP, "gang", uid=placeholder_uid("team-a", "gang"))
    story.pod("a", spec={"schedulingGroup": {"podGroupName": "gang"}}).after(5000)
    assert story.tell().reasons() == [("gang_incomplete", "group_missing", None)]


def test_p13_gated_pods_of_a_kueue_group_that_is_not_complete_wait_for_the_rest_of_it():
    story = Story("Workload", KUEUE, "group", uid=placeholder_uid("team-a", "group"))
    story.pod("a", gates=("kueue.x-k8s.io/admission",)).after(5000)
    assert story.tell().reasons() == [("gang_incomplete", "members_missing", None)]


def test_p13_words_of_a_scheduler_prove_that_the_group_is_only_not_to_be_seen():
    story = Story("PodGroup", VOLCANO_GROUP, "gang", uid=placeholder_uid("team-a", "gang"))
    story.pod("a", text=SHORT, wanted=OPEN, annotations={"scheduling.k8s.io/group-name": "gang"}).after(5000)
    assert story.tell().codes() == ["insufficient_resource"]


def test_p13_members_of_an_earlier_life_that_are_going_do_not_count():
    story = Story("PodGroup", NATIVE_GROUP, "gang").native_group(minimum=2).after(10)
    story.pod("a", deleting=30).pod("b").after(5000)
    assert story.tell().reasons() == [("gang_incomplete", "members_missing", None)]


def test_gates_lead_only_while_the_rest_cannot_reach_the_minimum():
    story = Story("PodGroup", NATIVE_GROUP, "gang").native_group(minimum=2).after(10)
    story.pod("a").pod("b", gates=("example.com/hold",)).after(5000).pod("c").after(5000)
    assert story.tell().reasons() == [("not_admitted", "gated", None), ("scheduler_backlog", "not_tried", None)]


def test_after_its_gates_are_lifted_a_pod_is_the_schedulers_backlog():
    story = Story("Pod", "", "a").pod("a", gates=("example.com/hold",)).after(5000).pod("a", gates=()).after(5000)
    assert story.tell().reasons() == [("not_admitted", "gated", None), ("scheduler_backlog", "not_tried", None)]


def test_what_a_scheduler_says_only_by_events_counts_until_the_condition_comes():
    story = (
        Story()
        .batch_job()
        .after(10)
        .pod("a", wanted=OPEN)
        .after(2000)
        .event("a", "FailedScheduling", SHORT)
        .after(3000)
    )
    told = story.tell()
    assert told.reasons()[-1] == ("insufficient_resource", None, "nvidia.com/gpu")
    assert told.segments[-1]["evidence"] == "event"


def test_p8_of_a_group_that_nobody_said_a_word_of_a_decision_knows_why():
    story = volcano().decision("enqueue", reason="quota", detail="cluster_enqueue_limit", resource="cpu").after(5000)
    told = story.tell()
    assert told.reasons() == [("scheduler_backlog", "not_enqueued", None), ("quota", "cluster_enqueue_limit", "cpu")]
    assert [row["evidence"] for row in told.segments] == ["condition", "decision"]


def test_p8_a_refusal_at_the_door_ends_when_the_group_is_let_in_whatever_the_decision_was():
    story = volcano().decision("enqueue", reason="quota", detail="cluster_enqueue_limit", resource="cpu").after(5000)
    story.volcano_group(minimum=2, phase="Inqueue").after(10).pod("a").pod("b").after(5000)
    assert story.tell().reasons()[-1] == ("scheduler_backlog", "not_tried", None)


def test_p9_a_queues_refusal_is_one_reason_in_a_text_and_in_a_decision():
    story = volcano(phase="Inqueue").pod("a", text=SILENT).pod("b", text=SILENT).after(5000)
    story.decision(reason="quota", detail="queue_refused", resource="nvidia.com/gpu", nodes=3).after(5000)
    assert story.tell().reasons()[1:] == [("quota", "queue_refused", None)]


def test_p13_members_that_have_come_are_seen_before_the_decision_that_missed_them_is_replaced():
    story = volcano(phase="Inqueue").decision(reason="gang_incomplete", detail="members_missing").after(3000)
    story.pod("a").pod("b").after(5000)
    assert "gang_incomplete" not in story.tell().codes()
