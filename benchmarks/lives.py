"""What happens in a made-up cluster: jobs come, are refused, get their nodes, run, end and are cleaned up.

A life is about thirteen frames a pod, as a real one: a third are states of the pod, the rest mostly events that say
nothing about waiting.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from benchmarks import objects
from benchmarks.objects import BEGIN_MS, Object
from collector.kinds.catalog.kinds import KINDS
from collector.kinds.mirror import Mirror, MirrorOptions
from pipeline.records.envelope import Record

PODS = 4
"""Of each job."""
FRAMES = 54
"""Of a life, about."""
_encode = msgspec.json.encode


class Moment(NamedTuple):
    """A frame of a watch, at the time of its arrival."""

    t: int
    watch: str
    type: str
    object: Object


def life(job: int, begin_ms: int, wait_ms: int, run_ms: int, first_version: int) -> Iterator[Moment]:
    """All frames about one job, in order of time. It waits for ever if `wait_ms` is negative."""
    version = iter(range(first_version, first_version + 1000))
    gang = objects.is_gang(job)
    jobs = "jobs.batch.volcano.sh" if gang else "jobs.batch"
    running = {"state": {"phase": "Running"}, "running": PODS} if gang else {"active": PODS}
    ended = {"state": {"phase": "Completed"}} if gang else {"conditions": [{"type": "Complete", "status": "True"}]}

    def of_job(t: int, type: str, status: Object) -> Moment:
        return Moment(t, jobs, type, objects.job(job, begin_ms, next(version), PODS, status))

    def of_group(t: int, type: str, phase: str) -> Iterator[Moment]:
        if gang:
            yield Moment(t, "podgroups.scheduling.volcano.sh", type, objects.group(job, begin_ms, next(version), PODS, phase))  # fmt: skip

    def of_pods(t: int, type: str, **states: Any) -> Iterator[Moment]:
        for task in range(PODS):
            yield Moment(t + task, "pods", type, objects.pod(job, task, begin_ms + 200, next(version), **states))

    def events(t: int, *reasons: str, note: str = "") -> Iterator[Moment]:
        for task in range(PODS):
            for n, reason in enumerate(reasons):
                at = t + 10 * n + task
                made = objects.event(job, task, at, next(version), reason, note or f"{reason} of worker {task}")
                yield Moment(at, "events.events.k8s.io", "ADDED", made)

    yield of_job(begin_ms, "ADDED", {})
    yield from of_group(begin_ms + 100, "ADDED", "Pending")
    yield from of_pods(begin_ms + 200, "ADDED", tried=False)
    yield from of_group(begin_ms + 400, "MODIFIED", "Inqueue")
    yield from of_pods(begin_ms + 1000, "MODIFIED")
    yield from events(begin_ms + 1100, "FailedScheduling", note=objects.REFUSED)
    if wait_ms < 0:
        return
    at, place = begin_ms + wait_ms, f"gpu-{job % objects.NODES}"
    yield from of_pods(at, "MODIFIED", node=place, bound_ms=at)
    yield from events(at + 50, "Scheduled", "Pulling", "Pulled", "Created", "Started")
    yield of_job(at + 500, "MODIFIED", running)
    yield from of_pods(at + 1500, "MODIFIED", node=place, bound_ms=at, phase="Running")
    end = at + run_ms
    yield from of_pods(end, "MODIFIED", node=place, bound_ms=at, phase="Succeeded")
    yield of_job(end + 1000, "MODIFIED", ended)
    yield from of_pods(end + 60_000, "DELETED", node=place, bound_ms=at, phase="Succeeded", deleted_ms=end + 60_000)
    yield from of_group(end + 60_100, "DELETED", "Completed")
    yield of_job(end + 60_200, "DELETED", ended)


def day(jobs: int, every_ms: int, wait_ms: int, run_ms: int) -> Iterator[Moment]:
    """Jobs one after another, their lives woven together in order of time."""
    lives = (
        life(number, BEGIN_MS + number * every_ms, wait_ms + number * 7919 % wait_ms, run_ms, 10_000 + 1000 * number)
        for number in range(jobs)
    )
    return woven(lives, every_ms)


def woven(lives: Iterable[Iterator[Moment]], every_ms: int) -> Iterator[Moment]:
    """Lives that begin `every_ms` after each other, merged without holding them all."""
    waiting: list[tuple[int, int, Moment, Iterator[Moment]]] = []
    for number, each in enumerate(lives):
        begins_ms = BEGIN_MS + number * every_ms
        while waiting and waiting[0][0] < begins_ms:
            yield _advance(waiting)
        first = next(each)
        heapq.heappush(waiting, (first.t, number, first, each))
    while waiting:
        yield _advance(waiting)


def _advance(waiting: list[tuple[int, int, Moment, Iterator[Moment]]]) -> Moment:
    _, number, moment, rest = waiting[0]
    following = next(rest, None)
    if following is None:
        heapq.heappop(waiting)
    else:
        heapq.heapreplace(waiting, (following.t, number, following, rest))
    return moment


def mirror(jobs: int = 0) -> Mirror:
    """A mirror that has listed everything: its nodes, and so many jobs with their groups, none of which has pods yet."""
    made = Mirror("bench", "bench", MirrorOptions())
    for kind in KINDS:
        made.list_begin(kind.name, BEGIN_MS)
        for item in _listed(kind.name, jobs):
            made.list_item(kind.name, _encode(item), BEGIN_MS)
        made.list_end(kind.name, "400", BEGIN_MS, None)
    made.take_changes()
    return made


def _listed(watch: str, jobs: int) -> Iterator[Object]:
    if watch == "nodes":
        yield from map(objects.node, range(objects.NODES))
    for number in range(jobs):
        if watch == ("jobs.batch.volcano.sh" if objects.is_gang(number) else "jobs.batch"):
            yield objects.job(number, BEGIN_MS, number + 1, PODS, {})
        elif watch == "podgroups.scheduling.volcano.sh" and objects.is_gang(number):
            yield objects.group(number, BEGIN_MS, number + 1, PODS, "Inqueue")


def records(moments: Iterable[Moment]) -> Iterator[Record]:
    """What a collector makes of it."""
    made = mirror()
    second = BEGIN_MS // 1000
    for moment in moments:
        if moment.t // 1000 > second:
            second = moment.t // 1000
            yield from made.tick(second * 1000)
        yield from made.frame(moment.watch, moment.type, _encode(moment.object), moment.t)
