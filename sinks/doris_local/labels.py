"""Labels: the name under which a load is done at most once.

A label is held from the moment its load begins. A load that fails frees it; one that succeeds writes it in the same
transaction as its rows, so after any crash label and rows are both there or both not. Doris forgets finished labels
after 12 hours, and beyond the newest 2,000 of a database; so does this.
"""

from __future__ import annotations

import threading

import duckdb
import msgspec

from sinks.doris_local.engine import Engine

KEEP_MS = 43_200_000  # FE streaming_label_keep_max_second
KEEP_NEWEST = 2000  # FE label_num_threshold
PRUNE_EVERY = 256  # finished labels between two prunings
STORE_SCHEMA = """
    CREATE TABLE IF NOT EXISTS store.main.label (database VARCHAR, label VARCHAR, transaction_id BIGINT, done_ms BIGINT)
"""


class Held(msgspec.Struct):
    """`state` is PREPARE, COMMITTED or VISIBLE; `done_ms` 0 while the load runs."""

    transaction_id: int
    state: str
    done_ms: int = 0


class Labels:
    """All labels of all databases, thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, dict[str, Held]] = {}
        self._since_prune = 0
        with engine.cursor() as cursor:
            cursor.execute(STORE_SCHEMA)
            rows = cursor.execute(
                "SELECT database, label, transaction_id, done_ms FROM store.main.label ORDER BY transaction_id"
            ).fetchall()
        for database, label, transaction_id, done_ms in rows:
            self._held.setdefault(database, {})[label] = Held(transaction_id, "VISIBLE", done_ms)
        self._last_id = rows[-1][2] if rows else 1000

    def begin(self, database: str, label: str) -> int | Held:
        """A new transaction's id, now holding the label; or what holds it already."""
        with self._lock:
            held = self._held.setdefault(database, {})
            if label in held:
                return held[label]
            self._last_id += 1
            held[label] = Held(self._last_id, "PREPARE")
            return self._last_id

    def write(self, cursor: duckdb.DuckDBPyConnection, database: str, label: str, now_ms: int) -> None:
        """Put the label into the store, as part of the load's own transaction."""
        held = self._held[database][label]
        cursor.execute(
            "INSERT INTO store.main.label VALUES (?, ?, ?, ?)", [database, label, held.transaction_id, now_ms]
        )
        self._since_prune += 1
        if self._since_prune >= PRUNE_EVERY:
            self._since_prune = 0
            self._prune(cursor, now_ms)

    def done(self, database: str, label: str, now_ms: int, state: str = "VISIBLE") -> None:
        """The load's transaction has committed."""
        with self._lock:
            held = self._held[database][label]
            held.state, held.done_ms = state, now_ms

    def free(self, database: str, label: str) -> None:
        """The load failed, or (a fault switch) its label is forgotten: it may be used again."""
        with self._lock:
            self._held.get(database, {}).pop(label, None)

    def forget_database(self, cursor: duckdb.DuckDBPyConnection, database: str) -> None:
        cursor.execute("DELETE FROM store.main.label WHERE database = ?", [database])
        with self._lock:
            self._held.pop(database, None)

    def state(self, database: str, label: str) -> str:
        """As get_load_state answers: UNKNOWN, PREPARE, COMMITTED or VISIBLE."""
        with self._lock:
            held = self._held.get(database, {}).get(label)
            return held.state if held else "UNKNOWN"

    def _prune(self, cursor: duckdb.DuckDBPyConnection, now_ms: int) -> None:
        with self._lock:
            for database, held in self._held.items():
                finished = [(label, h) for label, h in held.items() if h.done_ms]
                finished.sort(key=lambda pair: pair[1].transaction_id, reverse=True)
                for place, (label, h) in enumerate(finished):
                    if place >= KEEP_NEWEST or now_ms - h.done_ms > KEEP_MS:
                        del held[label]
                oldest = min((h.transaction_id for h in held.values()), default=self._last_id + 1)
                cursor.execute(
                    "DELETE FROM store.main.label WHERE database = ? AND transaction_id < ?", [database, oldest]
                )
