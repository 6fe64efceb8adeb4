"""A recording judged in memory: frames to records to rows, as the stages do it, in one pass and without a disk.

The records are those a replay would write, in its order and with its ticks; the buckets are the product's own. What
comes back are the rows that a warehouse would hold at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from aggregation import topology
from aggregation.runners.bucket import Bucket, Failure, Stored
from collector.kinds.catalog import KINDS
from collector.kinds.mirror import Mirror, MirrorOptions
from collector.replay.player import beats
from collector.replay.recording import Recording
from collector.watch.follower import Follower
from pipeline.records import rows as rows_of
from pipeline.records.envelope import Record
from pipeline.records.rows import Row

Key = tuple[Any, ...]


class Logged(NamedTuple):
    """A line of the log: its stamp, and the record; None is a tick."""

    stamp: int
    record: Record | None


class Judged(NamedTuple):
    """Rows by table and key as they stand at the end, everything that was written, and what failed."""

    tables: dict[str, dict[Key, dict[str, Any]]]
    written: list[Row]
    failures: list[Failure]


class NoStore:
    """Nothing was stored before."""

    def get(self, key: str) -> Stored | None:
        return None


def log_of(folder: Path) -> Iterator[Logged]:
    """The log that a replay of a recording writes."""
    recording = Recording(folder)
    follower = Follower(Mirror(folder.name, "test", MirrorOptions()))
    stamp = 0
    absent = [kind.name for kind in KINDS if kind.name not in recording.watches]
    begin = recording.bounds()[0]
    for record in follower.absent(absent, begin):
        yield Logged(begin, record)
    for beat in beats(recording):
        made = follower.take(beat.watch, beat.happening) if beat.happening is not None else follower.tick(beat.t)
        for record in made:
            stamp = max(stamp, record.observedms)
            yield Logged(stamp, record)
        if beat.happening is None:
            stamp = max(stamp, beat.t)
            yield Logged(stamp, None)


def judge(log: Iterable[Logged], cluster: str, options: topology.Options) -> Judged:
    """Applies a log to the operators, as the runners do. A bucket that has seen nothing but ticks is not made."""
    operator = topology.JobOperator(options)
    buckets: dict[int, Bucket] = {}
    ticked = -1
    for stamp, record in log:
        if record is None:
            ticked = max(ticked, stamp)
            for bucket in buckets.values():
                bucket.advance(stamp)
            continue
        bucket = buckets.setdefault(record.bucket, Bucket(operator, NoStore(), cluster, ticked))
        job = topology.job_of(record)
        if job is None:
            bucket.advance(stamp)
        else:
            bucket.take(f"{record.cluster}/{job.uid}", job, record, stamp)
    written = [row for _, bucket in sorted(buckets.items()) for row in bucket.rows]
    failures = [failure for _, bucket in sorted(buckets.items()) for failure in bucket.failures]
    return Judged(standing(written), written, failures)


def standing(written: list[Row]) -> dict[str, dict[Key, dict[str, Any]]]:
    """The rows as a warehouse holds them: of one key the highest version, unless it is a removal."""
    newest: dict[tuple[str, Key], Row] = {}
    for row in written:
        key = row.table, rows_of.key_of(row)
        if key not in newest or newest[key].version <= row.version:
            newest[key] = row
    tables: dict[str, dict[Key, dict[str, Any]]] = {}
    for (table, key), row in newest.items():
        if not row.deleted:
            tables.setdefault(table, {})[key] = row.values
    return tables
