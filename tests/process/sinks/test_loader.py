"""The loader from log and outbox into a real local Doris, through every way in which Doris is known to fail."""

from __future__ import annotations

import pytest

from pipeline.doris import local
from pipeline.doris.local import Address
from pipeline.doris.settings import Settings
from pipeline.doris.sql import Sql
from pipeline.doris.streamload import StreamLoad
from pipeline.log import LogReader
from pipeline.records.rows import Row
from sinks.doris import warehouse
from sinks.doris.child import launcher
from sinks.doris.target import DorisTarget
from sinks.runner import Limits, Loader
from sinks.sources import READER, LogSource, OutboxSource
from tests.support.warehouse import CLUSTER, Outbox, Written, arm

DAY = 1_767_225_600_000


@pytest.fixture(scope="module")
def child(tmp_path_factory):
    running = launcher()(tmp_path_factory.mktemp("doris"), options=("--faults",))
    yield running
    running.stop()


@pytest.fixture
def settings(child, tmp_path):
    """A database of its own for each test."""
    name = "t_" + "".join(letter for letter in tmp_path.name if letter.isalnum())[-50:]
    made = local.at(Settings(database=name), Address(child.http_port, child.mysql_port))
    warehouse.apply_schema(made)
    return made


@pytest.fixture
def log(tmp_path):
    written = Written(tmp_path / "records")
    yield written
    written.writer.close()


@pytest.fixture
def outbox(tmp_path):
    written = Outbox(tmp_path / "aggregation" / "aggregation.db")
    yield written
    written.close()


@pytest.fixture
def loader(settings, log, outbox, tmp_path):
    sources = (OutboxSource(tmp_path / "aggregation" / "aggregation.db"), LogSource(tmp_path / "records"))
    client = StreamLoad(settings, sleep=lambda _: None)
    yield Loader(sources, DorisTarget(client), CLUSTER, Limits(interval_s=0.05))
    client.close()
    for source in sources:
        source.close()


@pytest.fixture
def sql(settings):
    pool = Sql(settings)
    yield pool
    pool.close()


def loaded(sql):
    """(rows, different objects) of object_change."""
    return sql.query("SELECT COUNT(*), COUNT(DISTINCT `uid`) FROM `object_change`").rows[0]


def turns_until_well(loader, limit=20):
    """Turns until one went through; how many failed before it."""
    for failed in range(limit):
        loader.try_turn()
        if loader.failure is None:
            return failed
    raise AssertionError(loader.failure)


def test_what_is_logged_can_be_read_and_its_reader_has_passed_it(loader, log, sql, tmp_path):
    log.add(500)
    loader.turn()
    assert loaded(sql) == (500, 500)
    with LogReader(tmp_path / "records", READER) as reader:
        assert reader.read().entries == []
    (row,) = sql.query("SELECT * FROM `object_change` WHERE `uid` = 'uid-000003'").dicts()
    assert (row["name"], row["change"], row["kind"]) == ("pod-3", "modified", "Pod")
    assert row["summary"].replace(" ", "") == '{"phase":"Pending","node":"node-3"}'


def test_judged_rows_and_progress_come_through_the_outbox(loader, outbox, sql):
    key = {"day": DAY, "cluster": CLUSTER, "job_uid": "j", "episode": 1}
    outbox.add(Row("job_wait", 1, key | {"phase": "waiting"}), Row("job_wait", 2, key | {"phase": "scheduled"}))
    progress = {"cluster": CLUSTER, "stage": "aggregation", "log_at": DAY, "loaded_at": None}
    outbox.add(Row("progress", 1, progress))
    loader.turn()
    assert sql.query("SELECT `phase`, `version` FROM `job_wait`").rows == (("scheduled", 2),)
    ((log_at, loaded_at),) = sql.query("SELECT `log_at`, `loaded_at` FROM `progress`").rows
    assert log_at.isoformat() == "2026-01-01T00:00:00" and loaded_at is not None


def test_progress_of_collector_and_loader_follows_ticks_when_nothing_else_comes(loader, log, sql):
    log.writer.tick(DAY)
    log.writer.sync()
    loader.turn()
    log.writer.tick(DAY + 3000)
    log.writer.sync()
    loader.turn()
    found = sql.query("SELECT `stage`, `log_at` FROM `progress` WHERE `cluster` = %s", (CLUSTER,)).rows
    assert {stage: log_at.isoformat() for stage, log_at in found} == dict.fromkeys(
        ("collector", "loader"), "2026-01-01T00:00:03"
    )


def test_a_reply_that_is_lost_after_the_commit_is_found_out_by_the_label(loader, log, sql, child):
    log.add(10)
    arm(child.http_port, "lost_reply", table="object_change")
    loader.turn()
    assert loaded(sql) == (10, 10)


def test_a_request_that_is_lost_is_sent_again(loader, log, sql, child):
    log.add(10)
    arm(child.http_port, "lost_request", table="object_change")
    assert turns_until_well(loader) == 1
    assert loaded(sql) == (10, 10)


def test_publish_timeout_is_done(loader, log, sql, child):
    log.add(10)
    arm(child.http_port, "publish_timeout", table="object_change")
    assert turns_until_well(loader) == 0
    assert loaded(sql) == (10, 10)


def test_too_many_versions_is_waited_out(loader, log, sql, child):
    log.add(10)
    arm(child.http_port, "too_many_versions", left=2, table="object_change")
    waits = []
    while not waits or loader.failure:
        waits.append(loader.try_turn())
        assert len(waits) < 10
    assert len(waits) == 3 and min(waits[:2]) >= 5
    assert loaded(sql) == (10, 10)


def test_a_dead_backend_is_left_for_the_next_one_that_the_frontend_names(loader, log, sql, child):
    log.add(10)
    arm(child.http_port, "dead_backend")
    assert turns_until_well(loader) == 1
    assert loaded(sql) == (10, 10)


def test_a_label_that_was_forgotten_loads_twice_and_nothing_shows_it(loader, log, sql, child):
    log.add(10)
    arm(child.http_port, "lost_request", table="object_change")
    loader.try_turn()
    arm(child.http_port, "forgotten_label", table="object_change")
    arm(child.http_port, "lost_reply", table="object_change")
    turns_until_well(loader)
    arm(child.http_port, "forgotten_label", table="object_change")
    log.add(5)
    loader.turn()
    assert loaded(sql) == (15, 15)


def test_a_row_that_does_not_fit_is_kept_aside_and_the_others_are_loaded(loader, outbox, sql):
    key = {"day": DAY, "cluster": CLUSTER, "episode": 1}
    rows = [Row("job_wait", 1, key | {"job_uid": f"j{n}", "tasks": 1}) for n in range(20)]
    rows[7].values["tasks"] = 2**40
    rows[13].values["started_at"] = None
    outbox.add(*rows)
    loader.turn()
    assert sql.query("SELECT COUNT(*) FROM `job_wait`").rows == ((19,),)
    ((kind, error, stage),) = sql.query("SELECT `kind`, `error`, `stage` FROM `dead_letter`").rows
    assert kind == "job_wait" and stage == "loader" and "tasks" in error


def test_a_line_that_is_no_record_stops_nothing(loader, log, sql):
    log.add(3)
    log.line(b'{"type":"no.such.type"}')
    log.add(3)
    loader.turn()
    assert loaded(sql) == (6, 6)
