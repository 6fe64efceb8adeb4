"""The aggregation's one SQLite file: states, timers, log position and outbox, changed together or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from aggregation.runners.bucket import Stored
from pipeline import faults
from pipeline.log import Position, databases, outbox

_SCHEMA = """
create table if not exists state (key text primary key, bucket integer not null, timers blob not null, data blob not null);
create table if not exists meta (name text primary key, value blob not null) without rowid;
"""
_UPSERT = (
    "insert into state values (?, ?, ?, ?)"
    " on conflict (key) do update set bucket = excluded.bucket, timers = excluded.timers, data = excluded.data"
)
"""A state is rewritten in its place: replacing it, or keeping states inside the key's own tree, costs three times that."""
_WHAT = "the state of the aggregation"
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
        """Raises Transient while the disk has no space for it, Terminal for a damaged file."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            self._db.execute("pragma journal_mode=wal")
            self._db.execute("pragma synchronous=full")
            self._db.execute("pragma busy_timeout=10000")
            self._db.executescript(_SCHEMA)
            outbox.create(self._db)
        except sqlite3.Error as error:
            self._db.close()
            raise databases.refusal(error, _WHAT, path) from error

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
                raise databases.refusal(error, _WHAT, self.path) from error
            raise

    def clear(self, progress: Progress) -> None:
        """Forgets every state for a rebuild; the outbox stays."""
        self._db.execute("begin immediate")
        self._db.execute("delete from state")
        self._db.execute("insert or replace into meta values ('progress', ?)", (msgspec.msgpack.encode(progress),))
        self._db.execute("commit")

    def close(self) -> None:
        """Closes the file; nothing uncommitted is kept."""
        self._db.close()
