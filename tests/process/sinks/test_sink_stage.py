"""The stage as a whole: it starts its local Doris, survives its death and its own, and drains when it stops."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from pipeline.config.places import Places
from pipeline.doris import local
from pipeline.doris.settings import Settings as Doris
from pipeline.doris.sql import Sql
from pipeline.errors import KubeCollectorError, Unreachable
from pipeline.log import outbox
from pipeline.records import dead_letters
from sinks.app import Sink
from sinks.doris import migrations
from sinks.settings import Settings
from tests.support.warehouse import CLUSTER, Written


class Died(BaseException):
    """As the end of a process: nothing may handle it."""


QUICK = Doris(load_interval=0.1)


@pytest.fixture
def places(tmp_path):
    return Places(tmp_path)


@pytest.fixture
def log(places):
    written = Written(places.records)
    yield written
    written.writer.close()


def sink(places, **settings):
    return Sink(Settings(**settings), QUICK, places, CLUSTER)


STOP_S = 240.0
"""It drains within its time; how long that takes is the machine's affair."""


def wait_until(condition, what, limit_s=240.0):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def loaded(places):
    """(rows, different objects) of object_change, 0 while nobody answers."""
    try:
        sql = Sql(local.locate(QUICK, places.doris))
        try:
            return sql.query("SELECT COUNT(*), COUNT(DISTINCT `uid`) FROM `object_change`").rows[0]
        finally:
            sql.close()
    except KubeCollectorError:
        return (0, 0)


def is_well(stage):
    return all(check.ok for check in stage.checks())


def test_without_a_configured_doris_a_local_one_is_started_filled_and_ended(places, log):
    stage = sink(places)
    stage.start()
    try:
        log.add(100)
        wait_until(lambda: loaded(places) == (100, 100), "rows never came")
        wait_until(lambda: is_well(stage), "never ready")
    finally:
        stage.stop(STOP_S)
    with pytest.raises(Unreachable, match="no local one is running"):
        local.locate(QUICK, places.doris)


def test_what_was_logged_before_the_stop_is_loaded_when_it_has_stopped(places, log):
    stage = sink(places, batch={"max_rows": 100})
    stage.start()
    log.add(1000)
    stage.stop(STOP_S)
    again = sink(places)
    again.start()
    try:
        assert loaded(places) == (1000, 1000)
    finally:
        again.stop(STOP_S)


def test_a_local_doris_that_is_killed_again_and_again_is_started_again_and_nothing_is_lost(places, log):
    stage = sink(places, batch={"max_rows": 50})
    stage.start()
    try:
        ports = local.announced(places.doris)
        for _ in range(3):
            for _ in range(10):
                log.add(40)
                time.sleep(0.01)  # loads and the kill overlap
            wait_until(lambda: _process_of(stage), "never started again")
            killed = _process_of(stage)
            os.kill(killed.pid, signal.SIGKILL)
            wait_until(lambda: _process_of(stage) is not killed, "the kill was not seen")
        log.add(1)
        wait_until(lambda: loaded(places) == (log.count, log.count), "rows were lost")
        wait_until(lambda: is_well(stage), "never well again")
        assert local.announced(places.doris) == ports
    finally:
        stage.stop(STOP_S)


def judge_something(places):
    """A row in the outbox, which is gone from there once it is loaded."""
    places.aggregation_db.parent.mkdir()
    with contextlib.closing(sqlite3.connect(places.aggregation_db, isolation_level=None)) as state:
        outbox.create(state)
        letter = dead_letters.row("aggregation", "line", b"x", "bad", cluster=CLUSTER, observed_ms=1)
        outbox.append(state, letter.table, outbox.encode([letter]), 1)


def test_a_raw_table_that_is_missing_is_filled_from_the_log_and_nothing_is_called_lost(places, log, caplog):
    """As in a warehouse of an older version, which did not have it."""
    judge_something(places)
    stage = sink(places)
    stage.start()
    log.add(100)
    wait_until(lambda: loaded(places) == (100, 100), "rows never came")
    sql = Sql(local.locate(QUICK, places.doris))
    sql.execute("DROP TABLE `object_change`")
    sql.close()
    stage.stop(STOP_S)
    again = sink(places)
    again.start()
    try:
        wait_until(lambda: loaded(places) == (100, 100), "the table was not filled")
    finally:
        again.stop(STOP_S)
    assert "tables_were_missing" in caplog.text
    assert "rows_lost" not in caplog.text


def test_a_local_doris_whose_files_are_gone_is_filled_again_and_what_cannot_be_is_told(places, log, caplog):
    judge_something(places)
    stage = sink(places)
    stage.start()
    log.add(100)
    stage.stop(STOP_S)
    assert "tables_were_missing" not in caplog.text
    shutil.rmtree(places.doris)
    again = sink(places)
    again.start()
    try:
        wait_until(lambda: loaded(places) == (100, 100), "rows were not loaded again")
    finally:
        again.stop(STOP_S)
    assert "tables_were_missing" in caplog.text
    assert "rows_lost" in caplog.text and "aggregate rebuild" in caplog.text


def test_a_sink_that_dies_while_it_makes_missing_tables_fills_them_at_its_next_start(places, log, caplog, monkeypatch):
    stage = sink(places)
    stage.start()
    log.add(100)
    wait_until(lambda: loaded(places) == (100, 100), "rows never came")
    stage.stop(30.0)
    shutil.rmtree(places.doris)

    make = migrations.run

    def make_and_die(*given):
        make(*given)
        raise Died

    monkeypatch.setattr(migrations, "run", make_and_die)
    dead = sink(places)
    try:
        with pytest.raises(Died):
            dead.start()
    finally:
        dead.stop(30.0)
    monkeypatch.setattr(migrations, "run", make)
    assert "tables_were_missing" in caplog.text

    again = sink(places)
    again.start()
    try:
        wait_until(lambda: loaded(places) == (100, 100), "the tables stayed empty")
    finally:
        again.stop(30.0)


@pytest.mark.parametrize("kill_at", ["sinks.loaded:1", "sinks.loaded:2"])
def test_a_loader_that_is_killed_between_load_and_ack_goes_on_without_loss(kill_at, places, log):
    log.add(300)
    killed = _run(places, {"KC_FAULT_POINTS": kill_at})
    assert killed.wait(240) == -signal.SIGKILL
    log.add(300)
    running = _run(places, {})
    try:
        wait_until(lambda: loaded(places) == (600, 600), "rows were lost")
    finally:
        running.send_signal(signal.SIGTERM)
        assert running.wait(240) == 0


def test_a_warehouse_that_does_not_answer_makes_the_stage_unready_and_keeps_the_rows(places, log):
    nobody = Doris(frontend="127.0.0.1:9", query_port=9, connect_timeout=1.0)
    stage = Sink(Settings(), nobody, places, CLUSTER)
    log.add(10)
    stage.start()
    try:
        checks = {check.name: check for check in stage.checks()}
        assert not checks["doris"].ok and "no answer" in checks["doris"].detail
        assert checks["loader"].ok
    finally:
        stage.stop(5.0)
    stage = sink(places)
    stage.start()
    try:
        wait_until(lambda: loaded(places) == (10, 10), "rows were lost")
    finally:
        stage.stop(STOP_S)


def _process_of(stage):
    """The local Doris that runs; None while there is none."""
    running = stage._warehouse._child._running
    return running.process if running is not None and running.alive else None


def _run(places, environment):
    """The `sink` command as a process of its own."""
    command = [sys.executable, "-m", "pipeline.cli.main", "sink", "--set", f"data_dir={places.data_dir}"]
    command += ["--set", f"cluster.name={CLUSTER}", "--set", "doris.load_interval=100ms"]
    return subprocess.Popen(command, env=os.environ | environment)
