"""Our SQLite files: opened all in one way, and what their errors mean, said as for a segment: no space, later perhaps, or
damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from pipeline.errors import Terminal, Transient, UserError
from pipeline.log.segment import LogFull

_BUSY_S = 10.0
_NO_SPACE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}


def connect(
    path: Path, what: str, form: int, prepare: Callable[[sqlite3.Connection], object], *, instead: str
) -> sqlite3.Connection:
    """Opens a file that one process writes: its log is written ahead, and a commit is on disk when it returns.

    `form` of the file is that of this version; `prepare` makes its tables. Raises UserError for a file of a later form
    (`instead`: what can be done but to use that version), sqlite3.Error as `refusal` explains it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        (found,) = db.execute("PRAGMA user_version").fetchone()
        if found > form:
            raise UserError(
                f"{what} was written by a newer version (form {found}, this one knows {form})",
                where=str(path),
                fix=f"Use that version, or {instead}",
            )
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        prepare(db)
        db.execute(f"PRAGMA user_version={form}")
    except BaseException:
        db.close()
        raise
    return db


def refusal(error: sqlite3.Error, what: str, path: Path) -> Transient | Terminal:
    """LogFull for want of space, Transient while the file is busy or the disk refuses, Terminal for a damaged file.

    `what` names the file for the message.
    """
    if isinstance(error, sqlite3.OperationalError):
        if error.sqlite_errorcode in _NO_SPACE:
            return LogFull(f"no space for {what} {path}; it goes on when there is space again")
        return Transient(f"{what} {path} cannot be used ({error})")
    return Terminal(f"{what} {path} is damaged ({error})")
