"""The three key models as SQL text: what becomes of a staged batch beside the rows that are there.

DuckDB's own upserts cannot be used as they are: with two rows of one key in a batch, INSERT .. ON CONFLICT keeps the
first and MERGE inserts both. So a batch is first reduced to one row a key, then its keys are joined with the table's, and
only then are the rows that lose deleted, of the batch or of the table, and the rest of the batch inserted. That also beats
MERGE by half on a large table, and a batch of new keys, the usual one, is written as it is.

A deleted key stays as a row whose delete sign is set, with its sequence, so that an older row arriving late cannot
bring it back; the view that queries read leaves it out.
"""

from __future__ import annotations

from sinks.doris_local import schema
from sinks.doris_local.engine import name, stored

STAGED = "temp.staged"  # the batch: every stored column; the row id is the order of arrival
WINNERS = "temp.winners"  # of an AGGREGATE table: what the batch comes to, and in OLD_ROW the row id it replaces
MATCHES = "temp.matches"  # of a UNIQUE table: row ids of equal keys in batch and table, and whether the new row wins

# Names beside those of a table's columns; no column may begin with __DORIS_.
OLD_ROW = "__DORIS_OLD_ROW__"

COUNT_LOSERS = f"SELECT count(*) FROM {MATCHES} WHERE NOT wins"
DROP_LOSERS = f"DELETE FROM {STAGED} WHERE rowid IN (SELECT new_row FROM {MATCHES} WHERE NOT wins)"


def stored_columns(table: schema.Table) -> dict[str, str]:
    """Column names of the stored table with their DuckDB types, hidden ones last."""
    columns = {c.name: c.type.duck for c in table.columns}
    if table.model == "UNIQUE":
        columns[schema.DELETE_SIGN] = "TINYINT"
        if table.sequence_column is None and table.sequence_type is not None:
            columns[schema.SEQUENCE] = table.sequence_type.duck
    return columns


def sequence(table: schema.Table) -> str | None:
    """The stored column that decides between equal keys, None if the later load always wins."""
    if table.sequence_type is None:
        return None
    return table.sequence_column or schema.SEQUENCE


def insert(table: schema.Table) -> str:
    """The whole batch into the table."""
    columns = ", ".join(name(c) for c in stored_columns(table))
    return f"INSERT INTO {stored(table.database, table.name)} ({columns}) SELECT {columns} FROM {STAGED}"


def repeated(table: schema.Table) -> str:
    """How many rows of the batch have the key of another one."""
    return f"SELECT count(*) - count(DISTINCT ({', '.join(name(k) for k in table.keys)},)) FROM {STAGED}"


def keep_last(table: schema.Table) -> str:
    """Of each key in the batch the row with the highest sequence, of equal ones the last to arrive."""
    keys = ", ".join(name(k) for k in table.keys)
    decides = sequence(table)
    order = f"{name(decides)} DESC NULLS LAST, rowid DESC" if decides else "rowid DESC"
    return f"""
        DELETE FROM {STAGED} WHERE rowid NOT IN (
            SELECT rowid FROM {STAGED} QUALIFY row_number() OVER (PARTITION BY {keys} ORDER BY {order}) = 1)"""


def match(table: schema.Table) -> str:
    """Makes `MATCHES` and gives how many there are."""
    decides = sequence(table)
    wins = "TRUE"
    if decides:
        wins = f"coalesce(new.{name(decides)} >= old.{name(decides)}, old.{name(decides)} IS NULL)"
    return f"""
        CREATE OR REPLACE TEMP TABLE matches AS
        SELECT new.rowid AS new_row, old.rowid AS old_row, {wins} AS wins
        FROM {STAGED} AS new JOIN {stored(table.database, table.name)} AS old ON {_same_key(table)}"""


def delete_beaten(table: schema.Table) -> str:
    """The table's rows that lose against the batch's."""
    target = stored(table.database, table.name)
    return f"DELETE FROM {target} WHERE rowid IN (SELECT old_row FROM {MATCHES} WHERE wins)"


def combine(table: schema.Table) -> list[str]:
    """Statements that bring the batch into an AGGREGATE table."""
    columns = ", ".join(name(c) for c in stored_columns(table))
    target = stored(table.database, table.name)
    return [
        f"CREATE OR REPLACE TEMP TABLE winners AS {_aggregate_winners(table)}",
        f"DELETE FROM {target} WHERE rowid IN (SELECT {OLD_ROW} FROM {WINNERS} WHERE {OLD_ROW} IS NOT NULL)",
        f"INSERT INTO {target} ({columns}) SELECT {columns} FROM {WINNERS}",
        "DROP TABLE temp.winners",
    ]


_REDUCE = {
    "SUM": "sum({0})",
    "MIN": "min({0})",
    "MAX": "max({0})",
    "REPLACE": "arg_max_null({0}, rowid)",
    "REPLACE_IF_NOT_NULL": "arg_max({0}, rowid)",
}
_COMBINE = {
    "SUM": "coalesce(old.{0} + new.{0}, new.{0}, old.{0})",
    "MIN": "least(old.{0}, new.{0})",
    "MAX": "greatest(old.{0}, new.{0})",
    "REPLACE": "new.{0}",
    "REPLACE_IF_NOT_NULL": "coalesce(new.{0}, old.{0})",
}


def _aggregate_winners(table: schema.Table) -> str:
    keys = ", ".join(name(k) for k in table.keys)
    values = [(name(c.name), c.aggregate or "", c.type.duck) for c in table.columns if not c.key]
    reduced = ", ".join(f"CAST({_REDUCE[how].format(n)} AS {duck}) AS {n}" for n, how, duck in values)
    combined = ", ".join(f"CAST({_COMBINE[how].format(n)} AS {duck}) AS {n}" for n, how, duck in values)
    return f"""
        SELECT {", ".join(f"new.{name(k)}" for k in table.keys)}, {combined}, old.rowid AS {OLD_ROW}
        FROM (SELECT {keys}, {reduced} FROM {STAGED} GROUP BY {keys}) AS new
        LEFT JOIN {stored(table.database, table.name)} AS old ON {_same_key(table)}"""


def _same_key(table: schema.Table) -> str:
    return " AND ".join(
        f"old.{name(c.name)} {'IS NOT DISTINCT FROM' if c.nullable else '='} new.{name(c.name)}"
        for c in table.columns
        if c.key
    )


def visible_query(table: schema.Table) -> str:
    """What a query of the table sees."""
    columns = ", ".join(name(c.name) for c in table.columns)
    text = f"SELECT {columns} FROM {stored(table.database, table.name)}"
    return f"{text} WHERE {name(schema.DELETE_SIGN)} = 0" if table.model == "UNIQUE" else text
