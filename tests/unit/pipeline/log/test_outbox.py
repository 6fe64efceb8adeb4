"""The outbox is read in order, by row and byte limits, from another connection, and acked beside its file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.log import outbox
from pipeline.records.rows import Row


@pytest.fixture
def state(tmp_path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    outbox.create(connection)
    yield connection
    connection.close()


@pytest.fixture
def reader(tmp_path: Path) -> outbox.OutboxReader:
    reader = outbox.OutboxReader(tmp_path / "state.db", "loader")
    yield reader
    reader.close()


def rows(*versions: int) -> list[Row]:
    return [Row("job_wait", version, {"cluster": "c1", "wait_ms": version * 10}) for version in versions]


def add(connection: sqlite3.Connection, *versions: int) -> None:
    outbox.append(connection, "job_wait", outbox.encode(rows(*versions)), len(versions))


def test_rows_come_back_as_they_were_written(state: sqlite3.Connection, reader: outbox.OutboxReader) -> None:
    add(state, 1, 2)
    add(state, 3)
    items = reader.read(0, 100, 1 << 20)
    assert [(item.seq, item.table, item.rows) for item in items] == [
        (1, "job_wait", rows(1, 2)),
        (2, "job_wait", rows(3)),
    ]
    assert reader.read(2, 100, 1 << 20) == []


def test_a_transaction_that_is_open_is_not_seen(state: sqlite3.Connection, reader: outbox.OutboxReader) -> None:
    state.execute("BEGIN")
    add(state, 1)
    assert reader.wait(0) is False
    state.execute("ROLLBACK")
    assert reader.read(0, 100, 1 << 20) == []
    add(state, 2)
    assert reader.wait(0) is True
    assert [item.rows for item in reader.read(0, 100, 1 << 20)] == [rows(2)]


def test_limits_hold_but_one_item_always_comes(state: sqlite3.Connection, reader: outbox.OutboxReader) -> None:
    for version in range(6):
        add(state, version, version)
    assert len(reader.read(0, 4, 1 << 20)) == 2
    assert len(reader.read(0, 1, 1 << 20)) == 1
    assert len(reader.read(0, 100, 1)) == 1


def test_a_reader_may_be_there_before_the_state_file(tmp_path: Path) -> None:
    reader = outbox.OutboxReader(tmp_path / "state.db", "loader")
    assert reader.read(0, 10, 10) == []
    connection = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    assert reader.read(0, 10, 10) == []
    outbox.create(connection)
    add(connection, 1)
    assert reader.wait(0) is True
    assert len(reader.read(0, 10, 10)) == 1
    connection.close()
    reader.close()


def test_the_writer_removes_what_every_reader_has_acked(
    tmp_path: Path, state: sqlite3.Connection, reader: outbox.OutboxReader
) -> None:
    for version in range(4):
        add(state, version)
    assert outbox.acked(tmp_path) is None
    reader.ack(3)
    assert outbox.acked(tmp_path) == 3
    other = outbox.OutboxReader(tmp_path / "state.db", "alerts")
    other.ack(2)
    assert other.acked() == 2
    assert outbox.prune(state, outbox.acked(tmp_path)) == 2
    assert [item.seq for item in reader.read(0, 100, 1 << 20)] == [3, 4]


def test_sequence_numbers_are_not_used_again_after_a_prune(
    state: sqlite3.Connection, reader: outbox.OutboxReader
) -> None:
    add(state, 1)
    outbox.prune(state, 1)
    add(state, 2)
    assert [item.seq for item in reader.read(1, 100, 1 << 20)] == [2]


def test_bytes_that_are_no_rows_are_handed_over_as_they_are(
    state: sqlite3.Connection, reader: outbox.OutboxReader
) -> None:
    outbox.append(state, "job_wait", b'{"no": "rows"}', 1)
    add(state, 5)
    broken, good = reader.read(0, 100, 1 << 20)
    assert (broken.rows, broken.undecodable) == ([], b'{"no": "rows"}')
    assert good.rows == rows(5)


def test_a_state_made_anew_numbers_its_rows_behind_what_was_acked(
    tmp_path: Path, state: sqlite3.Connection, reader: outbox.OutboxReader
) -> None:
    for version in range(5):
        add(state, version)
    reader.ack(5)
    with closing(sqlite3.connect(tmp_path / "new.db", isolation_level=None)) as fresh:
        outbox.create(fresh)
        outbox.create(fresh)
        add(fresh, 7)
    again = outbox.OutboxReader(tmp_path / "new.db", "loader")
    assert [item.rows for item in again.read(again.acked(), 10, 1 << 20)] == [rows(7)]
    again.close()


def test_an_older_copy_of_a_state_numbers_its_rows_behind_what_was_acked(
    tmp_path: Path, state: sqlite3.Connection, reader: outbox.OutboxReader
) -> None:
    add(state, 1)
    state.execute("VACUUM INTO ?", (str(tmp_path / "older.db"),))
    for version in range(2, 6):
        add(state, version)
    reader.ack(5)
    with closing(sqlite3.connect(tmp_path / "older.db", isolation_level=None)) as older:
        outbox.create(older)
        add(older, 7)
    again = outbox.OutboxReader(tmp_path / "older.db", "loader")
    assert [item.rows for item in again.read(again.acked(), 10, 1 << 20)] == [rows(7)]
    again.close()
