"""JSON rows into typed ones, as one SQL statement over the body's file; the rules are Doris' (its BE's JSON reader).

Every value is read as text and then cast, as Doris does. A missing key takes the column's default, an explicit null
stays null; a value that cannot be cast is null, or in strict mode a bad row; null in a NOT NULL column, a text over its
length in bytes: a bad row. Bad rows are told apart by the column `__error`, null for good ones.
"""

from __future__ import annotations

import re

import msgspec

from sinks.doris_local import errors, schema
from sinks.doris_local.engine import literal, name
from sinks.doris_local.keys import stored_columns

JSON_NUMBER_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """How to read the body.

    `columns`: table columns to fill, None for all of them. `sources`: keys of the objects that are no table column but
    are used by `delete_if` (SQL over columns and sources). `hidden`: hidden columns that the objects carry themselves.
    `sequence_source`: the key that feeds the hidden sequence column. `delete_all`: every row is a deletion.
    """

    columns: tuple[str, ...] | None = None
    sources: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    sequence_source: str | None = None
    delete_all: bool = False
    delete_if: str | None = None
    strict: bool = False


def from_json(table: schema.Table, shape: Shape, source: str) -> str:
    """A query over `source`, a relation with one JSON object a row in column `json`; see `typed` for its columns."""
    keys = dict.fromkeys((*_filled(table, shape), *shape.sources, *shape.hidden))
    if shape.sequence_source:
        keys[shape.sequence_source] = None
    form = msgspec.json.encode(dict.fromkeys(keys, "VARCHAR")).decode()
    fields = ", ".join(f"fields.{name(k)} AS {name('raw_' + k)}" for k in keys)
    raw = f"""
        SELECT {fields}, json FROM (SELECT json_transform(json, {literal(form)}) AS fields, json FROM {source})"""
    return typed(table, shape, raw)


def typed(table: schema.Table, shape: Shape, raw: str, *, given_all: bool = False) -> str:
    """A query over `raw`, a query with texts in columns `raw_NAME` and their source in `json`.

    It gives the stored columns, `__error` and `json`. `given_all`: a null is a null, never a missing value.
    """
    filled = _filled(table, shape)
    values = [_typed(c, c.name in filled, given_all) for c in table.columns]
    values += [f"{name('raw_' + s)} AS {name(s)}" for s in shape.sources]
    values += _hidden(table, shape)
    if shape.strict:
        values += [f"({_uncast(c)}) AS {name('uncast_' + c.name)}" for c in table.columns if c.name in filled]
    stored = ", ".join(name(c) for c in stored_columns(table) if c != schema.DELETE_SIGN)
    if table.model == "UNIQUE":
        stored += f", {_delete_sign(shape)} AS {name(schema.DELETE_SIGN)}"
    return f"""
        SELECT {stored}, {_error(table, shape, filled)} AS __error, json
        FROM (SELECT {", ".join(values)}, json FROM ({raw}))"""


def _filled(table: schema.Table, shape: Shape) -> tuple[str, ...]:
    return tuple(c.name for c in table.columns) if shape.columns is None else shape.columns


def _typed(column: schema.Column, filled: bool, given_all: bool) -> str:
    raw = name("raw_" + column.name)
    default = _default(column)
    if not filled:
        return f"CAST({default} AS {column.type.duck}) AS {name(column.name)}"
    value = cast(raw, column.type)
    if column.default is not None and not given_all:
        missing = f"{raw} IS NULL AND NOT json_exists(json, {literal(_path(column.name))})"
        value = f"CASE WHEN {missing} THEN CAST({default} AS {column.type.duck}) ELSE {value} END"
    return f"{value} AS {name(column.name)}"


def _path(key: str) -> str:
    return '$."' + key.replace('"', '\\"') + '"'


def _default(column: schema.Column) -> str:
    if column.default is None:
        return "NULL"
    if column.default.startswith("CURRENT_"):
        return "now()::TIMESTAMP"
    return literal(column.default)


_OFFSET = r"[0-9](Z|[+-][0-9]{2}:?[0-9]{2})$"


def cast(raw: str, type_: schema.Type) -> str:
    """`raw`, a text, as a value of the type; null if it is none. Offsets of times are turned into UTC."""
    if type_.name in schema.STRINGS:
        return raw
    if type_.name == "json":
        return f"CASE WHEN json_valid({raw}) THEN json({raw}) END"
    if type_.name in schema.INTEGERS:
        return f"CASE WHEN regexp_full_match({raw}, '[+-]?[0-9]+') THEN TRY_CAST({raw} AS {type_.duck}) END"
    if type_.name == "datetime":
        plain = f"TRY_CAST({raw} AS {type_.duck})"
        zoned = f"CAST(TRY_CAST({raw} AS TIMESTAMPTZ) AT TIME ZONE 'UTC' AS {type_.duck})"
        return f"CASE WHEN strlen({raw}) > 19 AND regexp_matches({raw}, '{_OFFSET}') THEN {zoned} ELSE {plain} END"
    return f"TRY_CAST({raw} AS {type_.duck})"


def _uncast(column: schema.Column) -> str:
    raw = name("raw_" + column.name)
    return f"{raw} IS NOT NULL AND {cast(raw, column.type)} IS NULL"


def _hidden(table: schema.Table, shape: Shape) -> list[str]:
    """Expressions for the delete sign as sent and for the hidden sequence column."""
    parts = []
    if schema.DELETE_SIGN in shape.hidden:
        parts.append(f"{cast(name('raw_' + schema.DELETE_SIGN), schema.Type('tinyint'))} AS sent_sign")
    if schema.SEQUENCE in stored_columns(table):
        assert table.sequence_type is not None, "a hidden sequence column has a type"
        raw = name("raw_" + (shape.sequence_source or schema.SEQUENCE))
        parts.append(f"{cast(raw, table.sequence_type)} AS {name(schema.SEQUENCE)}")
    return parts


def _delete_sign(shape: Shape) -> str:
    if shape.delete_all:
        return "1::TINYINT"
    if shape.delete_if:
        return f"CASE WHEN {shape.delete_if} THEN 1::TINYINT ELSE 0::TINYINT END"
    if schema.DELETE_SIGN in shape.hidden:
        return "CASE WHEN coalesce(sent_sign, 0) <> 0 THEN 1::TINYINT ELSE 0::TINYINT END"
    return "0::TINYINT"


def _error(table: schema.Table, shape: Shape, filled: tuple[str, ...]) -> str:
    """The first reason against a row, in the words of Doris' error log."""
    cases = []
    for column in table.columns:
        value = name(column.name)
        if shape.strict and column.name in filled:
            cases.append(
                (name("uncast_" + column.name), f"column({column.name}) value is incorrect while strict mode is true")
            )
        if not column.nullable:
            cases.append(
                (f"{value} IS NULL", f"column_name[{column.name}], null value for not null column, type={column.type}")
            )
        if column.type.max_bytes is not None:
            reason = f"column_name[{column.name}], the length of input is too long than schema. schema length: {column.type.max_bytes}"
            cases.append((f"strlen({value}) > {column.type.max_bytes}", reason))
    whens = " ".join(f"WHEN {test} THEN {literal(reason)}" for test, reason in cases)
    return f"CASE {whens} END" if whens else "NULL::VARCHAR"


def split_lines(body: bytes) -> tuple[bytes, list[bytes]]:
    """The lines that are JSON objects, joined again, and those that are not; empty lines are neither."""
    good, bad = [], []
    for line in re.split(rb"\r?\n", body):
        if not line.strip():
            continue
        try:
            JSON_NUMBER_OBJECT.decode(line)
            line.decode()
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
            bad.append(line)
        else:
            good.append(line)
    return b"\n".join(good), bad


def check_columns(table: schema.Table, names: tuple[str, ...]) -> tuple[str, ...]:
    """The table's own spelling of these column names. Raises SqlError for a name that is no column."""
    found = []
    for wanted in names:
        column = table.column(wanted)
        if column is None:
            raise errors.refused(f"Unknown column '{wanted}' in '{table.name}'")
        found.append(column.name)
    return tuple(found)
