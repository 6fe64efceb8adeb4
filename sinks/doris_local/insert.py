"""INSERT: meant for single rows (bookkeeping, tests); rows in numbers come by Stream Load.

The values go the way of a load: the same casts, checks and merge, in one transaction. As on Doris with
`enable_insert_strict`, one row that does not fit fails the statement.
"""

from __future__ import annotations

import uuid

import duckdb
import msgspec

from pipeline import clock
from sinks.doris_local import errors, keys, rows, schema, translate
from sinks.doris_local.engine import Engine, name
from sinks.doris_local.labels import Labels
from sinks.doris_local.load import merge_staged
from sinks.doris_local.results import Done
from sinks.doris_local.tokens import Kind, Token


class Target(msgspec.Struct, frozen=True):
    """What an INSERT names: the table, the columns in order (none: all), and the text of VALUES or of a query."""

    database: str | None
    table: str
    columns: tuple[str, ...]
    source: str


def read(text: str, tokens: list[Token]) -> Target:
    """The statement taken apart. Raises SqlError for what is not supported."""
    at = 2 if tokens[1].is_word("INTO") else 1
    if tokens[1].is_word("OVERWRITE"):
        raise errors.unsupported("INSERT OVERWRITE")
    at += tokens[at].is_word("TABLE")
    parts = []
    while tokens[at].kind in (Kind.WORD, Kind.NAME):
        parts.append(tokens[at].value)
        at += 1
        if not tokens[at].is_symbol("."):
            break
        at += 1
    if len(parts) == 3 and parts[0] == "internal":
        del parts[0]
    if len(parts) not in (1, 2) or tokens[at].is_word("PARTITION", "PARTITIONS", "TEMPORARY"):
        raise errors.unsupported("this form of INSERT")
    columns: list[str] = []
    if tokens[at].is_symbol("(") and not tokens[at + 1].is_word("SELECT", "WITH"):
        at += 1
        while not tokens[at].is_symbol(")"):
            if tokens[at].kind in (Kind.WORD, Kind.NAME):
                columns.append(tokens[at].value)
            elif not tokens[at].is_symbol(","):
                raise errors.refused(f"mismatched input '{tokens[at].value}' in the column list")
            at += 1
        at += 1
    if not tokens[at].is_word("VALUES", "SELECT", "WITH") and not tokens[at].is_symbol("("):
        raise errors.unsupported(f"INSERT .. {tokens[at].value.upper()}")
    source = text[tokens[at].start :].rstrip().removesuffix(";")
    if tokens[at].is_word("VALUES"):
        source = f"SELECT * FROM ({source}) AS `inserted`"
    return Target(parts[0] if len(parts) == 2 else None, parts[-1], tuple(columns), source)


def run(engine: Engine, labels: Labels, table: schema.Table, target: Target, scope: translate.Scope) -> Done:
    """Insert the rows. Raises SqlError, or duckdb.Error of the query; then nothing was inserted."""
    shape, order = _shape(table, target.columns)
    query = translate.query(target.source, scope)
    cursor = engine.cursor()
    try:
        _stage(cursor, table, shape, order, query.sql)
        return _commit(engine, cursor, labels, table)
    finally:
        cursor.close()


def _shape(table: schema.Table, named: tuple[str, ...]) -> tuple[rows.Shape, tuple[str, ...]]:
    """How the values are to be read, and the order of the columns they are for."""
    if not named:
        named = tuple(c.name for c in table.columns)
    hidden = tuple(n.upper() for n in named if n.upper() in schema.HIDDEN)
    visible = rows.check_columns(table, tuple(n for n in named if n.upper() not in schema.HIDDEN))
    decides = keys.sequence(table)
    if decides is not None and decides not in (*visible, *hidden):
        raise errors.refused(f"Table {table.name} has sequence column, need to specify the sequence column")
    spelled = {n.lower(): n for n in (*visible, *hidden)}
    return rows.Shape(columns=visible, hidden=hidden, strict=True), tuple(spelled[n.lower()] for n in named)


def _stage(
    cursor: duckdb.DuckDBPyConnection, table: schema.Table, shape: rows.Shape, order: tuple[str, ...], query: str
) -> None:
    described = cursor.execute(f"DESCRIBE {query}").fetchall()
    if len(described) != len(order):
        raise errors.SqlError("Column count doesn't match value count", 1136, "21S01")
    sources = [name(f"c{n}") for n in range(len(order))]
    texts = ", ".join(f"fn.to_text({s}) AS {name('raw_' + c)}" for s, c in zip(sources, order, strict=True))
    raw = f"SELECT {texts}, NULL::VARCHAR AS json FROM ({query}) AS given({', '.join(sources)})"
    cursor.execute(f"CREATE OR REPLACE TEMP TABLE staged AS {rows.typed(table, shape, raw, given_all=True)}")
    wrong = cursor.execute(f"SELECT error FROM {keys.STAGED} WHERE error IS NOT NULL LIMIT 1").fetchone()
    if wrong is not None:
        raise errors.refused(f"Insert has filtered data in strict mode. {wrong[0]}")


def _commit(engine: Engine, cursor: duckdb.DuckDBPyConnection, labels: Labels, table: schema.Table) -> Done:
    label = f"insert_{uuid.uuid4().hex}"
    transaction = labels.begin(table.database, label)
    counted = cursor.execute(f"SELECT count(*) FROM {keys.STAGED}").fetchone()
    now_ms = clock.now_ms()
    try:
        with engine.writing(cursor):
            merge_staged(cursor, table)
            labels.write(cursor, table.database, label, now_ms)
    except BaseException:
        labels.free(table.database, label)
        raise
    labels.done(table.database, label, now_ms)
    info = f"{{'label':'{label}', 'status':'VISIBLE', 'txnId':'{transaction}'}}"
    return Done(affected=counted[0] if counted else 0, info=info)
