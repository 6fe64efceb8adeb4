"""The outbox: rows that the aggregation writes inside its own transaction, and the loader reads from elsewhere.

One SQLite table in the aggregation's state file, so that state, offset and rows become true in one commit. Each reader
acks a `seq` beside the file (`readers/NAME.json`); the writer removes what all of them have acked.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from pipeline import clock
from pipeline.log import databases, readers
from pipeline.log.segment import refusal
from pipeline.records.rows import Row

POLL_S = 0.05
_decoder = msgspec.json.Decoder(list[Row])
_encoder = msgspec.json.Encoder()


class OutboxItem(NamedTuple):
    """Rows of one table, in the order they were written. `undecodable`: the bytes, when they are no rows."""

    seq: int
    table: str
    rows: list[Row]
    undecodable: bytes = b""


class _Ack(msgspec.Struct):
    seq: int


def create(connection: sqlite3.Connection) -> None:
    """Make the table if it is not there.

    A state file that was made anew beside old acks, or is an older copy, numbers its items behind them: they would not be
    read otherwise.
    """
    connection.execute(
        "CREATE TABLE IF NOT EXISTS outbox"
        " (seq INTEGER PRIMARY KEY AUTOINCREMENT, tbl TEXT NOT NULL, rows BLOB NOT NULL, n INTEGER NOT NULL)"
    )
    acked = _highest_ack(connection)
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'").fetchone()
    if last is None:
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('outbox', ?)", (acked,))
    elif last[0] < acked:
        connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'outbox'", (acked,))


def _highest_ack(connection: sqlite3.Connection) -> int:
    path = connection.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()[0]
    if not path:
        return 0  # a database in memory
    acks = readers.read_all(Path(path).parent, _Ack).values()
    return max((ack.seq for ack in acks if ack), default=0)


def encode(rows: Sequence[Row]) -> bytes:
    """The JSON array that `append` takes."""
    return _encoder.encode(rows)


def append(connection: sqlite3.Connection, table: str, rows: bytes, count: int) -> None:
    """Add `count` rows of a table, a JSON array, to the transaction that is open on the connection."""
    connection.execute("INSERT INTO outbox (tbl, rows, n) VALUES (?, ?, ?)", (table, rows, count))


def prune(connection: sqlite3.Connection, seq: int) -> int:
    """Remove items up to and with `seq`, in the open transaction; how many there were."""
    return connection.execute("DELETE FROM outbox WHERE seq <= ?", (seq,)).rowcount


def acked(directory: Path) -> int | None:
    """The smallest `seq` that all registered readers have acked; None while there is no reader."""
    acks = readers.read_all(directory, _Ack).values()
    return min((ack.seq if ack else 0 for ack in acks), default=None)


class OutboxReader:
    """Reads the outbox of a state file, which may not exist yet. Not to be shared between threads."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self._connection: sqlite3.Connection | None = None
        self._seen = self.acked()

    def acked(self) -> int:
        """Where this reader has come to: `after` of its first read."""
        ack = readers.read(self.path.parent, self.name, _Ack)
        return ack.seq if ack else 0

    def read(self, after: int, max_rows: int, max_bytes: int) -> list[OutboxItem]:
        """Items behind `after`, at least one if there is any, no more than about `max_rows` rows and `max_bytes`.

        Raises Transient while the file cannot be read.
        """
        try:
            return self._read(after, max_rows, max_bytes)
        except sqlite3.Error as error:
            self.close()
            raise databases.refusal(error, "the outbox", self.path) from error

    def _read(self, after: int, max_rows: int, max_bytes: int) -> list[OutboxItem]:
        self._seen = after
        items: list[OutboxItem] = []
        for seq, table, data, count in self._query(
            "SELECT seq, tbl, rows, n FROM outbox WHERE seq > ? ORDER BY seq", after
        ):
            max_rows -= count
            max_bytes -= len(data)
            if items and (max_rows < 0 or max_bytes < 0):
                break
            items.append(_item(seq, table, data))
            self._seen = seq
        return items

    def wait(self, timeout_s: float) -> bool:
        """Wait until there is an item behind the last one read; False when the time ran out first."""
        deadline_s = clock.monotonic_s() + timeout_s
        while True:
            for _ in self._query("SELECT 1 FROM outbox WHERE seq > ? LIMIT 1", self._seen):
                return True
            left_s = deadline_s - clock.monotonic_s()
            if left_s <= 0:
                return False
            time.sleep(min(left_s, POLL_S))

    def ack(self, seq: int) -> None:
        """Say durably that everything up to and with `seq` is loaded. Raises LogFull, LogBroken."""
        try:
            readers.write(self.path.parent, self.name, _Ack(seq))
        except OSError as error:
            raise refusal(error, self.path.parent) from error

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _query(self, sql: str, after: int) -> list[tuple[int, str, bytes, int]] | sqlite3.Cursor:
        if self._connection is None:
            if not self.path.exists():
                return []
            self._connection = sqlite3.connect(
                f"{self.path.resolve().as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False
            )
        try:
            return self._connection.execute(sql, (after,))
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []
            raise


def _item(seq: int, table: str, data: bytes) -> OutboxItem:
    try:
        return OutboxItem(seq, table, _decoder.decode(data))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return OutboxItem(seq, table, [], data)
