"""The aggregation's one SQLite file: states, timers, log position and outbox, changed together or not at all.

Beside it lie the lock of the process that has it, and the generation that a rebuild has begun: rows of a file that is lost
and made again must not be older than those in the warehouse.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from aggregation.runners.bucket import Stored
from pipeline import faults
from pipeline.errors import Transient, UserError
from pipeline.log import Position, databases, layout, lock, outbox, readers
from pipeline.process import data_folder

SCHEMA = 1
"""Form of the file and of the states in it; a higher one is of a later version of this program."""
_TABLES = """
create table if not exists state (key text primary key, bucket integer not null, timers blob not null, data blob not null);
create table if not exists meta (name text primary key, value blob not null) without rowid;
"""
_UPSERT = (
    "insert into state values (?, ?, ?, ?)"
    " on conflict (key) do update set bucket = excluded.bucket, timers = excluded.timers, data = excluded.data"
)
"""A state is rewritten in its place: replacing it, or keeping states inside the key's own tree, costs three times that."""
_WHAT = "the state of the aggregation"
_MADE_ANEW = "move the file away: the whole log is then judged anew."
_timers = msgspec.msgpack.Decoder(dict[str, int])


class Progress(msgspec.Struct, frozen=True):
    """How far the log has been applied. `now`: log time, ms; `buckets`: each bucket's own time, -1 if unseen."""

    generation: int
    position: Position
    now: int
    buckets: tuple[int, ...]


class StateStore:
    """Opened by one process at a time; one thread writes. `get` serves the bucket machines."""

    def __init__(self, path: Path) -> None:
        """Raises Transient while the disk has no space for it, UserError for a file that is damaged or of a newer version."""
        self.path = path
        try:
            self._db = databases.connect(path, _WHAT, SCHEMA, _make_tables, instead=_MADE_ANEW)
        except sqlite3.Error as error:
            raise _refusal(error, path) from error

    def get(self, key: str) -> Stored | None:
        """The committed state of a job."""
        found = self._db.execute("select data, timers from state where key = ?", (key,)).fetchone()
        return None if found is None else Stored(found[0], _timers.decode(found[1]))

    def timers(self) -> Iterator[tuple[int, str, dict[str, int]]]:
        """(bucket, key, timers) of every job that has any."""
        for bucket, key, timers in self._db.execute("select bucket, key, timers from state"):
            found = _timers.decode(timers)
            if found:
                yield bucket, key, found

    def count(self) -> int:
        """Jobs with a state."""
        return int(self._db.execute("select count(*) from state").fetchone()[0])

    def progress(self) -> Progress | None:
        """The last committed progress; None in a new file."""
        found = self._db.execute("select value from meta where name = 'progress'").fetchone()
        return None if found is None else msgspec.msgpack.decode(found[0], type=Progress)

    def commit(
        self,
        changes: list[tuple[str, int, Stored | None]],
        rows: list[tuple[str, bytes, int]],
        progress: Progress,
        prune_below: int | None,
    ) -> None:
        """One transaction: changed jobs as (key, bucket, stored or None), outbox items as (table, rows, count).

        Raises Transient when the disk does not take it: nothing of it is then kept.
        """
        db = self._db
        try:
            db.execute("begin immediate")
            db.executemany(
                _UPSERT,
                [(key, bucket, msgspec.msgpack.encode(s.timers), s.data) for key, bucket, s in changes if s],
            )
            db.executemany("delete from state where key = ?", [(key,) for key, _, s in changes if s is None])
            for table, encoded, count in rows:
                outbox.append(db, table, encoded, count)
            if prune_below is not None:
                outbox.prune(db, prune_below)
            db.execute("insert or replace into meta values ('progress', ?)", (msgspec.msgpack.encode(progress),))
            faults.point("aggregation.transaction")
            db.execute("commit")
        except BaseException as error:
            if db.in_transaction:
                db.execute("rollback")
            if isinstance(error, sqlite3.Error):
                raise _refusal(error, self.path) from error
            raise

    def generation(self) -> int:
        """The generation of a file that knows of none: the last that a rebuild has begun, the first without one."""
        try:
            return int(_generation_path(self.path).read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            return 1

    def clear(self, progress: Progress) -> None:
        """Forgets every state for a rebuild; the outbox stays."""
        readers.replace(_generation_path(self.path), f"{progress.generation}\n".encode())
        self._db.execute("begin immediate")
        self._db.execute("delete from state")
        self._db.execute("insert or replace into meta values ('progress', ?)", (msgspec.msgpack.encode(progress),))
        self._db.execute("commit")

    def close(self) -> None:
        """Closes the file; nothing uncommitted is kept."""
        self._db.close()


def hold(path: Path) -> int:
    """Locks the file for this process; closing the descriptor gives it back. Raises UserError when another has it."""
    with data_folder.failures_named(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        return lock.take(path.parent / layout.LOCK, _WHAT)


def _make_tables(db: sqlite3.Connection) -> None:
    db.executescript(_TABLES)
    outbox.create(db)


def _refusal(error: sqlite3.Error, path: Path) -> Transient | UserError:
    found = databases.refusal(error, _WHAT, path)
    if isinstance(found, Transient):
        return found
    return UserError(f"{_WHAT} is damaged ({error})", where=str(path), fix=_MADE_ANEW.capitalize())


def _generation_path(path: Path) -> Path:
    return path.with_name("generation")
