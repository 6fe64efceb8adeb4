"""What an error of one of our SQLite files means, said as for a segment: no space, later perhaps, or damaged."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from pipeline.errors import Terminal, Transient
from pipeline.log.segment import LogFull

_NO_SPACE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}


def refusal(error: sqlite3.Error, what: str, path: Path) -> Transient | Terminal:
    """LogFull for want of space, Transient while the file is busy or the disk refuses, Terminal for a damaged file.

    `what` names the file for the message.
    """
    if isinstance(error, sqlite3.OperationalError):
        if error.sqlite_errorcode in _NO_SPACE:
            return LogFull(f"no space for {what} {path}; it goes on when there is space again")
        return Transient(f"{what} {path} cannot be used ({error})")
    return Terminal(f"{what} {path} is damaged ({error})")
