"""The sources of the loader in one process: the outbox of judged rows, the record log, the collector's dead letters."""

from __future__ import annotations

from pathlib import Path

import msgspec

from pipeline.log import Batch, LogReader, Position, layout, readers
from pipeline.log.outbox import OutboxReader
from pipeline.log.positions import BEGINNING
from pipeline.records import codec, dead_letters, raw_rows
from pipeline.records.rows import Row
from pipeline.telemetry import catalogue
from sinks.base import Bad, Taken

READER = "doris"
"""The loader's name among the readers of log and outbox."""


def has_given(directory: Path) -> bool:
    """Whether rows of the log in this folder were loaded before. Nothing is put on the list of readers by asking."""
    return (readers.read(directory, READER, Position) or BEGINNING) > BEGINNING


class _OfLog:
    """A reader of a log, whatever rows its lines become."""

    def __init__(self, directory: Path, name: str = READER) -> None:
        self._reader = LogReader(directory, name)
        self.begun = self._reader.position > BEGINNING
        self.ack(self._reader.position)  # on the list of readers from now on, so that nothing unread is removed

    def take(self, max_rows: int, max_bytes: int) -> Taken | None:
        begin = self._reader.position
        batch = self._reader.read(max_rows, max_bytes)
        return None if batch.end == begin else self._taken(batch)

    def _taken(self, batch: Batch) -> Taken:
        """What the lines become."""
        raise NotImplementedError

    def ack(self, end: Position) -> None:
        self._reader.ack(end)

    def again(self) -> bool:
        gone = layout.first(self._reader.directory) > layout.FIRST
        self._reader.close()
        self._reader = LogReader(self._reader.directory, self._reader.name, start=BEGINNING)
        self.ack(BEGINNING)
        layout.sync_directory(self._reader.directory / readers.FOLDER)  # also a machine that dies now begins anew
        return gone

    def close(self) -> None:
        self._reader.close()


class LogSource(_OfLog):
    """Raw rows straight from the record log, and in its ticks the progress of who writes it.

    Lines that are no record are left to the aggregation, which reads the same log and keeps them as dead letters; here
    they are only counted.
    """

    def _taken(self, batch: Batch) -> Taken:
        rows: list[Row] = []
        log_at: dict[str, int] = {}
        size = 0
        for stamp, line in batch.entries:
            size += len(line)
            try:
                record = codec.decode(line)
            except codec.Undecodable:
                catalogue.dead_letters.labels("sinks", "undecodable_record").inc()
                continue
            log_at[record.cluster] = stamp
            rows += raw_rows.all_of(record)
        return Taken(rows, [], size, batch.end, log_at)


class DeadLetterSource(_OfLog):
    """What the collector could not make a record of: a log whose lines are rows already."""

    def _taken(self, batch: Batch) -> Taken:
        rows: list[Row] = []
        bad: list[Bad] = []
        for _, line in batch.entries:
            try:
                letter = dead_letters.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                bad.append(Bad("dead_letter", line, str(error)))
                continue
            if letter is not None:
                rows.append(letter)
        return Taken(rows, bad, sum(len(line) for _, line in batch.entries), batch.end, {})


class OutboxSource:
    """Judged rows, progress of the aggregation and its dead letters, in the order in which they were written."""

    def __init__(self, path: Path, name: str = READER) -> None:
        self._reader = OutboxReader(path, name)
        self._after = self._reader.acked()
        self.begun = self._after > 0
        self.ack(self._after)

    def take(self, max_rows: int, max_bytes: int) -> Taken | None:
        items = self._reader.read(self._after, max_rows, max_bytes)
        if not items:
            return None
        self._after = items[-1].seq
        rows = [row for item in items for row in item.rows]
        bad = [Bad(item.table, item.undecodable, "no rows") for item in items if item.undecodable]
        # The outbox does not tell sizes; a row takes about half a kilobyte.
        size = 512 * len(rows) + sum(len(each.data) for each in bad)
        return Taken(rows, bad, size, self._after, {})

    def ack(self, end: int) -> None:
        self._reader.ack(end)

    def again(self) -> bool:
        self._after = self._reader.acked()
        return self._after > 0

    def close(self) -> None:
        self._reader.close()
