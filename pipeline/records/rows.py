"""A row on its way to a table, and the JSON form in which rows travel.

A judged row is made by an operator; its `version` in the step's order, its values absolute. Times stay milliseconds
until `wire` writes them as the table's types want them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from pipeline.records import tables, times

GENERATION_SHIFT = 44
"""sequence = generation << 44 | version: a rebuild's rows win over all rows of the generation before."""


class Row(msgspec.Struct, gc=False, omit_defaults=True):
    """`values` by column name, without `version`. A deleted row needs its key columns only."""

    table: str
    version: int
    values: dict[str, Any]
    deleted: bool = False


def sequence(generation: int, version: int) -> int:
    """The value of the version column of a judged row."""
    return generation << GENERATION_SHIFT | version


def key_of(row: Row) -> tuple[Any, ...]:
    """The values of the table's key, in order. Raises KeyError when one is missing."""
    return tuple(row.values[name] for name in tables.TABLES[row.table].key)


def wire(row: Row) -> dict[str, Any]:
    """The row as Stream Load's JSON reads it: dates and times as text, the sequence and the delete sign included."""
    columns = tables.TABLES[row.table].columns
    out: dict[str, Any] = {}
    for column in columns:
        value = row.values.get(column.name)
        if value is not None and column.type.startswith("DATE"):
            value = times.sql_date(value) if column.type == "DATE" else times.sql_datetime(value)
        out[column.name] = value
    out[tables.VERSION] = row.version
    out[tables.DELETED] = 1 if row.deleted else 0
    return out
