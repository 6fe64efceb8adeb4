"""Figures of queues and nodes by the minute: what has changed since it was told last, and everything at each full hour.

They are read off the tables of Volcano's side, which hold every pod that has a node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeVar

import msgspec

from pipeline.records import jobs, times
from pipeline.records.envelope import FiguresRecord
from pipeline.records.figures import Figures, NodeFigures, QueueFigures
from scheduler_core import figures
from scheduler_core.cache.mirror import Mirror
from scheduler_core.shadow.records import SOURCE
from scheduler_core.shadow.volcano import Volcano

Row = TypeVar("Row", NodeFigures, QueueFigures)
MOST: Final = 500
"""Rows of one record."""


class Told(msgspec.Struct):
    """What was told last, by node, and by queue and resource; and of which minute."""

    minute_ms: int = -1
    nodes: dict[str, NodeFigures] = {}
    queues: dict[str, QueueFigures] = {}


class Book:
    """Works out what is to be told of each minute. `told` goes into snapshots."""

    def __init__(self, volcano: Volcano, pool_labels: Sequence[str]) -> None:
        self.told = Told()
        self.heard_ms = -1
        """Figures of minutes up to this one are in the log already."""
        self._passed_ms = -1
        self._volcano = volcano
        self._pool_labels = pool_labels

    def due(self, stamp: int) -> int | None:
        """The minute (ms) that log time has come to, if nothing was told of it yet."""
        minute_ms = stamp // times.MINUTE_MS * times.MINUTE_MS
        return minute_ms if minute_ms > max(self.told.minute_ms, self._passed_ms) else None

    def pass_over(self, minute_ms: int) -> None:
        """There are no figures of this minute; what it would have told, the next one tells."""
        self._passed_ms = minute_ms

    def records(self, mirror: Mirror, minute_ms: int) -> list[FiguresRecord]:
        """What holds from this minute on and was not told yet."""
        session = self._volcano.opened(mirror, minute_ms)
        nodes = {each.node: each for each in figures.of_nodes(session, self._pool_labels)}
        queues = {f"{each.queue}/{each.resource}": each for each in figures.of_queues(session)}
        before, whole = self.told, minute_ms // times.HOUR_MS > self.told.minute_ms // times.HOUR_MS
        self.told = Told(minute_ms, nodes, queues)
        if minute_ms <= self.heard_ms:
            return []
        told_queues = _news(queues, before.queues, whole) + [_ended(each) for each in _gone(queues, before.queues)]
        told_nodes = _news(nodes, before.nodes, whole) + [_left(each) for each in _gone(nodes, before.nodes)]
        parts = [Figures(minute_ms=minute_ms, queues=tuple(some)) for some in _pieces(told_queues)]
        parts += [Figures(minute_ms=minute_ms, nodes=tuple(some)) for some in _pieces(told_nodes)]
        return [_record(mirror.cluster, part, each) for part, each in enumerate(parts)]


def _news(now: Mapping[str, Row], before: Mapping[str, Row], whole: bool) -> list[Row]:
    return [each for key, each in now.items() if whole or before.get(key) != each]


def _gone(now: Mapping[str, Row], before: Mapping[str, Row]) -> list[Row]:
    return [each for key, each in before.items() if key not in now]


def _left(node: NodeFigures) -> NodeFigures:
    return NodeFigures(node.node, node.pool)


def _ended(queue: QueueFigures) -> QueueFigures:
    return QueueFigures(queue.queue, queue.resource, queue.tenant)


def _pieces(rows: list[Row]) -> Iterator[list[Row]]:
    return (rows[at : at + MOST] for at in range(0, len(rows), MOST))


def _record(cluster: str, part: int, body: Figures) -> FiguresRecord:
    return FiguresRecord(
        id=f"{cluster}/{body.minute_ms}/figures/{part}",
        source=SOURCE,
        cluster=cluster,
        partitionkey=str(jobs.bucket_of(cluster, "", "figures")),
        observedms=body.minute_ms,
        subject="figures",
        time=times.format_us(body.minute_ms * 1000),
        data=body,
    )
