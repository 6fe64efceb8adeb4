"""Rule P18, and how a wait stands against its promise."""

import pytest

from tests.support.story import BEGIN_MS, VOLCANO, Story

KEY = "volcano.sh/sla-waiting-time"


def promised(waiting="1m", **annotations):
    story = Story().after(300)
    return story.batch_job(annotations={KEY: waiting, **annotations}).after(10).pod("a")


def test_the_deadline_counts_from_the_whole_second_of_creation():
    wait = promised().tell().wait
    assert wait["started_at"] == BEGIN_MS + 300
    assert (wait["deadline_at"], wait["promise_ms"]) == (BEGIN_MS + 60_000, 60_000)
    assert wait["promise_source"] == f"job {KEY}"


def test_a_later_wait_counts_from_its_own_start():
    story = promised().after(50).pod("a", node="n").after(5000).pod("a", phase="Failed")
    assert story.tell().waits[1]["deadline_at"] == BEGIN_MS + 5360 + 60_000


@pytest.mark.parametrize(
    ("elapsed", "sla"),
    [(47_999, "on_track"), (48_000, "at_risk"), (59_999, "at_risk"), (60_000, "violated"), (90_000, "violated")],
)
def test_an_open_wait_is_on_track_at_risk_then_violated(elapsed, sla):
    story = promised()
    story.now = BEGIN_MS + elapsed - 1000
    assert story.tell().wait["sla"] == sla


@pytest.mark.parametrize(
    ("elapsed", "sla", "broken"), [(59_999, "met", 0), (60_000, "met_late", 1), (75_000, "met_late", 1)]
)
def test_exactly_at_the_deadline_the_promise_is_broken(elapsed, sla, broken):
    story = promised()
    story.now = BEGIN_MS + elapsed
    told = story.pod("a", node="n").tell()
    assert (told.wait["sla"], len(told.violations)) == (sla, broken)


def test_a_violation_is_open_then_resolved_and_says_by_how_much():
    story = promised()
    story.now = BEGIN_MS + 62_000
    (row,) = story.tick().tell().violations
    assert (row["state"], row["violated_at"], row["resolved_at"]) == ("open", BEGIN_MS + 60_000, None)
    story.now = BEGIN_MS + 75_000
    (row,) = story.pod("a", node="n").tell().violations
    assert (row["state"], row["resolved_at"], row["overrun_ms"]) == ("resolved", BEGIN_MS + 75_000, 15_000)
    assert row["reason"] == "scheduler_backlog"


def test_late_evidence_that_the_wait_ended_in_time_withdraws_the_violation_and_keeps_its_row():
    story = promised()
    story.now = BEGIN_MS + 59_500
    bound = story._condition("PodScheduled", "True", "", "")
    story.now = BEGIN_MS + 64_000
    story.tick()
    assert story.tell().violations[0]["state"] == "open"
    story.objects["a"]["spec"]["nodeName"] = "n"
    story.objects["a"]["status"]["conditions"] = [bound]
    told = story.put("Pod", "", "a").tell()
    assert (told.wait["sla"], told.violations[0]["state"], told.violations[0]["overrun_ms"]) == ("met", "withdrawn", 0)


def test_a_violation_that_had_begun_stays_when_the_wait_is_cancelled():
    story = promised()
    story.now = BEGIN_MS + 70_000
    told = story.gone("train").tell()
    assert (told.wait["sla"], told.violations[0]["state"]) == ("cancelled", "resolved")


def test_violations_of_one_cause_in_one_queue_share_a_fingerprint():
    def broken(name):
        story = Story(name=name).batch_job(annotations={KEY: "1s"}).after(5000).tick()
        return story.tell().violations[0]["fingerprint"]

    assert broken("one") == broken("two")
    assert broken("one").startswith("v1:")


def test_p18_the_group_is_read_first_then_the_job_then_its_template_then_the_queue():
    def waiting_ms(**where):
        story = Story(group=VOLCANO)
        task = (
            {"name": "w", "template": {"metadata": {"annotations": {KEY: "30m"}}}}
            if "template" in where
            else {"name": "w"}
        )
        story.volcano_job(annotations={KEY: "20m"} if "job" in where else {})
        story.put("Job", VOLCANO, "train", spec={"tasks": [task]})
        notes = {KEY: "10m"} if "group" in where else {}
        story.volcano_group(annotations=notes, facts=story.queue(waiting_time="40m" if "queue" in where else None))
        wait = story.tell(default_waiting_ms=7_000).wait
        return wait["promise_ms"] // 60_000 or 0, wait["promise_source"].split()[0]

    assert waiting_ms(group=1, job=1, template=1, queue=1) == (10, "group")
    assert waiting_ms(job=1, template=1, queue=1) == (20, "job")
    assert waiting_ms(template=1, queue=1) == (30, "template")
    assert waiting_ms(queue=1) == (40, "queue")
    assert waiting_ms() == (0, "default")


def test_an_unreadable_promise_counts_as_absent_and_is_reported():
    wait = promised("2d").tell(default_waiting_ms=3_600_000).wait
    assert (wait["promise_ms"], wait["promise_source"]) == (3_600_000, "default")
    assert wait["misconfigured"] == f"{KEY}=2d"


def test_without_any_promise_there_is_none():
    wait = Story().batch_job().tell().wait
    assert (wait["sla"], wait["deadline_at"], wait["promise_source"]) == ("none", None, None)


def test_a_promise_that_changes_while_the_job_waits_applies_from_now_on():
    story = promised().after(5000).batch_job(annotations={KEY: "2m"})
    assert story.tell().wait["deadline_at"] == BEGIN_MS + 120_000


def test_a_lone_pod_carries_its_own_promise():
    wait = Story("Pod", "", "a").pod("a", annotations={KEY: "5m"}).tell().wait
    assert wait["promise_ms"] == 300_000
