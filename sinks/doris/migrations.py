"""Schema changes: what the warehouse has against what the table map says. Forward and additive.

A plan makes what is missing (database, tables, columns, views) and replaces views whose text changed; it never drops a
table or column and never changes a type: what cannot be done by adding is told as a conflict, for a person to decide.
There is no table of versions, since `information_schema` says what is there; a view carries a mark of its text in its
comment. `plan` is pure; `inspect` and `run` talk to Doris.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import NamedTuple

from pipeline import clock
from pipeline.doris.sql import Sql
from pipeline.errors import CheckFailed, Unreachable
from pipeline.records import tables
from sinks.doris import ddl, shipped

ALTER_WAIT_S = 120.0
"""So long an ALTER TABLE, which Doris does in the background, may take until its column is there."""


_TABLE = "table "


class Present(NamedTuple):
    """What is there: columns of each table as (name, type), comments of views. `None` tables: no database yet."""

    tables: dict[str, list[tuple[str, str]]] | None
    views: dict[str, str]


class Change(NamedTuple):
    """One statement, `what` it does in a person's words, and the column it waits for, if it is an ALTER TABLE."""

    what: str
    statement: str
    awaited: tuple[str, str] | None = None


class Plan(NamedTuple):
    """Statements in the order in which to run them, and what stands against the map and cannot be mended by adding."""

    changes: list[Change]
    conflicts: list[str]
    new_database: bool = False
    """The database itself is not there yet."""

    @property
    def tables(self) -> list[str]:
        """Names of the tables that it makes."""
        return [change.what.removeprefix(_TABLE) for change in self.changes if change.what.startswith(_TABLE)]

    def __str__(self) -> str:
        lines = [f"+ {change.what}" for change in self.changes] + [f"! {text}" for text in self.conflicts]
        return "\n".join(lines) or "nothing to do: the schema is up to date"


def plan(present: Present, *, replication_num: int, buckets: int) -> Plan:
    """What would have to be run so that every table, column and view of this version is there."""
    changes: list[Change] = []
    conflicts: list[str] = []
    for table in tables.TABLES.values():
        known = (present.tables or {}).get(table.name)
        if known is None:
            text = ddl.create_table(table, replication_num=replication_num, buckets=buckets)
            changes.append(Change(_TABLE + table.name, text))
            continue
        added, wrong = _columns(table, dict(known))
        changes.extend(added)
        conflicts.extend(wrong)
    changes.extend(_views(present.views))
    return Plan(changes, conflicts, present.tables is None)


def inspect(sql: Sql, database: str) -> Present:
    """What the warehouse has. Raises Unreachable or QueryFailed."""
    found = sql.query("SELECT SCHEMA_NAME FROM information_schema.schemata WHERE SCHEMA_NAME = %s", (database,))
    if not found.rows:
        return Present(None, {})
    listed = sql.query(
        "SELECT TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.tables WHERE TABLE_SCHEMA = %s",
        (database,),
    )
    columns = sql.query(
        "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE FROM information_schema.columns WHERE TABLE_SCHEMA = %s "
        "ORDER BY TABLE_NAME, ORDINAL_POSITION",
        (database,),
    )
    views = {str(name): str(comment or "") for name, kind, comment in listed.rows if "VIEW" in str(kind).upper()}
    bases: dict[str, list[tuple[str, str]]] = {str(name): [] for name, *_ in listed.rows if name not in views}
    for table, column, kind in columns.rows:
        if table in bases:
            bases[table].append((str(column), str(kind)))
    return Present(bases, views)


def check(todo: Plan, database: str) -> None:
    """Raises CheckFailed for conflicts: nothing of such a plan may be run."""
    if todo.conflicts:
        raise CheckFailed(
            "the schema cannot be brought up to date by adding to it:\n  " + "\n  ".join(todo.conflicts),
            where=f"database {database}",
            fix="rename or drop the tables named here, then start the sinks again: they make them and load what the log has",
        )


def run(todo: Plan, server: Sql, within: Sql, database: str) -> None:
    """Runs a plan. `server` is connected to no database, `within` to ours.

    Raises Unreachable or QueryFailed. Planned and run again it goes on where it stopped; two at a time make the same
    tables.
    """
    if todo.new_database:
        server.execute(ddl.create_database(database))
    for change in todo.changes:
        within.execute(change.statement)
        if change.awaited is not None:
            _await_column(server, database, *change.awaited)


def _columns(table: tables.Table, known: dict[str, str]) -> tuple[list[Change], list[str]]:
    added: list[Change] = []
    wrong: list[str] = []
    for column in table.columns:
        place = f"{table.name}.{column.name}"
        if column.name not in known:
            if column.name in table.key or column.name == tables.VERSION:
                wrong.append(f"{place}: a key column cannot be added")
            else:
                text = ddl.add_column(table, column)
                added.append(Change(f"column {place} {column.type}", text, (table.name, column.name)))
        elif not _same_type(column.type, known[column.name]):
            wrong.append(f"{place} is {known[column.name]}, not {column.type}")
    return added, wrong


def _views(present: dict[str, str]) -> Iterable[Change]:
    for name in shipped.VIEWS:
        view = shipped.view(name)
        if present.get(name) == view.comment:
            continue
        if name in present:
            yield Change(f"view {name} (replaced)", f"DROP VIEW IF EXISTS {ddl.name(name)}")
        yield Change(f"view {name}", view.statement)


def _same_type(wanted: str, found: str) -> bool:
    return _plain(wanted) == _plain(found)


def _plain(kind: str) -> str:
    """A type without what Doris adds or leaves out when it prints it: `bigint(20)`, `tinyint(1)`, `datetimev2(3)`."""
    text = re.sub(r"\s", "", kind.lower()).replace("v2", "").replace("jsonb", "json").replace("text", "string")
    text = re.sub(r"^(tinyint\(1\)|bool(ean)?)$", "boolean", text)
    text = re.sub(r"^(bigint|int|smallint|largeint)\(\d+\)", r"\1", text)
    return re.sub(r"^string\(\d+\)$", "string", text)


def _await_column(server: Sql, database: str, table: str, column: str) -> None:
    deadline = clock.monotonic_s() + ALTER_WAIT_S
    statement = (
        "SELECT COLUMN_NAME FROM information_schema.columns "
        "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND COLUMN_NAME = %s"
    )
    while not server.query(statement, (database, table, column)).rows:
        if clock.monotonic_s() > deadline:
            raise Unreachable(
                f"column {table}.{column} was not added within {ALTER_WAIT_S:.0f} s",
                fix="look at SHOW ALTER TABLE COLUMN, then apply again",
            )
        time.sleep(0.2)
