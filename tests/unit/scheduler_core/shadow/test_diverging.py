"""Where the cluster decides otherwise."""

from pipeline.records.decisions import Decision
from pipeline.records.jobs import JobRef
from scheduler_core.cache.reading import PodSeen
from scheduler_core.model.facts import PodFacts
from scheduler_core.shadow.diverging import AFTER_MS, SURE_MS, Diverging
from scheduler_core.shadow.said import Said

JOB = JobRef("Job", "ml", "train", "job-1", "batch.volcano.sh")


def decision(kind, at=1000, **more):
    return Decision(source="shadow", policy="p", session_ms=at, kind=kind, job=JOB, **more)


def pod(node="n1"):
    return PodSeen(PodFacts(uid="p", namespace="ml", name="p", node=node), "volcano", JOB)


def refused(reason="fragmentation", task="ml/p"):
    known = Said()
    known.news([decision("attribution", reason=reason, task=task)], 1000)
    return known


def test_a_bind_against_a_refusal_is_told_when_nothing_explains_it():
    known, diverging = refused(), Diverging()
    diverging.bound(pod(), known, 1500)
    assert diverging.due_ms == 1500 + SURE_MS
    assert list(diverging.contradicted(known, 2000)) == []
    told = list(diverging.contradicted(known, 3000))
    assert [(each.kind, each.detail, each.job, each.task) for each in told] == [("diverged", "bound", JOB, None)]
    assert "bound ml/p to n1, the shadow had said fragmentation" in told[0].message
    assert known.of("job-1", "ml/p") is None
    assert diverging.due_ms is None


def test_what_eases_within_a_second_after_the_bind_explains_it():
    known, diverging = refused(), Diverging()
    diverging.bound(pod(), known, 1500)
    diverging.eased(2400)
    assert list(diverging.contradicted(known, 9000)) == []


def test_a_reason_of_the_whole_job_speaks_for_its_pods():
    known, diverging = refused(task=None), Diverging()
    diverging.bound(pod(), known, 1500)
    assert len(list(diverging.contradicted(known, 3000))) == 1


def test_a_bind_that_the_shadow_made_too_contradicts_nothing():
    known, diverging = refused(task=None), Diverging()
    known.news([decision("bind", 2000, task="ml/p", node="n2"), decision("attribution", 2000, reason="quota")], 2000)
    diverging.bound(pod(), known, 2500)
    assert diverging.due_ms is None


def test_reasons_that_end_with_other_pods_are_contradicted_by_no_bind():
    for reason in ("pod_affinity", "gang_incomplete", "waiting_victims", "topology_spread"):
        diverging = Diverging()
        diverging.bound(pod(), refused(reason), 1500)
        assert diverging.due_ms is None


def test_a_place_that_nobody_takes_for_long_is_told_once_and_silences_the_jobs_reasons():
    known, diverging = Said(), Diverging()
    for at in range(1000, 1000 + AFTER_MS, 1000):
        bind = decision("bind", at, task="ml/p", node="n1")
        assert list(diverging.binds([bind], known, at)) == []
        known.news([bind], at)
    assert diverging.due_ms == 1000 + AFTER_MS
    late = decision("bind", 1000 + AFTER_MS, task="ml/p", node="n1")
    told = list(diverging.binds([late], known, late.session_ms))
    assert [(each.kind, each.detail) for each in told] == [("diverged", "not_bound")]
    assert "would bind ml/p to n1 since 15 s" in told[0].message
    assert list(diverging.binds([late], known, late.session_ms + 1000)) == []
    assert diverging.silenced(decision("attribution", reason="quota")) and not diverging.silenced(late)


def test_both_agree_again_when_the_shadow_places_nothing_of_the_job():
    known, diverging = Said(), Diverging()
    for at in (1000, 1000 + AFTER_MS):
        list(diverging.binds([decision("bind", at, task="ml/p")], known, at))
    assert list(diverging.binds([], known, 20_000)) == []
    assert not diverging.silenced(decision("attribution", reason="quota"))


def test_after_a_restart_a_place_counts_from_when_it_was_written_and_a_told_one_stays_told():
    known = Said()
    known.news([decision("bind", 1000, task="ml/p")], 1000)
    again = Diverging()
    assert len(list(again.binds([decision("bind", 1000 + AFTER_MS, task="ml/p")], known, 1000 + AFTER_MS))) == 1
    heard = Diverging()
    heard.note(decision("diverged", 2000, detail="not_bound"))
    assert heard.silenced(decision("attribution", reason="quota"))
    assert list(heard.binds([decision("bind", 60_000, task="ml/p")], known, 60_000)) == []
