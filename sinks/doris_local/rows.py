"""JSON rows into typed ones, as one SQL statement over the body's file; the rules are Doris' (its BE's JSON reader).

Every value is read as text and then cast, as Doris does. A missing key takes the column's default, an explicit null
stays null; a value that cannot be cast is null, or in strict mode a bad row; null in a NOT NULL column, a text over its
length in bytes: a bad row. Bad rows are told apart by the column
`ERROR`, null for good ones.

Most batches have nothing to say about, and binding all those rules costs more than reading a small batch. So there are two
readings: `plain` takes the texts of all columns from DuckDB's JSON reader, casts them together and tells by the column `ODD`
where the rules may see more; `from_json` is the rules, for a batch in which anything is odd.
"""

from __future__ import annotations

import re

import msgspec

from sinks.doris_local import errors, schema
from sinks.doris_local.engine import literal, name
from sinks.doris_local.keys import stored_columns

# Names beside those of a table's columns; no column may begin with __DORIS_.
LINE = "__DORIS_LINE__"  # the JSON object of the row
ERROR = "__DORIS_ERROR__"  # why the row is filtered
FIELDS = "__DORIS_FIELDS__"
SENT_SIGN = "__DORIS_SENT_SIGN__"
TEXTS = "__DORIS_TEXTS__"  # of a plain reading: values that a cast may change, as they were written
VALUES = "__DORIS_VALUES__"  # the same ones cast
ODD = "__DORIS_ODD__"  # of a plain reading: true if the rules may see the row in another way
RAW = "__DORIS_RAW_"  # before a column's name: its value as text
UNCAST = "__DORIS_UNCAST_"  # before a column's name: whether there was a value that is none of its type

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


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
    """A query over `source`, a relation with one JSON object a row in column `LINE`; see `typed` for its columns."""
    keys = dict.fromkeys((*_filled(table, shape), *shape.sources, *shape.hidden))
    if shape.sequence_source:
        keys[shape.sequence_source] = None
    texts = ", ".join(f"{FIELDS}.{name(k)} AS {raw(k)}" for k in keys)
    split = f"SELECT json_transform({LINE}, {_form(dict.fromkeys(keys, 'VARCHAR'))}) AS {FIELDS}, {LINE} FROM {source}"
    return typed(table, shape, f"SELECT {texts}, {LINE} FROM ({split})")


def texts_of(table: schema.Table, shape: Shape) -> tuple[str, ...] | None:
    """Keys to read as text for `plain`; None for a batch that only the rules can read.

    Those are defaults for missing keys, deletions by condition, a sequence of its own, and a table of which a row may be empty.
    """
    if shape.columns is not None or shape.sources or shape.sequence_source or shape.delete_if or shape.delete_all:
        return None
    if not {schema.DELETE_SIGN}.issuperset(shape.hidden) or schema.SEQUENCE in stored_columns(table):
        return None
    if any(c.default is not None for c in table.columns) or all(c.nullable for c in table.columns):
        return None
    return (*(c.name for c in table.columns), *shape.hidden)


def plain(table: schema.Table, shape: Shape, source: str) -> str:
    """A query over `source`, a relation of the texts of `texts_of`, that gives the stored columns and `ODD`.

    It fails for a text that is no date or time.
    """
    kinds = {c.name: c.type for c in table.columns} | dict.fromkeys(shape.hidden, schema.Type("tinyint"))
    lossy = {n: kind.duck for n, kind in kinds.items() if kind.name not in _LOSSLESS}
    values = ", ".join(_plain_value(n, kind) for n, kind in kinds.items() if n != schema.DELETE_SIGN)
    if table.model == "UNIQUE":
        values += f", {_plain_sign(shape)} AS {name(schema.DELETE_SIGN)}"
    if lossy:
        packed = ", ".join(f"{name(n)} := {name(n)}" for n in lossy)
        typed = ", ".join(f"{name(n)} {duck}" for n, duck in lossy.items())
        source = f"(SELECT *, struct_pack({packed}) AS {TEXTS} FROM {source})"
        source = f"(SELECT *, TRY_CAST({TEXTS} AS STRUCT({typed})) AS {VALUES} FROM {source})"
    return f"SELECT {values}, {_odd(kinds, list(lossy))} AS {ODD} FROM {source} AS {FIELDS}"


_LOSSLESS = frozenset({*schema.STRINGS, "json", "date", "datetime"})
"""Types of which a text is a value, or none, without being changed; a cast makes integers of 1.5."""


def _form(types: dict[str, str]) -> str:
    return literal(msgspec.json.encode(types).decode())


def _plain_value(column: str, kind: schema.Type) -> str:
    value = f"{FIELDS if kind.name in _LOSSLESS else VALUES}.{name(column)}"
    if kind.name in ("date", "datetime"):
        value = f"CAST({value} AS {kind.duck})"
    elif kind.name == "json":
        value = f"json({value})"
    return f"{value} AS {name(column)}"


def _plain_sign(shape: Shape) -> str:
    if not shape.hidden:
        return "0::TINYINT"
    return f"CAST(coalesce({VALUES}.{name(schema.DELETE_SIGN)}, 0) <> 0 AS TINYINT)"


def _odd(kinds: dict[str, schema.Type], lossy: list[str]) -> str:
    """A value that prints otherwise than it was written, or a time with an offset."""
    tests = ["FALSE"]
    if lossy:
        texts = ", ".join(f"{name(n)} VARCHAR" for n in lossy)
        tests.append(f"CAST({VALUES} AS STRUCT({texts})) IS DISTINCT FROM {TEXTS}")
    if times := [f"{FIELDS}.{name(n)}" for n, kind in kinds.items() if kind.name == "datetime"]:
        tests.append(f"regexp_matches(concat_ws(' ', {', '.join(times)}), '{_OFFSETS}')")
    return " OR ".join(tests)


def is_odd(table: schema.Table) -> str:
    """An expression over a plain reading: true for a row for which the rules are needed."""
    tests = [ODD]
    for column in table.columns:
        if not column.nullable:
            tests.append(f"{name(column.name)} IS NULL")
        if column.type.max_bytes is not None:
            tests.append(f"strlen({name(column.name)}) > {column.type.max_bytes}")
    return " OR ".join(tests)


def typed(table: schema.Table, shape: Shape, texts: str, *, given_all: bool = False) -> str:
    """A query over `texts`, a query that gives each column's value as text, named by `raw`, and its source as `LINE`.

    It gives the stored columns, `ERROR` and `LINE`. `given_all`: a null is a null, never a missing value.
    """
    filled = _filled(table, shape)
    values = [_typed(c, c.name in filled, given_all) for c in table.columns]
    values += [f"{raw(s)} AS {name(s)}" for s in shape.sources]
    values += _hidden(table, shape)
    if shape.strict:
        values += [f"({_uncast(c)}) AS {name(UNCAST + c.name)}" for c in table.columns if c.name in filled]
    stored = ", ".join(name(c) for c in stored_columns(table) if c != schema.DELETE_SIGN)
    if table.model == "UNIQUE":
        stored += f", {_delete_sign(shape)} AS {name(schema.DELETE_SIGN)}"
    error = _error(table, shape, filled, [] if given_all else [_NO_OBJECT])
    return f"""
        SELECT {stored}, {error} AS {ERROR}, {LINE}
        FROM (SELECT {", ".join(values)}, {LINE} FROM ({texts}))"""


def raw(column: str) -> str:
    """The name of a column's value as text, quoted."""
    return name(RAW + column)


def _filled(table: schema.Table, shape: Shape) -> tuple[str, ...]:
    return tuple(c.name for c in table.columns) if shape.columns is None else shape.columns


def _typed(column: schema.Column, filled: bool, given_all: bool) -> str:
    text = raw(column.name)
    default = _default(column)
    if not filled:
        return f"CAST({default} AS {column.type.duck}) AS {name(column.name)}"
    value = cast(text, column.type)
    if column.default is not None and not given_all:
        missing = f"{text} IS NULL AND NOT json_exists({LINE}, {literal(_path(column.name))})"
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
_OFFSETS = r"[0-9](Z|[+-][0-9]{2}:?[0-9]{2})( |$)"


def cast(text: str, type_: schema.Type) -> str:
    """The text as a value of the type; null if it is none. Offsets of times are turned into UTC."""
    if type_.name in schema.STRINGS:
        return text
    if type_.name == "json":
        return f"CASE WHEN json_valid({text}) THEN json({text}) END"
    if type_.name in schema.INTEGERS:
        return f"CASE WHEN regexp_full_match({text}, '[+-]?[0-9]+') THEN TRY_CAST({text} AS {type_.duck}) END"
    if type_.name == "datetime":
        plain = f"TRY_CAST({text} AS {type_.duck})"
        zoned = f"CAST(TRY_CAST({text} AS TIMESTAMPTZ) AT TIME ZONE 'UTC' AS {type_.duck})"
        return f"CASE WHEN strlen({text}) > 19 AND regexp_matches({text}, '{_OFFSET}') THEN {zoned} ELSE {plain} END"
    return f"TRY_CAST({text} AS {type_.duck})"


def _uncast(column: schema.Column) -> str:
    text = raw(column.name)
    return f"{text} IS NOT NULL AND {cast(text, column.type)} IS NULL"


def _hidden(table: schema.Table, shape: Shape) -> list[str]:
    """Expressions for the delete sign as sent and for the hidden sequence column."""
    parts = []
    if schema.DELETE_SIGN in shape.hidden:
        parts.append(f"{cast(raw(schema.DELETE_SIGN), schema.Type('tinyint'))} AS {SENT_SIGN}")
    if schema.SEQUENCE in stored_columns(table):
        assert table.sequence_type is not None, "a hidden sequence column has a type"
        text = raw(shape.sequence_source or schema.SEQUENCE)
        parts.append(f"{cast(text, table.sequence_type)} AS {name(schema.SEQUENCE)}")
    return parts


def _delete_sign(shape: Shape) -> str:
    if shape.delete_all:
        return "1::TINYINT"
    if shape.delete_if:
        return f"CASE WHEN {shape.delete_if} THEN 1::TINYINT ELSE 0::TINYINT END"
    if schema.DELETE_SIGN in shape.hidden:
        return f"CASE WHEN coalesce({SENT_SIGN}, 0) <> 0 THEN 1::TINYINT ELSE 0::TINYINT END"
    return "0::TINYINT"


_NO_OBJECT = (
    f"{LINE} IS NULL OR NOT starts_with(ltrim(CAST({LINE} AS VARCHAR)), '{{')",
    "Parse json data for JsonDoc failed. The line is no JSON object.",
)


def _error(table: schema.Table, shape: Shape, filled: tuple[str, ...], cases: list[tuple[str, str]]) -> str:
    """The first reason against a row, in the words of Doris' error log; `cases` (condition, reason) come first."""
    for column in table.columns:
        value, place, longest = name(column.name), f"column_name[{column.name}]", column.type.max_bytes
        if shape.strict and column.name in filled:
            reason = f"column({column.name}) value is incorrect while strict mode is true"
            cases.append((name(UNCAST + column.name), reason))
        if not column.nullable:
            cases.append((f"{value} IS NULL", f"{place}, null value for not null column, type={column.type}"))
        if longest is not None:
            reason = f"{place}, the length of input is too long than schema. schema length: {longest}"
            cases.append((f"strlen({value}) > {longest}", reason))
    whens = " ".join(f"WHEN {test} THEN {literal(reason)}" for test, reason in cases)
    return f"CASE {whens} END" if whens else "NULL::VARCHAR"


def split_lines(body: bytes) -> tuple[bytes, list[bytes]]:
    """The lines that are JSON objects, joined again, and those that are not; empty lines are neither."""
    good, bad = [], []
    for line in re.split(rb"\r?\n", body):
        if not line.strip():
            continue
        try:
            _OBJECT.decode(line)
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
