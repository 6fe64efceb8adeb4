"""What a writer does to the log before it writes: cut the torn tail, index what is whole, find log time.

Only the last segment can be torn; earlier ones were closed. What is cut is copied to `quarantine/` first. A segment
that had to be cut is never written again, and a number that a reader has seen never given again, so no offset ever
means two different lines.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from pipeline.log import index, layout, readers, scan
from pipeline.log.positions import Position

QUARANTINE_BYTES = 16 << 20
"""At most so much of one torn tail is copied."""
_STEP_BYTES = 1 << 20


class Recovery(NamedTuple):
    """What was found. `number`: the segment to write on; `stamp`: log time of the last good line, 0 in an empty log."""

    number: int
    stamp: int
    cut_bytes: int
    indexed_bytes: int


def recover(directory: Path) -> Recovery:
    """Make the last segment whole. Costs reading that one segment at most."""
    numbers = layout.numbers(directory)
    acks = [ack for ack in readers.read_all(directory, Position).values() if ack]
    free = max([layout.FIRST - 1, *numbers, *(ack.segment for ack in acks)]) + 1
    if not numbers:
        return Recovery(free, 0, 0, 0)
    last = numbers[-1]
    cut, indexed = mend(directory, last)
    seen = all(ack <= Position(last, layout.size_of(layout.data_path(directory, last))) for ack in acks)
    write_on = not cut and seen and last == free - 1 and _fully_indexed(directory, last)
    return Recovery(last if write_on else free, _last_stamp(directory, numbers), cut, indexed)


def mend(directory: Path, number: int) -> tuple[int, int]:
    """Cut a segment behind its last whole line and index what no entry covers: (bytes cut, bytes newly indexed)."""
    fd = os.open(layout.data_path(directory, number), os.O_RDWR)
    index_fd = os.open(layout.index_path(directory, number), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        size = os.fstat(fd).st_size
        covered = _trim_index(index_fd, size)
        whole = last_newline(fd, covered, size)
        if whole < size:
            quarantine(directory, number, fd, whole, size)
            os.ftruncate(fd, whole)
            os.fsync(fd)
    finally:
        os.close(index_fd)
        os.close(fd)
    return size - whole, _index_rest(directory, number, whole)


def _trim_index(index_fd: int, size: int) -> int:
    """Cut the index behind its last entry that speaks of bytes that are there; the offset that is covered."""
    blocks, settled = index.parse(os.pread(index_fd, os.fstat(index_fd).st_size, 0))
    while blocks and blocks[-1].end > size:
        settled = blocks.pop().table_at - index.ENTRY_BYTES
    os.ftruncate(index_fd, settled)
    return max([block.end for block in blocks], default=0)


def _index_rest(directory: Path, number: int, whole: int) -> int:
    view = scan.SegmentView(directory, number)
    try:
        view.refresh(closed=False)
        covered = view.end
        view.refresh(closed=True)
        fresh = [block for block in view.blocks if block.offset >= covered]
    finally:
        view.close()
    try:
        with layout.index_path(directory, number).open("ab") as file:
            file.write(b"".join([index.encode(block, b"") for block in fresh]))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        pass  # a full disk must not keep the log from being opened; readers derive what a closed segment lacks
    return whole - covered


def _fully_indexed(directory: Path, number: int) -> bool:
    blocks, _ = index.parse(layout.index_path(directory, number).read_bytes())
    return max([block.end for block in blocks], default=0) == layout.size_of(layout.data_path(directory, number))


def last_newline(fd: int, begin: int, end: int) -> int:
    """The offset behind the last newline in [begin, end); `begin` when there is none."""
    while end > begin:
        start = max(begin, end - _STEP_BYTES)
        found = os.pread(fd, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return begin


def quarantine(directory: Path, number: int, fd: int, begin: int, end: int) -> None:
    """Copy bytes that are about to be cut, so that a person can look at them. A full disk must not stop the cut."""
    folder = directory / layout.QUARANTINE
    path = folder / f"{number:010d}-{begin}.bytes"
    try:
        folder.mkdir(exist_ok=True)
        with path.open("wb") as file:
            for at in range(begin, min(end, begin + QUARANTINE_BYTES), _STEP_BYTES):
                file.write(os.pread(fd, min(_STEP_BYTES, end - at), at))
    except OSError:
        path.unlink(missing_ok=True)


def _last_stamp(directory: Path, numbers: list[int]) -> int:
    """Log time at the end: segments open with it, so the last one that has a line tells."""
    spans = (scan.span(directory, number, closed=True) for number in reversed(numbers))
    return next((span[1] for span in spans if span), 0)
