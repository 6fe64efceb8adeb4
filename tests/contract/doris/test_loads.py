"""Stream Load: order, deletions, labels, bad rows, redirects, refusals."""

from __future__ import annotations

import json
import uuid

import pytest

from pipeline.doris import errors, replies
from pipeline.doris.streamload import StreamLoad
from pipeline.records import tables
from pipeline.records.rows import Row

DAY = 1_767_225_600_000


def event(cluster, uid, version, *, deleted=False, day=DAY, **values):
    key = {"day": day, "cluster": cluster, "uid": uid, "object_version": "1"}
    return Row("event", version, key | values, deleted)


def events(sql, cluster):
    return sql.query("SELECT `uid`, `count` FROM `event` WHERE `cluster` = %s ORDER BY `uid`", (cluster,)).rows


def line(cluster, uid, **values):
    row = {
        "day": "2026-01-01",
        "cluster": cluster,
        "uid": uid,
        "object_version": "1",
        "version": 1,
        "__DORIS_DELETE_SIGN__": 0,
    }
    return json.dumps(row | values).encode()


def test_rows_are_there_when_the_load_returns(load, sql, cluster):
    (result,) = load(event(cluster, "a", 1, count=1), event(cluster, "b", 1, count=2))
    assert result.outcome is replies.Outcome.LOADED and result.rows == 2
    assert events(sql, cluster) == (("a", 1), ("b", 2))


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1), (3, 3, 1)])
def test_the_higher_version_wins_whatever_the_order_of_loads(order, load, sql, cluster):
    for version in order:
        load(event(cluster, "a", version, count=version))
    assert events(sql, cluster) == (("a", 3),)


@pytest.mark.parametrize("order", [(1, 3, 2), (3, 1, 2), (1, 2, 3)])
def test_the_higher_version_wins_within_one_load(order, client, sql, cluster):
    lines = b"\n".join(line(cluster, "a", version=version, count=version) for version in order)
    client.load("event", lines, rows=3, label=uuid.uuid4().hex)
    assert events(sql, cluster) == (("a", 3),)


def test_of_equal_versions_the_later_load_wins(load, sql, cluster):
    load(event(cluster, "a", 5, count=1))
    load(event(cluster, "a", 5, count=2))
    assert events(sql, cluster) == (("a", 2),)


def test_versions_reach_beyond_32_bits(load, sql, cluster):
    high, higher = (1 << 44) | 1_767_225_600_000, 2 << 44
    load(event(cluster, "a", higher, count=2))
    load(event(cluster, "a", high, count=1))
    assert events(sql, cluster) == (("a", 2),)
    assert sql.query("SELECT `version` FROM `event` WHERE `cluster` = %s", (cluster,)).rows == ((higher,),)


def test_a_deletion_with_a_higher_version_removes_and_an_older_row_does_not_bring_it_back(load, sql, cluster):
    load(event(cluster, "a", 1, count=1), event(cluster, "b", 1, count=1))
    load(event(cluster, "a", 3, deleted=True), event(cluster, "c", 1, count=9))
    assert events(sql, cluster) == (("b", 1), ("c", 9))
    load(event(cluster, "a", 2, count=2))
    assert events(sql, cluster) == (("b", 1), ("c", 9))
    load(event(cluster, "a", 4, count=4))
    assert events(sql, cluster) == (("a", 4), ("b", 1), ("c", 9))


def test_a_deletion_that_comes_before_its_row_keeps_it_away(load, sql, cluster):
    load(event(cluster, "a", 3, deleted=True))
    load(event(cluster, "a", 2, count=2))
    assert events(sql, cluster) == ()


def test_an_old_deletion_does_not_remove_a_newer_row(load, sql, cluster):
    load(event(cluster, "a", 5, count=5))
    load(event(cluster, "a", 4, deleted=True))
    assert events(sql, cluster) == (("a", 5),)


def test_a_key_on_another_day_is_another_row(load, sql, cluster):
    load(event(cluster, "a", 1, count=1), event(cluster, "a", 1, count=2, day=DAY + 86_400_000))
    assert len(events(sql, cluster)) == 2


def test_days_far_apart_get_their_own_partitions(load, sql, cluster):
    days = [DAY + n * 86_400_000 for n in (-400, -1, 0, 1, 300)]
    load(*(event(cluster, str(n), 1, day=day) for n, day in enumerate(days)))
    found = sql.query("SELECT COUNT(DISTINCT `day`), MIN(`day`) FROM `event` WHERE `cluster` = %s", (cluster,)).rows
    assert (found[0][0], str(found[0][1])) == (5, "2024-11-27")


def test_a_label_loads_once(client, sql, cluster):
    label = f"kc:event:{uuid.uuid4().hex}"
    first = client.load("event", line(cluster, "a", count=1), rows=1, label=label)
    again = client.load("event", line(cluster, "a", count=2), rows=1, label=label)
    assert (first.outcome, again.outcome) == (replies.Outcome.LOADED, replies.Outcome.ALREADY_LOADED)
    assert events(sql, cluster) == (("a", 1),)
    assert client.label_state(label) == "VISIBLE"


def test_a_label_that_nobody_used_is_unknown(client):
    assert client.label_state(uuid.uuid4().hex) == "UNKNOWN"


def test_a_failed_load_frees_its_label(client, sql, cluster):
    label = uuid.uuid4().hex
    with pytest.raises(errors.BadRows):
        client.load("event", line(cluster, "a", count="many"), rows=1, label=label)
    assert client.load("event", line(cluster, "a", count=1), rows=1, label=label).outcome is replies.Outcome.LOADED


@pytest.mark.parametrize(
    "bad",
    [
        {"count": "many"},
        {"count": 2**70},
        {"observed_at": "yesterday"},
        {"day": None},
        {"uid": None},
        {"version": None},
        {"type": "x" * 33},
        {"uid": "é" * 129},
    ],
    ids=lambda values: next(iter(values)),
)
def test_one_row_that_does_not_fit_keeps_the_whole_load_out_and_is_told(bad, client, sql, cluster):
    wrong = json.dumps(json.loads(line(cluster, "bad")) | bad).encode()
    lines = line(cluster, "good", count=1) + b"\n" + wrong
    with pytest.raises(errors.BadRows) as refusal:
        client.load("event", lines, rows=2, label=uuid.uuid4().hex)
    assert events(sql, cluster) == ()
    assert str(refusal.value) + refusal.value.details


def test_a_line_that_is_no_json_keeps_the_load_out(client, sql, cluster):
    with pytest.raises(errors.BadRows):
        client.load("event", line(cluster, "a") + b"\n{broken", rows=2, label=uuid.uuid4().hex)
    assert events(sql, cluster) == ()


def test_a_table_that_does_not_exist_is_a_matter_for_a_person(client, cluster):
    with pytest.raises(errors.Refused):
        client.load("no_such_table", line(cluster, "a"), rows=1, label=uuid.uuid4().hex)


def test_a_database_that_does_not_exist_is_a_matter_for_a_person(settings, cluster):
    with (
        StreamLoad(settings.model_copy(update={"database": "no_such_database"})) as client,
        pytest.raises(errors.Refused),
    ):
        client.load("event", line(cluster, "a"), rows=1, label=uuid.uuid4().hex)


def test_a_wrong_user_is_a_matter_for_a_person(settings, cluster):
    strange = settings.model_copy(update={"user": "nobody_such", "password": None})
    with StreamLoad(strange) as client, pytest.raises(errors.Refused):
        client.load("event", line(cluster, "a"), rows=1, label=uuid.uuid4().hex)


def test_the_password_does_not_follow_a_redirect_that_is_not_allowed(settings, cluster):
    closed = settings.model_copy(update={"backends": ("elsewhere.example",)})
    with StreamLoad(closed) as client, pytest.raises(errors.Refused, match=r"doris\.backends"):
        client.load("event", line(cluster, "a"), rows=1, label=uuid.uuid4().hex)


SAMPLES = {
    "DATE": DAY,
    "INT": 7,
    "BIGINT": 1 << 50,
    "DOUBLE": 0.5,
    "BOOLEAN": True,
    "JSON": '{"a":1}',
    "STRING": "text",
}


@pytest.mark.parametrize("table", tables.TABLES.values(), ids=lambda table: table.name)
def test_every_table_takes_a_row_with_every_column_filled(table, load, sql, cluster):
    values = {
        column.name: DAY if column.type.startswith("DATETIME") else SAMPLES.get(column.type, "text")
        for column in table.columns
        if column.name != tables.VERSION
    }
    load(Row(table.name, 9, values | {"cluster": cluster}))
    (row,) = sql.query(f"SELECT * FROM `{table.name}` WHERE `cluster` = %s", (cluster,)).dicts()
    assert list(row) == [column.name for column in table.columns]
    assert None not in row.values() and row["version"] == 9


def test_a_big_load_goes_in_whole(client, sql, cluster):
    lines = b"\n".join(line(cluster, f"u{n:05}", count=n, message="m" * 200) for n in range(20_000))
    assert client.load("event", lines, rows=20_000, label=uuid.uuid4().hex).rows == 20_000
    found = sql.query("SELECT COUNT(*), SUM(`count`) FROM `event` WHERE `cluster` = %s", (cluster,)).rows
    assert (int(found[0][0]), int(found[0][1])) == (20_000, 20_000 * 19_999 // 2)
