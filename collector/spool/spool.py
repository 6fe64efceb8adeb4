"""The spool: records first, then the checkpoint, never the other way round.

Whatever moment the process dies in, the log holds everything up to the checkpoint. What it holds behind it (`tail`) is
true as well: whoever goes on takes it in first, and does not write it again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Self

import msgspec

from collector.kinds.known import KnownChanges
from collector.spool.checkpoint import Changes, Checkpoint, OpenGap, Watch
from collector.spool.deadletter import DeadLetters
from pipeline import faults
from pipeline.config.places import Places
from pipeline.log import LogOptions, LogReader, LogWriter, lock
from pipeline.log.positions import BEGINNING
from pipeline.process import data_folder
from pipeline.records import codec
from pipeline.records.envelope import Record, TickRecord
from pipeline.telemetry import catalogue, logs

log = logs.get(__name__)


class Spool:
    """Log, checkpoint and dead letters of one cluster. One thread commits; others may append to `log`."""

    def __init__(self, places: Places, *, options: LogOptions) -> None:
        """Open or make the spool. Raises UserError when another process has it, LogFull when the disk is full."""
        with data_folder.failures_named(places.spool):
            places.spool.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            opened.callback(os.close, lock.take(places.spool / "LOCK", "the spool"))
            self.log = LogWriter(places.records, options=options)
            opened.callback(self.log.close)
            self.dead = DeadLetters(places.dead_letters, options.cluster)
            opened.callback(self.dead.close)
            self.checkpoint = Checkpoint(places.collector_db, options.cluster)
            opened.callback(self.checkpoint.close)
            self._place()
            self._opened = opened.pop_all()
        self._tell_recovery()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, records: Sequence[Record]) -> None:
        """Buffer records. Raises LogFull while the log is full; then none of them was taken."""
        self.log.put(records)

    def tick(self, now_ms: int) -> None:
        """Let log time pass: wall clock of a live cluster, recorded time of a replay."""
        self.log.tick(now_ms)

    def commit(
        self,
        known: KnownChanges | None = None,
        watches: Iterable[Watch] = (),
        *,
        opened: Iterable[OpenGap] = (),
        closed: Iterable[str] = (),
    ) -> None:
        """Make what was written durable, then move the checkpoint.

        Raises LogFull or LogBroken, which leave the checkpoint where it was; the same commit may be made again.
        """
        self.dead.sync()
        position = self.log.sync()
        changes = Changes(known=known, watches=tuple(watches), opened=tuple(opened), closed=tuple(closed))
        if changes != Changes():
            faults.point("spool.commit")
            self.checkpoint.commit(msgspec.structs.replace(changes, position=position))
        catalogue.spool_bytes.labels("records").set(self.log.total_bytes)

    def tail(self) -> Iterator[Record]:
        """What the log holds of this cluster behind the checkpoint, in order, without ticks."""
        with LogReader(self.log.directory, "collector", start=self.checkpoint.load().position) as reader:
            while (batch := reader.read()).entries:
                for entry in batch.entries:
                    try:
                        record = codec.decode(entry.line)
                    except codec.Undecodable:
                        continue  # damaged on disk; what it said is asked for again
                    if record.cluster == self.checkpoint.cluster and not isinstance(record, TickRecord):
                        yield record

    def versions(self) -> Mapping[str, str]:
        """The version up to which each watch's changes are in the log, by key."""
        return {key: watch.version for key, watch in self.checkpoint.load().watches.items()}

    def close(self) -> None:
        """Sync and give the spool back. The checkpoint stays where the last commit put it."""
        self._opened.close()

    def _place(self) -> None:
        """Where the checkpoint stands in the log, where it does not say so.

        A new one stands before its first record, so that its log is behind it. One that was lost stands at the beginning
        of the log, which tells what was known. One that is ahead of the log, which is an older copy then, knows more than
        the log: it stands at its end.
        """
        end, position = self.log.sync(), self.checkpoint.load().position
        if position is None and not self.checkpoint.clusters() and self.log.stamp:
            log.warning("checkpoint_lost", path=str(self.checkpoint.path), now="what is known is read from the log")
            end = BEGINNING
        elif position is not None and position > end:
            log.error("checkpoint_ahead_of_log", path=str(self.checkpoint.path), log=str(self.log.directory))
        elif position is not None:
            return
        self.checkpoint.commit(Changes(position=end))

    def _tell_recovery(self) -> None:
        found = self.log.recovery
        if found.cut_bytes:
            log.warning("torn_tail_cut", log=str(self.log.directory), bytes=found.cut_bytes)
            catalogue.spool_dropped.labels("records", "torn").inc()
        if found.indexed_bytes:
            log.info("index_caught_up", log=str(self.log.directory), bytes=found.indexed_bytes)
