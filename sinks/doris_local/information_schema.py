"""The tables of information_schema, as tables in DuckDB's memory that are filled when a query asks for them.

What depends on definitions only is filled again when the catalog has changed since; partitions and row counts each time.
Column names and their order are Doris'; what a single node has nothing to say about is an empty table.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable, Iterable

import duckdb

from sinks.doris_local import errors, partitions, schema, variables
from sinks.doris_local.catalog import INFORMATION_SCHEMA, Catalog
from sinks.doris_local.engine import Engine, name, stored, visible, visible_name

CATALOG_NAME = "internal"
CHARSET, COLLATION = "utf8mb4", "utf8mb4_0900_bin"
COLUMN_KEYS = {"UNIQUE": "UNI", "DUPLICATE": "DUP", "AGGREGATE": "AGG"}

_T, _N, _D = "VARCHAR", "BIGINT", "TIMESTAMP_S"
TABLES: dict[str, dict[str, str]] = {
    "schemata": {
        "CATALOG_NAME": _T, "SCHEMA_NAME": _T, "DEFAULT_CHARACTER_SET_NAME": _T, "DEFAULT_COLLATION_NAME": _T,
        "SQL_PATH": _T,
    },
    "tables": {
        "TABLE_CATALOG": _T, "TABLE_SCHEMA": _T, "TABLE_NAME": _T, "TABLE_TYPE": _T, "ENGINE": _T, "VERSION": _N,
        "ROW_FORMAT": _T, "TABLE_ROWS": _N, "AVG_ROW_LENGTH": _N, "DATA_LENGTH": _N, "MAX_DATA_LENGTH": _N,
        "INDEX_LENGTH": _N, "DATA_FREE": _N, "AUTO_INCREMENT": _N, "CREATE_TIME": _D, "UPDATE_TIME": _D, "CHECK_TIME": _D,
        "TABLE_COLLATION": _T, "CHECKSUM": _N, "CREATE_OPTIONS": _T, "TABLE_COMMENT": _T,
    },
    "columns": {
        "TABLE_CATALOG": _T, "TABLE_SCHEMA": _T, "TABLE_NAME": _T, "COLUMN_NAME": _T, "ORDINAL_POSITION": _N,
        "COLUMN_DEFAULT": _T, "IS_NULLABLE": _T, "DATA_TYPE": _T, "CHARACTER_MAXIMUM_LENGTH": _N,
        "CHARACTER_OCTET_LENGTH": _N, "NUMERIC_PRECISION": _N, "NUMERIC_SCALE": _N, "DATETIME_PRECISION": _N,
        "CHARACTER_SET_NAME": _T, "COLLATION_NAME": _T, "COLUMN_TYPE": _T, "COLUMN_KEY": _T, "EXTRA": _T, "PRIVILEGES": _T,
        "COLUMN_COMMENT": _T, "COLUMN_SIZE": _N, "DECIMAL_DIGITS": _N, "GENERATION_EXPRESSION": _T, "SRS_ID": _N,
    },
    "views": {
        "TABLE_CATALOG": _T, "TABLE_SCHEMA": _T, "TABLE_NAME": _T, "VIEW_DEFINITION": _T, "CHECK_OPTION": _T,
        "IS_UPDATABLE": _T, "DEFINER": _T, "SECURITY_TYPE": _T, "CHARACTER_SET_CLIENT": _T, "COLLATION_CONNECTION": _T,
    },
    "partitions": {
        "TABLE_CATALOG": _T, "TABLE_SCHEMA": _T, "TABLE_NAME": _T, "PARTITION_NAME": _T, "PARTITION_ORDINAL_POSITION": _N,
        "PARTITION_METHOD": _T, "PARTITION_EXPRESSION": _T, "PARTITION_DESCRIPTION": _T, "TABLE_ROWS": _N,
    },
    "session_variables": {"VARIABLE_NAME": _T, "VARIABLE_VALUE": _T},
    "global_variables": {"VARIABLE_NAME": _T, "VARIABLE_VALUE": _T},
    "engines": {
        "ENGINE": _T, "SUPPORT": _T, "COMMENT": _T, "TRANSACTIONS": _T, "XA": _T, "SAVEPOINTS": _T,
    },
    "character_sets": {
        "CHARACTER_SET_NAME": _T, "DEFAULT_COLLATE_NAME": _T, "DESCRIPTION": _T, "MAXLEN": _N,
    },
    "collations": {
        "COLLATION_NAME": _T, "CHARACTER_SET_NAME": _T, "ID": _N, "IS_DEFAULT": _T, "IS_COMPILED": _T, "SORTLEN": _N,
    },
    "statistics": {
        "TABLE_CATALOG": _T, "TABLE_SCHEMA": _T, "TABLE_NAME": _T, "NON_UNIQUE": _N, "INDEX_SCHEMA": _T, "INDEX_NAME": _T,
        "SEQ_IN_INDEX": _N, "COLUMN_NAME": _T,
    },
    "key_column_usage": {
        "CONSTRAINT_CATALOG": _T, "CONSTRAINT_SCHEMA": _T, "CONSTRAINT_NAME": _T, "TABLE_CATALOG": _T, "TABLE_SCHEMA": _T,
        "TABLE_NAME": _T, "COLUMN_NAME": _T, "ORDINAL_POSITION": _N, "POSITION_IN_UNIQUE_CONSTRAINT": _N,
        "REFERENCED_TABLE_SCHEMA": _T, "REFERENCED_TABLE_NAME": _T, "REFERENCED_COLUMN_NAME": _T,
    },
    "table_constraints": {
        "CONSTRAINT_CATALOG": _T, "CONSTRAINT_SCHEMA": _T, "CONSTRAINT_NAME": _T, "TABLE_SCHEMA": _T, "TABLE_NAME": _T,
        "CONSTRAINT_TYPE": _T,
    },
    "referential_constraints": {
        "CONSTRAINT_CATALOG": _T, "CONSTRAINT_SCHEMA": _T, "CONSTRAINT_NAME": _T, "UPDATE_RULE": _T, "DELETE_RULE": _T,
        "TABLE_NAME": _T, "REFERENCED_TABLE_NAME": _T,
    },
    "triggers": {"TRIGGER_CATALOG": _T, "TRIGGER_SCHEMA": _T, "TRIGGER_NAME": _T},
    "events": {"EVENT_CATALOG": _T, "EVENT_SCHEMA": _T, "EVENT_NAME": _T},
    "routines": {"ROUTINE_CATALOG": _T, "ROUTINE_SCHEMA": _T, "ROUTINE_NAME": _T, "ROUTINE_TYPE": _T},
    "parameters": {"SPECIFIC_CATALOG": _T, "SPECIFIC_SCHEMA": _T, "SPECIFIC_NAME": _T, "PARAMETER_NAME": _T},
}  # fmt: skip

Row = tuple[object, ...]


class InformationSchema:
    """Fills the tables on demand; thread-safe."""

    def __init__(self, engine: Engine, catalog: Catalog) -> None:
        self._engine = engine
        self._catalog = catalog
        self._lock = threading.Lock()
        self._filled: dict[str, int] = {}
        with engine.cursor() as cursor:
            cursor.execute(f"CREATE SCHEMA memory.{name('db_' + INFORMATION_SCHEMA)}")
            for table, columns in TABLES.items():
                body = ", ".join(f"{name(c)} {t}" for c, t in columns.items())
                cursor.execute(f"CREATE TABLE {visible_name(INFORMATION_SCHEMA, table)} ({body})")

    def resolve(self, table: str) -> tuple[str, str, str]:
        """The table in DuckDB, filled. Raises SqlError if there is none of that name."""
        table = table.lower()
        if table not in TABLES:
            raise errors.unknown_table(INFORMATION_SCHEMA, table)
        fill = self._fillers().get(table)
        if fill is not None:
            with self._lock:
                if self._filled.get(table) != self._catalog.version or table in ("tables", "partitions"):
                    self._fill(table, fill)
        return visible(INFORMATION_SCHEMA, table)

    def _fillers(self) -> dict[str, Callable[[duckdb.DuckDBPyConnection], Iterable[Row]]]:
        return {
            "schemata": lambda _: self._schemata(),
            "tables": self._tables,
            "columns": self.columns,
            "views": lambda _: self._views(),
            "partitions": self._partitions,
            "session_variables": lambda _: variables.everything({}).items(),
            "global_variables": lambda _: variables.everything({}).items(),
            "engines": lambda _: [("OLAP", "DEFAULT", "Default storage engine of palo", "NO", "NO", "NO")],
            "character_sets": lambda _: [(CHARSET, COLLATION, "UTF-8 Unicode", 4)],
            "collations": lambda _: [(COLLATION, CHARSET, 309, "Yes", "Yes", 1)],
        }

    def _fill(self, table: str, rows: Callable[[duckdb.DuckDBPyConnection], Iterable[Row]]) -> None:
        version = self._catalog.version
        columns, target = TABLES[table], visible_name(INFORMATION_SCHEMA, table)
        with self._engine.cursor() as cursor:
            given = [list(column) for column in zip(*rows(cursor), strict=True)]
            cursor.execute("BEGIN TRANSACTION")
            cursor.execute(f"DELETE FROM {target}")
            if given:
                unnested = ", ".join(f"unnest(CAST(? AS {type_}[]))" for type_ in columns.values())
                cursor.execute(f"INSERT INTO {target} SELECT {unnested}", given)
            cursor.execute("COMMIT")
        self._filled[table] = version

    # -- rows

    def _schemata(self) -> Iterable[Row]:
        for database in (INFORMATION_SCHEMA, *self._catalog.databases()):
            yield CATALOG_NAME, database, CHARSET, COLLATION, None

    def _tables(self, cursor: duckdb.DuckDBPyConnection) -> Iterable[Row]:
        rows: list[Row] = []
        for database in self._catalog.databases():
            for entry in self._catalog.entries(database).values():
                relation, created = entry.relation, _time(entry.created_ms)
                if isinstance(relation, schema.View):
                    kind, engine, count = "VIEW", "View", None
                else:
                    kind, engine, count = "BASE TABLE", "Doris", row_count(cursor, relation)
                head = (CATALOG_NAME, database, relation.name, kind, engine, None, None, count)
                rows.append((*head, *[None] * 6, created, created, None, "utf-8", None, None, relation.comment))
        for table in TABLES:
            head = (CATALOG_NAME, INFORMATION_SCHEMA, table, "SYSTEM VIEW", "MEMORY", None, None, None)
            rows.append((*head, *[None] * 6, None, None, None, "utf-8", None, None, ""))
        return rows

    def columns(self, cursor: duckdb.DuckDBPyConnection) -> Iterable[Row]:
        rows: list[Row] = []
        for database in self._catalog.databases():
            for entry in self._catalog.entries(database).values():
                relation = entry.relation
                key = COLUMN_KEYS[relation.model] if isinstance(relation, schema.Table) else ""
                for place, column in enumerate(columns_of(cursor, relation), 1):
                    rows.append(_column_row(relation, place, column, key if column.key else ""))
        return rows

    def _views(self) -> Iterable[Row]:
        for database in self._catalog.databases():
            for entry in self._catalog.entries(database).values():
                if isinstance(entry.relation, schema.View):
                    view = entry.relation
                    yield (
                        CATALOG_NAME,
                        database,
                        view.name,
                        view.query,
                        "NONE",
                        "NO",
                        "root@%",
                        "DEFINER",
                        "utf8",
                        COLLATION,
                    )

    def _partitions(self, cursor: duckdb.DuckDBPyConnection) -> Iterable[Row]:
        rows: list[Row] = []
        for database in self._catalog.databases():
            for entry in self._catalog.entries(database).values():
                table = entry.relation
                if not isinstance(table, schema.Table) or table.partition is None:
                    continue
                for place, span in enumerate(partitions.present(cursor, table), 1):
                    described = f"[('{span.start:%Y-%m-%d %H:%M:%S}'), ('{span.end:%Y-%m-%d %H:%M:%S}'))"
                    head = (CATALOG_NAME, database, table.name, span.name, place, "RANGE")
                    rows.append((*head, table.partition.column, described, span.rows))
        return rows


def columns_of(cursor: duckdb.DuckDBPyConnection, relation: schema.Table | schema.View) -> tuple[schema.Column, ...]:
    """Columns of a table, or of a view as its query gives them. A view that no longer works has none."""
    if isinstance(relation, schema.Table):
        return relation.columns
    try:
        described = cursor.execute(f"DESCRIBE {visible_name(relation.database, relation.name)}").fetchall()
    except duckdb.Error:
        return ()
    comments = dict(relation.columns)
    return tuple(
        schema.Column(name=row[0], type=schema.type_of_duck(row[1]), comment=comments.get(row[0], ""))
        for row in described
    )


def row_count(cursor: duckdb.DuckDBPyConnection, table: schema.Table) -> int:
    """Rows that the table stores, deleted keys included, as Doris' own figure does; cheap."""
    row = cursor.execute(f"SELECT count(*) FROM {stored(table.database, table.name)}").fetchone()
    return int(row[0]) if row else 0


def _time(ms: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(ms // 1000, datetime.UTC).replace(tzinfo=None)


_PRECISIONS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19, "largeint": 39, "float": 7, "double": 15}


def _column_row(relation: schema.Table | schema.View, place: int, column: schema.Column, key: str) -> Row:
    kind = column.type
    length = kind.max_bytes if kind.name in schema.STRINGS else None
    precision = kind.args[0] if kind.name == "decimal" else _PRECISIONS.get(kind.name)
    scale = kind.args[1] if kind.name == "decimal" else 0 if kind.name in schema.INTEGERS else None
    decimals = kind.args[0] if kind.name == "datetime" else None
    return (
        CATALOG_NAME, relation.database, relation.name, column.name, place, column.default,
        "YES" if column.nullable else "NO", kind.name, length, length, precision, scale, decimals,
        None, None, str(kind), key, column.aggregate or "", "", column.comment, length or precision, scale, None, None,
    )  # fmt: skip
