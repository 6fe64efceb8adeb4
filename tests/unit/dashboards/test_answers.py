"""Why a job waits, as of any moment of its stored waits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards import answers, decisions
from dashboards.objects import Fresh, Job, JobRow, Segment
from pipeline.records import words
from pipeline.records.decisions import Decision

MINUTE = 60_000
START = 1_767_225_600_000
FRESH = Fresh(now_ms=START + 47 * MINUTE, data_until_ms=START + 46 * MINUTE, lag_ms=900, replay=False)
JOB = Job("prod", "research", "Job", "train", "u1", "vision", "vision-a")


def at(minutes):
    return START + round(minutes * MINUTE)


def wait(start=0, end=None, *, episode=1, promise=30, now=47, sla=None, phase=None, **more):
    length = (now if end is None else end) - start
    judged = "none" if promise is None else "met" if length < promise else "met_late"
    values = {
        "job": JOB, "episode": episode, "episodes": 1, "phase": phase or ("waiting" if end is None else "scheduled"),
        "cause": None, "created_ms": START, "started_ms": at(start), "scheduled_ms": None,
        "ended_ms": None if end is None else at(end), "wait_ms": length * MINUTE,
        "promise_ms": None if promise is None else promise * MINUTE,
        "deadline_ms": None if promise is None else at(start + promise), "sla": sla or judged, "overrun_ms": None,
        "leading": None, "now": None, "tasks": 1, "minimum": 1, "gpus": 8, "cpus_milli": None, "memory_bytes": None,
        "priority_class": None, "partial": False,
    }  # fmt: skip
    return JobRow(**values | more)


def part(n, start, end, reason, **more):
    values = {
        "n": n, "reason": reason, "detail": None, "resource": None, "title": words.title("en", reason),
        "from_ms": at(start), "to_ms": None if end is None else at(end), "ms": 0, "nodes": None, "total_nodes": None,
        "message": None, "also": [], "evidence": "condition", "estimated": False,
    }  # fmt: skip
    return Segment(**values | more)


PARTS = [
    part(1, 0, 10, "scheduler_backlog"),
    part(2, 10, 31, "quota", detail="queue_refused"),
    part(3, 31, 40, "scheduler_backlog"),
    part(4, 40, None, "insufficient_resource", resource="nvidia.com/gpu", nodes=2, total_nodes=3, message="0/3 nodes"),
]


def why(wait_, minutes, parts=PARTS, lang="en", sees=None):
    return answers.why(wait_, parts, at(minutes), lang, FRESH, sees)


def held(answer):
    return {(reason.reason, reason.detail): reason.ms // MINUTE for reason in answer.reasons}


def test_the_parts_up_to_the_moment_are_summed_by_reason():
    answer = why(wait(sla="violated"), 47)
    assert held(answer) == {
        ("quota", "queue_refused"): 21,
        ("scheduler_backlog", None): 19,
        ("insufficient_resource", None): 7,
    }
    assert answer.leading == answer.reasons[0]
    assert answer.leading.reason == "quota" and answer.leading.share == round(21 / 47, 4)
    assert (answer.wait_ms, answer.phase, answer.sla) == (47 * MINUTE, "waiting", "violated")
    assert answer.now.reason == "insufficient_resource" and answer.now.message == "0/3 nodes"


def test_what_lies_behind_the_moment_is_cut_off():
    answer = why(wait(sla="violated"), 12)
    assert held(answer) == {("scheduler_backlog", None): 10, ("quota", "queue_refused"): 2}
    assert (answer.wait_ms, answer.at_ms) == (12 * MINUTE, at(12))
    assert answer.now.reason == "quota"


def test_at_a_change_the_part_that_begins_holds():
    assert why(wait(sla="violated"), 31).now.reason == "scheduler_backlog"


def test_a_wait_that_ended_before_the_moment_is_whole_and_nothing_holds_it():
    parts = [part(1, 0, 20, "quota")]
    answer = why(wait(end=20), 40, parts)
    assert (answer.wait_ms, answer.phase, answer.sla) == (20 * MINUTE, "scheduled", "met")
    assert answer.now is None and answer.helps == []
    assert answer.sentence.startswith("Placed after 20m of a 30m promise.")


def test_a_wait_that_had_not_ended_yet_at_the_moment_is_open():
    parts = [part(1, 0, 45, "quota")]
    answer = why(wait(end=45), 20, parts)
    assert (answer.phase, answer.wait_ms, answer.sla) == ("waiting", 20 * MINUTE, "on_track")
    assert answer.now.reason == "quota"
    assert answer.sentence.startswith("Waiting for 20m of a 30m promise; 10m left.")


@pytest.mark.parametrize(
    ("minutes", "sla", "overrun"),
    [(23, "on_track", 0), (24, "at_risk", 0), (29.99, "at_risk", 0), (30, "violated", 0), (44, "violated", 14)],
)
def test_the_promise_is_judged_as_of_the_moment(minutes, sla, overrun):
    answer = why(wait(end=45), minutes, [part(1, 0, 45, "quota")])
    assert (answer.sla, answer.overrun_ms) == (sla, overrun * MINUTE)


def test_at_the_moment_of_the_row_its_own_standing_counts():
    assert why(wait(sla="at_risk", now=10), 10).sla == "at_risk"


def test_a_wait_without_a_promise_has_none_at_any_moment():
    answer = why(wait(promise=None), 47)
    assert (answer.sla, answer.promise_ms, answer.deadline_ms, answer.deadline_at, answer.overrun_ms) == (
        "none", None, None, None, None,
    )  # fmt: skip
    assert answer.sentence.startswith("Waiting for 47m, without a promise.")


def test_a_cancelled_wait_says_so():
    answer = why(wait(end=20, phase="cancelled", sla="cancelled"), 47, [part(1, 0, 20, "quota")])
    assert answer.sla == "cancelled"
    assert answer.sentence.startswith("Cancelled after waiting 20m of a 30m promise.")


def test_the_sentence_is_the_shared_one_in_the_language_asked_for():
    answer = why(wait(sla="violated"), 47, lang="zh")
    assert answer.sentence.startswith("已等待 47m（承诺 30m")


def test_what_the_scheduler_said_helps_comes_before_the_usual_words_if_it_speaks_of_the_same_reason():
    made = Decision(
        source="shadow", policy="p", session_ms=at(1), kind="attribution", reason="insufficient_resource",
        helps=("free 2 GPUs on node-a",),
    )  # fmt: skip
    sees = decisions.told("en", decisions.standing([made], START), "q")
    assert why(wait(sla="violated"), 47, sees=sees).helps == ["free 2 GPUs on node-a"]
    assert why(wait(sla="violated"), 12, sees=sees).helps == [
        words.helps("en", "quota", "queue_refused", None, "vision-a")
    ]


def test_words_about_nodes_are_no_help_where_the_pod_itself_is_refused():
    made = Decision(
        source="shadow", policy="p", session_ms=at(1), kind="attribution", reason="volume", nodes=5, total_nodes=26,
        helps=("it would fit on 10 nodes if they had the labels that it asks for",),
    )  # fmt: skip
    sees = decisions.told("en", decisions.standing([made], START), "q")
    parts = [part(1, 0, None, "volume", message='persistentvolumeclaim "data" not found')]
    assert why(wait(), 5, parts, sees=sees).helps == [words.helps("en", "volume", None, None, "vision-a")]

    later = part(1, 0, None, "volume", total_nodes=27, message="unbound immediate PersistentVolumeClaims")
    known = answers.as_known(later, sees, is_said=False)
    assert (known.message, known.nodes, known.total_nodes) == (None, None, None)


def test_a_reason_nobody_can_help_with_gives_no_help():
    assert why(wait(), 5, [part(1, 0, None, "unknown")]).helps == []


def test_a_wait_that_has_just_begun_is_led_by_its_first_part():
    answer = why(wait(now=0), 0, [part(1, 0, None, "pods_not_created")])
    assert (answer.wait_ms, answer.leading.reason, answer.leading.share) == (0, "pods_not_created", 1.0)


def test_without_parts_there_is_no_reason_and_still_a_sentence():
    answer = why(wait(), 47, [])
    assert (answer.leading, answer.reasons, answer.now, answer.helps) == (None, [], None, [])
    assert "Waiting for 47m" in answer.sentence


def test_times_and_freshness_are_those_of_the_answer():
    answer = why(wait(), 47)
    assert answer.deadline_at == "2026-01-01T00:30:00.000Z"
    assert (answer.now_ms, answer.data_until_ms, answer.lag_ms) == (FRESH.now_ms, FRESH.data_until_ms, 900)


EPISODES = [wait(0, 10), wait(20, 45, episode=2), wait(60, episode=3, now=70)]


@pytest.mark.parametrize(
    ("minutes", "episode"), [(0, 1), (5, 1), (10, 1), (15, 1), (20, 2), (30, 2), (50, 2), (60, 3), (99, 3)]
)
def test_the_wait_that_covers_the_moment_is_meant_else_the_latest_before_it(minutes, episode):
    assert answers.choose(EPISODES, at(minutes)).episode == episode
    assert answers.choose(EPISODES[::-1], at(minutes)).episode == episode


def test_before_the_job_existed_no_wait_is_meant():
    assert answers.choose(EPISODES, START - 1) is None
    assert answers.choose([], at(5)) is None


def test_between_the_creation_of_a_job_and_its_first_wait_that_wait_is_meant():
    later = wait(5, created_ms=START)
    assert answers.choose([later], at(2)) is later
    assert why(later, 2, []).wait_ms == 0


def test_of_two_jobs_of_one_name_the_one_that_waited_then_is_meant():
    old, new = wait(0, 10), wait(30, now=40, job=JOB, episode=1)
    assert answers.choose([new, old], at(20)) is old
    assert answers.choose([new, old], at(31)) is new


@given(
    cuts=st.lists(st.integers(1, 10_000), min_size=1, max_size=12, unique=True).map(sorted),
    names=st.lists(st.sampled_from(["quota", "outranked", "unknown"]), min_size=13, max_size=13),
    moment=st.integers(0, 12_000),
)
def test_reasons_tile_the_wait_at_every_moment(cuts, names, moment):
    bounds = [0, *cuts]
    spans = zip(bounds, [*cuts, None], names, strict=False)
    parts = [
        part(n, 0, None, name, from_ms=START + begin, to_ms=None if end is None else START + end)
        for n, (begin, end, name) in enumerate(spans, 1)
    ]
    answer = answers.why(wait(promise=None), parts, START + moment, "en", FRESH)
    assert sum(reason.ms for reason in answer.reasons) == answer.wait_ms == moment
    assert [reason.ms for reason in answer.reasons] == sorted((reason.ms for reason in answer.reasons), reverse=True)
    assert sum(reason.share for reason in answer.reasons) == pytest.approx(1, abs=0.001)
