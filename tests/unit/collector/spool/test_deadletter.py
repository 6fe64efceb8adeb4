"""Input that no record could be made of is kept raw, within bounds, and comes back as rows of its table."""

from __future__ import annotations

import base64
import errno
from pathlib import Path

import pytest

from collector.spool import deadletter
from collector.spool.deadletter import DeadLetters
from collector.spool.spool import Spool
from pipeline.config.places import Places
from pipeline.log import LogFull, LogOptions, segment
from pipeline.records import rows, tables


def test_a_letter_is_a_row_of_its_table_with_the_bytes_as_they_came(tmp_path: Path) -> None:
    letters = DeadLetters(tmp_path, "c1")
    letters.put("pods", b"\xff{not json", "invalid byte", 1_790_000_000_123)
    assert letters.read() == ([], letters.read()[1])
    letters.sync()
    (row,), end = letters.read()
    assert row.table == tables.DEAD_LETTER.name
    assert set(rows.wire(row)) == {column.name for column in tables.DEAD_LETTER.columns} | {tables.DELETED}
    assert None not in rows.wire(row).values()
    assert base64.b64decode(row.values["bytes"]) == b"\xff{not json"
    assert (row.values["kind"], row.values["error"], row.values["size"]) == ("pods", "invalid byte", 10)
    assert row.version == row.values["observed_at"] == 1_790_000_000_123
    assert letters.read(end) == ([], end)
    letters.close()


def test_a_letter_keeps_the_first_bytes_and_the_hash_of_all(tmp_path: Path) -> None:
    letters = DeadLetters(tmp_path, "c1")
    letters.put("pods", b"a" * 200_000, "too long", 1000)
    letters.put("pods", b"a" * 200_000 + b"b", "too long", 1000)
    letters.sync()
    first, second = letters.read()[0]
    assert len(base64.b64decode(first.values["bytes"])) == 64 << 10
    assert first.values["size"] == 200_000
    assert first.values["sha256"] != second.values["sha256"]
    letters.close()


def test_the_oldest_letters_go_at_the_limit_and_are_counted(tmp_path: Path) -> None:
    letters = DeadLetters(tmp_path, "c1", max_bytes=100_000)
    for number in range(100):
        letters.put("pods", bytes([number]) * 3000, "bad", 1000 + number)
        letters.sync()
    found = []
    after = None
    while (batch := deadletter.read(tmp_path, after))[0]:
        found += batch[0]
        after = batch[1]
    left = [row.version - 1000 for row in found]
    assert left == list(range(left[0], 100))
    assert 0 < left[0] < 90
    assert letters.dropped_segments > 0
    letters.close()


def test_letters_are_durable_before_the_checkpoint_moves(tmp_path: Path) -> None:
    places = Places(tmp_path)
    with Spool(places, options=LogOptions(cluster="c1", min_free_bytes=0)) as spool:
        spool.dead.put("pods", b"?", "bad", 1000)
        spool.commit()
        assert len(deadletter.read(places.dead_letters)[0]) == 1


def test_letters_wait_for_space_without_being_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    letters = DeadLetters(tmp_path, "c1")
    monkeypatch.setattr(segment.os, "write", full)
    for number in range(3):
        letters.put("pods", b"?%d" % number, "bad", 1000 + number)
        with pytest.raises(LogFull):
            letters.sync()
    monkeypatch.undo()
    letters.sync()
    assert [row.version for row in letters.read()[0]] == [1000, 1001, 1002]
    letters.close()
