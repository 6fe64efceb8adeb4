"""Blocks made from data that no index entry covers, and one segment's blocks as a reader sees them.

Rule: the index of a segment is the list of its valid entries; data between two of them, and behind the last of a segment
that is closed, is made into derived blocks. So a lost, old or damaged index costs time, never records. Every step moves
forward by at least one byte, whatever the bytes are.
"""

from __future__ import annotations

import os
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

from pipeline.log import index, layout, lines
from pipeline.log.index import Block
from pipeline.log.positions import BEGINNING, Position

CHUNK_BYTES = 1 << 20
MAX_LINE_BYTES = 16 << 20
"""A run without newline that is longer than this is no line; it is passed over in pieces."""


def derive(fd: int, begin: int, end: int, stamp: int) -> Iterator[Block]:
    """Blocks that tile [begin, end), in order. `stamp`: log time before `begin`."""
    while begin < end:
        data = _whole_lines(fd, begin, end)
        if not data:
            return  # the file is shorter than it was
        yield Block(begin, len(data), data.count(b"\n"), zlib.crc32(data), True, stamp)
        stamp = max([stamp, *lines.checked(data, begin, stamp).stamps[-1:]])
        begin += len(data)


def _whole_lines(fd: int, begin: int, end: int) -> bytes:
    """About a chunk of bytes that ends with a newline; without one at the end of the range or when no line is so long."""
    size = CHUNK_BYTES
    while True:
        data = os.pread(fd, min(size, end - begin), begin)
        cut = data.rfind(b"\n") + 1
        if len(data) < size:  # the end of the range
            return data if begin + len(data) >= end or not cut else data[:cut]
        if cut:
            return data[:cut]
        if size >= MAX_LINE_BYTES:
            return data
        size *= 4


def load(fd: int, index_fd: int | None, block: Block) -> lines.Lines:
    """The good lines of a block. `index_fd` is needed only when the block is damaged."""
    data = os.pread(fd, block.length, block.offset)
    if block.derived or index_fd is None:
        return lines.checked(data, block.offset, block.stamp)
    if len(data) == block.length and zlib.crc32(data) == block.crc32:
        return lines.whole(data, block.offset, block.stamp)
    table = os.pread(index_fd, block.table_bytes, block.table_at)
    return lines.by_table(data, block.offset, block.stamp, table)


class SegmentView:
    """One segment, followed while it grows. Holds both files open, so retention cannot pull them away mid-read."""

    def __init__(self, directory: Path, number: int) -> None:
        """Raises FileNotFoundError when the segment is gone."""
        self.number = number
        self.blocks: list[Block] = []
        self._index_path = layout.index_path(directory, number)
        self._fd = os.open(layout.data_path(directory, number), os.O_RDONLY)
        self._index_fd: int | None = None
        self._settled = 0
        self._index_bytes = 0
        self._closed = False

    def close(self) -> None:
        os.close(self._fd)
        if self._index_fd is not None:
            os.close(self._index_fd)
            self._index_fd = None

    @property
    def end(self) -> int:
        """Offset up to which blocks are known."""
        return self.blocks[-1].end if self.blocks else 0

    def grew(self) -> bool:
        """Whether the index has changed since the last `refresh`."""
        return layout.size_of(self._index_path) not in {0, self._index_bytes}

    def refresh(self, *, closed: bool) -> None:
        """Take in new entries; of a closed segment also what no entry covers."""
        if self._closed:
            return
        for block in self._new_entries():
            if block.offset > self.end:
                self._derive(block.offset)
            if block.offset == self.end and block.length:
                self.blocks.append(block)
            elif block.end > self.end:  # overlaps what is known already: only the rest
                self._derive(block.end)
        if closed:
            self._derive(os.fstat(self._fd).st_size)
            self._closed = True

    def covering(self, offset: int) -> Block | None:
        """The first block that ends behind `offset`."""
        at = bisect_right(self.blocks, offset, key=lambda block: block.end)
        return self.blocks[at] if at < len(self.blocks) else None

    def load(self, block: Block) -> lines.Lines:
        return load(self._fd, self._index_fd, block)

    def stamps(self, block: Block) -> list[int]:
        return self.load(block).stamps

    def _derive(self, end: int) -> None:
        stamp = 0
        if self.blocks:
            last = self.blocks[-1]
            stamp = max([last.stamp, *self.stamps(last)[-1:]])
        self.blocks.extend(derive(self._fd, self.end, end, stamp))

    def _new_entries(self) -> list[Block]:
        """Entries behind what is settled. An index that was put in the place of the other is read from its start."""
        if not self._same_index():
            self._begin_index()
        if self._index_fd is None:
            return []
        self._index_bytes = os.fstat(self._index_fd).st_size
        data = os.pread(self._index_fd, self._index_bytes - self._settled, self._settled)
        found, settled = index.parse(data, self._settled)
        self._settled += settled
        return found

    def _same_index(self) -> bool:
        if self._index_fd is None:
            return False
        mine = os.fstat(self._index_fd)
        try:
            now = self._index_path.stat()
        except FileNotFoundError:
            return True  # removed: what was read of it still stands
        return (mine.st_ino, mine.st_dev) == (now.st_ino, now.st_dev) and mine.st_size >= self._settled

    def _begin_index(self) -> None:
        if self._index_fd is not None:
            os.close(self._index_fd)
            self._index_fd = None
        try:
            self._index_fd = os.open(self._index_path, os.O_RDONLY)
        except FileNotFoundError:
            return
        self.blocks.clear()
        self._settled = 0


def before(directory: Path, stamp: int) -> Position:
    """A position before which log time had not reached `stamp` (ms): where to read from for what happened since."""
    for number in reversed(layout.numbers(directory)):
        view = SegmentView(directory, number)
        view.refresh(closed=False)
        view.close()
        if view.blocks and view.blocks[0].stamp < stamp:
            return Position(number, 0)
    return BEGINNING


def span(directory: Path, number: int, *, closed: bool) -> tuple[int, int] | None:
    """Log time at the first and at the last good line of a segment; None when it has none."""
    view = SegmentView(directory, number)
    try:
        view.refresh(closed=closed)
        first = next((stamps[0] for stamps in map(view.stamps, view.blocks) if stamps), None)
        last = next((stamps[-1] for stamps in map(view.stamps, reversed(view.blocks)) if stamps), None)
        return None if first is None or last is None else (first, last)
    finally:
        view.close()
