"""CREATE and ALTER statements from the table map. Pure.

Every table is UNIQUE, merge-on-write, with `version` as its sequence: of two rows with one key the higher version wins,
whatever the order in which they are loaded; equal versions are the same row. The sequence is a visible column
(`function_column.sequence_col`) so that a load needs no header for it and a query can see it. A table with a day has a
partition a day that Doris makes when a row asks for it; `day` is therefore in the key (merge-on-write demands it).
"""

from __future__ import annotations

from pipeline.records import tables
from pipeline.records.tables import Column, Table

_SPREAD = ("job_uid", "id", "uid", "name", "cluster")
"""By the first of these that is in the key, rows are spread over buckets: what is asked for together lies together."""


def name(text: str) -> str:
    """An identifier in backquotes."""
    return f"`{text.replace('`', '``')}`"


def literal(text: str) -> str:
    """A string literal: Doris reads backslashes as escapes and doubled quotes as one."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def create_table(table: Table, *, replication_num: int, buckets: int) -> str:
    """The whole statement, without a semicolon, for the current database."""
    columns = ",\n".join(f"  {column_text(table, column)}" for column in table.columns)
    parts = [
        f"CREATE TABLE IF NOT EXISTS {name(table.name)} (\n{columns}\n)",
        "ENGINE=OLAP",
        f"UNIQUE KEY({', '.join(map(name, table.key))})",
        f"COMMENT {literal(table.comment)}",
    ]
    if table.partitioned:
        parts.append("AUTO PARTITION BY RANGE (date_trunc(`day`, 'day')) ()")
    parts.append(f"DISTRIBUTED BY HASH({name(_spread(table))}) BUCKETS {buckets if table.partitioned else 1}")
    parts.append(_properties(replication_num))
    return "\n".join(parts)


def column_text(table: Table, column: Column) -> str:
    """One column as it stands in CREATE TABLE. A deleted row has nothing but its key, so the rest may be null."""
    must = column.name in table.key or column.name == tables.VERSION
    return f"{name(column.name)} {column.type} {'NOT NULL' if must else 'NULL'} COMMENT {literal(column.comment)}"


def add_column(table: Table, column: Column) -> str:
    """ALTER TABLE for a column that the table does not have yet, behind the one it stands behind in the map."""
    before = table.columns[table.columns.index(column) - 1]
    return f"ALTER TABLE {name(table.name)} ADD COLUMN {column_text(table, column)} AFTER {name(before.name)}"


def create_database(database: str) -> str:
    """CREATE DATABASE, if it is not there."""
    return f"CREATE DATABASE IF NOT EXISTS {name(database)}"


def _spread(table: Table) -> str:
    return next(column for column in _SPREAD if column in table.key)


def _properties(replication_num: int) -> str:
    pairs = {
        "enable_unique_key_merge_on_write": "true",
        "function_column.sequence_col": tables.VERSION,
        "replication_num": str(replication_num),
    }
    return "PROPERTIES (\n" + ",\n".join(f'  "{key}" = "{value}"' for key, value in pairs.items()) + "\n)"
