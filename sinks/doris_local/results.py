"""What a statement comes to: a table of values with MySQL column types, or a plain OK."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import duckdb
import msgspec

FETCH_ROWS = 1024

Cell = bytes | None


class Kind(msgspec.Struct, frozen=True):
    """A MySQL column type: protocol code, display length, decimals, and whether its text is bytes of no charset."""

    code: int
    length: int
    decimals: int = 0
    binary: bool = True


TINYINT = Kind(1, 4)
BOOLEAN = Kind(1, 1)
SMALLINT = Kind(2, 6)
INT = Kind(3, 11)
FLOAT = Kind(4, 12, 31)
DOUBLE = Kind(5, 22, 31)
NULL = Kind(6, 0)
BIGINT = Kind(8, 20)
DATE = Kind(10, 10)
TIME = Kind(11, 10)
TEXT = Kind(253, 65535, binary=False)


class Column(msgspec.Struct, frozen=True):
    name: str
    kind: Kind = TEXT


class Table(msgspec.Struct):
    """`rows` may be lazy; it is read once. `close` gives back what feeds it."""

    columns: Sequence[Column]
    rows: Iterable[Sequence[Cell]]
    close: Callable[[], None] = lambda: None


class Done(msgspec.Struct, frozen=True):
    """A statement without rows: how many it changed, and Doris' info text."""

    affected: int = 0
    info: str = ""


def texts(names: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table made of Python values, all columns text; None is NULL."""
    encoded = [[None if value is None else str(value).encode() for value in row] for row in rows]
    return Table([Column(name) for name in names], encoded)


def from_duckdb(cursor: duckdb.DuckDBPyConnection, labels: Sequence[str] | None, close: Callable[[], None]) -> Table:
    """The pending result of `cursor`; `labels` rename its columns."""
    description = cursor.description or []
    names = labels if labels is not None and len(labels) == len(description) else [d[0] for d in description]
    shapes = [_shape(str(d[1])) for d in description]
    columns = [Column(name, kind) for name, (kind, _) in zip(names, shapes, strict=True)]
    return Table(columns, _encoded(cursor, [encode for _, encode in shapes]), close)


def _encoded(cursor: duckdb.DuckDBPyConnection, encoders: list[Callable[[Any], bytes]]) -> Iterator[Sequence[Cell]]:
    while batch := cursor.fetchmany(FETCH_ROWS):
        columns = zip(*batch, strict=True)
        yield from zip(
            *(
                [None if value is None else encode(value) for value in column]
                for encode, column in zip(encoders, columns, strict=True)
            ),
            strict=True,
        )


def _shape(duck_type: str) -> tuple[Kind, Callable[[Any], bytes]]:
    if duck_type.startswith("DECIMAL"):
        precision, scale = (int(n) for n in duck_type[8:-1].split(","))
        return Kind(246, precision + 2, scale), _decimal
    return _SHAPES.get(duck_type, (TEXT, _other))


def _other(value: object) -> bytes:
    return str(value).encode()


def _integer(value: int) -> bytes:
    return b"%d" % value


def _boolean(value: bool) -> bytes:
    return b"1" if value else b"0"


def _float(value: float) -> bytes:
    """The shortest text that reads back as the same number; whole numbers without a point, as Doris prints them."""
    if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return b"%d" % int(value)
    return repr(value).encode()


def _decimal(value: decimal.Decimal) -> bytes:
    return format(value, "f").encode()


def _seconds(value: datetime.datetime) -> bytes:
    return value.isoformat(" ", "seconds").encode()


def _milliseconds(value: datetime.datetime) -> bytes:
    return value.isoformat(" ", "milliseconds").encode()


def _microseconds(value: datetime.datetime) -> bytes:
    return value.isoformat(" ", "microseconds").encode()


_SHAPES: dict[str, tuple[Kind, Callable[[Any], bytes]]] = {
    "VARCHAR": (TEXT, str.encode),
    "JSON": (TEXT, str.encode),
    "BOOLEAN": (BOOLEAN, _boolean),
    "TINYINT": (TINYINT, _integer),
    "SMALLINT": (SMALLINT, _integer),
    "INTEGER": (INT, _integer),
    "BIGINT": (BIGINT, _integer),
    # What DuckDB sums integers into; on Doris the sum of integers is a BIGINT.
    "HUGEINT": (BIGINT, _integer),
    "UBIGINT": (BIGINT, _integer),
    "FLOAT": (FLOAT, _float),
    "DOUBLE": (DOUBLE, _float),
    "DATE": (DATE, _other),
    "TIMESTAMP_S": (Kind(12, 19, 0), _seconds),
    "TIMESTAMP_MS": (Kind(12, 23, 3), _milliseconds),
    "TIMESTAMP": (Kind(12, 26, 6), _microseconds),
    '"NULL"': (NULL, _other),
    "NULL": (NULL, _other),
}
