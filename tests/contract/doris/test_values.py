"""Values go in and come out as they were: types, times, JSON, text of every kind."""

from __future__ import annotations

import datetime
import json

import pytest

from pipeline.doris.errors import QueryFailed
from pipeline.records.rows import Row

DAY = 1_767_225_600_000


def job(cluster, **values):
    return Row("job_wait", 1, {"day": DAY, "cluster": cluster, "job_uid": "j", "episode": 1} | values)


def read(sql, cluster, columns, table="job_wait"):
    return sql.query(f"SELECT {columns} FROM `{table}` WHERE `cluster` = %s", (cluster,)).rows[0]


def test_times_are_utc_to_the_millisecond(load, sql, cluster):
    load(job(cluster, started_at=DAY + 123, ended_at=DAY + 86_399_999))
    assert read(sql, cluster, "`day`, `started_at`, `ended_at`") == (
        datetime.date(2026, 1, 1),
        datetime.datetime(2026, 1, 1, 0, 0, 0, 123_000),
        datetime.datetime(2026, 1, 1, 23, 59, 59, 999_000),
    )


def test_the_session_is_in_utc(sql):
    assert sql.query("SELECT @@time_zone").rows[0][0] in {"+00:00", "UTC"}
    assert sql.query("SELECT UNIX_TIMESTAMP('2026-01-01 00:00:00')").rows[0][0] == 1_767_225_600


def test_a_time_compares_with_its_text(load, sql, cluster):
    load(job(cluster, started_at=DAY + 123))
    found = sql.query(
        "SELECT COUNT(*) FROM `job_wait` WHERE `cluster` = %s AND `started_at` >= %s AND `started_at` < %s",
        (cluster, "2026-01-01 00:00:00.123", "2026-01-01 00:00:00.124"),
    )
    assert found.rows == ((1,),)


def test_numbers_keep_their_size_and_nulls_stay_null(load, sql, cluster):
    load(job(cluster, memory_bytes=2**62, priority=-(2**31), leading_share=0.25, partial=True, gpus=None, tasks=0))
    found = read(sql, cluster, "`memory_bytes`, `priority`, `leading_share`, `partial`, `gpus`, `tasks`")
    assert found == (2**62, -(2**31), 0.25, 1, None, 0)


@pytest.mark.parametrize(
    "text",
    ["", " ", "null", "a'b\"c`d\\e", "tab\tnewline\nend", "排队中 🚀", "%s %(x)s 100%", "--; DROP TABLE x", "\u0001"],
)
def test_text_comes_back_as_it_was(text, load, sql, cluster):
    load(job(cluster, owner=text, cause="x"))
    assert read(sql, cluster, "`owner`")[0] == text
    found = sql.query("SELECT COUNT(*) FROM `job_wait` WHERE `cluster` = %s AND `owner` = %s", (cluster, text)).rows
    assert found == ((1,),)


def test_text_is_compared_with_its_case(load, sql, cluster):
    load(job(cluster, owner="Alice"))
    found = sql.query("SELECT COUNT(*) FROM `job_wait` WHERE `cluster` = %s AND `owner` = 'alice'", (cluster,)).rows
    assert found == ((0,),)


@pytest.mark.parametrize("form", [json.dumps, lambda value: value], ids=["text", "object"])
def test_json_comes_back_as_json_whether_it_went_in_as_text_or_as_an_object(form, load, sql, cluster):
    value = {"phase": "Pending", "conditions": [{"type": "A", "message": '0/3 "nodes"'}], "n": 3}
    key = {"day": DAY, "cluster": cluster, "uid": "u", "object_version": "1", "change": "added"}
    load(Row("object_change", 1, key | {"summary": form(value), "synthetic": False}))
    found = read(sql, cluster, "`summary`, `synthetic`", "object_change")
    assert json.loads(found[0]) == value and found[1] == 0


def test_json_that_is_a_list_comes_back_as_a_list(load, sql, cluster):
    key = {"day": DAY, "cluster": cluster, "job_uid": "j", "episode": 1, "n": 1}
    load(Row("wait_segment", 1, key | {"also": json.dumps(["quota", "outranked"]), "message": "m" * 100_000}))
    found = read(sql, cluster, "`also`, LENGTH(`message`)", "wait_segment")
    assert json.loads(found[0]) == ["quota", "outranked"] and found[1] == 100_000


def test_a_query_names_its_columns_and_gives_rows_by_name(sql):
    found = sql.query("SELECT 1 AS `one`, 'x' AS `two`")
    assert found.columns == ("one", "two") and found.dicts() == [{"one": 1, "two": "x"}]


def test_a_statement_that_is_wrong_is_told_in_doris_words(sql):
    with pytest.raises(QueryFailed) as refusal:
        sql.query("SELECT `no_such_column` FROM `job_wait`")
    assert "no_such_column" in str(refusal.value) and refusal.value.code
    assert sql.query("SELECT 1").rows == ((1,),)


def test_a_table_that_does_not_exist_is_told(sql):
    with pytest.raises(QueryFailed, match="no_such_table"):
        sql.query("SELECT 1 FROM `no_such_table`")


def test_the_server_says_what_it_is(sql, is_local):
    (comment,) = sql.query("SELECT @@version_comment").rows[0]
    assert "Doris" in comment or "doris" in comment
    assert is_local == ("local" in comment)
