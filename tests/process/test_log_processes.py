"""The log between real processes: killed in the middle of writes, read from another process, on a disk that is full."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from pipeline import faults
from pipeline.errors import UserError
from pipeline.log import LogFull, LogOptions, LogReader, LogWriter, repair
from tests.support import disks

ROOT = Path(__file__).parents[2]
CHILD = ROOT / "tests" / "support" / "log_child.py"
OPTIONS = LogOptions(cluster="c1", min_free_bytes=0)


def child(directory: Path, *arguments: str, kill_at: str = "") -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), faults.ENVIRONMENT: kill_at}
    return subprocess.Popen(
        [sys.executable, "-P", str(CHILD), str(directory), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def numbers(reader: LogReader) -> Iterator[int]:
    """What there is to read now. Every line is decoded: a damaged one would not get through."""
    while batch := reader.read():
        assert batch.lost_bytes == 0
        if not batch.entries:
            return
        for entry in batch.entries:
            record = msgspec.json.decode(entry.line)
            if record.get("type") != "io.kubecollector.tick.v1":
                assert entry.stamp >= record["observedms"]
                yield record["observedms"] - 1000


@pytest.mark.parametrize("point", ["log.write", "log.index", "log.index.write"])
def test_a_writer_killed_in_the_middle_of_its_writes_loses_nothing_it_called_durable(
    tmp_path: Path, point: str
) -> None:
    durable = -1
    with LogReader(tmp_path, "live") as live:
        seen: list[int] = []
        for nth in (1, 2, 5, 6, 11):
            with child(tmp_path, "write", str(durable + 1), kill_at=f"{point}:{nth}") as process:
                said = process.stdout.read().split()
            assert process.returncode == -signal.SIGKILL
            assert said[0] == "ready"
            durable = max([durable, *(int(word) for word in said[1:])])
            seen += numbers(live)
            assert set(range(durable + 1)) <= set(seen)
        LogWriter(tmp_path, options=OPTIONS).close()
        seen += numbers(live)
    with LogReader(tmp_path, "fresh") as fresh:
        assert list(numbers(fresh)) == seen
    assert durable >= 400
    assert first_sights(seen) == list(range(max(seen) + 1))
    assert repair.check(tmp_path).sound


def first_sights(seen: list[int]) -> list[int]:
    """In the order of their first coming; later copies are what the killed process's successor wrote again."""
    return list(dict.fromkeys(seen))


def test_a_reader_in_another_process_wakes_when_the_writer_syncs(tmp_path: Path) -> None:
    with child(tmp_path, "once") as process, LogReader(tmp_path, "r") as reader:
        assert process.stdout.readline() == "ready\n"
        assert reader.wait(0) is False
        process.stdin.write("go\n")
        process.stdin.close()
        assert reader.wait(20) is True
        assert list(numbers(reader)) == [0]
        assert process.wait(20) == 0


def test_a_reader_keeps_up_with_a_writer_in_another_process_across_segments(tmp_path: Path) -> None:
    seen: list[int] = []
    with child(tmp_path, "write", "0") as process, LogReader(tmp_path, "r") as reader:
        while len(seen) < 20_000 and reader.wait(20):
            seen += numbers(reader)
        process.kill()
        process.stdout.read()
    assert len(seen) >= 20_000
    assert seen == list(range(len(seen)))
    assert len(list(tmp_path.glob("*.ndjson"))) > 5


def test_a_second_process_is_refused_and_told_who_has_the_log(tmp_path: Path) -> None:
    with child(tmp_path, "hold") as process:
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(UserError, match=f"in use by process {process.pid}"):
            LogWriter(tmp_path, options=OPTIONS)
        process.kill()
    LogWriter(tmp_path, options=OPTIONS).close()


def test_a_file_size_limit_in_the_middle_of_a_write_costs_nothing(tmp_path: Path) -> None:
    with child(tmp_path, "small") as process:
        said = process.stdout.read().splitlines()
    assert process.returncode == 0
    assert said[0] == "ready"
    assert said[1].startswith("no space for the log")
    assert said[2] == "done"
    with LogReader(tmp_path, "r") as reader:
        assert list(numbers(reader)) == list(range(200))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with disks.small(tmp_path / "disk", "8m") as directory:
        yield directory


def test_much_more_than_a_small_disk_holds_goes_through_it_as_readers_ack(small_disk: Path) -> None:
    options = LogOptions(cluster="c1", min_free_bytes=1 << 20, segment_bytes=1 << 20)
    text = "x" * 1000
    count, batch, refused = 60_000, 500, 0
    seen: list[int] = []
    with LogWriter(small_disk, options=options) as writer, LogReader(small_disk, "r") as reader:
        for begin in range(0, count, batch):
            observed = range(1000 + begin, 1000 + begin + batch)
            writer.append([msgspec.json.encode({"observedms": ms, "data": text}) for ms in observed], observed)
            try:
                writer.sync()
            except LogFull:
                refused += 1
                seen += numbers(reader)
                reader.ack(reader.position)
                writer.sync()
        seen += numbers(reader)
    assert refused > 3
    assert seen == list(range(count))


def test_a_disk_without_a_free_byte_stops_the_log_but_not_its_next_start(small_disk: Path) -> None:
    with LogWriter(small_disk, options=OPTIONS) as writer:
        writer.append([b'{"observedms":1000}'], [1000])
        writer.sync()
        filler = disks.fill(small_disk)
        observed = range(1001, 1500)
        writer.append([msgspec.json.encode({"observedms": ms, "data": "x" * 100}) for ms in observed], observed)
        with pytest.raises(LogFull, match="no space for the log"):
            writer.sync()
        with pytest.raises(LogFull):
            writer.close()
    with LogWriter(small_disk, options=OPTIONS) as writer:
        assert writer.stamp == 1000
        writer.append([b'{"observedms":2000}'] * 300, [2000] * 300)
        with pytest.raises(LogFull):
            writer.sync()
        filler.unlink()
        writer.sync()
    with LogReader(small_disk, "r") as reader:
        assert list(numbers(reader)) == [0] + [1000] * 300
