"""Whatever bytes are lost or flipped: reading and writing go on, good lines come, no bad line does, the loss is counted."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import msgspec
import pytest

from pipeline.log import Entry, LogOptions, LogReader, LogWriter, layout, repair

OPTIONS = LogOptions(cluster="c1", min_free_bytes=0)
SMALL = LogOptions(cluster="c1", min_free_bytes=0, segment_bytes=1)
"""A segment for every sync."""


def line(number: int) -> bytes:
    return msgspec.json.encode({"id": f"c1/{number}", "observedms": 1000 + number, "data": "abc"})


def make(directory: Path, batches: list[list[int]], options: LogOptions = OPTIONS) -> list[bytes]:
    written: list[bytes] = []
    with LogWriter(directory, options=options) as writer:
        for batch in batches:
            lines = [line(number) for number in batch]
            writer.append(lines, [1000 + number for number in batch])
            writer.sync()
            written += lines
    return written


def read(directory: Path) -> tuple[list[Entry], int]:
    entries: list[Entry] = []
    lost_bytes = 0
    with LogReader(directory, "all") as reader:
        while True:
            batch = reader.read()
            entries += [entry for entry in batch.entries if b"tick.v1" not in entry.line]
            lost_bytes += batch.lost_bytes
            if not batch.entries:
                return entries, lost_bytes


def lines_of(entries: list[Entry]) -> list[bytes]:
    return [entry.line for entry in entries]


def flip(path: Path, at: int, mask: int = 0x01) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= mask
    path.write_bytes(data)


@pytest.mark.parametrize("mask", [0x01, 0x80])
def test_every_flipped_byte_of_the_data_costs_its_line_and_no_other(tmp_path: Path, mask: int) -> None:
    lines = make(tmp_path / "good", [[1, 2, 3], [4, 5]])
    data = layout.data_path(tmp_path / "good", 1).read_bytes()
    for at in range(len(data)):
        hurt = data[:at].count(b"\n")
        is_newline = data[at : at + 1] == b"\n"
        layout.data_path(tmp_path / "good", 1).write_bytes(data)
        flip(layout.data_path(tmp_path / "good", 1), at, mask)
        entries, lost_bytes = read(tmp_path / "good")
        assert lines_of(entries) == (lines if is_newline else lines[:hurt] + lines[hurt + 1 :]), at
        assert lost_bytes == (0 if is_newline else len(lines[hurt]) + 1), at


def test_every_flipped_byte_of_an_index_costs_nothing(tmp_path: Path) -> None:
    lines = make(tmp_path / "good", [[1, 2, 3], [4, 5], [6]])
    index = layout.index_path(tmp_path / "good", 1).read_bytes()
    for at in range(len(index)):
        shutil.copytree(tmp_path / "good", tmp_path / str(at))
        flip(layout.index_path(tmp_path / str(at), 1), at)
        with LogWriter(tmp_path / str(at), options=OPTIONS) as writer:
            assert writer.recovery.cut_bytes == 0
        entries, lost_bytes = read(tmp_path / str(at))
        assert (lines_of(entries), lost_bytes) == (lines, 0), at
        shutil.rmtree(tmp_path / str(at))


def test_a_damaged_entry_takes_no_protection_from_the_blocks_behind_it(tmp_path: Path) -> None:
    lines = make(tmp_path, [[1, 2], [3, 4], [5, 6]])
    flip(layout.index_path(tmp_path, 1), 10)
    data = layout.data_path(tmp_path, 1).read_bytes()
    flip(layout.data_path(tmp_path, 1), data.index(b"abc", data.index(lines[3])))  # still JSON
    entries, lost_bytes = read(tmp_path)
    assert lines_of(entries) == [*lines[:3], *lines[4:]]
    assert lost_bytes == len(lines[3]) + 1


def test_log_time_is_told_by_a_segment_alone(tmp_path: Path) -> None:
    make(tmp_path, [[900], [1, 2]], SMALL)
    layout.data_path(tmp_path, 1).unlink()
    layout.index_path(tmp_path, 2).unlink()
    assert [entry.stamp for entry in read(tmp_path)[0]] == []
    layout.data_path(tmp_path, 3).touch()  # now segment 2 is closed and read without its index
    assert [entry.stamp for entry in read(tmp_path)[0]] == [1900, 1900]


def test_log_time_never_goes_back_where_damage_took_the_line_that_carried_it(tmp_path: Path) -> None:
    make(tmp_path, [[900], [1, 2]], SMALL)
    layout.index_path(tmp_path, 2).unlink()
    flip(layout.data_path(tmp_path, 2), 0)  # the tick that a segment opens with
    layout.data_path(tmp_path, 3).touch()
    assert [entry.stamp for entry in read(tmp_path)[0]] == [1900, 1900, 1900]


def test_an_index_that_ends_anywhere_is_caught_up_from_the_data(tmp_path: Path) -> None:
    lines = make(tmp_path / "good", [[1, 2], [3]])
    index = layout.index_path(tmp_path / "good", 1).read_bytes()
    for size in range(len(index)):
        directory = tmp_path / str(size)
        shutil.copytree(tmp_path / "good", directory)
        layout.index_path(directory, 1).write_bytes(index[:size])
        more = make(directory, [[7, 8]])
        entries, lost_bytes = read(directory)
        assert (lines_of(entries), lost_bytes) == (lines + more, 0), size
        shutil.rmtree(directory)


def test_data_torn_at_every_byte_of_the_last_batch_is_cut_counted_and_written_on(tmp_path: Path) -> None:
    lines = make(tmp_path / "good", [[1, 2], [3, 4]])
    data = layout.data_path(tmp_path / "good", 1).read_bytes()
    first = len(lines[0]) + len(lines[1]) + 2
    for keep_index in (True, False):
        for size in range(first, len(data)):
            directory = tmp_path / str(size)
            shutil.copytree(tmp_path / "good", directory)
            layout.data_path(directory, 1).write_bytes(data[:size])
            if not keep_index:
                layout.index_path(directory, 1).unlink()
            kept = lines[: data[:size].count(b"\n")]
            torn = size - sum(len(text) + 1 for text in kept)
            with LogWriter(directory, options=OPTIONS) as writer:
                assert writer.recovery.cut_bytes == torn, size
                assert writer.stamp == 1000 + len(kept)
                writer.append([line(9)], [1009])
                writer.sync()
            entries, lost_bytes = read(directory)
            assert (lines_of(entries), lost_bytes) == ([*kept, line(9)], 0), size
            copies = [path.read_bytes() for path in (directory / layout.QUARANTINE).glob("*")]
            assert copies == ([data[size - torn : size]] if torn else []), size
            shutil.rmtree(directory)


def test_a_reader_of_data_shorter_than_its_index_gets_whole_lines_and_counts_the_rest(tmp_path: Path) -> None:
    lines = make(tmp_path, [[1, 2], [3, 4]])
    path = layout.data_path(tmp_path, 1)
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-5])
    entries, lost_bytes = read(tmp_path)
    assert lines_of(entries) == lines[:3]
    assert lost_bytes == len(lines[3]) + 1
    assert size == sum(len(text) + 1 for text in lines)


def test_all_indexes_may_be_deleted_under_a_closed_log(tmp_path: Path) -> None:
    lines = make(tmp_path, [[1, 2], [3, 4], [5]], SMALL)
    for path in tmp_path.glob("*.index"):
        path.unlink()
    more = make(tmp_path, [[6]], SMALL)
    entries, lost_bytes = read(tmp_path)
    assert (lines_of(entries), lost_bytes) == (lines + more, 0)
    assert [entry.stamp for entry in entries] == [1001, 1002, 1003, 1004, 1005, 1006]


def test_an_index_deleted_under_a_running_writer_hides_nothing(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=OPTIONS) as writer, LogReader(tmp_path, "r") as reader:
        writer.append([line(1)], [1001])
        writer.sync()
        layout.index_path(tmp_path, 1).unlink()
        writer.append([line(2)], [1002])
        writer.sync()
        got = [entry.line for entry in reader.read().entries if b"tick.v1" not in entry.line]
        assert got == [line(1), line(2)]
        assert reader.wait(0) is False


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("closed", [True, False])
def test_a_segment_of_zeros_is_passed_over_in_one_go(tmp_path: Path, indexed: bool, closed: bool) -> None:
    make(tmp_path, [[1, 2]])
    path = layout.data_path(tmp_path, 1)
    zeros = path.stat().st_size if indexed else 40 << 20
    path.write_bytes(bytes(zeros))
    if not indexed:
        layout.index_path(tmp_path, 1).unlink()
    if closed:
        layout.data_path(tmp_path, 2).touch()
    started_s = time.monotonic()
    with LogWriter(tmp_path, options=OPTIONS) as writer:
        writer.append([line(5)], [1005])
        writer.sync()
        cut = writer.recovery.cut_bytes
    entries, lost_bytes = read(tmp_path)
    assert time.monotonic() - started_s < 60
    assert lines_of(entries) == [line(5)]
    assert cut + lost_bytes == zeros


def test_garbage_with_newlines_is_stepped_over_line_by_line(tmp_path: Path) -> None:
    lines = make(tmp_path, [[1]])
    with layout.data_path(tmp_path, 1).open("ab") as file:
        file.write(b'\xff\xfe\n\n[1,2]\n{"observedms":"x"}\n' + line(2) + b"\n{}\n")
    with LogWriter(tmp_path, options=OPTIONS) as writer:
        assert writer.stamp == 1002
    entries, lost_bytes = read(tmp_path)
    assert lines_of(entries) == [*lines, line(2)]
    assert lost_bytes == 3 + 1 + 6 + 19 + 3


def test_a_position_behind_the_end_of_a_repaired_segment_leads_on(tmp_path: Path) -> None:
    lines = make(tmp_path, [[1, 2], [3]])
    with LogReader(tmp_path, "r") as reader:
        end = reader.read().end
        path = layout.data_path(tmp_path, 1)
        path.write_bytes(path.read_bytes()[:-3])  # a disk that lied about its fsync
    make(tmp_path, [[8]])
    with LogReader(tmp_path, "r", start=end) as reader:
        assert lines_of(reader.read().entries)[-1:] == [line(8)]
    assert lines_of(read(tmp_path)[0]) == [*lines[:2], line(8)]


def test_a_log_that_was_deleted_whole_begins_again_for_old_readers(tmp_path: Path) -> None:
    make(tmp_path / "log", [[1], [2], [3]], SMALL)
    with LogReader(tmp_path / "log", "r") as reader:
        while (batch := reader.read()).entries:
            end = batch.end
    shutil.rmtree(tmp_path / "log")
    make(tmp_path / "log", [[9]])
    with LogReader(tmp_path / "log", "r", start=end) as reader:
        assert lines_of(reader.read().entries) == [line(9)]


def test_segment_numbers_that_a_reader_has_seen_are_not_given_again(tmp_path: Path) -> None:
    make(tmp_path, [[1], [2]], SMALL)
    with LogReader(tmp_path, "r") as reader:
        end = reader.read().end
        reader.ack(end)
    for path in [*tmp_path.glob("*.ndjson"), *tmp_path.glob("*.index")]:
        path.unlink()
    with LogWriter(tmp_path, options=OPTIONS) as writer:
        writer.append([line(3)], [1003])
        assert writer.sync().segment == end.segment + 1
    with LogReader(tmp_path, "r") as reader:
        assert lines_of(reader.read().entries) == [line(3)]


def test_no_offset_that_a_reader_has_seen_is_given_again_though_the_segment_became_shorter(tmp_path: Path) -> None:
    make(tmp_path, [[1, 2], [3, 4]])
    with LogReader(tmp_path, "r") as reader:
        reader.ack(reader.read().end)
    path = layout.data_path(tmp_path, 1)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))  # as of an older copy
    make(tmp_path, [[5, 6, 7], [8]])
    with LogReader(tmp_path, "r") as reader:
        assert lines_of(reader.read().entries) == [line(number) for number in (5, 6, 7, 8)]


def test_a_segment_that_was_removed_by_hand_is_missed(tmp_path: Path) -> None:
    make(tmp_path, [[1], [2], [3], [4]], SMALL)
    for number in (1, 3):
        layout.data_path(tmp_path, number).unlink()
        layout.index_path(tmp_path, number).unlink()
    report = repair.check(tmp_path)
    assert (report.missing, report.sound) == ((3,), False)
    assert lines_of(read(tmp_path)[0]) == [line(2), line(4)]
    with LogReader(tmp_path, "r") as reader:
        assert reader.read() and reader.lost_segments == 1


def test_check_names_the_damage_and_repair_makes_the_index_whole(tmp_path: Path) -> None:
    lines = make(tmp_path, [[1, 2], [3, 4], [5]], SMALL)
    assert repair.check(tmp_path).sound
    flip(layout.data_path(tmp_path, 2), -5)
    layout.index_path(tmp_path, 3).unlink()
    (tmp_path / "0000000099.index").write_bytes(b"orphan")
    report = repair.check(tmp_path)
    assert not report.sound
    assert [segment.damaged_bytes for segment in report.segments] == [0, len(lines[3]) + 1, 0]
    assert [segment.unindexed_bytes > 0 for segment in report.segments] == [False, False, True]
    assert report.orphans == ("0000000099.index",)

    mended = repair.repair(tmp_path)
    assert [segment.unindexed_bytes for segment in mended.segments] == [0, 0, 0]
    assert mended.segments[1].damaged_bytes == len(lines[3]) + 1
    assert mended.orphans == ()
    assert len(mended.quarantined) == 1
    assert lines_of(read(tmp_path)[0]) == [lines[0], lines[1], lines[2], lines[4]]


def test_repair_under_an_open_reader_does_not_blind_it(tmp_path: Path) -> None:
    make(tmp_path, [[1]])
    with LogReader(tmp_path, "r") as reader:
        assert lines_of(reader.read().entries) == [line(1)]
        repair.repair(tmp_path)
        make(tmp_path, [[2]])
        assert reader.wait(5) is True
        assert lines_of(reader.read().entries) == [line(2)]
