"""Partitions as Doris makes them by itself: one for each period that has rows, named after its first moment."""

from __future__ import annotations

import datetime

import duckdb
import msgspec

from sinks.doris_local import schema
from sinks.doris_local.engine import literal, name, stored


class Span(msgspec.Struct, frozen=True):
    """One partition: its name, its first moment and the first one after it, and its rows (deleted ones included)."""

    name: str
    start: datetime.datetime
    end: datetime.datetime
    rows: int


def present(cursor: duckdb.DuckDBPyConnection, table: schema.Table) -> list[Span]:
    """The partitions of the table, oldest first; none if it is not partitioned."""
    if table.partition is None:
        return []
    unit = literal(table.partition.unit)
    start = f"CAST(date_trunc({unit}, {name(table.partition.column)}) AS TIMESTAMP)"
    months = {"year": 12, "quarter": 3, "month": 1}.get(table.partition.unit)
    length = f"to_months({months})" if months else f"to_{table.partition.unit}s(1)"
    rows = cursor.execute(
        f"SELECT p, p + {length}, n FROM (SELECT {start} AS p, count(*) AS n "
        f"FROM {stored(table.database, table.name)} GROUP BY ALL) ORDER BY p"
    ).fetchall()
    return [Span(f"p{first:%Y%m%d%H%M%S}", first, after, count) for first, after, count in rows]


def delete(cursor: duckdb.DuckDBPyConnection, table: schema.Table, partition: str) -> bool:
    """Drop the partition's rows, inside the caller's transaction; whether there was such a partition."""
    span = next((s for s in present(cursor, table) if s.name == partition), None)
    if span is None or table.partition is None:
        return False
    column = name(table.partition.column)
    cursor.execute(
        f"DELETE FROM {stored(table.database, table.name)} WHERE {column} >= ? AND {column} < ?", [span.start, span.end]
    )
    return True
