"""CREATE TABLE and ALTER TABLE as Doris' grammar wants them."""

from __future__ import annotations

import re

import pytest

from pipeline.records import tables
from sinks.doris import ddl

ALL = pytest.mark.parametrize("table", tables.TABLES.values(), ids=lambda table: table.name)


def create(table):
    return ddl.create_table(table, replication_num=1, buckets=4)


@ALL
def test_clauses_stand_in_the_order_of_the_grammar(table):
    text = create(table)
    clauses = [
        "CREATE TABLE",
        "ENGINE=OLAP",
        "UNIQUE KEY(",
        "\nCOMMENT",
        "AUTO PARTITION BY",
        "DISTRIBUTED BY",
        "PROPERTIES",
    ]
    if not table.partitioned:
        clauses.remove("AUTO PARTITION BY")
    places = [text.index(clause) for clause in clauses]
    assert places == sorted(places)


@ALL
def test_key_columns_come_first_and_are_never_null(table):
    assert tuple(column.name for column in table.columns[: len(table.key)]) == table.key
    lines = create(table).splitlines()
    for name in (*table.key, tables.VERSION):
        assert any(line.startswith(f"  `{name}` ") and " NOT NULL " in line for line in lines), name
    others = {column.name for column in table.columns} - {*table.key, tables.VERSION}
    for name in others:
        assert any(
            line.startswith(f"  `{name}` ") and " NULL COMMENT" in line and "NOT NULL" not in line for line in lines
        )


@ALL
def test_rows_are_spread_and_partitioned_by_key_columns_of_types_that_may_be_keys(table):
    spread = re.search(r"HASH\(`(\w+)`\)", create(table))[1]
    assert spread in table.key
    forbidden = ("FLOAT", "DOUBLE", "STRING", "JSON", "VARIANT", "ARRAY", "MAP")
    assert not any(table.column(name).type.startswith(forbidden) for name in table.key)
    assert table.partitioned == ("date_trunc(`day`, 'day')" in create(table))


@ALL
def test_of_two_rows_with_one_key_the_higher_version_wins(table):
    text = create(table)
    assert '"function_column.sequence_col" = "version"' in text
    assert '"enable_unique_key_merge_on_write" = "true"' in text
    assert '"replication_num" = "1"' in text


def test_a_column_is_added_behind_the_one_before_it():
    column = tables.JOB_WAIT.column("cause")
    assert ddl.add_column(tables.JOB_WAIT, column) == (
        "ALTER TABLE `job_wait` ADD COLUMN `cause` VARCHAR(128) NULL "
        "COMMENT 'why a later wait began, empty for the first' AFTER `phase`"
    )


def test_quotes_and_backslashes_stay_inside_their_literal():
    assert ddl.literal("it's a \\ path") == "'it''s a \\\\ path'"
    assert ddl.name("a`b") == "`a``b`"
