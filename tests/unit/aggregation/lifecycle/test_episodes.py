"""Rules P2 to P5 and P12: when waits begin and end."""

import pytest

from pipeline.records import times
from tests.support.story import BATCH, BEGIN_MS, KUEUE, NATIVE_GROUP, VOLCANO, VOLCANO_GROUP, Story

SHORT = "0/8 nodes are available: 8 Insufficient cpu."


def at(row, column):
    return None if row[column] is None else row[column] - BEGIN_MS


# P3, P4, the start


def test_p4_a_job_that_gets_a_pod_in_a_later_state_began_when_that_pod_was_first_seen():
    story = Story("PodGroup", NATIVE_GROUP, "gang").after(130)
    first_seen = story.now
    story.put("Pod", "", "a", spec={"schedulingGroup": {"podGroupName": "gang"}})
    story.log.clear()  # it was told to the job that the pod had before
    story.after(28_000).native_group(minimum=1).pod("a", node="n", change="added", first_seen=first_seen)
    told = story.tell()
    assert (at(told.wait, "started_at"), told.wait["phase"]) == (130, "scheduled")
    assert told.reasons() == [("gang_incomplete", "group_missing", None)]


# P2, the minimum


def test_p2_a_batch_job_waits_for_parallelism_or_completions_whichever_is_less():
    story = Story().batch_job(parallelism=3, completions=2).after(10)
    story.pod("a", node="n").after(5000).pod("b", node="n").after(5000)
    wait = story.tell().wait
    assert (wait["minimum"], at(wait, "first_task_at"), at(wait, "scheduled_at")) == (2, 10, 5010)


def test_p2_the_groups_minimum_comes_before_the_jobs():
    story = (
        Story(group=VOLCANO)
        .volcano_job(minimum=5)
        .volcano_group(minimum=1, phase="Inqueue")
        .after(10)
        .pod("a", node="n")
    )
    assert story.tell().wait["minimum"] == 1


def test_p2_a_group_without_gang_leaves_the_minimum_to_the_job():
    story = Story().batch_job(parallelism=2).native_group().after(10).pod("a", node="n").after(10)
    assert (story.tell().wait["minimum"], story.tell().wait["phase"]) == (2, "waiting")


def test_p2_a_minimum_that_is_lowered_ends_the_wait_at_that_moment_and_not_before():
    story = Story().batch_job(parallelism=3).after(10).pod("a", node="n").pod("b", node="n").pod("c", text=SHORT)
    story.after(9000).batch_job(parallelism=2)
    told = story.tell()
    assert (told.wait["phase"], at(told.wait, "ended_at"), told.wait["minimum"]) == ("scheduled", 9010, 2)
    assert told.reasons() == [("insufficient_resource", None, "cpu")]


def test_p2_a_lowered_minimum_that_is_not_placed_yet_ends_the_wait_when_it_is():
    story = Story().batch_job(parallelism=4).after(10).pod("a", node="n").after(5000).batch_job(parallelism=2)
    wait = story.after(4000).pod("b", node="n").tell().wait
    assert (wait["phase"], at(wait, "ended_at")) == ("scheduled", 9010)


def test_p2_a_job_whose_object_is_not_seen_has_no_minimum_and_ends_no_wait():
    story = Story().pod("a", node="n").after(20).batch_job(parallelism=2)
    wait = story.tell().wait
    assert (wait["phase"], wait["minimum"]) == ("waiting", 2)


def test_p2_after_a_minute_without_the_jobs_object_one_pod_is_enough():
    story = Story().pod("a").after(3000).pod("a", node="n").after(59_000).tick(2000)
    wait = story.tell().wait
    assert (wait["phase"], at(wait, "ended_at")) == ("scheduled", 3000)


def test_p2_the_object_that_comes_after_all_takes_the_wait_up_again():
    story = Story().pod("a", node="n").tick(61_000)
    story.after(1000).batch_job(parallelism=2)
    assert story.tell().wait["phase"] == "waiting"


def test_p2_a_pod_that_succeeded_counts_for_ever():
    story = Story().batch_job(parallelism=2).after(10).pod("a", node="n").after(2000).pod("a", phase="Succeeded")
    story.after(1000).gone("a").after(2000).pod("b", node="n").after(3000)
    wait = story.tell().wait
    assert (wait["phase"], at(wait, "ended_at")) == ("scheduled", 5010)


def test_p2_a_pod_that_is_being_deleted_or_failed_is_not_placed():
    story = Story().batch_job(parallelism=2).after(10)
    story.pod("a", node="n", deleting=30).pod("b", node="n", phase="Failed").pod("c", node="n").after(10)
    assert story.tell().wait["phase"] == "waiting"


# P3, the start


def test_p3_a_wait_starts_at_the_earliest_creation_among_job_group_and_pods():
    story = Story().after(1500)
    story.pod("a").after(700).batch_job().after(3000).pod("a", node="n")
    assert at(story.tell().waits[0], "started_at") == 1500


def test_p3_pods_that_are_older_than_their_group_waited_for_it():
    story = Story("PodGroup", NATIVE_GROUP, "gang").after(28_000).native_group(minimum=1)
    born = {"creationTimestamp": times.format_us(BEGIN_MS * 1000)}
    story.objects["a"] = {
        "metadata": {"name": "a", "uid": "uid-a", "namespace": "team-a", **born},
        "spec": {},
        "status": {},
    }
    story.pod("a", change="added", spec={"schedulingGroup": {"podGroupName": "gang"}}).after(2000)
    told = story.tell()
    assert told.reasons() == [("gang_incomplete", "group_missing", None), ("scheduler_backlog", "not_tried", None)]
    assert at(told.segments[1], "from_at") == 28_000


def test_p3_plain_pods_that_are_older_than_their_kueue_workload_waited_for_the_rest_of_their_group():
    story = Story("Workload", KUEUE, "group").after(8000)
    story.workload(("QuotaReserved", "False", "Pending", "insufficient unused quota for cpu in flavor a"), name="group")
    born = {"creationTimestamp": times.format_us(BEGIN_MS * 1000)}
    meta = {"name": "a", "uid": "uid-a", "namespace": "team-a", **born}
    story.objects["a"] = {"metadata": meta, "spec": {}, "status": {}}
    told = story.pod("a", change="added", gates=("kueue.x-k8s.io/admission",)).after(5000).tell()
    assert told.reasons() == [("gang_incomplete", "members_missing", None), ("quota", None, "cpu")]
    assert at(told.segments[1], "from_at") == 8000


def test_p2_a_group_of_plain_pods_that_kueue_admits_waits_for_all_of_them():
    story = Story("Workload", KUEUE, "group")
    story.workload(
        ("QuotaReserved", "True", "", ""),
        ("Admitted", "True", "", ""),
        name="group",
        spec={"podSets": [{"name": "a", "count": 2}]},
    )
    story.after(10).pod("a", node="n").pod("b").after(5000)
    assert story.tell().wait["phase"] == "waiting"
    assert story.pod("b", node="n").tell().wait["minimum"] == 2


def test_p3_a_job_that_is_placed_when_first_judged_has_a_wait_of_length_0():
    wait = Story("Pod", "", "a").after(300).pod("a", node="n").tell()
    assert (wait.wait["wait_ms"], wait.wait["phase"], wait.segments) == (0, "scheduled", [])

    placed = Story().after(300).pod("a", node="n").after(6).batch_job(parallelism=1).tell()
    assert (placed.wait["wait_ms"], placed.wait["phase"], placed.segments) == (0, "scheduled", []), "its pod came first"


# P4, times


def test_p4_a_moment_is_the_arrival_held_inside_the_second_that_the_object_names():
    story = Story().batch_job().after(400).pod("a")
    story.now += 7000
    story.objects["a"]["status"] = {"conditions": [story._condition("PodScheduled", "True", "", "")]}
    story.after(2500)
    story.objects["a"]["spec"]["nodeName"] = "n"
    story.put("Pod", "", "a")
    wait = story.tell().wait
    assert at(wait, "scheduled_at") == 7999, "it was seen seconds later, in a second of its own"


def test_p4_a_loss_is_the_moment_at_which_deletion_was_asked_for():
    story = Story().batch_job().after(10).pod("a", node="n").after(5000)
    story.pod("a", deleting=30).after(30_000).gone("a")
    assert at(story.tell().waits[1], "started_at") == 5010


def test_p4_a_scheduled_event_is_the_witness_when_the_pod_is_not_seen_and_the_pod_corrects_it():
    story = Story().batch_job().after(10).pod("a").after(5200)
    story.event("a", "Scheduled", "Successfully assigned team-a/a to n", at_ms=story.now - 40)
    assert at(story.tell().wait, "scheduled_at") == 5170
    story.after(30).pod("a", node="n")
    assert at(story.tell().wait, "scheduled_at") == 5240


def test_p4_an_event_tells_better_than_a_pod_that_is_seen_seconds_late():
    story = Story().batch_job().after(10).pod("a").after(5200)
    story.event("a", "Scheduled", "Successfully assigned team-a/a to n", at_ms=story.now - 40)
    bound = story._condition("PodScheduled", "True", "", "")
    story.after(9000)
    story.objects["a"]["spec"]["nodeName"] = "n"
    story.objects["a"]["status"]["conditions"] = [bound]
    story.put("Pod", "", "a")
    assert at(story.tell().wait, "scheduled_at") == 5170


# P5, gaps


def test_p5_only_a_changed_object_makes_blind_time_a_gap():
    story = Story().batch_job().after(10).pod("a", text=SHORT).after(20_000)
    blind_since = story.now - 13_000
    story.pod("a", node="n", synthetic=True, unseen_since=blind_since).after(10)
    told = story.tell()
    assert [(row["reason"], row["ms"]) for row in told.segments] == [("insufficient_resource", 7010), ("gap", 13_000)]
    assert (told.wait["gap_ms"], told.segments[1]["evidence"]) == (13_000, "gap")


def test_p5_the_end_is_taken_from_object_times_inside_the_gap():
    story = Story().batch_job().after(10).pod("a", text=SHORT).after(8000)
    bound = story._condition("PodScheduled", "True", "", "")
    story.after(12_000)
    story.objects["a"]["spec"]["nodeName"] = "n"
    story.objects["a"]["status"]["conditions"] = [bound]
    story.put("Pod", "", "a", synthetic=True, unseen_since=BEGIN_MS + 5000)
    told = story.tell()
    assert at(told.wait, "ended_at") == 8999
    assert [row["reason"] for row in told.segments] == ["insufficient_resource", "gap"]


def test_p5_a_pod_that_vanished_unseen_was_lost_when_its_replacement_was_created():
    story = Story().batch_job().after(10).pod("a", node="n").after(20_000)
    since = story.now
    story.after(9_000)
    story.objects["b"] = story._new("Pod", "b")
    story.after(6_000).pod("b", change="added", synthetic=True, unseen_since=since).vanished("a", since).after(10)
    assert at(story.tell().waits[1], "started_at") == 29_999


def test_p5_a_replacement_that_is_told_after_the_loss_still_corrects_it():
    story = Story().batch_job().after(10).pod("a", node="n").after(20_000)
    since = story.now
    story.after(9_000)
    story.objects["b"] = story._new("Pod", "b")
    story.after(6_000).vanished("a", since).pod("b", change="added", synthetic=True, unseen_since=since).after(10)
    assert at(story.tell().waits[1], "started_at") == 29_999


def test_p5_a_pod_that_failed_unseen_was_lost_when_its_conditions_say():
    story = Story().batch_job().after(10).pod("a", node="n").after(20_000)
    since = story.now
    disrupted = story.after(4_000)._condition("DisruptionTarget", "True", "TerminationByKubelet", "")
    story.after(9_000).put(
        "Pod", "", "a", status={"phase": "Failed", "conditions": [disrupted]}, synthetic=True, unseen_since=since
    )
    wait = story.tell().waits[1]
    assert (at(wait, "started_at"), wait["cause"]) == (24_999, "TerminationByKubelet")


def test_a_wait_that_was_over_before_the_first_look_is_a_gap_and_partial():
    story = Story().batch_job()
    bound = story.after(600_000)._condition("PodScheduled", "True", "", "")
    story.objects["a"] = story._new("Pod", "a")
    story.objects["a"]["metadata"]["creationTimestamp"] = times.format_us(BEGIN_MS * 1000)
    story.objects["a"]["spec"]["nodeName"] = "n"
    story.objects["a"]["status"]["conditions"] = [bound]
    story.after(3_600_000).log.clear()
    story.put("Job", "batch", "train", change="added", start_observed=False)
    story.put("Pod", "", "a", change="added", start_observed=False)
    told = story.tell()
    assert (told.wait["wait_ms"], told.wait["partial"], told.codes()) == (600_000, True, ["gap"])


# P12, later episodes


def test_p12_a_loss_below_the_minimum_begins_a_new_wait_with_its_cause():
    story = Story().batch_job(parallelism=2).after(10).pod("a", node="n").pod("b", node="n").after(60_000)
    disrupted = story._condition("DisruptionTarget", "True", "PreemptionByScheduler", "")
    story.put("Pod", "", "a", status={"conditions": [disrupted]}).after(5).pod("a", deleting=30)
    story.after(9000).pod("c").after(500).pod("c", node="n")
    told = story.tell()
    assert [(row["cause"], row["phase"], at(row, "started_at"), at(row, "ended_at")) for row in told.waits] == [
        ("", "scheduled", 0, 10),
        ("PreemptionByScheduler", "scheduled", 60_015, 69_515),
    ]


def test_p12_a_failed_pod_begins_a_wait_with_cause_failed():
    story = Story().batch_job().after(10).pod("a", node="n").after(5000).pod("a", phase="Failed").after(5000)
    assert story.tell().waits[1]["cause"] == "Failed"


def test_p12_a_loss_that_leaves_the_minimum_placed_begins_nothing():
    story = Story("PodGroup", VOLCANO_GROUP, "gang").volcano_group(minimum=1, phase="Running").after(10)
    story.pod("a", node="n").pod("b", node="n").after(5000).pod("a", deleting=0).gone("a").after(5000)
    assert len(story.tell().waits) == 1


def test_p12_a_job_whose_status_says_suspended_waits_from_then_on():
    story = Story().batch_job().after(10).pod("a", node="n").after(5000)
    stopped = story._condition("Suspended", "True", "JobSuspended", "")
    story.put("Job", "batch", "train", spec={"suspend": True}, status={"conditions": [stopped]}).after(9000)
    wait = story.tell().waits[1]
    assert (wait["cause"], at(wait, "started_at"), wait["phase"]) == ("suspended", 5010, "waiting")


def test_p12_an_eviction_by_kueue_begins_a_new_wait():
    story = (
        Story().batch_job().after(5).workload(("QuotaReserved", "True", "", ""), ("Admitted", "True", "", "")).after(5)
    )
    story.pod("a", node="n").after(5000)
    story.workload(
        ("Admitted", "False", "", ""), ("Evicted", "True", "Preempted", ""), ("QuotaReserved", "False", "Pending", "")
    )
    assert story.after(5000).tell().waits[1]["cause"] == "Preempted"


def test_p12_a_later_wait_in_which_no_pod_was_placed_before_the_job_ended_was_none():
    story = Story().batch_job().after(10).pod("a", node="n").after(5000).pod("a", phase="Failed").tick(3000)
    failed = story._condition("Failed", "True", "BackoffLimitExceeded", "")
    assert len(story.tell().waits) == 2
    story.put("Job", "batch", "train", status={"conditions": [failed]})
    told = story.tell()
    assert len(told.waits) == 1
    assert {row["episode"] for row in told.segments} <= {1}, "its rows are removed with it"


def test_p12_pods_that_go_with_their_deleted_job_are_no_new_wait():
    story = (
        Story()
        .batch_job()
        .after(10)
        .pod("a", node="n")
        .after(5000)
        .pod("a", deleting=30)
        .after(40)
        .gone("train")
        .after(9000)
    )
    assert [row["phase"] for row in story.tell().waits] == ["scheduled"]


def test_p12_a_preempted_job_that_is_deleted_while_it_waits_has_cancelled_that_wait():
    story = Story().batch_job().after(10).pod("a", node="n").after(5000).pod("a", deleting=30)
    story.after(9000).pod("b", text=SHORT).after(9000).gone("train").after(100)
    assert [row["phase"] for row in story.tell().waits] == ["scheduled", "cancelled"]


# cancelled, and jobs of several kinds


def test_a_job_that_is_deleted_or_fails_while_it_waits_is_cancelled():
    story = Story().batch_job().after(10).pod("a", text=SHORT).after(5000).gone("train")
    wait = story.tell().wait
    assert (wait["phase"], at(wait, "ended_at"), wait["scheduled_at"]) == ("cancelled", 5010, None)


def test_a_lone_pod_that_ends_is_not_waited_for_again():
    story = (
        Story("Pod", "", "a")
        .pod("a")
        .after(500)
        .pod("a", node="n")
        .after(5000)
        .pod("a", deleting=0)
        .gone("a")
        .after(5000)
    )
    assert [row["phase"] for row in story.tell().waits] == ["scheduled"]


def test_a_group_without_a_job_ends_with_its_pods():
    story = Story("PodGroup", NATIVE_GROUP, "gang").native_group(minimum=1).after(10).pod("a", node="n")
    story.after(5000).pod("a", phase="Failed").after(5000)
    assert len(story.tell().waits) == 1


def test_pods_that_are_made_again_after_all_of_a_group_failed_wait_anew():
    story = Story("PodGroup", NATIVE_GROUP, "gang").native_group(minimum=1).after(10).pod("a", node="n")
    story.after(5000).pod("a", phase="Failed").after(5000).pod("b").after(5000)
    told = story.tell()
    assert [(row["cause"], at(row, "started_at")) for row in told.waits] == [("", 0), ("Failed", 5010)]


def test_a_job_whose_pods_nobody_sees_is_placed_when_its_status_says_so():
    story = Story().batch_job().after(5000)
    story.put("Job", "batch", "train", status={"active": 1, "ready": 0}).after(5000)
    assert story.tell().codes() == ["pods_not_created", "unknown"]
    story.put("Job", "batch", "train", status={"active": 1, "ready": 1})
    wait = story.tell().wait
    assert (wait["phase"], at(wait, "ended_at")) == ("scheduled", 10_000)


def test_a_running_group_of_volcano_without_its_pods_does_not_wait():
    story = Story("PodGroup", VOLCANO_GROUP, "gang").volcano_group(
        minimum=4, phase="Running", change="modified", start_observed=False
    )
    wait = story.tell().wait
    assert (wait["phase"], wait["wait_ms"], wait["partial"]) == ("scheduled", 0, True)


def test_a_workload_that_was_evicted_before_the_first_look_is_in_its_second_wait():
    story = Story().after(60_000)
    story.workload(("Evicted", "True", "Preempted", ""), ("QuotaReserved", "False", "Pending", ""), change="modified")
    story.objects["wl"]["metadata"]["creationTimestamp"] = times.format_us(BEGIN_MS * 1000)
    story.log.clear()
    story.put("Workload", KUEUE, "wl", change="modified", start_observed=False).after(5000)
    assert [row["cause"] for row in story.tell().waits] == ["", "Preempted"]


def test_running_since_is_kept_apart_from_the_end_of_the_wait():
    story = Story().batch_job(parallelism=2).after(10).pod("a", node="n").pod("b", node="n").after(4000)
    story.pod("a", phase="Running").after(3000).pod("b", phase="Running")
    wait = story.tell().wait
    assert (at(wait, "scheduled_at"), at(wait, "running_at"), wait["startup_ms"]) == (10, 7010, 7000)


def came_and_went(story, *pods, unseen_since):
    """A batch job that is created, placed pod by pod, and complete when a list shows it all at last."""
    begun = {
        name: story._new(kind, name) for kind, name in (("Job", story.job.name), *(("Pod", name) for name in pods))
    }
    for name in pods:
        begun[name]["spec"]["nodeName"] = "n"
        begun[name]["status"] = {"conditions": [story.after(2000)._condition("PodScheduled", "True", "", "")]}
    complete = story.after(20_000)._condition("Complete", "True", "", "")
    story.after(30_000).objects.update(begun)
    seen = {"change": "added", "synthetic": True, "unseen_since": unseen_since, "start_observed": False}
    spec = {"parallelism": len(pods), "completions": len(pods)}
    status = {"conditions": [complete], "succeeded": len(pods)}
    story.put("Job", BATCH, story.job.name, spec=spec, status=status, **seen)
    for name in pods:
        story.put("Pod", "", name, status={"phase": "Succeeded"}, **seen)
    return story


def test_p5_a_job_that_came_and_went_while_nobody_looked_has_its_wait():
    told = came_and_went(Story(), "a", "b", unseen_since=BEGIN_MS - 500).tell()
    assert (told.wait["phase"], at(told.wait, "started_at"), at(told.wait, "scheduled_at")) == ("scheduled", 999, 4999)
    assert (told.codes(), told.wait["gap_ms"]) == (["gap"], 4000)


def test_p5_a_job_that_was_done_before_the_last_look_has_none():
    assert came_and_went(Story(), "a", unseen_since=BEGIN_MS + 25_000).tell().waits == []


def test_p5_a_lone_pod_that_came_and_went_while_nobody_looked_has_its_wait():
    story = Story("Pod", "", "train")
    pod = story._new("Pod", "train")
    pod["spec"]["nodeName"] = "n"
    pod["status"] = {"conditions": [story.after(3000)._condition("PodScheduled", "True", "", "")]}
    story.after(30_000).objects["train"] = pod
    seen = {"change": "added", "synthetic": True, "unseen_since": BEGIN_MS - 500, "start_observed": False}
    wait = story.put("Pod", "", "train", status={"phase": "Succeeded"}, **seen).tell().wait
    assert (wait["phase"], at(wait, "scheduled_at")) == ("scheduled", 3999)


def test_p5_a_job_that_was_deleted_unseen_after_its_pods_were_placed_has_waited_until_then():
    story = Story().batch_job().after(10).pod("a", text=SHORT).after(5000)
    since = story.now
    bound = story.after(3000)._condition("PodScheduled", "True", "", "")
    story.after(20_000).vanished(story.job.name, since)
    story.objects["a"]["spec"]["nodeName"] = "n"
    story.objects["a"]["status"]["conditions"] = [bound]
    story.put("Pod", "", "a", status={"phase": "Running"}, synthetic=True, unseen_since=since)
    wait = story.tell().wait
    assert (wait["phase"], at(wait, "scheduled_at")) == ("scheduled", 8999)


@pytest.mark.parametrize("end", ["complete", "deleted"])
def test_p5_a_job_whose_end_is_seen_before_its_pods_are_listed_again_was_placed_when_they_say(end):
    """Each kind has a watch of its own: after a break the job's may be there again while the pods' is not yet."""
    story = Story().batch_job(parallelism=2).after(10).pod("a", node="n").pod("b", text=SHORT).after(5000)
    since = story.now
    bound = story.after(3000)._condition("PodScheduled", "True", "", "")
    story.after(20_000)
    if end == "deleted":
        story.gone(story.job.name)
    else:
        complete = story._condition("Complete", "True", "", "")
        story.put("Job", BATCH, story.job.name, status={"conditions": [complete], "succeeded": 2})
    story.after(100).objects["b"]["spec"]["nodeName"] = "n"
    story.objects["b"]["status"]["conditions"] = [bound]
    story.put("Pod", "", "b", status={"phase": "Succeeded"}, synthetic=True, unseen_since=since)
    told = story.tell()
    assert (told.wait["phase"], at(told.wait, "scheduled_at")) == ("scheduled", 8999)
    assert (told.codes(), told.wait["gap_ms"]) == (["insufficient_resource", "gap"], 8999 - 5010)


def test_p5_pods_that_were_placed_after_their_job_had_ended_do_not_tell_that_it_was_placed():
    story = Story().batch_job().after(10).pod("a", text=SHORT).after(5000)
    since = story.now
    story.after(1000).gone(story.job.name)
    bound = story.after(3000)._condition("PodScheduled", "True", "", "")
    story.after(100).objects["a"]["spec"]["nodeName"] = "n"
    story.objects["a"]["status"]["conditions"] = [bound]
    story.put("Pod", "", "a", status={"phase": "Running"}, synthetic=True, unseen_since=since)
    assert story.tell().wait["phase"] == "cancelled"
