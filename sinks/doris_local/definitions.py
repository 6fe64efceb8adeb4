"""Carries out what `ddl` read: the store's tables, the catalog, and the views that queries see.

Each change is one transaction on the store; what lives in memory follows once that has committed, and is rebuilt from
the catalog when the server starts.
"""

from __future__ import annotations

import logging

import duckdb
import msgspec

from pipeline import clock
from sinks.doris_local import ddl, ddl_table, errors, keys, macros, partitions, schema, table_rules, translate
from sinks.doris_local.catalog import INFORMATION_SCHEMA, Catalog, Entry
from sinks.doris_local.cursor import Name
from sinks.doris_local.engine import Engine, literal, name, stored, visible, visible_name
from sinks.doris_local.information_schema import columns_of
from sinks.doris_local.labels import Labels

log = logging.getLogger(__name__)


class Definitions:
    """Executes definitions, one at a time. `database` is the session's, None if it has none."""

    def __init__(self, engine: Engine, catalog: Catalog, labels: Labels) -> None:
        self._engine = engine
        self._catalog = catalog
        self._labels = labels

    def rebuild(self) -> None:
        """Make all functions and views that queries see; the first thing after opening the store."""
        with self._engine.cursor() as cursor:
            cursor.execute(macros.script())
            views: list[schema.View] = []
            for database in self._catalog.databases():
                self._make_memory_schema(cursor, database)
                for entry in self._catalog.entries(database).values():
                    if isinstance(entry.relation, schema.View):
                        views.append(entry.relation)
                    else:
                        self._show_table(cursor, entry.relation)
            self._rebuild_views(cursor, views)

    def _rebuild_views(self, cursor: duckdb.DuckDBPyConnection, views: list[schema.View]) -> None:
        """A view may be altered to use a younger one, so creation order is no order; go round until nothing changes."""
        while views:
            left = []
            for view in views:
                try:
                    self._show_view(cursor, view)
                except (duckdb.Error, errors.SqlError) as failure:
                    left.append((view, failure))
            if len(left) == len(views):
                for view, reason in left:
                    log.error("view %s.%s cannot be used: %s", view.database, view.name, reason)
                return
            views = [view for view, _ in left]

    def execute(self, statement: ddl.Statement, database: str | None) -> None:
        """Raises SqlError if it may not be done, and then nothing has changed."""
        with self._engine.write_lock, self._engine.cursor() as cursor:
            match statement:
                case ddl.CreateDatabase():
                    self._create_database(cursor, statement)
                case ddl.DropDatabase():
                    self._drop_database(cursor, statement)
                case ddl_table.CreateTable():
                    self._create_table(cursor, statement, database)
                case ddl.CreateView():
                    self._create_view(cursor, statement, database)
                case ddl.Drop():
                    self._drop(cursor, statement, database)
                case ddl.Truncate():
                    self._truncate(cursor, statement, database)
                case ddl.AlterTable():
                    self._alter(cursor, statement, database)

    # -- databases

    def _create_database(self, cursor: duckdb.DuckDBPyConnection, statement: ddl.CreateDatabase) -> None:
        table_rules.check_database_name(statement.name)
        if statement.name == INFORMATION_SCHEMA or self._catalog.has_database(statement.name):
            if statement.if_not_exists:
                return
            raise errors.database_exists(statement.name)
        if statement.name.lower() in (d.lower() for d in self._catalog.databases()):
            raise errors.unsupported("a database whose name differs from another's only in case")
        with self._engine.writing(cursor):
            cursor.execute(f"CREATE SCHEMA store.{name('db_' + statement.name)}")
            self._catalog.save_database(cursor, statement.name)
        self._make_memory_schema(cursor, statement.name)
        self._catalog.publish(statement.name, {})

    def _drop_database(self, cursor: duckdb.DuckDBPyConnection, statement: ddl.DropDatabase) -> None:
        if not self._catalog.has_database(statement.name):
            if statement.if_exists:
                return
            raise errors.SqlError(f"Can't drop database '{statement.name}'; database doesn't exist", 1008)
        with self._engine.writing(cursor):
            cursor.execute(f"DROP SCHEMA store.{name('db_' + statement.name)} CASCADE")
            self._catalog.forget_database(cursor, statement.name)
            self._labels.forget_database(cursor, statement.name)
        self._catalog.publish(statement.name, None)
        cursor.execute(f"DROP SCHEMA memory.{name('db_' + statement.name)} CASCADE")

    def _make_memory_schema(self, cursor: duckdb.DuckDBPyConnection, database: str) -> None:
        cursor.execute(f"CREATE SCHEMA IF NOT EXISTS memory.{name('db_' + database)}")

    # -- tables

    def _create_table(
        self, cursor: duckdb.DuckDBPyConnection, statement: ddl_table.CreateTable, database: str | None
    ) -> None:
        database, entries = self._place(statement.name, database)
        if statement.name.name in entries:
            if statement.if_not_exists:
                return
            raise errors.table_exists(statement.name.name)
        table = table_rules.settle(msgspec.structs.replace(statement.table, database=database))
        entry = Entry(self._catalog.next_id(), clock.now_ms(), table)
        columns = ", ".join(f"{name(c)} {duck}" for c, duck in keys.stored_columns(table).items())
        with self._engine.writing(cursor):
            cursor.execute(f"CREATE TABLE {stored(database, table.name)} ({columns})")
            self._catalog.save(cursor, entry)
        self._show_table(cursor, table)
        self._catalog.publish(database, {**entries, table.name: entry})

    def _place(self, target: Name, database: str | None) -> tuple[str, dict[str, Entry]]:
        """The database to work in and what is there. Raises SqlError if a name differs from another's only in case."""
        database = target.within(database)
        if database == INFORMATION_SCHEMA:
            raise errors.refused("information_schema can't be changed")
        entries = self._catalog.entries(database)
        if target.name not in entries and target.name.lower() in (n.lower() for n in entries):
            raise errors.unsupported("a table whose name differs from another's only in case")
        return database, entries

    def _show_table(self, cursor: duckdb.DuckDBPyConnection, table: schema.Table) -> None:
        cursor.execute(
            f"CREATE OR REPLACE VIEW {visible_name(table.database, table.name)} AS {keys.visible_query(table)}"
        )

    def _drop(self, cursor: duckdb.DuckDBPyConnection, statement: ddl.Drop, database: str | None) -> None:
        database = statement.name.within(database)
        entries = self._catalog.entries(database)
        entry = entries.get(statement.name.name)
        if entry is None:
            if statement.if_exists:
                return
            raise errors.SqlError(f"Unknown table '{statement.name.name}'", 1051, "42S02")
        is_view = isinstance(entry.relation, schema.View)
        if is_view != (statement.kind == "VIEW"):
            wanted = "VIEW" if statement.kind == "VIEW" else "BASE TABLE"
            raise errors.SqlError(f"'{database}.{statement.name.name}' is not {wanted}", 1347)
        with self._engine.writing(cursor):
            if not is_view:
                cursor.execute(f"DROP TABLE {stored(database, statement.name.name)}")
            self._catalog.forget(cursor, entry.relation)
        self._catalog.publish(database, {n: e for n, e in entries.items() if n != statement.name.name})
        cursor.execute(f"DROP VIEW {visible_name(database, statement.name.name)}")

    def _truncate(self, cursor: duckdb.DuckDBPyConnection, statement: ddl.Truncate, database: str | None) -> None:
        database, _ = self._place(statement.name, database)
        table = self._catalog.table(database, statement.name.name)
        with self._engine.writing(cursor):
            if not statement.partitions:
                cursor.execute(f"DELETE FROM {stored(database, table.name)}")
            for partition in statement.partitions:
                self._delete_partition(cursor, table, partition, if_exists=False)

    def _delete_partition(
        self, cursor: duckdb.DuckDBPyConnection, table: schema.Table, partition: str, if_exists: bool
    ) -> None:
        if table.partition is None:
            raise errors.refused(f"Table {table.name} is not partitioned")
        if not partitions.delete(cursor, table, partition) and not if_exists:
            raise errors.refused(f"Error in list of partitions to {table.name}: partition [{partition}] does not exist")

    def _alter(self, cursor: duckdb.DuckDBPyConnection, statement: ddl.AlterTable, database: str | None) -> None:
        database, entries = self._place(statement.name, database)
        table = self._catalog.table(database, statement.name.name)
        target = stored(database, table.name)
        with self._engine.writing(cursor):
            for change in statement.changes:
                match change:
                    case ddl.AddColumns():
                        table = table_rules.with_columns(table, change.columns, change.after)
                        for column in change.columns:
                            added = table.column(column.name)
                            assert added is not None, "it was just put there"
                            cursor.execute(f"ALTER TABLE {target} ADD COLUMN {_added(added)}")
                    case ddl.DropColumn():
                        table, gone = table_rules.without_column(table, change.column)
                        cursor.execute(f"ALTER TABLE {target} DROP COLUMN {name(gone)}")
                    case ddl.DropPartition():
                        self._delete_partition(cursor, table, change.partition, change.if_exists)
            entry = msgspec.structs.replace(entries[table.name], relation=table)
            self._catalog.save(cursor, entry)
        self._show_table(cursor, table)
        self._catalog.publish(database, {**entries, table.name: entry})

    # -- views

    def _create_view(self, cursor: duckdb.DuckDBPyConnection, statement: ddl.CreateView, database: str | None) -> None:
        database, entries = self._place(statement.name, database)
        existing = entries.get(statement.name.name)
        if existing is not None:
            if statement.mode == "if_not_exists":
                return
            if statement.mode == "create" or isinstance(existing.relation, schema.Table):
                raise errors.table_exists(statement.name.name)
        elif statement.mode == "alter":
            raise errors.unknown_table(database, statement.name.name)
        view = schema.View(
            database=database,
            name=statement.name.name,
            columns=statement.columns,
            comment=statement.comment,
            query=statement.query,
        )
        self._show_view(cursor, view)
        if existing is None:
            entry = Entry(self._catalog.next_id(), clock.now_ms(), view)
        else:
            entry = msgspec.structs.replace(existing, relation=view)
        with self._engine.writing(cursor):
            self._catalog.save(cursor, entry)
        self._catalog.publish(database, {**entries, view.name: entry})

    def _show_view(self, cursor: duckdb.DuckDBPyConnection, view: schema.View) -> None:
        scope = translate.Scope(
            lambda database, table: self._resolve(database or view.database, table),
            lambda database, table: relation_columns(self._engine, self._catalog, database or view.database, table),
        )
        query = translate.query(view.query, scope)
        names = [column for column, _ in view.columns] or query.labels
        columns = f" ({', '.join(map(name, names))})" if names else ""
        cursor.execute(f"CREATE OR REPLACE VIEW {visible_name(view.database, view.name)}{columns} AS {query.sql}")

    def _resolve(self, database: str, table: str) -> tuple[str, str, str]:
        self._catalog.relation(database, table)
        return visible(database, table)


def relation_columns(engine: Engine, catalog: Catalog, database: str, table: str) -> set[str]:
    """Lower-case column names of a table or view. Raises SqlError if there is none of that name."""
    with engine.cursor() as cursor:
        return {c.name.lower() for c in columns_of(cursor, catalog.relation(database, table))}


def _added(column: schema.Column) -> str:
    default = f" DEFAULT {literal(column.default)}" if column.default is not None else ""
    return f"{name(column.name)} {column.type.duck}{default}"
