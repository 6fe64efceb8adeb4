"""Feeds the machine from the log and appends what it decides; goes on where an earlier run has come to.

What is read again after a restart lies between the last snapshot and the end of the log. Decisions that are in there are
looked for first: a session whose close is in the log is taken from there, one that was not closed opens again and writes
the same records, with the same identities.

Sessions must never hold up the log's other readers. A turn spends some seconds on them at most; the log seconds that it has
no time for are passed over, and counted: the next session sees all that came in them. And who has not come to the log's end
for long reads on to it without any session: decisions go on with what is so now, and the log can let go of what was.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Self

from pipeline import clock
from pipeline.errors import Terminal
from pipeline.log import Entry, LogReader, Position, readers
from pipeline.log.positions import BEGINNING
from pipeline.records import codec
from pipeline.records.decisions import Decision
from pipeline.records.envelope import TYPE_PREFIX, DecisionRecord, FiguresRecord, Record
from pipeline.telemetry import catalogue, logs
from scheduler_core.shadow import snapshots
from scheduler_core.shadow.machine import Machine

READER: Final = readers.SCHEDULER
BUDGET_S: Final = 3.0
"""What the sessions of one turn may take."""
PATIENCE_S: Final = 10.0
"""How long it may not come to the log's end before it goes there without sessions."""
BATCH: Final = 500
"""Records of one turn: of a quiet log less than the ten minutes between two snapshots, which come between turns."""
BATCH_BYTES: Final = 4 << 20
AHEAD_MS: Final = 60_000
"""Records so far behind log time are told: a clock was ahead, and no second passes before it was reached again."""
_SECOND_MS: Final = 1000
_DECISION: Final = b'"' + TYPE_PREFIX.encode() + b'decision.v1"'
_FIGURES: Final = b'"' + TYPE_PREFIX.encode() + b'figures.v1"'
_EVENT: Final = b'"' + TYPE_PREFIX.encode() + b'event.v1"'
_HEAD: Final = 80
"""A record's type stands first; what has another order is decoded whole."""

log = logs.get(__name__)


class Turn(NamedTuple):
    """What one turn did. `spent_s`: the time of its sessions; `moved`: there was something to read; `behind`: there is more
    than one turn can take. `ahead_ms`: so far is log time ahead of what the last record says of itself, 0 if it is not.
    """

    records: int
    sessions: int
    skipped: int
    spent_s: float
    lost_bytes: int
    moved: bool
    behind: bool = False
    ahead_ms: int = 0


class Runner:
    """One reader of one log. `append` makes records durable in it; `folder` is where snapshots lie."""

    def __init__(
        self, machine: Machine, directory: Path, folder: Path, append: Callable[[Sequence[Record]], None]
    ) -> None:
        self.machine = machine
        self._directory = directory
        self._folder = folder
        self._append = append
        self._unwritten: list[DecisionRecord | FiguresRecord] = []
        self._snapshot_ms = -1
        self._behind_since_s: float | None = None
        self._ahead_ms = 0
        begin = self._restore()
        self._snapshot_segment = begin.segment
        self._heard = dict(closed_sessions(directory, begin, machine.session_ms))
        if machine.book is not None:
            machine.book.heard_ms = last_figures_ms(directory, begin)
        self._resumed_ms = max(self._heard, default=-1)
        self.reader = LogReader(directory, READER, start=begin)

    def __enter__(self) -> Self:
        self.reader.ack(self.reader.position)
        return self

    def __exit__(self, *_: object) -> None:
        self.reader.close()

    def turn(self, budget_s: float = BUDGET_S, patience_s: float = math.inf) -> Turn:
        """Reads a batch, decides what is due in it and appends that; nothing is decided once it has been behind the log's
        end for `patience_s`, until it comes there.

        Raises LogFull or LogBroken when the log takes nothing; the decisions are kept and written by the next turn.
        """
        self._write()
        batch = self.reader.read(max_records=BATCH, max_bytes=BATCH_BYTES)
        behind = len(batch.entries) == BATCH or sum(len(entry.line) for entry in batch.entries) > BATCH_BYTES // 2
        if self._is_late(behind, patience_s):
            budget_s = 0.0
        sessions = skipped = 0
        spent_s = 0.0
        if batch.entries and self._snapshot_ms < 0:
            self._snapshot_ms, self._snapshot_segment = batch.entries[0].stamp, self.reader.position.segment
        for entry in batch.entries:
            due = self._due(entry.stamp)
            if due is not None and spent_s < budget_s:
                spent_s += self._decide(due)
                sessions += 1
            elif due is not None:
                skipped += 1
                self.machine.skip()
            minute_ms = self.machine.minute(entry.stamp)
            if minute_ms is not None and spent_s < budget_s:
                spent_s += self._tell_figures(minute_ms)
            self._take(entry)
        catalogue.scheduler_skipped.inc(skipped)
        self._write()
        if batch.entries:
            self._remember()
        return Turn(
            len(batch.entries), sessions, skipped, spent_s, batch.lost_bytes, bool(batch.entries), behind, self._ahead_ms
        )  # fmt: skip

    def _is_late(self, behind: bool, patience_s: float) -> bool:
        """Whether it has not come to the log's end for so long."""
        if not behind:
            self._behind_since_s = None
            return False
        now_s = clock.monotonic_s()
        if self._behind_since_s is None:
            self._behind_since_s = now_s
        return now_s - self._behind_since_s >= patience_s

    def _due(self, stamp: int) -> int | None:
        """The session that has to open before `stamp`; what an earlier run decided is taken from what it wrote."""
        due = self.machine.due(stamp)
        if self._heard:
            for session_ms in sorted(each for each in self._heard if each <= stamp // _SECOND_MS * _SECOND_MS):
                self.machine.heard(session_ms, self._heard.pop(session_ms), last=session_ms == self._resumed_ms)
        return due if due is not None and due > self._resumed_ms else None

    def _decide(self, session_ms: int) -> float:
        began_s = clock.monotonic_s()
        try:
            made = self.machine.decide(session_ms)
        except Exception as error:
            log.exception("session_failed", error=error, session_ms=session_ms)
            catalogue.scheduler_sessions.labels("failed").inc()
            self.machine.settle(session_ms)
            return clock.monotonic_s() - began_s
        self._unwritten += made
        took_s = clock.monotonic_s() - began_s
        catalogue.scheduler_sessions.labels("closed").inc()
        catalogue.scheduler_session.observe(took_s)
        for each in made:
            catalogue.scheduler_decisions.labels(each.data.kind).inc()
            if each.data.kind == "diverged":
                catalogue.scheduler_diverged.labels(each.data.detail or "").inc()
        return took_s

    def _tell_figures(self, minute_ms: int) -> float:
        """A minute that there is no time for has none; the next one tells what has changed since."""
        began_s = clock.monotonic_s()
        try:
            self._unwritten += self.machine.figures(minute_ms)
        except Exception as error:
            log.exception("figures_failed", error=error, minute_ms=minute_ms)
            self.machine.pass_figures(minute_ms)
        return clock.monotonic_s() - began_s

    def _take(self, entry: Entry) -> None:
        record = told(entry.line)
        if record is not None:
            ahead_ms = entry.stamp - record.observedms
            self._ahead_ms = ahead_ms if ahead_ms > AHEAD_MS else 0
            self.machine.take(record)

    def _write(self) -> None:
        if self._unwritten:
            self._append(self._unwritten)
            self._unwritten = []

    def _remember(self) -> None:
        """A snapshot when it is time for one; everything before it may then leave the log.

        A new segment is time too: a log that fills up sooner could else give up none of its segments.
        """
        stamp, position = self.machine.stamp, self.reader.position
        if stamp - self._snapshot_ms < snapshots.EVERY_MS and position.segment == self._snapshot_segment:
            return
        self._snapshot_ms, self._snapshot_segment = stamp, position.segment
        try:
            snapshots.write(self._folder, stamp, position, self.machine.encode())
            snapshots.prune(self._folder, self._directory)
        except OSError as error:
            log.error("snapshot_not_written", error=str(error), folder=str(self._folder))
            return
        self.reader.ack(position)

    def _restore(self) -> Position:
        """Takes the newest snapshot that can be used; where the log goes on behind it."""
        for each in reversed(snapshots.usable(self._folder, self._directory)):
            try:
                self.machine.restore(each.read())
            except (OSError, zlib.error, Terminal) as error:
                log.warning("snapshot_not_used", path=str(each.path), error=str(error))
                continue
            self._snapshot_ms = each.stamp
            return each.position
        return BEGINNING


def told(line: bytes) -> Record | None:
    """The record of a line, if it may say something of the cluster's objects; the many others are not even decoded."""
    head = line[:_HEAD]
    if _DECISION in head or _EVENT in head or _FIGURES in head:
        return None
    return _decoded(line)


def closed_sessions(directory: Path, begin: Position, after_ms: int) -> Iterator[tuple[int, list[Decision]]]:
    """What earlier runs wrote behind `begin`: the decisions of each session after `after_ms` whose close is there."""
    open_: dict[int, list[Decision]] = {}
    with LogReader(directory, READER, start=begin) as reader:
        while (batch := reader.read()).entries:
            for entry in batch.entries:
                decision = _decision(entry.line)
                if decision is None or decision.source != "shadow" or decision.session_ms <= after_ms:
                    continue
                if decision.kind == "close":
                    yield decision.session_ms, open_.pop(decision.session_ms, [])
                else:
                    open_.setdefault(decision.session_ms, []).append(decision)


def last_figures_ms(directory: Path, begin: Position) -> int:
    """The last minute behind `begin` of which an earlier run wrote figures; -1 without any."""
    last_ms = -1
    with LogReader(directory, READER, start=begin) as reader:
        while (batch := reader.read()).entries:
            for line in (entry.line for entry in batch.entries if _FIGURES in entry.line[:_HEAD]):
                record = _decoded(line)
                if isinstance(record, FiguresRecord):
                    last_ms = max(last_ms, record.data.minute_ms)
    return last_ms


def _decoded(line: bytes) -> Record | None:
    """None for what is none: the aggregation puts it into the dead letter."""
    try:
        return codec.decode(line)
    except codec.Undecodable:
        return None


def _decision(line: bytes) -> Decision | None:
    if _DECISION not in line:
        return None
    record = _decoded(line)
    return record.data if isinstance(record, DecisionRecord) else None
