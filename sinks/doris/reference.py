"""The reference page of the warehouse, generated from the views and the table map."""

from __future__ import annotations

import re

from pipeline.records import tables
from sinks.doris import shipped

_INTRODUCTION = """\
# Tables and views

Views are the public SQL API: they keep their names, columns and meanings within a major version, and get new columns only at
their end. Tables may change between versions; read them only for what no view shows.

All times are UTC. `_at` is DATETIME(3), `_ms` a number of milliseconds, `_us` microseconds since 1970. Every row has a
`cluster`; a replay's is `NAME@replay`. "Now" is the cluster's log time, not the clock: `now_at` says what an open wait was
counted up to. Put `day` into WHERE where a view has it: Doris then reads only those days.
"""

_VIEW_COLUMN = re.compile(r"^  `(\w+)` COMMENT '((?:[^']|'')*)'", re.MULTILINE)


def page() -> str:
    """Views first, in the order in which they build on each other, then tables."""
    parts = [_INTRODUCTION, *map(_view, shipped.VIEWS), *map(_table, tables.TABLES.values())]
    return "\n".join(parts)


def _view(name: str) -> str:
    view = shipped.view(name)
    purpose = re.sub(r" \[\w+\]$", "", view.comment)
    rows = [
        f"| `{column}` | {text.replace(chr(39) * 2, chr(39))} |"
        for column, text in _VIEW_COLUMN.findall(view.statement)
    ]
    return "\n".join([f"## {name}", "", f"{_sentence(purpose)}", "", "| column | meaning |", "|---|---|", *rows, ""])


def _table(table: tables.Table) -> str:
    rows = [f"| `{column.name}` | {column.type} | {column.comment} |" for column in table.columns]
    key = ", ".join(f"`{name}`" for name in table.key)
    head = [f"## Table {table.name}", "", f"{_sentence(table.comment)} Key: {key}.", ""]
    return "\n".join([*head, "| column | type | meaning |", "|---|---|---|", *rows, ""])


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
