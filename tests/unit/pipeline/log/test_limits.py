"""What is kept and for how long, what happens at the limit, and when the disk is full in the middle of a write."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from pipeline.errors import Transient
from pipeline.log import LogFull, LogOptions, LogReader, LogWriter, Position, layout, readers, retention, segment
from pipeline.log.layout import Segment

DAY_MS = 86_400_000


def line(number: int) -> bytes:
    return msgspec.json.encode({"id": f"c1/{number}", "observedms": 1000 + number, "data": "x" * 200})


def put(writer: LogWriter, *numbers: int) -> None:
    writer.append([line(number) for number in numbers], [1000 + number for number in numbers])


def ids(directory: Path) -> list[int]:
    found: list[int] = []
    with LogReader(directory, "all") as reader:
        while batch := reader.read().entries:
            found += [entry.stamp - 1000 for entry in batch if b"tick.v1" not in entry.line]
    return found


def options(**changes: object) -> LogOptions:
    return LogOptions(**({"cluster": "c1", "min_free_bytes": 0, "segment_bytes": 1} | changes))


def test_what_every_reader_passed_and_is_old_goes_without_leaving_a_hole() -> None:
    segments = [Segment(n, 100, 120, modified_ms=n * 1000) for n in (1, 2, 3, 4)]
    assert retention.outlived(segments, [], 3500) == [1, 2, 3]
    assert retention.outlived(segments, [], 99_000) == [1, 2, 3], "the segment being written stays"
    assert retention.outlived(segments, [Position(3, 0), Position(9, 0)], 99_000) == [1, 2]
    assert retention.outlived(segments, [Position(2, 100)], 99_000) == [1, 2]
    assert retention.outlived(segments, [Position(2, 99)], 99_000) == [1]
    assert retention.outlived(segments, [Position(4, 0), None], 99_000) == [], "an ack that cannot be read holds all"
    uneven = [segments[0], segments[1]._replace(modified_ms=9000), segments[2], segments[3]]
    assert retention.outlived(uneven, [], 5000) == [1]


def test_at_the_limit_only_what_was_read_may_go_unless_told_otherwise() -> None:
    segments = [Segment(n, 100, 120, modified_ms=0) for n in (1, 2, 3)]
    assert retention.sacrificed(segments, [Position(3, 0)], 1, unread=False) == [1]
    assert retention.sacrificed(segments, [Position(3, 0)], 121, unread=False) == [1, 2]
    assert retention.sacrificed(segments, [Position(1, 50)], 1, unread=False) == []
    assert retention.sacrificed(segments, [], 1, unread=False) == []
    assert retention.sacrificed(segments, [], 1000, unread=True) == [1, 2]


def test_old_segments_stay_until_the_slowest_reader_acks(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=options()) as writer, LogReader(tmp_path, "slow") as slow:
        for number in range(4):
            put(writer, number)
            writer.sync()
        slow.ack(slow.read(max_records=1).end)
        for path in tmp_path.glob("*.ndjson"):
            os.utime(path, (0, 0))
    LogWriter(tmp_path, options=options()).close()
    assert layout.numbers(tmp_path) == [2, 3, 4]
    assert readers.forget(tmp_path, "slow")
    LogWriter(tmp_path, options=options()).close()
    assert layout.numbers(tmp_path) == [4]
    assert sorted(path.name for path in tmp_path.glob("*.index")) == ["0000000004.index"]


def test_a_full_log_refuses_keeps_everything_and_goes_on_when_a_reader_acks(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=options(max_bytes=3000)) as writer, LogReader(tmp_path, "r") as reader:
        accepted = 0
        with pytest.raises(LogFull, match="limit of 3000 bytes"):
            while True:
                put(writer, accepted)
                accepted += 1
                writer.sync()
        assert writer.full
        with pytest.raises(LogFull):
            put(writer, 99)
        writer.tick(10**9)  # takes no memory while full
        assert ids(tmp_path) == list(range(accepted - 1))
        batch = reader.read(max_records=accepted)
        reader.ack(batch.end)
        put(writer, accepted)  # tries for itself whether there is room now
        assert not writer.full
        writer.sync()
        seen = [entry.stamp - 1000 for entry in batch.entries if b"tick.v1" not in entry.line]
        seen += [entry.stamp - 1000 for entry in reader.read().entries if b"tick.v1" not in entry.line]
        assert seen == list(range(accepted + 1))
        assert writer.dropped_segments == 0


def test_more_than_the_limit_goes_through_a_small_log_piece_by_piece_as_a_reader_acks(tmp_path: Path) -> None:
    count = 200
    with (
        LogWriter(tmp_path, options=options(max_bytes=8000, segment_bytes=4000)) as writer,
        LogReader(tmp_path, "r") as reader,
    ):
        reader.ack(reader.position)
        put(writer, *range(count))  # at once, and many times the limit
        seen: list[int] = []
        for _ in range(count):
            try:
                writer.sync()
            except LogFull:
                assert writer.total_bytes <= 8000
            seen += [entry.stamp - 1000 for entry in reader.read().entries if b"tick.v1" not in entry.line]
            reader.ack(reader.position)
        assert seen == list(range(count))
        assert not writer.full


def test_without_a_reader_a_full_log_removes_nothing(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=options(max_bytes=2000)) as writer:
        with pytest.raises(LogFull):
            for number in range(100):
                put(writer, number)
                writer.sync()
        assert ids(tmp_path)[0] == 0
        with pytest.raises(LogFull):
            writer.close()


def test_a_log_of_samples_drops_its_oldest_segment_and_counts_it(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=options(max_bytes=3000, when_full="drop_oldest")) as writer:
        for number in range(50):
            put(writer, number)
            writer.sync()
        left = ids(tmp_path)
        assert left == list(range(left[0], 50))
        assert writer.total_bytes <= 3000
        assert writer.dropped_segments == left[0]
        assert writer.dropped_bytes > 200 * left[0]


def test_one_big_segment_can_be_dropped_too(tmp_path: Path) -> None:
    roomy = options(max_bytes=3000, when_full="drop_oldest", segment_bytes=1 << 20)
    with LogWriter(tmp_path, options=roomy) as writer:
        for number in range(50):
            put(writer, number)
            writer.sync()
        assert ids(tmp_path)[-1] == 49
        assert len(layout.numbers(tmp_path)) <= 2


def test_below_the_free_space_floor_the_log_refuses(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=options(min_free_bytes=1 << 60)) as writer:
        put(writer, 1)
        with pytest.raises(LogFull, match=r"no space for the log .* bytes of the disk stay free\); it goes on when"):
            writer.sync()
        with pytest.raises(LogFull):
            writer.close()


def test_a_reader_is_told_about_segments_that_went_before_it_came(tmp_path: Path) -> None:
    with LogWriter(tmp_path, options=options()) as writer, LogReader(tmp_path, "r") as reader:
        for number in range(5):
            put(writer, number)
            writer.sync()
        end = reader.read(max_records=1).end
        for number in (2, 3):
            layout.data_path(tmp_path, number).unlink()
        with LogReader(tmp_path, "again", start=end) as again:
            assert [entry.stamp for entry in again.read().entries if b"tick.v1" not in entry.line] == [1003, 1004]
            assert again.lost_segments == 2


class Disk:
    """`os.write` with room for so many bytes."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.real: Callable[[int, memoryview], int] = os.write

    def write(self, fd: int, data: memoryview) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        part = data[: self.room]
        self.room -= len(part)
        return self.real(fd, part)


def test_a_disk_full_at_any_byte_of_a_write_leaves_the_log_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need = 2 * (len(line(2)) + 1) + 40 + 2 * 8
    for room in range(0, need, 7):
        directory = tmp_path / str(room)
        with LogWriter(directory, options=options(segment_bytes=1 << 20)) as writer:
            put(writer, 1)
            end = writer.sync()
            put(writer, 2, 3)
            disk = Disk(room)
            monkeypatch.setattr(segment.os, "write", disk.write)
            with pytest.raises(LogFull, match="no space"):
                writer.sync()
            assert layout.size_of(layout.data_path(directory, 1)) == end.offset
            with pytest.raises(LogFull):
                writer.sync()
            assert ids(directory) == [1]
            disk.room = need
            assert writer.sync().segment == 1
            monkeypatch.undo()
            put(writer, 4)
        assert ids(directory) == [1, 2, 3, 4], room


def test_a_segment_whose_fsync_failed_is_never_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with LogWriter(tmp_path, options=options(segment_bytes=1 << 20)) as writer:
        put(writer, 1)
        writer.sync()
        put(writer, 2)
        monkeypatch.setattr(segment.os, "fdatasync", broken)
        with pytest.raises(Transient, match="Input/output error"):
            writer.sync()
        monkeypatch.undo()
        assert writer.sync().segment == 2
    assert ids(tmp_path) == [1, 2]


def test_a_signal_in_the_middle_of_a_write_leaves_the_log_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(fd: int, data: memoryview) -> int:
        real(fd, data[:10])
        raise KeyboardInterrupt

    real = os.write
    with LogWriter(tmp_path, options=options(segment_bytes=1 << 20)) as writer:
        put(writer, 1)
        monkeypatch.setattr(segment.os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.sync()
        monkeypatch.undo()
        writer.sync()
    assert ids(tmp_path) == [1]


def test_a_name_that_is_no_file_name_cannot_ack(tmp_path: Path) -> None:
    with LogReader(tmp_path, "../evil") as reader, pytest.raises(ValueError, match="reader's name"):
        reader.ack(Position(1, 1))


def test_an_ack_on_a_full_disk_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(readers, "replace", full)
    with LogReader(tmp_path, "r") as reader, pytest.raises(LogFull):
        reader.ack(Position(1, 1))
