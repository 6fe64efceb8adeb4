"""A named reader of a log: lines in order, only durable ones, from any position."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import repeat
from pathlib import Path
from typing import Self

from pipeline import clock
from pipeline.log import layout, lines, readers, wake
from pipeline.log.index import Block
from pipeline.log.positions import BEGINNING, Batch, Entry, Position
from pipeline.log.scan import SegmentView
from pipeline.log.segment import refusal


class LogReader:
    """Reads a log, in the writer's process or another, while it is written. Not to be shared between threads."""

    def __init__(self, directory: Path, name: str, *, start: Position | None = None) -> None:
        """`start`: where to read; None = where this name has acked, else the beginning. The folder may not exist yet."""
        self.directory = directory
        self.name = name
        self.lost_segments = 0
        """Segments that were removed before this reader came to them."""
        self._bell = wake.bell(directory)
        self._position = start or readers.read(directory, name, Position) or BEGINNING
        self._view: SegmentView | None = None
        self._loaded = lines.Lines([], [], [])
        self._loaded_end = 0
        self._next = 0
        self._lost_bytes = 0
        self._stamp = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def position(self) -> Position:
        """Where the next read begins."""
        return self._position

    def read(self, max_records: int = 5000, max_bytes: int = 8 << 20) -> Batch:
        """The next lines, at least one if there is any; no entries when nothing new is durable. Never waits."""
        entries: list[Entry] = []
        size = self._lost_bytes = 0
        while len(entries) < max_records and (size < max_bytes or not entries):
            if self._next >= len(self._loaded.lines) and not self._load_next():
                break
            begin = self._position.offset
            entries += self._take(max_records - len(entries), max_bytes - size)
            size += self._position.offset - begin
        return Batch(entries, self._position, self._lost_bytes)

    def wait(self, timeout_s: float) -> bool:
        """Wait until there may be something to read; False when the time ran out first."""
        deadline_s = clock.monotonic_s() + timeout_s
        with self._bell.condition:
            while not self._news():
                left_s = deadline_s - clock.monotonic_s()
                if left_s <= 0:
                    return False
                self._bell.condition.wait(min(left_s, wake.POLL_S))
        return True

    def ack(self, position: Position) -> None:
        """Say durably that everything before `position` is done with: retention may remove it. Raises LogFull, LogBroken."""
        try:
            readers.write(self.directory, self.name, position)
        except OSError as error:
            raise refusal(error, self.directory) from error

    def close(self) -> None:
        if self._view is not None:
            self._view.close()
            self._view = None

    def _news(self) -> bool:
        if self._next < len(self._loaded.lines):
            return True
        if self._view is None and not self._open_view():
            return False
        assert self._view is not None
        return self._view.grew() or self._later() is not None

    def _take(self, max_records: int, max_bytes: int) -> list[Entry]:
        """Entries of the loaded block from `_next` on, within the limits but at least one."""
        loaded, first = self._loaded, self._next
        last = min(first + max_records, bisect_right(loaded.ends, self._position.offset + max_bytes, first))
        last = min(max(last, first + 1), len(loaded.lines))
        pairs = zip(loaded.stamps[first:last], loaded.lines[first:last], strict=True)
        entries = list(map(tuple.__new__, repeat(Entry), pairs))  # Entry(*pair), at a third of its price
        self._next, self._stamp = last, loaded.stamps[last - 1]
        offset = loaded.ends[last - 1] if last < len(loaded.lines) else self._loaded_end
        self._position = Position(self._position.segment, offset)
        return entries

    def _load_next(self) -> bool:
        """Load the next block that has a good line; what is passed over on the way is counted."""
        while (block := self._find_block()) is not None:
            assert self._view is not None
            loaded = self._view.load(block)
            begin = max(self._position.offset, block.offset)
            first = bisect_right(loaded.ends, begin)
            good_bytes = sum(map(len, loaded.lines[first:])) + len(loaded.lines) - first
            self._lost_bytes += max(0, block.end - begin - good_bytes)
            self._position = Position(self._view.number, begin if good_bytes else block.end)
            if good_bytes:
                self._loaded = _not_before(self._stamp, loaded)
                self._loaded_end, self._next = block.end, first
                return True
        return False

    def _find_block(self) -> Block | None:
        """The block that the position is in or before; moves on to later segments."""
        while self._view is not None or self._open_view():
            view = self._view
            assert view is not None
            block = view.covering(self._position.offset)
            if block is not None:
                return block
            later = self._later()  # asked first: a segment that has a later one is complete
            view.refresh(closed=later is not None)
            block = view.covering(self._position.offset)
            if block is not None or later is None:
                return block
            self.close()
            self._begin_segment(later)
        return None

    def _later(self) -> int | None:
        assert self._view is not None
        numbers = layout.numbers(self.directory)
        at = bisect_right(numbers, self._view.number)
        return numbers[at] if at < len(numbers) else None

    def _open_view(self) -> bool:
        """Open the segment of the position or the first behind it; False when there is none."""
        numbers = layout.numbers(self.directory)
        if not numbers:
            return False
        at = bisect_left(numbers, self._position.segment)
        if at == len(numbers):  # the log was removed and began anew
            at, self._position = 0, BEGINNING
        number = numbers[at]
        try:
            self._view = SegmentView(self.directory, number)
        except FileNotFoundError:  # retention was faster
            return self._open_view()
        if number != self._position.segment:
            self._begin_segment(number)
        return True

    def _begin_segment(self, number: int) -> None:
        before = self._position.segment
        if before:
            self.lost_segments += number - before - 1
        self._position = Position(number, 0)


def _not_before(stamp: int, loaded: lines.Lines) -> lines.Lines:
    """Log time never goes back, also where damage took the line that carried it."""
    if loaded.stamps[0] >= stamp:
        return loaded
    return loaded._replace(stamps=[max(stamp, own) for own in loaded.stamps])
