"""One Stream Load from the body's file to rows in the table, and the answer Doris gives for it.

Reading and casting happen before the write lock is taken, so loads overlap in all but their last step. Label and rows
go in one transaction.
"""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import duckdb
import msgspec

from pipeline import clock
from sinks.doris_local import keys, rows, schema
from sinks.doris_local.catalog import Catalog
from sinks.doris_local.engine import Engine, literal
from sinks.doris_local.errors import SqlError
from sinks.doris_local.labels import Labels

MAX_REASONS = 100  # lines kept for a load's error log
MAX_LINE_BYTES = 1 << 24
MAX_DOCUMENT_BYTES = 100 << 20  # BE streaming_load_json_max_mb, for a body that is not read line by line
FORMATS = {"lines": "newline_delimited", "array": "array", "object": "unstructured"}


class LoadFailed(Exception):
    """The load is aborted; the text is the answer's Message, its code in brackets first."""


class Order(msgspec.Struct, kw_only=True):
    """A checked request. `layout` is lines, array or object."""

    table: schema.Table
    label: str
    shape: rows.Shape
    layout: str
    gzipped: bool = False
    max_filter_ratio: float = 0.0


class Result(msgspec.Struct, kw_only=True):
    """Counts of rows, milliseconds spent, and the reasons against filtered rows (the first hundred)."""

    total: int = 0
    loaded: int = 0
    filtered: int = 0
    read_ms: int = 0
    write_ms: int = 0
    reasons: list[str] = msgspec.field(default_factory=list)


class Loader:
    """Runs loads; safe to call from many threads."""

    def __init__(self, engine: Engine, catalog: Catalog, labels: Labels) -> None:
        self._engine = engine
        self._catalog = catalog
        self._labels = labels

    def run(self, order: Order, body: Path, result: Result) -> None:
        """Load the file's rows, filling `result` on the way. Raises LoadFailed, and then nothing was loaded."""
        try:
            with self._engine.cursor() as cursor:
                began = time.monotonic_ns()
                self._stage(cursor, order, body, result)
                result.read_ms = (time.monotonic_ns() - began) // 1_000_000
                if result.total and result.filtered / result.total > order.max_filter_ratio:
                    raise LoadFailed("[DATA_QUALITY_ERROR]too many filtered rows")
                began = time.monotonic_ns()
                self._commit(cursor, order)
                result.loaded = result.total - result.filtered
                result.write_ms = (time.monotonic_ns() - began) // 1_000_000
        except duckdb.Error as error:
            self._engine.watch(error)
            raise LoadFailed(f"[INTERNAL_ERROR]{str(error).splitlines()[0]}") from error

    def _stage(self, cursor: duckdb.DuckDBPyConnection, order: Order, body: Path, result: Result) -> None:
        plain = _stage_plain(cursor, order, body)
        if plain is not None:
            result.total = plain
            return
        bad: list[bytes] = []
        try:
            _stage_by_rules(cursor, order, body, order.gzipped)
        except duckdb.InvalidInputException as error:
            if order.layout != "lines":
                raise LoadFailed(f"[DATA_QUALITY_ERROR]Parse json data failed. {str(error).splitlines()[0]}") from error
            bad = _keep_good_lines(body, order.gzipped)
            _stage_by_rules(cursor, order, body, gzipped=False)
        result.reasons = [_reason("Parse json data for JsonDoc failed.", line.decode(errors="replace")) for line in bad]
        staged, wrong = _one(cursor, f"SELECT count(*), count({rows.ERROR}) FROM {keys.STAGED}")
        result.total, result.filtered = staged + len(bad), wrong + len(bad)
        if wrong:
            failed = cursor.execute(
                f"SELECT {rows.ERROR}, {rows.LINE} FROM {keys.STAGED} WHERE {rows.ERROR} IS NOT NULL "
                f"ORDER BY rowid LIMIT {MAX_REASONS}"
            ).fetchall()
            result.reasons += [_reason(error, line or "null") for error, line in failed]
            cursor.execute(f"DELETE FROM {keys.STAGED} WHERE {rows.ERROR} IS NOT NULL")
        result.reasons = result.reasons[:MAX_REASONS]

    def _commit(self, cursor: duckdb.DuckDBPyConnection, order: Order) -> None:
        now_ms = clock.now_ms()
        with self._engine.writing(cursor):
            self._check_unchanged(order.table)
            merge_staged(cursor, order.table)
            self._labels.write(cursor, order.table.database, order.label, now_ms)
        self._labels.done(order.table.database, order.label, now_ms)

    def _check_unchanged(self, table: schema.Table) -> None:
        """The rows were read for this definition, and definitions change only under the write lock, held here."""
        try:
            same = self._catalog.table(table.database, table.name) == table
        except SqlError as error:
            raise LoadFailed(f"[ANALYSIS_ERROR]TStatus: {error.message}") from error
        if not same:
            raise LoadFailed(f"[INTERNAL_ERROR]table {table.name} was altered during the load, try again")


def _stage_plain(cursor: duckdb.DuckDBPyConnection, order: Order, body: Path) -> int | None:
    """The number of rows staged; None if the batch is one for the rules."""
    texts = rows.texts_of(order.table, order.shape)
    if texts is None:
        return None
    columns = ", ".join(f"{literal(text)}: 'VARCHAR'" for text in texts)
    query = rows.plain(order.table, order.shape, _source(order, body, order.gzipped, f"columns = {{{columns}}}"))
    try:
        cursor.execute(f"CREATE OR REPLACE TEMP TABLE staged AS {query}")
    except (duckdb.InvalidInputException, duckdb.ConversionException):
        return None
    staged, odd = _one(
        cursor, f"SELECT count(*), coalesce(bool_or({rows.is_odd(order.table)}), FALSE) FROM {keys.STAGED}"
    )
    return None if odd else staged


def _stage_by_rules(cursor: duckdb.DuckDBPyConnection, order: Order, body: Path, gzipped: bool) -> None:
    lines = _source(order, body, gzipped, f"records = false, columns = {{{rows.LINE}: 'JSON'}}")
    query = rows.from_json(order.table, order.shape, lines)
    kept = f"CASE WHEN {rows.ERROR} IS NOT NULL THEN {rows.LINE} END AS {rows.LINE}"
    cursor.execute(f"CREATE OR REPLACE TEMP TABLE staged AS SELECT * REPLACE ({kept}) FROM ({query})")


def _source(order: Order, body: Path, gzipped: bool, columns: str) -> str:
    # DuckDB sets aside twice the longest object for each thread, so it is not told more than needed.
    longest = MAX_LINE_BYTES if order.layout == "lines" else MAX_DOCUMENT_BYTES
    if not gzipped:
        longest = min(longest, body.stat().st_size + 1)
    return (
        f"read_json({literal(str(body))}, format = '{FORMATS[order.layout]}', {columns}, "
        f"maximum_object_size = {longest}, compression = '{'gzip' if gzipped else 'none'}')"
    )


def merge_staged(cursor: duckdb.DuckDBPyConnection, table: schema.Table) -> None:
    """Bring `temp.staged` into the table, inside the caller's transaction."""
    if table.model == "AGGREGATE":
        for statement in keys.combine(table):
            cursor.execute(statement)
        return
    if table.model == "UNIQUE":
        _keep_winners(cursor, table)
    cursor.execute(keys.insert(table))


def _keep_winners(cursor: duckdb.DuckDBPyConnection, table: schema.Table) -> None:
    """One staged row a key, none that an older stored row beats, and no stored row that one of them beats."""
    (repeated,) = _one(cursor, keys.repeated(table))
    if repeated:
        cursor.execute(keys.keep_last(table))
    (matched,) = _one(cursor, keys.match(table))
    if not matched:
        return
    (lost,) = _one(cursor, keys.COUNT_LOSERS)
    if lost:
        cursor.execute(keys.DROP_LOSERS)
    if matched > lost:
        cursor.execute(keys.delete_beaten(table))


def _keep_good_lines(body: Path, gzipped: bool) -> list[bytes]:
    """Rewrite the file without the lines that are no JSON objects, and return those."""
    data = body.read_bytes()
    try:
        good, bad = rows.split_lines(gzip.decompress(data) if gzipped else data)
    except (OSError, EOFError) as error:
        raise LoadFailed(f"[INTERNAL_ERROR]decompress failed: {error}") from error
    body.write_bytes(good)
    return bad


def _reason(why: str, line: str) -> str:
    return f"Reason: {why} src line [{line}]; "


def _one(cursor: duckdb.DuckDBPyConnection, query: str) -> tuple[int, ...]:
    row = cursor.execute(query).fetchone()
    assert row is not None, "neither an aggregate without GROUP BY nor a count of made rows is empty"
    return tuple(row)
