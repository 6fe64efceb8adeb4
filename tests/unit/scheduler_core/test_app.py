"""The scheduler's stage: on and off, with the writer of its process and with one of its own."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import pytest

from pipeline import clock
from pipeline.config import load
from pipeline.config.places import Places
from pipeline.errors import Transient, UserError
from pipeline.log import LogOptions, LogReader, LogWriter, Position, layout, readers, steps
from pipeline.process.stage import Reloads
from pipeline.records import codec
from pipeline.records.envelope import DecisionRecord
from pipeline.telemetry.event import ROOT
from scheduler_core import app, tiers
from scheduler_core.settings import Settings
from scheduler_core.shadow.runner import Turn
from tests.support.cluster import poll
from tests.support.object_records import group, node, pod, queue

BEGIN = 1_767_225_600_000
OPTIONS = LogOptions(cluster="c", min_free_bytes=0)


def loaded(data: Path, **more: str):
    return load.load([], {}, {"data_dir": str(data), "cluster.name": "c", **more})


def alone(data: Path) -> app.Scheduler:
    """The stage of a process that does nothing else."""
    return app.Scheduler(loaded(data).of(Settings), Places(data), "c", alone=True)


def fill(writer: LogWriter) -> None:
    """A gang waits for more than there is."""
    asking = [{"name": "main", "resources": {"requests": {"cpu": "60"}}}]
    writer.tick(BEGIN)
    writer.put([node(), queue(), group(phase="Inqueue"), *(pod(f"p-{n}", containers=asking) for n in (1, 2))])
    for second in range(1, 10):
        writer.tick(BEGIN + second * 1000)
    writer.sync()


def decided(log: Path) -> list[str]:
    with LogReader(log, "test") as reader:
        lines = [codec.decode(entry.line) for entry in reader.read().entries]
    return [each.data.kind for each in lines if isinstance(each, DecisionRecord)]


def reasons_told(log: Path) -> list[str]:
    """Why the gang waits, as often as it was told."""
    with LogReader(log, "test") as reader:
        lines = [codec.decode(entry.line) for entry in reader.read().entries]
    told = [each.data for each in lines if isinstance(each, DecisionRecord)]
    return [
        str(each.reason) for each in told if each.kind in ("attribution", "enqueue") and not each.task and each.reason
    ]


def test_it_appends_to_the_log_that_its_process_writes(tmp_path):
    log = tmp_path / "spool" / "records"
    with LogWriter(log, options=OPTIONS) as writer:
        fill(writer)
        stage = app.stage(loaded(tmp_path))
        stage.start()
        poll("it has decided", lambda: "close" in decided(log))
        assert [check.ok for check in stage.checks()] == [True, True]
        told = {"log_ms": BEGIN + 9000, "sessions": 1, "skipped_seconds": 0, "log_time_ahead_ms": 0}
        poll("it says so", lambda: stage.state() == told)
        stage.stop(60.0)
    assert "attribution" in decided(log)


def test_without_a_writer_in_its_process_it_becomes_the_writer_and_gives_the_log_back(tmp_path):
    log = tmp_path / "spool" / "records"
    with LogWriter(log, options=OPTIONS) as writer:
        fill(writer)
    stage = alone(tmp_path)
    ended: list[int] = []
    stage.at_end = lambda: ended.append(1)
    stage.start()
    poll("it is at the end", lambda: ended)
    with pytest.raises(UserError, match="in use"):
        LogWriter(log, options=OPTIONS)
    stage.stop(60.0)
    LogWriter(log, options=OPTIONS).close()
    assert decided(log)[-1] == "close"


def test_a_log_that_closes_under_it_is_told_and_waited_for(tmp_path):
    log = tmp_path / "spool" / "records"
    writer = LogWriter(log, options=OPTIONS)
    stage = app.stage(loaded(tmp_path))
    stage.start()
    fill(writer)
    writer.close()
    poll("it is blocked or done", lambda: not stage.checks()[1].ok or "close" in decided(log))
    with LogWriter(log, options=OPTIONS):
        poll("it goes on", lambda: stage.checks()[1].ok and "close" in decided(log))
        stage.stop(60.0)


def test_a_close_that_a_kill_has_left_without_an_index_is_not_written_again(tmp_path, monkeypatch):
    log = tmp_path / "spool" / "records"
    with LogWriter(log, options=OPTIONS) as writer:
        fill(writer)
        stage = app.stage(loaded(tmp_path))
        stage.start()
        poll("it has decided", lambda: "close" in decided(log))
        stage.stop(60.0)
    before = decided(log)
    layout.index_path(log, layout.FIRST).write_bytes(b"")
    looked = threading.Event()

    def told(real):
        def called(*arguments):
            found = real(*arguments)
            looked.set()
            return found

        return called

    monkeypatch.setattr(app, "Runner", told(app.Runner))
    monkeypatch.setattr(app.sharing, "writer_of", told(app.sharing.writer_of))
    stage = app.stage(loaded(tmp_path))
    stage.start()  # in `up` before the collector, which opens the log
    assert looked.wait(120)
    with LogWriter(log, options=OPTIONS):
        asking = steps.of(log)
        assert asking.wait(asking.ask(), 120.0)
        stage.stop(60.0)
    assert decided(log) == before


def test_turned_off_it_holds_nothing_of_the_log_back(tmp_path):
    log = tmp_path / "spool" / "records"
    readers.write(log, "scheduler", Position(1, 0))
    stage = app.stage(loaded(tmp_path, **{"scheduler.enabled": "false"}))
    stage.start()
    assert readers.registered(log) == []
    assert stage.checks() == []
    stage.stop(1.0)


def test_a_replay_that_asks_is_answered_when_all_is_decided(tmp_path):
    log = tmp_path / "spool" / "records"
    with LogWriter(log, options=OPTIONS) as writer:
        stage = app.stage(loaded(tmp_path))
        stage.start()
        asking = steps.of(log)
        fill(writer)
        assert asking.wait(asking.ask(), 120.0)
        assert decided(log)[-1] == "close"
        stage.stop(60.0)
        assert asking.wait(asking.ask(), 0.0), "nobody waits for a stage that has ended"


def test_there_must_be_a_log(tmp_path):
    with pytest.raises(UserError, match="no log of records"):
        alone(tmp_path).start()


def test_a_policy_that_cannot_be_used_is_an_error_at_the_start(tmp_path):
    log = tmp_path / "spool" / "records"
    policy = tmp_path / "policy.conf"
    policy.write_text("actions: nothing\ntiers: []\n")
    with LogWriter(log, options=OPTIONS):
        with pytest.raises(UserError, match="no action 'nothing'"):
            app.stage(loaded(tmp_path, **{"scheduler.policy": str(policy)})).start()
        with pytest.raises(UserError, match="cannot be read"):
            app.stage(loaded(tmp_path, **{"scheduler.policy": str(tmp_path / "none.conf")})).start()


def test_a_policy_whose_file_is_gone_later_stays_in_force_also_after_trouble_with_the_log(tmp_path, monkeypatch):
    log, policy = tmp_path / "spool" / "records", tmp_path / "policy.conf"
    policy.write_text('actions: "allocate"\ntiers: [{plugins: [{name: gang}, {name: predicates}]}]\n')
    refused, real = threading.Event(), app.LogWriter.sync
    monkeypatch.setattr(app, "_RETRY_S", 0.01)

    def sync(writer: LogWriter) -> None:
        if threading.current_thread().name == "scheduler" and not refused.is_set():
            policy.unlink()
            refused.set()
            raise Transient("the log takes nothing")
        real(writer)

    with LogWriter(log, options=OPTIONS) as writer:
        fill(writer)
        monkeypatch.setattr(app.LogWriter, "sync", sync)
        stage = app.stage(loaded(tmp_path, **{"scheduler.policy": str(policy)}))
        stage.start()
        poll("it has decided", lambda: refused.is_set() and "close" in decided(log))
        assert [check.ok for check in stage.checks()] == [True, True]
        stage.stop(60.0)


def test_a_reload_takes_a_new_policy_and_a_broken_file_never_replaces_a_good_one(tmp_path, caplog):
    log, policy = tmp_path / "spool" / "records", tmp_path / "policy.conf"
    policy.write_text('actions: "allocate"\ntiers: [{plugins: [{name: gang}, {name: predicates}]}]\n')
    settings = loaded(tmp_path, **{"scheduler.policy": str(policy)})
    with LogWriter(log, options=OPTIONS) as writer, caplog.at_level("INFO", logger=f"{ROOT}.scheduler_core.app"):
        fill(writer)
        stage = app.stage(settings)
        assert isinstance(stage, Reloads)
        stage.start()
        poll("the first policy has said why", lambda: reasons_told(log) == ["insufficient_resource"])
        policy.write_text("actions: nothing\ntiers: []\n")
        stage.reload(settings)
        policy.unlink()
        stage.reload(settings)
        policy.write_text(tiers.DEFAULT)
        stage.reload(settings)
        seconds = itertools.count(10)

        def told_anew() -> bool:
            writer.tick(BEGIN + next(seconds) * 1000)  # log time goes on
            writer.sync()
            return reasons_told(log)[1:] == ["queue_limit"]

        poll("the new policy has said why", told_anew)
        stage.stop(60.0)
    assert [each.msg["event"] for each in caplog.records] == ["policy_refused", "policy_refused", "policy_taken"]
    assert "no action 'nothing'" in str(caplog.records[0].msg)


def test_a_session_of_minutes_is_slow_and_not_dead(tmp_path, monkeypatch):
    log = tmp_path / "spool" / "records"
    with LogWriter(log, options=OPTIONS) as writer:
        fill(writer)
        stage = app.stage(loaded(tmp_path))
        begun, let_go = threading.Event(), threading.Event()

        def turn(*_: object) -> None:
            begun.set()
            let_go.wait(240)
            raise Transient("the turn is over")

        monkeypatch.setattr(app.Runner, "turn", turn)
        stage.start()
        assert begun.wait(120)
        began_s = clock.monotonic_s()
        for later_s, alive in ((300, True), (3600, False)):
            with monkeypatch.context() as later:
                later.setattr(clock, "monotonic_s", lambda by_s=later_s: began_s + by_s)
                assert stage.checks()[0].ok is alive
        let_go.set()
        stage.stop(60.0)


def test_seconds_that_were_passed_over_are_told_in_one_line_when_the_end_of_the_log_is_reached(tmp_path, monkeypatch):
    log = tmp_path / "spool" / "records"
    told = []
    monkeypatch.setattr(app.log, "warning", lambda event, **more: told.append((event, more)))
    with LogWriter(log, options=OPTIONS):
        stage = app.stage(loaded(tmp_path))
        for skipped, behind in ((7, True), (0, True), (5, False), (0, False)):
            stage._count(Turn(500, 0, skipped, 0.0, 0, True, behind), BEGIN)
    assert [(event, more["seconds"]) for event, more in told] == [("seconds_skipped", 12)]


def test_a_clock_that_was_ahead_is_told_once_and_when_it_is_over(tmp_path, monkeypatch):
    told = []
    for level in ("warning", "info"):
        monkeypatch.setattr(app.log, level, lambda event, **more: told.append((event, more)))
    stage = app.stage(loaded(tmp_path))
    for ahead_ms in (0, 3_600_000, 1_800_000, 0):
        stage._count(Turn(1, 0, 0, 0.0, 0, True, False, ahead_ms), BEGIN)
    assert [event for event, _ in told] == ["log_time_ahead", "log_time_reached"]
    assert told[0][1]["by_s"] == 3600
