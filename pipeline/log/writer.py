"""The writer of a log: buffers lines, makes them durable as blocks, keeps log time, rolls and removes segments."""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from pipeline import clock
from pipeline.log import index, layout, lines, lock, readers, recovery, retention, sharing, wake
from pipeline.log.buffer import Buffer, Piece
from pipeline.log.options import LogOptions
from pipeline.log.positions import Position
from pipeline.log.segment import LogFull, SegmentWriter, no_space
from pipeline.records import codec
from pipeline.records.envelope import Record, TickRecord

BLOCK_BYTES = 1 << 20
"""Lines are indexed in runs of about this size."""
PIECE_BYTES = 8 << 20
"""Lines are fsynced in runs of at most about this size."""
PIECE_LINES = 1 << 16
"""And of at most so many."""
MAX_TICKS = 3600
"""A jump of log time longer than this is told by the ticks of its last hour."""
_RETAIN_S = 30.0


class LogWriter:
    """The one writer of a log folder. Safe to share between threads.

    `put`, `append` and `tick` only buffer; `sync` makes all of it durable and readable. When `sync` raises LogFull (the
    limit or the disk) or LogBroken, nothing was lost: the lines stay buffered, no new ones are taken, and the next call
    tries again.
    """

    def __init__(self, directory: Path, *, options: LogOptions) -> None:
        """Take the folder, cut a torn tail, index what is whole.

        Raises UserError when another writer holds it, LogFull or LogBroken when the disk takes no new segment.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.options = options
        self._guard = threading.RLock()
        self._bell = wake.bell(directory)
        self._lock_fd = lock.take(directory / layout.LOCK, "the log")
        try:
            self.recovery = recovery.recover(directory)
            self._segment = SegmentWriter(directory, self.recovery.number)
        except BaseException:
            os.close(self._lock_fd)
            raise
        self._stamp = self._appended_stamp = self.recovery.stamp
        self._tick_s = self._stamp // 1000
        self._waiting = Buffer()
        self._full = False
        self.dropped_segments = 0
        self.dropped_bytes = 0
        """Segments and bytes removed unread, with `drop_oldest` only."""
        self._closed_bytes = 0
        self._next_retention_s = 0.0
        self._retain()
        sharing.offer(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def stamp(self) -> int:
        """Log time (ms) with all appended lines included; 0 in an empty log."""
        return self._appended_stamp

    @property
    def total_bytes(self) -> int:
        """Bytes of all segments and their indexes."""
        return self._closed_bytes + self._segment.size + self._segment.index_size

    @property
    def buffered(self) -> int:
        """Lines that no `sync` has made durable yet."""
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether the last `sync` failed; readiness looks at it."""
        return self._full

    def put(self, records: Sequence[Record]) -> None:
        """Buffer records, as `append` does lines."""
        if records:
            self._add(codec.encode_lines(records), [record.observedms for record in records])

    def append(self, lines: Sequence[bytes], observed_ms: Sequence[int]) -> None:
        """Buffer lines with their `observedms`.

        While the log is full it first tries to sync what is buffered; raises LogFull or LogBroken, without taking any
        line, when that fails.
        """
        if lines:
            self._add(b"\n".join(lines) + b"\n", observed_ms)

    def tick(self, now_ms: int) -> None:
        """Buffer a tick for each whole second from the last tick up to `now_ms`; an earlier time adds nothing."""
        with self._guard:
            last_s = now_ms // 1000
            if self._full or last_s <= self._tick_s:
                return
            first_s = max(self._tick_s + 1, last_s - MAX_TICKS + 1) if self._tick_s else last_s
            times = [second * 1000 for second in range(first_s, last_s + 1)]
            self._waiting.add(codec.encode_lines([self._tick(ms) for ms in times]), times)
            self._appended_stamp = max(self._appended_stamp, times[-1])
            self._tick_s = last_s

    def sync(self) -> Position:
        """Make all buffered lines durable, then readable; the position behind the last. Raises LogFull, LogBroken."""
        with self._guard:
            written = False
            try:
                while self._waiting:
                    self._write_piece()
                    written = True
                self._full = False
            except Exception:
                self._full = True
                raise
            finally:
                if written:
                    self._bell.ring()
            if clock.monotonic_s() >= self._next_retention_s:
                self._retain()
            return Position(self._segment.number, self._segment.size)

    def close(self) -> None:
        """Sync and give the folder back. What could not be synced is lost with the exception that says so."""
        with self._guard:
            if self._lock_fd < 0:
                return
            sharing.withdraw(self)
            try:
                self.sync()
            finally:
                self._segment.close()
                os.close(self._lock_fd)
                self._lock_fd = -1

    def _add(self, data: bytes, observed_ms: Sequence[int]) -> None:
        with self._guard:
            if self._full:
                self.sync()
            self._waiting.add(data, observed_ms)
            self._appended_stamp = max(self._appended_stamp, *observed_ms)

    def _tick(self, ms: int) -> TickRecord:
        options = self.options
        return TickRecord(
            id=f"{options.cluster}/tick/{ms}",
            source=options.source,
            cluster=options.cluster,
            partitionkey="*",
            observedms=ms,
        )

    def _write_piece(self) -> None:
        """Write the first lines of the buffer, about PIECE_BYTES of them, and take them off the buffer."""
        self._roll_if_due()
        piece = self._next_piece()
        if self._make_room(len(piece.data)):
            piece = self._next_piece()
        entries, stamp = _indexed(piece, self._segment.size, self._stamp)
        self._segment.write(piece.data, entries)
        self._stamp = stamp
        self._waiting.drop(piece)

    def _next_piece(self) -> Piece:
        """What a small log can hold at a time."""
        return self._waiting.piece(min(PIECE_BYTES, self.options.max_bytes // 4), PIECE_LINES)

    def _roll_if_due(self) -> None:
        segment, options = self._segment, self.options
        due = segment.size >= options.segment_bytes or (segment.size and segment.age_s() >= options.segment_age_s)
        if due or not segment.usable or not segment.present():
            self._roll()

    def _roll(self) -> None:
        """Begin the next segment, with a tick at the log time reached: it can be read without the one before it."""
        fresh = SegmentWriter(self.directory, self._segment.number + 1)
        self._segment.close()
        self._segment = fresh
        self._retain()
        if self._stamp:
            self._waiting.put_first(codec.encode_lines([self._tick(self._stamp)]), self._stamp)

    def _make_room(self, needed_bytes: int) -> bool:
        """Whether a segment was begun for it. Raises LogFull when there is no room and nothing may be removed for it."""
        excess = self._excess_bytes(needed_bytes)
        if excess <= 0:
            return False
        drop = self.options.when_full == "drop_oldest"
        rolled = drop and not self._closed_bytes and self._segment.size > 0
        if rolled:
            self._roll()  # or there would be nothing to drop
        segments = layout.segments(self.directory)
        acks = list(readers.read_all(self.directory, Position).values())
        passed = {segment.number for segment in retention.passed(segments, acks)} if acks else set()
        gone = retention.sacrificed(segments, acks, excess, unread=drop)
        unread = [segment for segment in segments if segment.number in gone and segment.number not in passed]
        self.dropped_segments += len(unread)
        self.dropped_bytes += sum(segment.data_bytes for segment in unread)
        self._remove(gone)
        if self._excess_bytes(needed_bytes) > 0:
            raise LogFull(self._limit_text(needed_bytes))
        return rolled

    def _excess_bytes(self, needed_bytes: int) -> int:
        """How much more must go before so many fit."""
        stat = os.statvfs(self.directory)
        over_limit = self.total_bytes + needed_bytes - self.options.max_bytes
        under_floor = self.options.min_free_bytes + needed_bytes - stat.f_bavail * stat.f_frsize
        return max(over_limit, under_floor)

    def _limit_text(self, needed_bytes: int) -> str:
        if self.total_bytes + needed_bytes > self.options.max_bytes:
            return f"the log {self.directory} is at its limit of {self.options.max_bytes} bytes"
        return no_space(self.directory, f"{self.options.min_free_bytes} bytes of the disk stay free")

    def _retain(self) -> None:
        segments = layout.segments(self.directory)
        acks = list(readers.read_all(self.directory, Position).values())
        oldest_ms = clock.now_ms() - int(self.options.keep_s * 1000)
        self._remove(retention.outlived(segments, acks, oldest_ms))
        self._next_retention_s = clock.monotonic_s() + _RETAIN_S

    def _remove(self, numbers: list[int]) -> None:
        for number in numbers:
            layout.data_path(self.directory, number).unlink(missing_ok=True)
            layout.index_path(self.directory, number).unlink(missing_ok=True)
        closed = [s for s in layout.segments(self.directory) if s.number != self._segment.number]
        self._closed_bytes = sum(segment.total_bytes for segment in closed)


def _indexed(piece: Piece, offset: int, stamp: int) -> tuple[bytes, int]:
    """The index entries of a piece that comes to lie at `offset`, and log time behind it."""
    entries: list[bytes] = []
    ends, begin, first = piece.ends, 0, 0
    while first < len(ends):
        last = min(bisect_left(ends, begin + BLOCK_BYTES, first) + 1, len(ends))
        size = ends[last - 1] - begin
        table, crc32 = lines.table(piece.data[begin : begin + size], [end - begin for end in ends[first:last]])
        entries.append(index.encode(index.Block(offset + begin, size, last - first, crc32, False, stamp), table))
        stamp = max(stamp, *piece.observed_ms[first:last])
        begin, first = begin + size, last
    return b"".join(entries), stamp
