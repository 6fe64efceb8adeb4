"""One writer, many readers: what goes in comes out, in order, and only what is durable."""

from __future__ import annotations

import tempfile
import threading
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import UserError
from pipeline.log import Entry, LogOptions, LogReader, LogWriter, Position, layout, wake
from pipeline.records import codec
from pipeline.records.envelope import TickRecord

OPTIONS = LogOptions(cluster="c1", min_free_bytes=0)


def line(observed_ms: int, note: str = "") -> bytes:
    return msgspec.json.encode({"id": f"c1/{observed_ms}/{note}", "observedms": observed_ms, "data": note})


def write(writer: LogWriter, *observed_ms: int, note: str = "") -> list[bytes]:
    lines = [line(ms, note) for ms in observed_ms]
    writer.append(lines, observed_ms)
    return lines


def everything(directory: Path, start: Position | None = None) -> list[Entry]:
    entries: list[Entry] = []
    with LogReader(directory, "all", start=start) as reader:
        while batch := reader.read().entries:
            entries += batch
    return entries


def test_nothing_is_readable_before_sync(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=OPTIONS) as writer, LogReader(tmp_path, "r") as reader:
        lines = write(writer, 1000, 2000)
        assert reader.read().entries == []
        end = writer.sync()
        batch = reader.read()
        assert [entry.line for entry in batch.entries] == lines
        assert batch.end == end
        assert batch.lost_bytes == 0


def test_a_stamp_is_the_largest_observation_so_far(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=OPTIONS) as writer:
        write(writer, 5000, 3000, 7000, 6999)
        writer.sync()
        assert writer.stamp == 7000
    assert [entry.stamp for entry in everything(tmp_path)] == [5000, 5000, 7000, 7000]


def test_a_reader_that_starts_anywhere_sees_the_same_stamps_and_lines(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=OPTIONS) as writer:
        for base in range(0, 200, 20):
            write(writer, *(1000 + base + step for step in (5, 1, 9, 3)))
            writer.sync()
    whole = everything(tmp_path)
    with LogReader(tmp_path, "one-by-one") as reader:
        ends = [reader.read(max_records=1).end for _ in whole]
    for count, end in enumerate(ends, start=1):
        assert everything(tmp_path, end) == whole[count:]


def test_a_read_keeps_to_its_limits_but_always_moves(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=OPTIONS) as writer:
        write(writer, *range(1000, 1010), note="x" * 100)
        writer.sync()
    with LogReader(tmp_path, "r") as reader:
        assert len(reader.read(max_records=3).entries) == 3
        assert len(reader.read(max_bytes=1).entries) == 1
        assert len(reader.read(max_bytes=2 * (len(line(1000, "x" * 100)) + 1)).entries) == 2
        assert len(reader.read().entries) == 4


def test_ticks_tell_each_whole_second_and_never_go_back(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=OPTIONS) as writer:
        for now_ms in (10_400, 10_900, 11_000, 13_500, 9_000):
            writer.tick(now_ms)
        writer.sync()
    records = [codec.decode(entry.line) for entry in everything(tmp_path)]
    assert all(isinstance(record, TickRecord) and record.partitionkey == "*" for record in records)
    assert [record.observedms for record in records] == [10_000, 11_000, 12_000, 13_000]
    assert [record.id for record in records] == [f"c1/tick/{second}000" for second in (10, 11, 12, 13)]


def test_a_restarted_writer_goes_on_behind_the_last_line_and_its_log_time(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=OPTIONS) as writer:
        write(writer, 9000)
        first = writer.sync()
    with LogWriter(tmp_path, options=OPTIONS) as writer:
        assert writer.stamp == 9000
        writer.tick(10_000)
        write(writer, 4000)
        assert writer.sync().segment == first.segment
    assert [entry.stamp for entry in everything(tmp_path)] == [9000, 10_000, 10_000]


def test_where_a_file_is_in_the_folders_place_there_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert layout.numbers(tmp_path / "nowhere") == layout.numbers(tmp_path / "file" / "log") == []


def test_a_second_writer_is_told_who_holds_the_log(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=OPTIONS), pytest.raises(UserError, match="in use by process"):
        LogWriter(tmp_path, options=OPTIONS)
    LogWriter(tmp_path, options=OPTIONS).close()


def test_segments_end_by_size_and_readers_pass_over_the_border(tmp_path: Path) -> None:
    options = LogOptions(cluster="c1", min_free_bytes=0, segment_bytes=500)
    with LogWriter(tmp_path, options=options) as writer:
        lines = []
        for ms in range(1000, 1100):
            lines += write(writer, ms)
            writer.sync()
    got = [entry.line for entry in everything(tmp_path)]
    assert [text for text in got if b"tick.v1" not in text] == lines
    assert len(list(tmp_path.glob("*.ndjson"))) > 5


def test_a_waiting_reader_wakes_when_the_writer_syncs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wake, "POLL_S", 600)  # so that only the writer's bell can wake it in time
    with LogWriter(tmp_path, options=OPTIONS) as writer, LogReader(tmp_path, "r") as reader:
        assert reader.wait(0) is False
        woken: list[bool] = []
        thread = threading.Thread(target=lambda: woken.append(reader.wait(600)), daemon=True)
        thread.start()
        write(writer, 1000)
        writer.sync()
        thread.join(60)
        assert woken == [True]
        assert len(reader.read().entries) == 1
        assert reader.wait(0) is False


def test_an_ack_is_where_the_same_name_starts_again(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=OPTIONS) as writer:
        write(writer, 1000, 2000, 3000)
        writer.sync()
    with LogReader(tmp_path, "r") as reader:
        reader.ack(reader.read(max_records=2).end)
    with LogReader(tmp_path, "r") as reader:
        assert [entry.stamp for entry in reader.read().entries] == [3000]


STEPS = st.one_of(
    st.lists(st.integers(0, 5000), min_size=1, max_size=8),
    st.sampled_from(["sync", "reopen"]),
    st.integers(0, 6000).map(lambda now_ms: ("tick", now_ms)),
)


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(STEPS, max_size=25),
    segment_bytes=st.sampled_from([1, 300, 1 << 20]),
    max_records=st.integers(1, 7),
    max_bytes=st.integers(1, 400),
)
def test_whatever_was_appended_is_read_in_order_however_it_is_cut(
    steps: list[Any], segment_bytes: int, max_records: int, max_bytes: int
) -> None:
    options = LogOptions(cluster="c1", min_free_bytes=0, segment_bytes=segment_bytes)
    wanted: list[bytes] = []
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        writer = LogWriter(directory, options=options)
        for step in steps:
            if isinstance(step, list):
                wanted += write(writer, *step)
            elif step == "sync":
                writer.sync()
            elif step == "reopen":
                writer.close()
                writer = LogWriter(directory, options=options)
            else:
                writer.tick(step[1])
        stamp = writer.stamp
        writer.close()
        got: list[Entry] = []
        position: Position | None = None
        while True:  # a new reader for every batch: positions are all that is carried on
            with LogReader(directory, "r", start=position) as reader:
                batch = reader.read(max_records, max_bytes)
            if not batch.entries:
                break
            assert len(batch.entries) <= max_records
            got += batch.entries
            position = batch.end
        assert got == everything(directory)
    assert [entry.line for entry in got if b"tick.v1" not in entry.line] == wanted
    observed = [msgspec.json.decode(entry.line)["observedms"] for entry in got]
    assert [entry.stamp for entry in got] == list(accumulate(observed, max))
    assert not got or got[-1].stamp == stamp


@pytest.mark.parametrize("bad", [b"", b"two\nlines"])
def test_a_record_that_is_not_one_line_is_refused_whole(tmp_path: Path, bad: bytes) -> None:
    with LogWriter(tmp_path, options=OPTIONS) as writer:
        with pytest.raises(ValueError, match="one line"):
            writer.append([line(1), bad], [1, 2])
        writer.sync()
    assert everything(tmp_path) == []
