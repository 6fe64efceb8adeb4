"""Input that no record could be made of, kept as it came: a small log of its own, the oldest removed at its limit.

Each line is a row of table `dead_letter` (`pipeline.records.dead_letters`); whoever loads rows reads the folder with a
`LogReader` under a name of its own, as any log.
"""

from __future__ import annotations

from pathlib import Path

from pipeline.log import LogOptions, LogReader, LogWriter, Position
from pipeline.records import dead_letters
from pipeline.records.rows import Row
from pipeline.telemetry import catalogue

STAGE = "collector"
MAX_BYTES = 64 << 20
KEEP_S = 30 * 86_400.0
_SEGMENT_BYTES = 8 << 20


class DeadLetters:
    """The collector's dead letters: `put` buffers, `sync` makes durable."""

    def __init__(self, directory: Path, cluster: str, *, max_bytes: int = MAX_BYTES) -> None:
        """Raises UserError when another process has the folder."""
        self.directory = directory
        self.cluster = cluster
        options = LogOptions(
            cluster=cluster,
            segment_bytes=min(_SEGMENT_BYTES, max_bytes // 4),
            keep_s=KEEP_S,
            max_bytes=max_bytes,
            min_free_bytes=0,
            when_full="drop_oldest",
        )
        self._writer = LogWriter(directory, options=options)
        self._pending: list[Row] = []

    @property
    def dropped_segments(self) -> int:
        """Segments that went at the limit before they were read."""
        return self._writer.dropped_segments

    def put(self, kind: str, data: bytes, error: str, observed_ms: int) -> None:
        """Keep one input. `kind`: key of the watch it came from. Counted; never refused."""
        letter = dead_letters.row(STAGE, kind, data, error, cluster=self.cluster, observed_ms=observed_ms)
        self._pending.append(letter)
        catalogue.dead_letters.labels(STAGE, "undecodable").inc()

    def sync(self) -> None:
        """Make what was put durable. Raises LogFull or LogBroken; nothing is lost then."""
        if self._pending:
            lines = [dead_letters.encode(letter) for letter in self._pending]
            self._writer.append(lines, [letter.version for letter in self._pending])
            self._pending.clear()
        if self._writer.buffered:
            self._writer.sync()

    def close(self) -> None:
        try:
            self.sync()
        finally:
            self._writer.close()

    def read(self, after: Position | None = None, max_records: int = 1000) -> tuple[list[Row], Position]:
        """Durable letters behind a position, and the position behind them."""
        return read(self.directory, after, max_records)


def read(directory: Path, after: Position | None = None, max_records: int = 1000) -> tuple[list[Row], Position]:
    """Letters of a folder that another process may be writing."""
    with LogReader(directory, "dead-letters", start=after or Position(0, 0)) as reader:
        batch = reader.read(max_records)
    rows = [dead_letters.decode(line) for _, line in batch.entries]
    return [row for row in rows if row is not None], batch.end
