"""The loader against a target in memory that fails as a warehouse fails."""

from __future__ import annotations

import json
from collections import deque

import pytest

from pipeline.doris import errors
from pipeline.records.rows import Row
from pipeline.telemetry import catalogue
from sinks import runner as runners
from sinks.base import Bad, Taken
from sinks.runner import Limits, Loader


class Rows:
    """A source that holds what it is given until it is acknowledged."""

    def __init__(self, *rows, bad=(), log_at=None):
        self.waiting = deque(rows)
        self.bad = list(bad)
        self.log_at = log_at or {}
        self.given = 0
        self.acked = 0

    def take(self, max_rows, max_bytes):
        if not self.waiting and not self.bad:
            return None
        rows = [self.waiting.popleft() for _ in range(min(max_rows, len(self.waiting)))]
        bad, self.bad = self.bad, []
        self.given += len(rows)
        return Taken(rows, bad, len(rows), self.given, self.log_at)

    def ack(self, end):
        self.acked = end

    def close(self):
        pass


class Memory:
    """A target: `loads` in order; raises what stands in `failures` first; refuses rows whose reason is `bad`."""

    def __init__(self, *failures):
        self.loads = []
        self.failures = deque(failures)

    def load(self, table, lines):
        if self.failures:
            failure = self.failures.popleft()
            if failure is not None:
                raise failure
        rows = [json.loads(line) for line in lines]
        if any(row.get("reason") == "bad" for row in rows):
            raise errors.BadRows("[DATA_QUALITY_ERROR]too many filtered rows", "column [x]")
        self.loads.append((table, rows))

    def rows(self, table):
        return [row for name, rows in self.loads if name == table for row in rows]


def event(uid, version=1, **values):
    return Row("event", version, {"day": 0, "cluster": "c", "uid": uid, "object_version": "1"} | values)


def loader(target, *sources, **limits):
    return Loader(sources, target, "c", Limits(**{"interval_s": 0.5} | limits))


def test_rows_are_loaded_a_table_at_a_time_and_then_acknowledged():
    target, source = Memory(), Rows(event("a"), event("b"), Row("decision", 1, {"day": 0, "cluster": "c", "id": "d"}))
    loader(target, source).turn()
    assert [(table, len(rows)) for table, rows in target.loads] == [("event", 2), ("decision", 1)]
    assert source.acked == 3


def test_nothing_is_acknowledged_before_everything_is_loaded():
    source = Rows(event("a"), Row("decision", 1, {"day": 0, "cluster": "c", "id": "d"}))
    target = Memory(None, errors.Offline("gone"))
    load = loader(target, source)
    with pytest.raises(errors.Offline):
        load.turn()
    assert source.acked == 0
    load.turn()
    assert source.acked == 2
    assert [table for table, _ in target.loads] == ["event", "decision"]  # the first was not sent again


def test_while_the_target_is_down_nothing_more_is_read():
    source = Rows(*(event(str(n)) for n in range(100)))
    load = loader(Memory(*[errors.Offline("gone")] * 5), source, max_rows=10)
    waits = [load.try_turn() for _ in range(5)]
    assert source.given == 10 and load.failure == "gone"
    assert waits[-1] > waits[0] > 0
    load.try_turn()
    assert load.failure is None and source.acked == 10


def test_a_wait_that_the_other_side_asks_for_is_kept():
    load = loader(Memory(errors.Busy("-235", retry_after_s=60)), Rows(event("a")))
    assert load.try_turn() >= 60


def test_a_full_batch_is_followed_by_the_next_without_waiting(monkeypatch):
    monkeypatch.setattr(runners.clock, "monotonic_s", lambda: 100.0)  # a turn that takes its time is waited for less
    load = loader(Memory(), Rows(*(event(str(n)) for n in range(25))), max_rows=10)
    assert load.try_turn() == 0 and load.try_turn() == 0
    assert load.try_turn() == pytest.approx(0.5)


def test_rows_that_do_not_fit_are_halved_out_and_kept_as_dead_letters():
    rows = [event(str(n), reason="bad" if n in {3, 17} else "good") for n in range(40)]
    target, source = Memory(), Rows(*rows)
    loader(target, source).turn()
    assert {row["uid"] for row in target.rows("event")} == {str(n) for n in range(40)} - {"3", "17"}
    letters = target.rows("dead_letter")
    assert len(letters) == 2 and all("column [x]" in letter["error"] for letter in letters)
    assert source.acked == 40


def test_input_that_is_no_row_becomes_a_dead_letter():
    target, source = Memory(), Rows(event("a"), bad=[Bad("job_wait", b"{", "no rows")])
    loader(target, source).turn()
    assert target.rows("dead_letter")[0]["kind"] == "job_wait" and len(target.rows("event")) == 1


def test_progress_comes_last_and_says_how_far_the_log_is_loaded():
    aggregated = Row("progress", 9, {"cluster": "c", "stage": "aggregation", "log_at": 5000, "loaded_at": None})
    target = Memory()
    loader(target, Rows(aggregated, event("a")), Rows(event("b"), log_at={"c": 7000})).turn()
    assert [table for table, _ in target.loads] == ["event", "progress"]
    by_stage = {row["stage"]: row for row in target.rows("progress")}
    assert by_stage["loader"]["log_at"] == "1970-01-01 00:00:07.000"
    assert by_stage["aggregation"]["loaded_at"] is not None


def test_log_time_that_moves_without_rows_is_written_and_one_that_stands_is_not(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(runners.clock, "monotonic_s", lambda: now[0])
    target, source = Memory(), Rows(event("a"), log_at={"c": 7000})
    load = loader(target, source)
    load.turn()
    load.turn()
    assert len(target.rows("progress")) == 1
    source.log_at = {"c": 8000}
    source.bad = []
    source.waiting.append(event("b"))
    load.turn()
    now[0] += 6
    load.turn()
    versions = [row["version"] for row in target.rows("progress")]
    assert len(versions) == 3 and versions == sorted(set(versions))


def test_counters_of_stages_are_loaded_before_progress_once_a_minute_of_log_time():
    counted = catalogue.records.labels("stage-of-a-test", "one")
    counted.inc(3)
    catalogue.records.labels("stage-of-a-test", "other").inc(4)
    target, source = Memory(), Rows(event("a"), log_at={"c": 59_000, "other": 0})
    load = loader(target, source)
    for log_at, uid in ((59_500, "b"), (60_500, "c"), (61_000, "d"), (120_000, "e")):
        load.turn()
        counted.inc()
        source.log_at = {"c": log_at}
        source.waiting.append(event(uid))
    load.turn()
    found = [row for row in target.rows("pipeline_minute") if row["stage"] == "stage-of-a-test"]
    assert [(row["cluster"], row["minute"], row["name"], int(row["value"])) for row in found] == [
        ("c", "1970-01-01 00:00:00.000", "records", 9),
        ("c", "1970-01-01 00:01:00.000", "records", 11),
    ]
    tables = [table for table, _ in target.loads]
    assert tables[tables.index("pipeline_minute") + 1] == "progress"


def test_draining_ends_when_the_sources_are_empty():
    source = Rows(*(event(str(n)) for n in range(25)))
    assert loader(Memory(), source, max_rows=10).drain(60.0)
    assert source.acked == 25


def test_draining_gives_up_when_the_time_is_up_and_loses_nothing():
    source = Rows(event("a"))
    load = loader(Memory(*[errors.Offline("gone")] * 1000), source)
    assert not load.drain(0.5)
    assert source.acked == 0


def test_a_failure_that_nobody_foresaw_is_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        loader(Memory(ZeroDivisionError()), Rows(event("a"))).try_turn()
