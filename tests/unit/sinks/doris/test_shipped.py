"""Every statement that is shipped parses as Doris; views are whole, commented and marked."""

from __future__ import annotations

import logging
import re

import pytest
import sqlglot
from sqlglot import exp

from pipeline.records import tables
from sinks.doris import shipped
from sinks.doris import sql as writer

VIEW = pytest.mark.parametrize("name", shipped.VIEWS)


def parse(statement):
    return sqlglot.parse_one(statement, read="doris")


@pytest.mark.parametrize("name", shipped.statements())
def test_every_statement_parses_as_doris(name, caplog):
    statement = shipped.statements()[name]
    with caplog.at_level(logging.ERROR, logger="sqlglot"):
        # AUTO PARTITION is no part of sqlglot's grammar; without it the rest of CREATE TABLE is.
        parsed = parse(statement.replace("AUTO PARTITION BY RANGE (date_trunc(`day`, 'day')) ()\n", ""))
    assert isinstance(parsed, exp.Create)


@VIEW
def test_a_view_names_and_comments_exactly_the_columns_it_selects(name):
    parsed = parse(shipped.view(name).statement)
    named = [column.name for column in parsed.this.expressions]
    selected = [column.alias_or_name for column in parsed.expression.selects]
    assert named == selected
    comments = re.findall(r"^  `\w+` COMMENT '(.+)',?$", shipped.view(name).statement, re.MULTILINE)
    assert len(comments) == len(named) and all(len(comment) > 3 for comment in comments)


@VIEW
def test_a_view_reads_only_tables_of_the_map_and_views_before_it(name):
    parsed = parse(shipped.view(name).statement)
    known = set(tables.TABLES) | set(shipped.VIEWS[: shipped.VIEWS.index(name)])
    read = {table.name for table in parsed.expression.find_all(exp.Table)}
    assert read and read <= known


@VIEW
def test_a_view_reads_only_columns_that_its_tables_have(name):
    columns = {column.name for table in tables.TABLES.values() for column in table.columns}
    made = {"now_at", "before", "kept", "deadline_day", "dead_letters", "overrun_ms"}
    made |= {"hour_end", "next_at", "first_at", "known_ms", "here", "free"}
    parsed = parse(shipped.view(name).statement)
    read = {column.name for column in parsed.expression.find_all(exp.Column) if column.name != "*"}
    assert read <= columns | made


@VIEW
def test_the_mark_in_a_views_comment_follows_its_text(name):
    view = shipped.view(name)
    assert re.fullmatch(r".+ \[[0-9a-f]{12}\]", view.comment)
    assert view.comment in view.statement


def test_every_file_of_the_views_is_shipped():
    from importlib import resources

    files = {
        entry.name for entry in (resources.files("sinks.doris") / "views").iterdir() if entry.name.endswith(".sql")
    }
    assert files == {f"{name}.sql" for name in shipped.VIEWS}


def test_the_writer_writes_each_statement_into_its_own_file(tmp_path):
    written = writer.write(tmp_path)
    files = sorted(tmp_path.iterdir())
    assert written == len(files)
    own = {file.name.partition("_")[2] for file in files}
    assert {f"table_{name}.sql" for name in tables.TABLES} <= own
    assert {f"view_{name}.sql" for name in shipped.VIEWS} <= own
    assert all(file.read_text().rstrip().endswith(";") for file in files)
    assert files[0].name == "01_table_job_wait.sql"
