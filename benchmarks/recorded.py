"""A made-up cluster's day as a recording, as `kube-collector record` writes one: what `up --replay` takes.

Jobs come evenly over the day; each waits, runs, ends and is cleaned up. One in a hundred of the first half waits a quarter
of the day. Nodes report their state every five minutes, as kubelets do, and events expire after an hour, as an API server's
do. The last half hour brings no new job, so that every job has ended, and been forgotten, by its end.
"""

from __future__ import annotations

import gzip
import heapq
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchmarks import lives, objects
from benchmarks.lives import Moment
from benchmarks.objects import BEGIN_MS
from collector.kinds.catalog.kinds import KINDS
from collector.replay.recording import Manifest
from pipeline.kubeapi.resources import Resource
from pipeline.records import times

KEEP_FINISHED_MS = 600_000
"""The aggregation must be told to forget jobs this soon after their end: the last half hour is made for it."""
QUIET_MS = 30 * times.MINUTE_MS
REPORT_MS = 5 * times.MINUTE_MS
EXPIRE_MS = times.HOUR_MS
CLEANED_MS = 60_200
"""A life ends so long after its run; see `lives.life`."""
EVENTS = "events.events.k8s.io"
_RARE = 100
_WATCHES = (
    "nodes",
    "jobs.batch",
    "jobs.batch.volcano.sh",
    "podgroups.scheduling.volcano.sh",
    "pods",
    EVENTS,
)
_encode = msgspec.json.encode


class Day(NamedTuple):
    """The shape of the recording."""

    hours: float
    jobs: int
    nodes: int

    @property
    def end_ms(self) -> int:
        return BEGIN_MS + round(self.hours * times.HOUR_MS)

    @property
    def every_ms(self) -> int:
        """Between two jobs."""
        return (self.end_ms - BEGIN_MS - QUIET_MS) // self.jobs

    def begins_ms(self, job: int) -> int:
        return BEGIN_MS + job * self.every_ms

    def waits_ms(self, job: int) -> int:
        long = job % _RARE == 0 and job < self.jobs // 2
        return 20_000 + job * 7919 % 270_000 + (self.jobs * self.every_ms // 4 if long else 0)

    def runs_ms(self, job: int) -> int:
        return 120_000 + job * 104_729 % 600_000

    def cleaned_ms(self, job: int) -> int:
        """When the job's last object is gone."""
        return self.begins_ms(job) + self.waits_ms(job) + self.runs_ms(job) + CLEANED_MS

    def known(self, at_ms: int) -> int:
        """Jobs that must have a state at the moment: those that are there, and those that ended a short while ago."""
        return sum(self.begins_ms(job) <= at_ms < self.cleaned_ms(job) + KEEP_FINISHED_MS for job in range(self.jobs))


def write(folder: Path, day: Day) -> int:
    """Writes the recording; its frames."""
    folder.mkdir(parents=True)
    kinds = {kind.name: kind for kind in KINDS}
    with ExitStack() as stack:
        files = {
            watch: stack.enter_context(gzip.open(folder / f"{watch}.ndjson.gz", "wb", compresslevel=1))
            for watch in _WATCHES
        }
        for watch, file in files.items():
            kind = kinds[watch]
            target = Resource(kind.group, kind.versions[0], kind.plural, kind.kind, kind.namespaced).path()
            listed = [objects.node(number) for number in range(day.nodes)] if watch == "nodes" else []
            for line in _opening(target, f"{kind.kind}List", kind.api_version, listed):
                file.write(_line(watch, BEGIN_MS - 1000, line))
        frames = 0
        for moment in _moments(day):
            frame = {"frame": {"type": moment.type, "object": moment.object}}
            files[moment.watch].write(_line(moment.watch, moment.t, frame))
            frames += 1
    manifest = Manifest(sorted(f"{watch}.ndjson.gz" for watch in _WATCHES), "bench", times.format_ms(day.end_ms))
    (folder / "manifest.json").write_bytes(_encode(manifest))
    return frames


def _opening(target: str, kind: str, api_version: str, items: list[Any]) -> Iterator[dict[str, Any]]:
    """The list, and the watch that follows it."""
    request = {"method": "GET", "sent": BEGIN_MS - 1000, "status": 200}
    meta = {"resourceVersion": str(len(items) + 1)}
    yield {"request": {**request, "target": target}}
    yield {"list": {"kind": kind, "apiVersion": api_version, "metadata": meta, "items": items}}
    yield {"request": {**request, "target": f"{target}?watch=1&resourceVersion={meta['resourceVersion']}"}}


def _line(watch: str, t: int, told: dict[str, Any]) -> bytes:
    return _encode({"t": t, "watch": watch, **told}) + b"\n"


def _moments(day: Day) -> Iterable[Moment]:
    yield from _of_jobs(day)
    yield from _reports(day)


def in_order(day: Day) -> Iterator[Moment]:
    """All moments in order of time, as a collector meets them."""
    return heapq.merge(_of_jobs(day), _reports(day), key=lambda moment: moment.t)


def _of_jobs(day: Day) -> Iterator[Moment]:
    jobs = (
        lives.life(number, day.begins_ms(number), day.waits_ms(number), day.runs_ms(number), 10_000 + 1000 * number)
        for number in range(day.jobs)
    )
    return _expiring(lives.woven(jobs, day.every_ms), day.end_ms)


def _expiring(moments: Iterable[Moment], end_ms: int) -> Iterator[Moment]:
    """The moments, with the end of each event an hour later."""
    alive: deque[Moment] = deque()
    for moment in moments:
        while alive and alive[0].t <= moment.t:
            yield alive.popleft()
        yield moment
        if moment.watch == EVENTS:
            alive.append(moment._replace(t=moment.t + EXPIRE_MS, type="DELETED"))
    yield from (moment for moment in alive if moment.t < end_ms)


def _reports(day: Day) -> Iterator[Moment]:
    """What the nodes say of themselves: nothing new but its time. In a file of its own, so in an order of its own."""
    for round_ms in range(BEGIN_MS, day.end_ms, REPORT_MS):
        for number in range(day.nodes):
            at_ms = round_ms + number * REPORT_MS // day.nodes
            node = objects.node(number)
            node["metadata"]["resourceVersion"] = str(1_000_000_000 + at_ms - BEGIN_MS)
            node["status"]["conditions"][0]["lastHeartbeatTime"] = objects.stamp(at_ms)
            yield Moment(at_ms, "nodes", "MODIFIED", node)
