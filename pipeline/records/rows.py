"""A row on its way to a table, and the JSON form in which rows travel.

A judged row is made by an operator; its `version` in the step's order, its values absolute. Times stay milliseconds
until `wire` writes them as the table's types want them.
"""

from __future__ import annotations

from collections.abc import Callable
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
    values = row.values
    plain, timed = _COLUMNS[row.table]
    out: dict[str, Any] = {name: values.get(name) for name in plain}
    for name, text in timed:
        value = out[name]
        if value is not None:
            out[name] = text(value)
    out[tables.VERSION] = row.version
    out[tables.DELETED] = 1 if row.deleted else 0
    return out


_TEXTS: dict[str, Callable[[int], str]] = {"DATE": times.sql_date, "DATETIME(3)": times.sql_datetime}
_COLUMNS = {
    table.name: (
        tuple(column.name for column in table.columns),
        tuple((column.name, _TEXTS[column.type]) for column in table.columns if column.type in _TEXTS),
    )
    for table in tables.TABLES.values()
}
"""Of each table all columns, and those that hold times with the text they are written as."""
