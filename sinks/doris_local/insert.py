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
from sinks.doris_local.cursor import Cursor, Name
from sinks.doris_local.engine import Engine, name
from sinks.doris_local.labels import Labels
from sinks.doris_local.load import merge_staged
from sinks.doris_local.results import Done
from sinks.doris_local.tokens import Token


class Target(msgspec.Struct, frozen=True):
    """What an INSERT names: the table, the columns in order (none: all), and a query for the rows."""

    table: Name
    columns: tuple[str, ...]
    source: str


def read(text: str, tokens: list[Token]) -> Target:
    """The statement taken apart. Raises SqlError for what is not supported."""
    cursor = Cursor(text, tokens)
    cursor.expect("INSERT")
    if cursor.token.is_word("OVERWRITE"):
        raise errors.unsupported("INSERT OVERWRITE")
    cursor.expect("INTO")
    cursor.take("TABLE")
    name = cursor.qualified()
    if cursor.token.is_word("PARTITION", "PARTITIONS", "TEMPORARY", "WITH") and not tokens[cursor.at + 1].is_symbol(
        "("
    ):
        raise errors.unsupported(f"INSERT .. {cursor.token.value.upper()}")
    columns = cursor.names() if _names_follow(cursor) else ()
    source = text[cursor.token.start :].rstrip().removesuffix(";")
    if cursor.token.is_word("VALUES"):
        return Target(name, columns, f"SELECT * FROM ({source}) AS `inserted`")
    if not cursor.token.is_word("SELECT", "WITH") and not cursor.token.is_symbol("("):
        raise cursor.unexpected("{'SELECT', 'VALUES', 'WITH'}")
    return Target(name, columns, source)


def _names_follow(cursor: Cursor) -> bool:
    return cursor.token.is_symbol("(") and not cursor.tokens[cursor.at + 1].is_word("SELECT", "WITH")


def run(engine: Engine, labels: Labels, table: schema.Table, target: Target, scope: translate.Scope) -> Done:
    """Insert the rows. Raises SqlError, or duckdb.Error of the query; then nothing was inserted."""
    shape, order = _shape(table, target.columns)
    query = translate.query(target.source, scope)
    with engine.cursor() as cursor:
        _stage(cursor, table, shape, order, query.sql)
        return _commit(engine, cursor, labels, table)


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
    values = ", ".join(f"fn.to_text({s}) AS {rows.raw(c)}" for s, c in zip(sources, order, strict=True))
    texts = f"SELECT {values}, NULL::VARCHAR AS {rows.LINE} FROM ({query}) AS given({', '.join(sources)})"
    cursor.execute(f"CREATE OR REPLACE TEMP TABLE staged AS {rows.typed(table, shape, texts, given_all=True)}")
    wrong = cursor.execute(f"SELECT {rows.ERROR} FROM {keys.STAGED} WHERE {rows.ERROR} IS NOT NULL LIMIT 1").fetchone()
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
