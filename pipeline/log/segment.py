"""The segment being written: data, fsync, index entry, in this order, or nothing.

When a step fails, what it left is cut off again, so that the same lines can be written once more. When even cutting
fails, or an fsync failed (after which the kernel may have dropped the pages), the segment is never written again.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from pipeline import clock, faults
from pipeline.errors import Transient
from pipeline.log import layout

WRITE_BYTES = 256 << 10
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class LogFull(Transient):
    """The log is at its limit or its disk is full. Nothing was dropped: what was not written is still the writer's."""


class LogBroken(Transient):
    """The disk refuses to write or to fsync for another reason than space. Nothing was dropped."""


class SegmentWriter:
    """The one open segment of a log. `size`: bytes that are durable and indexed."""

    def __init__(self, directory: Path, number: int) -> None:
        """Open or make the files. Raises LogFull or LogBroken."""
        self._directory = directory
        self.number = number
        self._fd, self._index_fd = _open(directory, number)
        self.size = os.fstat(self._fd).st_size
        self.index_size = os.fstat(self._index_fd).st_size
        self.usable = True
        self._opened_s = clock.monotonic_s()

    def age_s(self) -> float:
        return clock.monotonic_s() - self._opened_s

    def present(self) -> bool:
        """False when somebody removed one of the files: readers could not see what is written now."""
        return os.fstat(self._fd).st_nlink > 0 and os.fstat(self._index_fd).st_nlink > 0

    def write(self, data: memoryview, entries: bytes) -> None:
        """Make lines durable, then, by their index entries, readable.

        Raises LogFull or LogBroken; the segment is then as before.
        """
        try:
            _write(self._fd, data, "log.write")
            self._sync()
            faults.point("log.index")
            _write(self._index_fd, memoryview(entries), "log.index.write")
        except OSError as error:
            self._undo()
            raise refusal(error, self._directory) from error
        except BaseException:  # a signal in the middle of a write
            self._undo()
            raise
        self.size += len(data)
        self.index_size += len(entries)

    def close(self) -> None:
        """Close the files. The index is made durable here only: after a power failure it is derived from the data."""
        try:
            os.fsync(self._index_fd)
        except OSError:
            pass  # the index can be derived
        os.close(self._index_fd)
        os.close(self._fd)

    def _sync(self) -> None:
        try:
            os.fdatasync(self._fd)
        except OSError:
            self.usable = False
            raise

    def _undo(self) -> None:
        try:
            os.ftruncate(self._index_fd, self.index_size)
            os.ftruncate(self._fd, self.size)
        except OSError:
            self.usable = False


def _open(directory: Path, number: int) -> tuple[int, int]:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    opened: list[int] = []
    try:
        for path in (layout.data_path(directory, number), layout.index_path(directory, number)):
            opened.append(os.open(path, flags, 0o644))
        layout.sync_directory(directory)
    except OSError as error:
        for fd in opened:
            os.close(fd)
        raise refusal(error, directory) from error
    return opened[0], opened[1]


def _write(fd: int, data: memoryview, fault: str) -> None:
    while data:
        data = data[os.write(fd, data[:WRITE_BYTES]) :]
        faults.point(fault)


def refusal(error: OSError, directory: Path) -> Transient:
    """What an OSError means for the log: LogFull for want of space, LogBroken for the rest."""
    if error.errno in _NO_SPACE:
        return LogFull(no_space(directory, str(error.strerror)))
    return LogBroken(f"the log {directory} cannot be written ({error.strerror})")


def no_space(directory: Path, why: str) -> str:
    """One wording for a disk that is full, whether the free-space floor is met first or the system refuses the write."""
    return f"no space for the log {directory} ({why}); it goes on when there is space again"
