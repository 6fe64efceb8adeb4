"""The loader: rows from every source into the target, each at least once, none lost, memory bounded.

A turn takes what the sources have, up to limits, keeps the newest row of each key, loads one table after the other,
progress last, and then acknowledges. Nothing is acknowledged before everything of the turn is loaded, and nothing more
is read until then: while the target is down the loader holds one batch and its sources keep the rest.

A crash between a load and its ack repeats rows. They converge by key and sequence, so no plan of a batch is kept on
disk; and labels are of this run only, since a label that lives longer than the loader would also make it skip rows that
a person wants loaded anew, for example into a table that was dropped and made again.

A load that Doris refuses for its rows is halved until the rows that do not fit are alone; those go to the dead letters,
the others are loaded.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from pipeline import clock, faults
from pipeline.doris import errors
from pipeline.errors import Transient, Unreachable
from pipeline.records import tables
from pipeline.retry import Backoff
from pipeline.telemetry import catalogue, logs, metrics
from sinks import batch as batches
from sinks import counters
from sinks.base import Bad, Source, Target
from sinks.batch import Batch, Load
from sinks.counters import Minutes

log = logs.get(__name__)

PROGRESS_S = 5.0
"""Progress is written at least so often, also when nothing came."""
SAMPLES = 50
"""So many rows of a load are looked at for the time from the cluster to the table."""
REASON_CHARACTERS = 300
"""So much of a reason goes into the log; the dead letter has all of it."""


class Limits(msgspec.Struct, frozen=True):
    """When a load goes out: after `interval_s`, or sooner at so many rows or bytes of one source."""

    interval_s: float = 5.0
    max_rows: int = 50_000
    max_bytes: int = 32 << 20


class _Turn(msgspec.Struct):
    """What is in hand: loads still to do and what to acknowledge after them."""

    loads: list[Load]
    acks: list[tuple[Source, Any]]
    full: bool
    """A source had more than fits: go on without waiting."""
    empty: bool
    """No source had anything."""


class Loader:
    """Joins sources and target. `turn` and `drain` belong to one thread; the rest may be asked from others."""

    def __init__(self, sources: Sequence[Source], target: Target, cluster: str, limits: Limits) -> None:
        self.beat: Callable[[], object] = lambda: None
        """Called before each load: a turn of many loads is slow, not dead."""
        self._sources = sources
        self._target = target
        self._cluster = cluster
        self._limits = limits
        self._backoff = Backoff(first_s=0.2, max_s=15.0)
        self._turn: _Turn | None = None
        self._log_at: dict[str, int] = {}
        self._written_at: dict[str, int] = {}
        self._written_s = 0.0
        self._version = 0
        self._minutes = Minutes()
        self._drained = False
        self.failure: str | None = None
        """Why the last try failed; None while all is well."""
        self.loaded_s: float | None = None
        """When the last turn was loaded (`monotonic_s`); None before the first."""

    def try_turn(self) -> float:
        """One turn; the seconds to wait before the next. Never raises for what may pass."""
        began_s = clock.monotonic_s()
        try:
            full = self.turn()
        except (Transient, Unreachable) as error:
            if str(error) != self.failure:
                log.warning("rows_refused", error=error, now="they wait")
            self.failure = str(error)
            return self._backoff.next_s(random.random(), getattr(error, "retry_after_s", None))
        if self.failure is not None:
            log.info("rows_taken_again")
            self.failure = None
        self._backoff.reset()
        self.loaded_s = clock.monotonic_s()
        return 0.0 if full else max(0.0, self._limits.interval_s - (self.loaded_s - began_s))

    def drain(self, deadline_s: float) -> bool:
        """Loads until the sources are empty or the time is up; whether they are."""
        until_s = clock.monotonic_s() + deadline_s
        while clock.monotonic_s() < until_s:
            wait_s = self.try_turn()
            if self.failure is None and self._drained:
                return True
            if self.failure is not None:
                threading.Event().wait(min(wait_s, max(0.0, until_s - clock.monotonic_s())))
        return False

    def turn(self) -> bool:
        """Takes (or goes on with) a batch, loads it and acknowledges it; whether there is more at once.

        Raises Transient: the batch stays in hand and the next turn goes on where this one stopped.
        """
        if self._turn is None:
            self._turn = self._take()
        turn = self._turn
        while turn.loads:
            self._deliver(turn.loads[0])
            del turn.loads[0]
            faults.point("sinks.loaded")
        for source, end in turn.acks:
            source.ack(end)
            faults.point("sinks.acked")
        self._turn = None
        self._drained = turn.empty
        return turn.full

    def again(self) -> bool:
        """The warehouse has lost its tables: everything that the sources still have is loaded once more.

        Whether some of what had been loaded is not to be had from them. Raises Transient: ask again.
        """
        self._turn = None
        lost = [source.again() for source in self._sources]
        return any(lost)

    def _take(self) -> _Turn:
        batch = Batch()
        acks: list[tuple[Source, Any]] = []
        full = False
        for source in self._sources:
            end, filled = self._take_from(source, batch)
            full |= filled
            if end is not None:
                acks.append((source, end))
        self._add_counters(batch)
        self._add_progress(batch, bool(batch.rows))
        loads = batch.loads()
        dead = [self._dead_load(batch.bad)] if batch.bad else []
        return _Turn(dead + loads, acks, full, not acks)

    def _take_from(self, source: Source, batch: Batch) -> tuple[Any, bool]:
        """(what to acknowledge, whether a limit ended it) of one source."""
        end = None
        rows, size = self._limits.max_rows, self._limits.max_bytes
        while rows > 0 and size > 0:
            taken = source.take(rows, size)
            if taken is None:
                return end, False
            for row in taken.rows:
                if row.table == tables.PROGRESS.name:
                    row.values["loaded_at"] = clock.now_ms()
                batch.add(row)
            batch.bad += taken.bad
            self._log_at |= taken.log_at
            end = taken.end
            rows -= len(taken.rows)
            size -= taken.size
        return end, True

    def _add_counters(self, batch: Batch) -> None:
        """Those of this process, after each minute of its own cluster's log time."""
        log_at = self._log_at.get(self._cluster)
        minute_ms = None if log_at is None else self._minutes.over(log_at)
        if minute_ms is not None:
            for row in counters.rows(metrics.of_stages(), self._cluster, minute_ms, clock.now_ms()):
                batch.add(row)

    def _add_progress(self, batch: Batch, has_rows: bool) -> None:
        """The loader's own progress: when log time moved or rows go out, and every few seconds."""
        due = clock.monotonic_s() - self._written_s >= PROGRESS_S
        if not (due or has_rows or self._log_at != self._written_at):
            return
        # Never two rows with one version, also when the clock steps back.
        self._version = max(self._version + 1, clock.now_ms())
        for cluster, log_at in self._log_at.items():
            batch.add(batches.progress(cluster, log_at, self._version))
        self._written_at = dict(self._log_at)
        self._written_s = clock.monotonic_s()

    def _deliver(self, load: Load) -> None:
        """Loads all lines but those that do not fit, which become dead letters. Raises Transient."""
        began_s = clock.monotonic_s()
        bad: list[Bad] = []
        self._load(load, bad)
        catalogue.sink_batch.labels("doris").observe(clock.monotonic_s() - began_s)
        catalogue.sink_rows.labels("doris", "loaded").inc(len(load.lines) - len(bad))
        self._observe_way(load)
        if not bad:
            return
        catalogue.sink_rows.labels("doris", "bad").inc(len(bad))
        if load.table == tables.DEAD_LETTER.name:
            for each in bad:
                log.error(
                    "dead_letter_lost", reason=each.error, size=len(each.data), why="its own table does not take it"
                )
            return
        self._deliver(self._dead_load(bad))

    def _load(self, load: Load, bad: list[Bad]) -> None:
        self.beat()
        try:
            self._target.load(load.table, load.lines)
        except errors.BadRows as error:
            if len(load.lines) == 1:
                bad.append(Bad(load.table, load.lines[0], f"{error} {error.details}".strip()))
                return
            half = len(load.lines) // 2
            self._load(Load(load.table, load.lines[:half]), bad)
            self._load(Load(load.table, load.lines[half:]), bad)

    def _dead_load(self, bad: list[Bad]) -> Load:
        letters = Batch()
        for each in bad:
            log.warning("row_unfit", table=each.kind, reason=each.error[:REASON_CHARACTERS], now="it is a dead letter")
            catalogue.dead_letters.labels("sinks", "bad_row").inc()
            letters.add(batches.dead_letter(each, self._cluster, clock.now_ms()))
        return letters.loads()[0]

    def _observe_way(self, load: Load) -> None:
        """The time from the cluster to the table, of some rows; a replay's rows come from another time."""
        if load.table != tables.OBJECT_CHANGE.name:
            return
        now_ms = clock.now_ms()
        for line in load.lines[:: max(1, len(load.lines) // SAMPLES)]:
            row = msgspec.json.decode(line, type=_Observed)
            if not row.cluster.endswith("@replay"):
                catalogue.end_to_end.observe(max(0, now_ms - row.version) / 1000)


class _Observed(msgspec.Struct):
    """Raw rows carry `observedms` as their version."""

    cluster: str
    version: int
