"""What is news of a session's decisions."""

import msgspec

from pipeline.records.decisions import Decision
from pipeline.records.jobs import JobRef
from scheduler_core.shadow.said import FIGURES_MS, Said

JOB = JobRef("Job", "ml", "train", "job-1", "batch.volcano.sh")


def said(kind="attribution", *, at=1000, task=None, job=JOB, reason="quota", **more):
    return Decision(source="shadow", policy="p", session_ms=at, kind=kind, job=job, task=task, reason=reason, **more)


def at(decision, ms):
    return msgspec.structs.replace(decision, session_ms=ms)


def test_an_unchanged_reason_is_written_once():
    known = Said()
    first = said()
    assert known.news([first], 1000) == [first]
    assert known.news([at(first, 2000)], 2000) == []
    assert known.due_ms is None


def test_another_reason_is_written_at_once():
    known = Said()
    known.news([said()], 1000)
    other = said(at=2000, reason="fragmentation")
    assert known.news([other], 2000) == [other]


def test_new_figures_of_a_reason_that_stands_wait_and_come_by_themselves():
    known = Said()
    known.news([said(nodes=3)], 1000)
    assert known.news([said(at=2000, nodes=4)], 2000) == []
    assert known.due_ms == 1000 + FIGURES_MS
    late = said(at=known.due_ms, nodes=4)
    assert known.news([late], late.session_ms) == [late]
    assert known.due_ms is None


def test_what_is_not_said_any_more_is_taken_back_once():
    known = Said()
    known.news([said(), said(task="ml/p", reason="dra")], 1000)
    gone = known.news([said(at=2000)], 2000)
    assert [(each.kind, each.task, each.job) for each in gone] == [("discard", "ml/p", JOB)]
    assert known.news([said(at=3000)], 3000) == []


def test_a_bind_takes_its_refusal_back_and_needs_no_word_when_it_is_done():
    known = Said()
    known.news([said(task="ml/p")], 1000)
    bound = said("bind", at=2000, task="ml/p", reason=None, node="n1")
    assert known.news([bound], 2000) == [bound]
    assert known.news([], 3000) == []


def test_an_entry_stands_beside_a_reason_and_is_followed_by_it():
    known = Said()
    reason = said()
    known.news([reason], 1000)
    entry = said("enqueue", at=2000, reason=None)
    assert known.news([entry, at(reason, 2000)], 2000) == [entry, at(reason, 2000)]
    assert known.news([at(entry, 3000), at(reason, 3000)], 3000) == []
    assert known.news([at(reason, 4000)], 4000) == []


def test_a_refused_entry_is_a_reason_of_the_job():
    known = Said()
    known.news([said("enqueue")], 1000)
    assert known.of("job-1").kind == "enqueue"
    assert [each.kind for each in known.news([], 2000)] == ["discard"]


def test_an_eviction_and_a_reason_of_one_task_are_two_things():
    known = Said()
    both = [said(task="ml/p"), said("evict", task="ml/p", reason=None)]
    assert known.news(both, 1000) == both
    assert known.news(both[:1], 2000) == []


def test_what_is_forgotten_is_written_anew():
    known = Said()
    known.news([said()], 1000)
    known.forget("job-1")
    assert [each.kind for each in known.news([said(at=2000)], 2000)] == ["attribution"]


def test_lines_of_an_earlier_run_and_its_records_lead_to_the_same():
    decisions = [
        said(),
        said("enqueue", reason=None, job=JobRef("Job", "ml", "b", "job-2")),
        said(task="ml/p", reason="dra"),
    ]
    straight, heard = Said(), Said()
    for each in straight.news(decisions, 1000) + straight.news(decisions[:1], 2000):
        heard.note(each)
    again = Said(straight.lines())
    for known in (heard, again):
        assert known.news([at(decisions[0], 3000)], 3000) == []
        assert known.of("job-1", "ml/p") is None


def test_a_divergence_that_is_heard_clears_its_job():
    known = Said()
    known.news([said(), said(task="ml/p")], 1000)
    known.note(said("diverged", at=2000, reason=None))
    assert known.of("job-1") is None and known.of("job-1", "ml/p") is None
