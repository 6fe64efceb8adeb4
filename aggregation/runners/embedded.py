"""The embedded runner: one thread, 256 bucket machines, the spool's log in, the outbox out.

A turn reads a batch of the log, applies it, and commits states, timers, position and rows in one transaction. A kill at
any point repeats the turn from the last commit and makes the same rows again. Ticks go to all buckets, so their times
are one number except in between.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import msgspec

from aggregation.runners.bucket import Bucket, Operator, Stored
from aggregation.runners.store import Progress, StateStore
from pipeline import faults
from pipeline.log import Batch, Position
from pipeline.records import codec, dead_letters, rows, tables
from pipeline.records.envelope import Record, TickRecord
from pipeline.records.jobs import BUCKETS, JobRef

_MAX_OPEN_STATES = 200_000
_MAX_BATCH_BYTES = 32 << 20
"""Of lines in one transaction: a state that many of its records change is stored once, at the price of this much memory."""


class Log(Protocol):
    """Where batches come from: `pipeline.log`'s named reader."""

    def read(self, max_records: int = ..., max_bytes: int = ...) -> Batch: ...
    def ack(self, position: Position) -> None: ...


class Turn(NamedTuple):
    """What one turn did: records applied (ticks not counted), rows written, dead letters, damaged bytes passed over.

    `moved`: there was something to do.
    """

    records: int
    rows: int
    dead: int
    lost_bytes: int
    moved: bool


class EmbeddedRunner:
    """Applies the log to the operator; see the module's text. `job_of` says whose job a record concerns."""

    def __init__(
        self,
        operator: Operator,
        job_of: Callable[[Record], JobRef | None],
        store: StateStore,
        log: Log,
        cluster: str,
        *,
        acked: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._job_of = job_of
        self._store = store
        self._log = log
        self._cluster = cluster
        self._acked = acked
        found = store.progress()
        self._generation = found.generation if found else store.generation()
        self.position = found.position if found else Position(0, 0)
        self.now = found.now if found else -1
        seen = found.buckets if found else (-1,) * BUCKETS
        self._buckets = [Bucket(operator, store, cluster, max(own, self.now)) for own in seen]
        for bucket, key, timers in store.timers():
            self._buckets[bucket].arm(key, timers)
        self._touched: set[int] = set()
        self._reported = self.now
        self._dead: list[rows.Row] = []

    def turn(self, max_records: int) -> Turn:
        """Reads, applies and commits one batch; `moved` is False when the log has nothing new.

        Raises Transient when the commit, or the ack after it, does not get through: this runner is then of no use any
        more. One that is made anew goes on from the last commit.
        """
        batch = self._log.read(max_records=max_records, max_bytes=_MAX_BATCH_BYTES)
        if batch.end == self.position:
            return Turn(0, 0, 0, 0, False)
        with _no_search_for_cycles():
            applied = 0
            for stamp, line in batch.entries:
                applied += self._apply(stamp, line)
            self.position = batch.end
            written, dead = self._commit()
        return Turn(applied, written, dead, batch.lost_bytes, True)

    def _apply(self, stamp: int, line: bytes) -> int:
        try:
            record = codec.decode(line)
        except codec.Undecodable as error:
            self._dead.append(self._dead_letter("line", line, error, stamp))
            return 0
        if type(record) is TickRecord:
            self._tick(stamp)
            return 0
        number = record.bucket
        bucket = self._buckets[number]
        self._touched.add(number)
        job = self._job_of(record)
        if job is None:
            bucket.advance(stamp)
        else:
            bucket.take(f"{record.cluster}/{job.uid}", job, record, stamp)
        if bucket.failures:
            self._bury(bucket, stamp)
        return 1

    def _bury(self, bucket: Bucket, stamp: int) -> None:
        for failure in bucket.failures:
            kind = "timer" if failure.record is None else type(failure.record).__name__
            data = b"" if failure.record is None else codec.encode(failure.record)
            self._dead.append(self._dead_letter(kind, data or failure.key.encode(), failure.error, stamp))
        bucket.failures.clear()

    def _tick(self, stamp: int) -> None:
        self.now = max(self.now, stamp)
        for number, bucket in enumerate(self._buckets):
            if bucket.advance(stamp):
                self._touched.add(number)

    def _commit(self) -> tuple[int, int]:
        changes: list[tuple[str, int, Stored | None]] = []
        by_table: defaultdict[str, list[rows.Row]] = defaultdict(list)
        for number in sorted(self._touched):
            bucket = self._buckets[number]
            changes.extend((key, number, stored) for key, stored in bucket.commit())
            for row in bucket.rows:
                row.version = rows.sequence(self._generation, row.version)
                by_table[row.table].append(row)
            bucket.rows = []
        by_table[tables.DEAD_LETTER.name].extend(self._dead)
        if self.now > self._reported:
            by_table[tables.PROGRESS.name].append(self._progress_row())
            self._reported = self.now
        items = [(name, msgspec.json.encode(made), len(made)) for name, made in _in_order(by_table) if made]
        faults.point("aggregation.commit")
        self._store.commit(changes, items, self._progress(), self._acked())
        faults.point("aggregation.committed")
        self._log.ack(self.position)
        counts = sum(count for _, _, count in items), len(self._dead)
        self._dead = []
        self._let_go()
        self._touched.clear()
        return counts

    def _let_go(self) -> None:
        if sum(bucket.open_states() for bucket in self._buckets) > _MAX_OPEN_STATES:
            for bucket in self._buckets:
                bucket.forget(lambda key: False)

    def _progress(self) -> Progress:
        return Progress(self._generation, self.position, self.now, tuple(bucket.now for bucket in self._buckets))

    def _progress_row(self) -> rows.Row:
        values = {"cluster": self._cluster, "stage": "aggregation", "log_at": self.now, "loaded_at": None}
        return rows.Row(tables.PROGRESS.name, rows.sequence(self._generation, self.now), values)

    def _dead_letter(self, kind: str, data: bytes, error: Exception, stamp: int) -> rows.Row:
        text = f"{type(error).__name__}: {error}"
        return dead_letters.row("aggregation", kind, data, text, cluster=self._cluster, observed_ms=stamp)


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """States and records hold no cycles, and a turn makes many of them: looking through all again and again is wasted."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _in_order(by_table: dict[str, list[rows.Row]]) -> list[tuple[str, list[rows.Row]]]:
    """Progress last: whoever reads it may rely on all that came before."""
    return sorted(by_table.items(), key=lambda item: item[0] == tables.PROGRESS.name)


def rebuild(store: StateStore) -> Progress:
    """Starts a new generation: states are forgotten, the log is read from its beginning, new rows win over old ones."""
    found = store.progress()
    generation = (found.generation if found else store.generation()) + 1
    progress = Progress(generation, Position(0, 0), -1, (-1,) * BUCKETS)
    store.clear(progress)
    return progress
