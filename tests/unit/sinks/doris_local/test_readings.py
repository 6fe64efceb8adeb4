"""The short reading of a batch gives what the rules give, or says that they are needed."""

from __future__ import annotations

import json

import duckdb
import msgspec
import pytest

from sinks.doris_local import ddl, rows, table_rules

TABLE = """CREATE TABLE t (`day` DATE NOT NULL, name VARCHAR(8), many BIGINT, few TINYINT, ok BOOLEAN, share DOUBLE,
    price DECIMAL(10, 2), at DATETIME(3), also JSON, version BIGINT NOT NULL) UNIQUE KEY(`day`)
    DISTRIBUTED BY HASH(`day`) BUCKETS 1 PROPERTIES ("replication_num" = "1", "function_column.sequence_col" = "version")"""
SHAPE = rows.Shape(strict=True, hidden=("__DORIS_DELETE_SIGN__",))
GOOD = {"day": "2026-01-01", "version": 1, "__DORIS_DELETE_SIGN__": 0}


@pytest.fixture(scope="module")
def table():
    return table_rules.settle(msgspec.structs.replace(ddl.parse(TABLE).table, database="kube"))


def _row(db, query):
    cursor = db.execute(query)
    names = [column[0] for column in cursor.description]
    return dict(zip(names, cursor.fetchone(), strict=True))


@pytest.fixture
def read(tmp_path, table):
    """A line as read in short (None if it cannot be) and by the rules, with whether each has something to say."""

    def both(line):
        body = tmp_path / "body"
        body.write_text(json.dumps(line) if isinstance(line, dict) else line)
        source = f"read_json('{body}', format = 'newline_delimited', "
        columns = ", ".join(f"'{text}': 'VARCHAR'" for text in rows.texts_of(table, SHAPE))
        with duckdb.connect() as db:
            db.execute("SET TimeZone = 'UTC'")
            lines = f"{source}records = false, columns = {{{rows.LINE}: 'JSON'}})"
            wanted = _row(db, f"SELECT * FROM ({rows.from_json(table, SHAPE, lines)})")
            error, _ = wanted.pop(rows.ERROR), wanted.pop(rows.LINE)
            short = f"({rows.plain(table, SHAPE, f'{source}columns = {{{columns}}})')})"
            try:
                found = _row(db, f"SELECT *, coalesce({rows.is_odd(table)}, FALSE) AS odd FROM {short}")
            except (duckdb.InvalidInputException, duckdb.ConversionException):
                return None, True, wanted, error
            odd, _ = found.pop("odd"), found.pop(rows.ODD)
            return found, odd, wanted, error

    return both


@pytest.mark.parametrize(
    "more",
    (
        {},
        {
            "name": "a",
            "many": -5,
            "few": 127,
            "ok": True,
            "share": 0.25,
            "price": "1.50",
            "at": "2026-01-01 00:00:00.120",
        },
        {"name": "", "many": 9223372036854775807, "ok": False, "share": 1e-07, "at": "2026-01-01T10:00:00"},
        {"name": "ümläut", "many": "12", "also": '{"a": [1, 2]}', "__DORIS_DELETE_SIGN__": 1},
        {"also": {"k": None}, "unknown": 1, "share": 3.0},
    ),
    ids=str,
)
def test_ordinary_values_are_read_in_short_as_by_the_rules(read, more):
    short, odd, wanted, error = read({**GOOD, **more})
    assert (short, odd, error) == (wanted, False, None)


@pytest.mark.parametrize(
    "more",
    (
        {"many": 1.5}, {"many": True}, {"many": "+5"}, {"few": 128}, {"ok": 2}, {"ok": "x"}, {"share": True}, {"share": "x"},
        {"price": 1.005}, {"at": "2026-01-01T00:00:00.000+08:00"}, {"at": "2026-01-01T00:00:00Z"}, {"at": "never"},
        {"day": None}, {"day": 5}, {"name": "longer than 8"}, {"version": None}, {"__DORIS_DELETE_SIGN__": 1.5},
    ),
    ids=str,
)  # fmt: skip
def test_values_that_the_rules_see_in_another_way_are_odd(read, more):
    assert read({**GOOD, **more})[1]


@pytest.mark.parametrize("line", ("null", "3", '["x"]', "{}"))
def test_lines_that_are_no_row_are_odd(read, line):
    assert read(line)[1]


def test_both_readings_agree_wherever_the_short_one_has_nothing_to_say(read):
    agreed = 0
    for value in (
        0,
        -1,
        1.0,
        2.5,
        True,
        False,
        None,
        "",
        "0",
        "1e3",
        "007",
        "-0",
        "2026-01-01",
        [1],
        {"a": 1},
        "nan",
        1e300,
    ):
        for column in ("name", "many", "few", "ok", "share", "price", "at", "also", "day"):
            found, odd, wanted, error = read({**GOOD, column: value})
            if not odd:
                assert (repr(sorted(found.items())), error) == (repr(sorted(wanted.items())), None), (column, value)
                agreed += 1
    assert agreed > 40
