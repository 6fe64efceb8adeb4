"""`collector.db`: how far watches and log have come, which objects are known, which gaps are open, whose cluster this is.

SQLite, one transaction a commit, durable when `commit` returns. Everything stands under the name of its cluster, so that
a spool may hold a cluster and its replays side by side.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from collector.kinds.known import KnownChanges, KnownObject
from pipeline.errors import UserError
from pipeline.log import Position, databases
from pipeline.records.jobs import JobRef

SCHEMA = 1
_TABLES = (
    "CREATE TABLE IF NOT EXISTS cluster (name TEXT PRIMARY KEY, uid TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS watch (cluster TEXT, key TEXT, version TEXT NOT NULL, contact_ms INTEGER NOT NULL,"
    " PRIMARY KEY (cluster, key)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS log (cluster TEXT PRIMARY KEY, segment INTEGER NOT NULL, offset INTEGER NOT NULL)"
    " WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS gap (cluster TEXT, key TEXT, from_ms INTEGER, from_version TEXT, why TEXT NOT NULL,"
    " PRIMARY KEY (cluster, key)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS known (cluster TEXT, key TEXT, uid TEXT, version TEXT NOT NULL, namespace TEXT NOT NULL,"
    " name TEXT NOT NULL, job TEXT, digest BLOB, facts TEXT NOT NULL, PRIMARY KEY (cluster, key, uid)) WITHOUT ROWID",
)
_LISTED_ANEW = "move the file away: every kind is then listed anew, and nothing in the log is lost."
_decode_job = msgspec.json.Decoder(JobRef).decode


class Watch(msgspec.Struct, frozen=True):
    """A watch: everything up to `version` is in the log; at `contact_ms` the server was last heard of it."""

    key: str
    version: str
    contact_ms: int


class OpenGap(msgspec.Struct, frozen=True):
    """Changes of a kind may have been missed since `from_ms` (None: since ever) and no list has ended that yet."""

    key: str
    from_ms: int | None
    from_version: str | None
    why: str


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the checkpoint. `closed` names the keys whose gap a list has ended; `position` is the log's end."""

    known: KnownChanges | None = None
    watches: tuple[Watch, ...] = ()
    opened: tuple[OpenGap, ...] = ()
    closed: tuple[str, ...] = ()
    position: Position | None = None


class Saved(msgspec.Struct, frozen=True):
    """What a checkpoint holds, by key of the watch; `position`: what it says is that of the log up to here."""

    watches: dict[str, Watch]
    gaps: dict[str, OpenGap]
    position: Position | None = None


class Checkpoint:
    """The checkpoint of one cluster. One thread writes; who may open it at all is the spool's business."""

    def __init__(self, path: Path, cluster: str) -> None:
        """Raises UserError for a file of a newer version or one that is no database."""
        self.path = path
        self.cluster = cluster
        with self._reading():
            self._db = databases.connect(path, "the checkpoint", SCHEMA, _make_tables, instead=_LISTED_ANEW)

    def claim(self, uid: str) -> None:
        """Bind the cluster's name to the uid of its `kube-system` namespace. Raises UserError when another has it."""
        with self._transaction() as db:
            db.execute("INSERT INTO cluster VALUES (?, ?) ON CONFLICT DO NOTHING", (self.cluster, uid))
            (holder,) = db.execute("SELECT uid FROM cluster WHERE name = ?", (self.cluster,)).fetchone()
        if holder != uid:
            raise UserError(
                f"the name {self.cluster!r} belongs to another cluster (kube-system {holder}, this one has {uid})",
                where=str(self.path),
                fix="Give this cluster a name of its own, or a spool of its own if the other one is gone.",
            )

    def load(self) -> Saved:
        """Watches, open gaps, place in the log. Raises UserError when the file is damaged."""
        own = (self.cluster,)
        with self._reading():
            watches = self._db.execute("SELECT key, version, contact_ms FROM watch WHERE cluster = ?", own)
            gaps = self._db.execute("SELECT key, from_ms, from_version, why FROM gap WHERE cluster = ?", own)
            place = self._db.execute("SELECT segment, offset FROM log WHERE cluster = ?", own).fetchone()
            return Saved(
                {row[0]: Watch(*row) for row in watches},
                {row[0]: OpenGap(*row) for row in gaps},
                Position(*place) if place else None,
            )

    def clusters(self) -> int:
        """Clusters that have a place in the log; 0 in a new file. Raises UserError when the file is damaged."""
        with self._reading():
            return int(self._db.execute("SELECT count(*) FROM log").fetchone()[0])

    def known(self) -> Iterator[KnownObject]:
        """Every known object, one after the other, so that a big cluster need not be in memory twice.

        Raises UserError when the file is damaged.
        """
        with self._reading():
            rows = self._db.execute(
                "SELECT key, uid, version, namespace, name, job, digest, facts FROM known WHERE cluster = ?",
                (self.cluster,),
            )
            for key, uid, version, namespace, name, job, digest, facts in rows:
                reference = _decode_job(job) if job else None
                yield KnownObject(key, uid, version, namespace, name, reference, digest, facts)

    def commit(self, changes: Changes) -> None:
        """Apply all of it, durably, or nothing. Raises LogFull when the disk is full."""
        with self._transaction() as db:
            self._write_known(db, changes.known or KnownChanges([], []))
            self._upsert(db, "watch", changes.watches)
            self._upsert(db, "gap", changes.opened)
            self._upsert(db, "log", [changes.position] if changes.position else [])
            db.executemany(
                "DELETE FROM gap WHERE cluster = ? AND key = ?", [(self.cluster, key) for key in changes.closed]
            )

    def close(self) -> None:
        self._db.close()

    def _write_known(self, db: sqlite3.Connection, changes: KnownChanges) -> None:
        db.executemany(
            "DELETE FROM known WHERE cluster = ? AND key = ? AND uid = ?",
            [(self.cluster, key, uid) for key, uid in changes.deletes],
        )
        db.executemany(
            "INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(self.cluster, *_columns(known)) for known in changes.upserts],
        )

    def _upsert(self, db: sqlite3.Connection, table: str, rows: Iterable[Watch | OpenGap | Position]) -> None:
        values = [(self.cluster, *msgspec.structs.astuple(row)) for row in rows]
        if values:
            db.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({','.join('?' * len(values[0]))})", values)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, msgspec.DecodeError) as error:
            raise UserError(
                f"the checkpoint cannot be read ({error})",
                where=str(self.path),
                fix=_LISTED_ANEW.capitalize(),
            ) from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            raise databases.refusal(error, "the checkpoint", self.path) from error
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")


def _make_tables(db: sqlite3.Connection) -> None:
    for statement in _TABLES:
        db.execute(statement)


def _columns(known: KnownObject) -> tuple[str | bytes | None, ...]:
    job = msgspec.json.encode(known.job).decode() if known.job else None
    return known.key, known.uid, known.version, known.namespace, known.name, job, known.digest, known.facts
