"""Snapshots on disk: the shadow's state at a position of the log, one file each.

    scheduler/001795995670831-0000000003-52428800.snapshot     log time (ms), segment, offset

A restart goes on from the newest, a question about the past starts from the newest before its moment. They are kept as
long as the log is: one whose segment is gone cannot be followed by anything, and goes too.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Final, NamedTuple

from pipeline import faults
from pipeline.log import Position, layout, readers

EVERY_MS: Final = 600_000
"""Log time between two snapshots."""
_SUFFIX: Final = ".snapshot"


class Snapshot(NamedTuple):
    """A snapshot that is there: `position` is where the log goes on behind it, `stamp` the log time (ms) it stands for."""

    stamp: int
    position: Position
    path: Path

    def read(self) -> bytes:
        """The state. Raises OSError for a file that is gone, zlib.error for one that is damaged."""
        return zlib.decompress(self.path.read_bytes())


def write(folder: Path, stamp: int, position: Position, state: bytes) -> None:
    """Puts a snapshot there durably. Raises OSError when the disk does not take it."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{stamp:015d}-{position.segment:010d}-{position.offset}{_SUFFIX}"
    readers.replace(folder / name, zlib.compress(state, 1), "scheduler.snapshot")
    layout.sync_directory(folder)
    faults.point("scheduler.snapshotted")


def usable(folder: Path, log: Path) -> list[Snapshot]:
    """The snapshots that the log goes on behind, oldest first."""
    ends = {segment.number: segment.data_bytes for segment in layout.segments(log)}
    return [each for each in _all(folder) if ends.get(each.position.segment, -1) >= each.position.offset]


def prune(folder: Path, log: Path) -> None:
    """Removes those that the log has outlived."""
    numbers = layout.numbers(log)
    for each in _all(folder):
        if numbers and each.position.segment < numbers[0]:
            each.path.unlink(missing_ok=True)


def _all(folder: Path) -> list[Snapshot]:
    found = []
    for path in folder.glob(f"*{_SUFFIX}"):
        parts = path.name.removesuffix(_SUFFIX).split("-")
        if len(parts) == 3 and all(part.isdecimal() for part in parts):
            found.append(Snapshot(int(parts[0]), Position(int(parts[1]), int(parts[2])), path))
    return sorted(found)
