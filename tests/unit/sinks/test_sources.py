"""The two sources: what they give, where they go on, and that nothing unread is removed."""

from __future__ import annotations

import json

import pytest

from pipeline.records import dead_letters
from pipeline.records.rows import Row
from sinks.sources import DeadLetterSource, LogSource, OutboxSource
from tests.support.warehouse import CLUSTER, Outbox, Written


@pytest.fixture
def log(tmp_path):
    written = Written(tmp_path / "records")
    yield written
    written.writer.close()


@pytest.fixture
def outbox(tmp_path):
    written = Outbox(tmp_path / "state.db")
    yield written
    written.close()


def test_a_source_is_on_the_list_of_readers_before_it_has_read(tmp_path):
    LogSource(tmp_path / "records").close()
    OutboxSource(tmp_path / "outbox" / "state.db").close()
    assert json.loads((tmp_path / "records/readers/doris.json").read_text()) == {"segment": 0, "offset": 0}
    assert json.loads((tmp_path / "outbox/readers/doris.json").read_text()) == {"seq": 0}


def test_the_log_gives_rows_of_records_and_the_collectors_progress_of_ticks(log, tmp_path):
    log.add(3)
    log.writer.tick(log.writer.stamp + 5000)
    log.writer.sync()
    source = LogSource(tmp_path / "records")
    taken = source.take(100, 1 << 20)
    *pods, told = taken.rows
    assert [row.values["name"] for row in pods] == ["pod-0", "pod-1", "pod-2"]
    assert (told.values["stage"], told.values["log_at"]) == ("collector", log.writer.stamp)
    assert taken.log_at == {CLUSTER: log.writer.stamp} and taken.size > 300
    assert source.take(100, 1 << 20) is None
    source.close()


def test_after_a_restart_the_log_is_read_from_the_last_ack(log, tmp_path):
    log.add(3)
    source = LogSource(tmp_path / "records")
    taken = source.take(2, 1 << 20)
    source.ack(taken.end)
    source.take(2, 1 << 20)
    source.close()
    source = LogSource(tmp_path / "records")
    assert [row.values["name"] for row in source.take(10, 1 << 20).rows] == ["pod-2"]
    source.close()


def test_lines_that_are_no_records_are_passed_over(log, tmp_path):
    log.line(b"{")
    log.add(1)
    source = LogSource(tmp_path / "records")
    assert len(source.take(10, 1 << 20).rows) == 1
    source.close()


def test_the_outbox_gives_rows_in_order_and_goes_on_behind_what_it_gave(outbox, tmp_path):
    key = {"cluster": "c", "stage": "aggregation"}
    outbox.add(Row("progress", 1, key), Row("progress", 2, key), Row("progress", 3, key))
    source = OutboxSource(tmp_path / "state.db")
    assert [row.version for row in source.take(2, 1 << 20).rows] == [1, 2]
    taken = source.take(2, 1 << 20)
    assert [row.version for row in taken.rows] == [3] and source.take(2, 1 << 20) is None
    source.ack(taken.end)
    source.close()
    source = OutboxSource(tmp_path / "state.db")
    assert source.take(2, 1 << 20) is None
    source.close()


def test_rows_of_the_outbox_that_cannot_be_read_are_kept(outbox, tmp_path):
    outbox.raw("job_wait", b"not json")
    source = OutboxSource(tmp_path / "state.db")
    (bad,) = source.take(10, 1 << 20).bad
    assert (bad.kind, bad.data) == ("job_wait", b"not json")
    source.close()


def test_letters_of_the_collector_are_rows_and_its_ticks_are_not(log, tmp_path):
    letter = dead_letters.row("collector", "pods", b"{", "cut", cluster="c", observed_ms=5)
    log.line(dead_letters.encode(letter))
    log.writer.tick(log.writer.stamp + 5000)
    log.writer.sync()
    source = DeadLetterSource(tmp_path / "records")
    assert source.take(10, 1 << 20).rows == [letter]
    source.close()
