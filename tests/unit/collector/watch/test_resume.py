"""A collector that was killed behind its checkpoint knows at its next start what its log knows."""

from __future__ import annotations

from collections.abc import Iterator

from collector.kinds import facts
from collector.kinds.catalog import kinds
from collector.kinds.known import KnownChanges, KnownObject
from collector.spool.checkpoint import OpenGap, Saved, Watch
from collector.watch import resume
from pipeline.records.envelope import EventRecord, ObjectRecord, Record
from pipeline.records.events import EventSeen
from pipeline.records.jobs import JobRef
from pipeline.records.objects import Facts, ObjectChange

TRAIN = JobRef("Job", "team", "train", "j1", "batch")
SET = JobRef("JobSet", "team", "set", "s1", "jobset.x-k8s.io")
NEWS = Facts(tenant="vision")
PODS, EVENTS = "pods", "events.events.k8s.io"


def pod(version: int, change: str = "modified", *, uid: str = "p1", **more: object) -> ObjectRecord:
    fields = {"kind": "Pod", "name": "train-0", "namespace": "team", "job": TRAIN} | more
    data = ObjectChange(change=change, uid=uid, version=str(version), **fields)
    return ObjectRecord(
        id=f"c1/{uid}/{version}/{change}", source="kube", cluster="c1", partitionkey="7", observedms=version, data=data
    )


def event(version: int) -> EventRecord:
    seen = EventSeen(uid="e1", version=str(version), name="e", namespace="team", at_us=1, time_source="event")
    return EventRecord(
        id=f"c1/e1/{version}", source="kube", cluster="c1", partitionkey="7", observedms=version, data=seen
    )


def changes(*tail: Record, watched: tuple[str, ...] = ()) -> KnownChanges:
    return resume.changes_of(tail, kinds.KINDS, watched)


def known(version: int, uid: str = "p1", **more: object) -> KnownObject:
    return KnownObject(PODS, uid, str(version), "team", "train-0", **({"job": TRAIN} | more))


def test_the_last_state_of_an_object_counts() -> None:
    assert changes(pod(1, "added"), pod(2), pod(3)) == KnownChanges([known(3)], [])


def test_what_ended_is_not_known_any_more() -> None:
    assert changes(pod(1, "added"), pod(2, "deleted")) == KnownChanges([], [(PODS, "p1")])


def test_facts_told_are_known_as_told() -> None:
    assert changes(pod(4, "facts", facts=NEWS)).upserts == [known(4, facts=facts.tag_of(NEWS))]
    assert changes(pod(4, "added", facts=NEWS), pod(5)).upserts == [known(5)]


def test_an_object_has_moved_once_its_new_job_was_told() -> None:
    leaves, arrives = pod(3, "moved", moved_to=SET), pod(3, "added", job=SET)
    assert changes(pod(2, "added"), leaves).upserts == [known(2)]
    assert changes(pod(2, "added"), leaves, arrives).upserts == [known(3, job=SET)]


def test_events_are_known_by_the_watch_that_shows_them() -> None:
    assert changes(event(7), event(8)).upserts == [KnownObject(EVENTS, "e1", "8")]
    assert changes(event(7), watched=("events",)).upserts == [KnownObject("events", "e1", "7")]


def test_a_kind_that_is_not_wanted_any_more_is_left_out() -> None:
    assert changes(pod(1, kind="Widget", group="example.com")) == KnownChanges([], [])


def test_what_was_stored_gives_way_to_what_the_log_says_and_the_rest_stays() -> None:
    def stored() -> Iterator[KnownObject]:
        yield known(1)
        yield known(1, "p2")
        yield known(1, "p3", digest=b"x")

    ahead = changes(pod(2), pod(2, "deleted", uid="p2"), pod(2, "added", uid="p4"))
    assert list(resume.brought_up(stored(), ahead)) == [known(1, "p3", digest=b"x"), known(2), known(2, "p4")]


def test_a_watch_that_is_not_wanted_any_more_is_told_once() -> None:
    watches = {key: Watch(key, "7", 1000) for key in (PODS, "nodes", "trains.example.com")}
    wanted = [kind for kind in kinds.KINDS if kind.name != "nodes"]
    gap = OpenGap("trains.example.com", 500, "3", "disabled")
    assert resume.disabled(Saved(watches, {gap.key: gap}), wanted) == [OpenGap("nodes", 1000, "7", "disabled")]
