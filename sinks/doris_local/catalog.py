"""What databases, tables and views there are: in memory to be asked, in the store to be found again.

The store keeps each definition as its normal-form text, so opening it is parsing it. Names are case-sensitive as on
Doris; DuckDB's are not, so two names that differ only in case are refused when the second one is made.
"""

from __future__ import annotations

import threading

import duckdb
import msgspec

from sinks.doris_local import ddl, ddl_table, errors, schema
from sinks.doris_local.engine import Engine

INFORMATION_SCHEMA = "information_schema"
STORE_SCHEMA = """
    CREATE TABLE IF NOT EXISTS store.main.database (name VARCHAR);
    CREATE TABLE IF NOT EXISTS store.main.relation (
        id BIGINT, database VARCHAR, name VARCHAR, definition VARCHAR, created_ms BIGINT);
"""

Relation = schema.Table | schema.View


class Entry(msgspec.Struct, frozen=True):
    """A relation as the catalog holds it; ids grow with creation and never change, also when it is altered."""

    id: int
    created_ms: int
    relation: Relation


class Catalog:
    """All definitions. `version` counts changes, so that what is derived from them knows when it is stale.

    Reads need no lock: each change swaps whole dictionaries. Changes are made under the engine's write lock, inside a
    transaction, and take effect in memory with `publish` once that has committed.
    """

    def __init__(self, engine: Engine) -> None:
        self.version = 0
        self._entries: dict[str, dict[str, Entry]] = {}
        self._lock = threading.Lock()
        with engine.cursor() as cursor:
            try:
                cursor.execute(STORE_SCHEMA)
                self._read(cursor)
            except duckdb.Error as error:
                raise engine.unusable(error) from error

    def _read(self, cursor: duckdb.DuckDBPyConnection) -> None:
        names = [row[0] for row in cursor.execute("SELECT name FROM store.main.database ORDER BY name").fetchall()]
        self._entries = {name: {} for name in names}
        rows = cursor.execute("SELECT id, database, name, definition, created_ms FROM store.main.relation ORDER BY id")
        for id_, database, name, text, created_ms in rows.fetchall():
            self._entries[database][name] = Entry(id_, created_ms, _parse(database, text))

    # -- questions

    def databases(self) -> list[str]:
        return sorted(self._entries)

    def has_database(self, database: str) -> bool:
        return database in self._entries

    def entries(self, database: str) -> dict[str, Entry]:
        """Relations of a database by name. Raises SqlError if there is no such database."""
        try:
            return self._entries[database]
        except KeyError:
            raise errors.unknown_database(database) from None

    def relation(self, database: str, name: str) -> Relation:
        """Raises SqlError if there is neither table nor view of that name."""
        entry = self.entries(database).get(name)
        if entry is None:
            raise errors.unknown_table(database, name)
        return entry.relation

    def table(self, database: str, name: str) -> schema.Table:
        """Raises SqlError if there is no such table, or if it is a view."""
        relation = self.relation(database, name)
        if not isinstance(relation, schema.Table):
            raise errors.SqlError(f"'{database}.{name}' is not BASE TABLE", 1347)
        return relation

    def next_id(self) -> int:
        return 1 + max((e.id for d in self._entries.values() for e in d.values()), default=10_000)

    # -- changes: write to the store in the caller's transaction, then publish

    def save_database(self, cursor: duckdb.DuckDBPyConnection, database: str) -> None:
        cursor.execute("INSERT INTO store.main.database VALUES (?)", [database])

    def forget_database(self, cursor: duckdb.DuckDBPyConnection, database: str) -> None:
        cursor.execute("DELETE FROM store.main.relation WHERE database = ?", [database])
        cursor.execute("DELETE FROM store.main.database WHERE name = ?", [database])

    def save(self, cursor: duckdb.DuckDBPyConnection, entry: Entry) -> None:
        relation = entry.relation
        self.forget(cursor, relation)
        cursor.execute(
            "INSERT INTO store.main.relation VALUES (?, ?, ?, ?, ?)",
            [entry.id, relation.database, relation.name, relation.create_text(), entry.created_ms],
        )

    def forget(self, cursor: duckdb.DuckDBPyConnection, relation: Relation) -> None:
        cursor.execute(
            "DELETE FROM store.main.relation WHERE database = ? AND name = ?", [relation.database, relation.name]
        )

    def publish(self, database: str, entries: dict[str, Entry] | None) -> None:
        """Make `entries` what the database holds from now on; None: the database is gone."""
        with self._lock:
            changed = dict(self._entries)
            changed.pop(database, None)
            if entries is not None:
                changed[database] = entries
            self._entries = changed
            self.version += 1


def _parse(database: str, text: str) -> Relation:
    statement = ddl.parse(text)
    if isinstance(statement, ddl_table.CreateTable):
        keys = statement.table.keys
        columns = tuple(msgspec.structs.replace(c, key=c.name in keys) for c in statement.table.columns)
        return msgspec.structs.replace(statement.table, database=database, columns=columns)
    assert isinstance(statement, ddl.CreateView), "the store holds only tables and views"
    return schema.View(
        database=database,
        name=statement.name.name,
        columns=statement.columns,
        comment=statement.comment,
        query=statement.query,
    )
