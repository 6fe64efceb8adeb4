"""Checking and repairing a log by hand: what is wrong, as data, and an index made whole again.

A log needs no repair to be read or written: readers step over damage, the writer cuts a torn tail. This is for a person
who wants to know what was lost, and for a log whose indexes are gone: made again once, they need not be derived by
every reader. Repair never changes a line: it cuts torn tails, writes indexes, and copies damaged bytes to `quarantine/`.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from pipeline.log import index, layout, lock, readers, recovery, scan
from pipeline.log.positions import Position


class Damage(msgspec.Struct, frozen=True):
    """Bytes [begin, end) of a segment that are no good line."""

    begin: int
    end: int


class SegmentReport(msgspec.Struct, frozen=True):
    """One segment. `unindexed_bytes`: what no valid index entry covers; `damage`: what readers step over."""

    number: int
    data_bytes: int
    lines: int
    first_stamp: int | None
    last_stamp: int | None
    unindexed_bytes: int
    damage: tuple[Damage, ...]

    @property
    def damaged_bytes(self) -> int:
        return sum(part.end - part.begin for part in self.damage)


class Report(msgspec.Struct, frozen=True):
    """A whole log. `readers`: None where the file of an ack cannot be read; `orphans`: indexes without a segment.

    `missing`: numbers between two segments that no segment has; retention leaves no such hole.
    """

    directory: str
    total_bytes: int
    segments: tuple[SegmentReport, ...]
    readers: dict[str, Position | None]
    missing: tuple[int, ...]
    orphans: tuple[str, ...]
    quarantined: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged, missing or unindexed."""
        whole = all(not segment.damage and not segment.unindexed_bytes for segment in self.segments)
        return whole and not (self.missing or self.orphans) and None not in self.readers.values()


def check(directory: Path) -> Report:
    """Read the whole log, change nothing. Safe beside a running writer, whose last bytes are left out."""
    running = lock.held(directory / layout.LOCK)
    segments = layout.segments(directory)
    last = segments[-1].number if segments else 0
    return Report(
        directory=str(directory),
        total_bytes=sum(segment.total_bytes for segment in segments),
        segments=tuple([_check_segment(directory, each.number, running and each.number == last) for each in segments]),
        readers=readers.read_all(directory, Position),
        missing=_missing([segment.number for segment in segments]),
        orphans=tuple([path.name for path in _orphans(directory)]),
        quarantined=tuple(sorted(path.name for path in (directory / layout.QUARANTINE).glob("*"))),
    )


def repair(directory: Path) -> Report:
    """Mend every segment and report what it looks like now. Raises UserError when a writer has the log."""
    held = lock.take(directory / layout.LOCK, "the log")
    try:
        for number in layout.numbers(directory):
            for part in _check_segment(directory, number).damage:
                _copy(directory, number, part)
            recovery.mend(directory, number)
            _write_index(directory, number)
        for path in _orphans(directory):
            path.unlink()
    finally:
        os.close(held)
    return check(directory)


def _check_segment(directory: Path, number: int, growing: bool = False) -> SegmentReport:
    view = scan.SegmentView(directory, number)
    try:
        view.refresh(closed=not growing)
        stamps: list[int] = []
        damage: list[Damage] = []
        lines = 0
        for block in view.blocks:
            loaded = view.load(block)
            lines += len(loaded.lines)
            stamps += loaded.stamps[:1] + loaded.stamps[-1:]
            begins = [end - len(line) - 1 for line, end in zip(loaded.lines, loaded.ends, strict=True)]
            damage += _between([block.offset, *loaded.ends], [*begins, block.end])
        return SegmentReport(
            number=number,
            data_bytes=view.end,
            lines=lines,
            first_stamp=stamps[0] if stamps else None,
            last_stamp=stamps[-1] if stamps else None,
            unindexed_bytes=sum(block.length for block in view.blocks if block.table_at < 0),
            damage=tuple(damage),
        )
    finally:
        view.close()


def _missing(numbers: list[int]) -> tuple[int, ...]:
    present = set(numbers)
    return tuple(
        [number for number in range(min(numbers, default=0), max(numbers, default=0)) if number not in present]
    )


def _between(ends: list[int], begins: list[int]) -> list[Damage]:
    """What lies between one good line's end and the next one's begin."""
    return [Damage(end, begin) for end, begin in zip(ends, begins, strict=True) if begin > end]


def _copy(directory: Path, number: int, part: Damage) -> None:
    fd = os.open(layout.data_path(directory, number), os.O_RDONLY)
    try:
        recovery.quarantine(directory, number, fd, part.begin, part.end)
    finally:
        os.close(fd)


def _write_index(directory: Path, number: int) -> None:
    """The index anew: valid entries as they are, with the CRCs of the time of writing, derived ones for the rest."""
    path = layout.index_path(directory, number)
    old = path.read_bytes()
    view = scan.SegmentView(directory, number)
    try:
        view.refresh(closed=True)
        entries = [index.encode(block, _table(old, block)) for block in view.blocks]
    finally:
        view.close()
    readers.replace(path, b"".join(entries))


def _table(old: bytes, block: index.Block) -> bytes:
    return old[block.table_at : block.table_at + block.table_bytes] if block.table_at >= 0 else b""


def _orphans(directory: Path) -> list[Path]:
    numbers = set(layout.numbers(directory))
    paths = sorted(directory.glob(f"*{layout.INDEX}"))
    return [path for path in paths if not path.stem.isdecimal() or int(path.stem) not in numbers]
