"""Names of the files of a log, which segments are there, and what is said where there is no log."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from pipeline.errors import NotFound

DATA = ".ndjson"
INDEX = ".index"
LOCK = "LOCK"
QUARANTINE = "quarantine"
FIRST = 1
"""Number of the first segment of a new log; 0 stands for "before all segments" in a position."""


class Segment(NamedTuple):
    """A segment as it lies on disk; `total_bytes` counts its index too."""

    number: int
    data_bytes: int
    total_bytes: int
    modified_ms: int


def data_path(directory: Path, number: int) -> Path:
    return directory / f"{number:010d}{DATA}"


def index_path(directory: Path, number: int) -> Path:
    return directory / f"{number:010d}{INDEX}"


def numbers(directory: Path) -> list[int]:
    """Numbers of the segments that are there, ascending; whoever wrote them. None where there is no such folder."""
    try:
        names = os.listdir(directory)  # noqa: PTH208 - Path.iterdir costs ten times as much, and readers poll
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(int(name[: -len(DATA)]) for name in names if name.endswith(DATA) and name[: -len(DATA)].isdecimal())


def first(directory: Path) -> int:
    """Number of the first segment that is there. Above `FIRST` the beginning of the log is gone."""
    return min(numbers(directory), default=FIRST)


def segments(directory: Path) -> list[Segment]:
    """All segments, ascending."""
    found = []
    for number in numbers(directory):
        try:
            data = data_path(directory, number).stat()
        except FileNotFoundError:
            continue  # retention took it meanwhile
        index_bytes = size_of(index_path(directory, number))
        found.append(Segment(number, data.st_size, data.st_size + index_bytes, data.st_mtime_ns // 1_000_000))
    return found


def size_of(path: Path) -> int:
    """Bytes of a file; 0 when there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def no_log(directory: Path) -> NotFound:
    """The error of whoever needs a log where there is none."""
    return NotFound(
        "there is no log of records",
        where=str(directory),
        fix="Start `kube-collector up` or `collect` first, or name its folder with --set data_dir=PATH (the demo's is data/demo).",
    )


def sync_directory(directory: Path) -> None:
    """Make the names in a folder durable; a file's own fsync does not."""
    fd = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
