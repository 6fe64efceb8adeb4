"""Rows as the lines of a load: one JSON object each, texts cut to what their column holds. Pure.

Doris counts the length of VARCHAR in bytes and drops a whole row for one text that is too long, so texts are cut here, on
a character's boundary. A key is never cut: two rows would become one; such a row is left to fail.
"""

from __future__ import annotations

import re

import msgspec

from pipeline.records import rows, tables
from pipeline.records.rows import Row

STRING_BYTES = 1 << 20
"""Doris' own limit of STRING up to 3.x (`string_type_length_soft_limit_bytes`)."""

_encoder = msgspec.json.Encoder()
_VARCHAR = re.compile(r"VARCHAR\((\d+)\)")


def _limit(kind: str) -> int | None:
    found = _VARCHAR.fullmatch(kind)
    if found:
        return int(found[1])
    return STRING_BYTES if kind in {"STRING", "JSON"} else None


_LIMITS = {
    table.name: [
        (column.name, limit, column.type == "JSON")
        for column in table.columns
        if column.name not in table.key and (limit := _limit(column.type)) is not None
    ]
    for table in tables.TABLES.values()
}


def line(row: Row) -> bytes:
    """The row as one line, without its newline.

    Raises KeyError (no such table) or UnicodeEncodeError (a text that no UTF-8 can hold).
    """
    wire = rows.wire(row)
    for name, limit, is_json in _LIMITS[row.table]:
        value = wire[name]
        # No character takes more than four bytes: short texts need no counting.
        if isinstance(value, str) and len(value) > limit >> 2:
            wire[name] = _cut(value, limit, is_json)
    return _encoder.encode(wire)


def _cut(text: str, limit: int, is_json: bool) -> str | None:
    """The text within `limit` bytes. JSON that is too long is no JSON when it is cut, so nothing is left of it."""
    data = text.encode()
    if len(data) <= limit:
        return text
    return None if is_json else data[:limit].decode(errors="ignore")
