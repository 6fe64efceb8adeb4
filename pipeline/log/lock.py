"""One writer a log, held by an OS lock that goes away with its process however that ends."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from pipeline.errors import UserError

_TRIES = 4
_TRY_S = 0.02


def take(path: Path, what: str) -> int:
    """Lock a file and return its descriptor; closing it gives the lock back.

    Raises UserError when somebody holds it; `what` names the thing that is locked, for the message.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    if not _lock(fd, fcntl.LOCK_EX):
        holder = os.read(fd, 32).decode("ascii", "replace").strip() or "unknown"
        os.close(fd)
        raise UserError(
            f"{what} is in use by process {holder}",
            where=str(path.parent),
            fix="Stop that process, or give this one a folder of its own.",
        )
    try:
        os.pwrite(fd, f"{os.getpid():<20}\n".encode(), 0)
    except OSError:
        pass  # the pid is for the message only; a full disk must not keep the log from being opened
    return fd


def held(path: Path) -> bool:
    """Whether somebody holds the lock of a file."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not _lock(fd, fcntl.LOCK_SH)
    finally:
        os.close(fd)


def _lock(fd: int, how: int) -> bool:
    """Take the lock; a few tries, since `held` takes it for a moment too."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(_TRY_S)
    return False
