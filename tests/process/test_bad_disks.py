"""The whole pipeline on disks that fail it: full, slow, torn, with a bit that has flipped."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline import faults
from pipeline.config.places import Places
from pipeline.log import layout
from pipeline.records import codec
from pipeline.records.envelope import ObjectRecord
from tests.support import disks, straight
from tests.support.cluster import poll
from tests.support.running import Pipeline
from tests.support.straight import Rows

RECORDING = Path(__file__).parents[2] / "examples" / "kube-a"
END_MS = straight.end_ms(RECORDING)
SLOW = {"log.index": 0.05, "spool.commit": 0.2, "aggregation.transaction": 0.5, "doris_local.commit": 0.3}
"""Seconds that each fsync of the log and each commit of the three databases takes longer."""
ALONE = ("--set", "scheduler.enabled=false")


def replay(folder: Path, *more: str, speed: str = "max") -> Pipeline:
    return Pipeline(folder, "--replay", str(RECORDING), "--speed", speed, *more)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    return straight.finish(replay(tmp_path_factory.mktemp("straight") / "data"), END_MS)


@pytest.fixture(scope="module")
def expected_alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """Without the shadow scheduler's decisions, as in a log that `replay` alone has written."""
    return straight.finish(replay(tmp_path_factory.mktemp("alone") / "data", *ALONE), END_MS)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with disks.small(tmp_path / "disk", "100m") as folder:
        yield folder


def said(pipeline: Pipeline, event: str) -> list[dict[str, Any]]:
    """Lines of its log; the last one may be in the writing."""
    lines = pipeline.log.read_text().split("\n")[:-1]
    return [line for line in map(json.loads, (x for x in lines if x.startswith("{"))) if line["event"] == event]


def test_a_full_disk_stops_everything_until_there_is_space_and_loses_nothing(
    expected: dict[str, Rows], small_disk: Path, tmp_path: Path
) -> None:
    pipeline = replay(small_disk / "data", "--set", "collector.spool.min_free_bytes=0", speed="20x")
    pipeline.log = tmp_path / "log"
    with pipeline:
        filler = disks.fill(small_disk)
        poll("the collector reads no further", lambda: said(pipeline, "spool_blocked"), straight.LIMIT_S)
        assert pipeline.process is not None
        assert pipeline.process.poll() is None
        filler.unlink()
        straight.await_end(pipeline, END_MS)
        found = straight.read(pipeline)
    wrong = [str(each) for each in straight.compare(expected, found) if not each.none]
    assert not wrong, "\n".join(wrong)


def test_a_slow_disk_makes_everything_late_and_nothing_wrong(expected: dict[str, Rows], tmp_path: Path) -> None:
    pipeline = replay(tmp_path / "data", speed="20x")
    pipeline.launch(**{faults.DELAYS: ",".join(f"{point}:{delay_s}" for point, delay_s in SLOW.items())})
    try:
        pipeline.answers()
        straight.await_end(pipeline, END_MS)
        found = straight.read(pipeline)
        assert pipeline.stop() == 130
    finally:
        pipeline.kill()
    wrong = [str(each) for each in straight.compare(expected, found) if not each.none]
    assert not wrong, "\n".join(wrong)


def test_a_torn_tail_costs_nothing_and_a_flipped_byte_its_record(
    expected_alone: dict[str, Rows], tmp_path: Path
) -> None:
    data = tmp_path / "data"
    command = [sys.executable, "-m", "pipeline.cli.main", "replay", str(RECORDING), "--set", f"data_dir={data}"]
    subprocess.run(command, check=True, capture_output=True, timeout=straight.LIMIT_S)
    segment = layout.data_path(Places(data).records, layout.FIRST)
    lines = segment.read_bytes().splitlines(keepends=True)
    number, lost = next(
        (n, record)
        for n, record in enumerate(map(codec.decode, lines))
        if isinstance(record, ObjectRecord) and (record.data.kind, record.data.change) == ("Pod", "modified")
    )
    assert lost.data.job is not None
    bad = bytearray(lines[number])
    bad[len(bad) // 2] ^= 0x04
    segment.write_bytes(b"".join([*lines[:number], bytes(bad), *lines[number + 1 :], lines[-1][:40]]))

    pipeline = replay(data, *ALONE)
    found = straight.finish(pipeline, END_MS)

    assert [line["bytes"] for line in said(pipeline, "torn_tail_cut")] == [40]
    assert [line["lost_bytes"] for line in said(pipeline, "damaged_log")] == [len(bad)]
    for each in straight.compare(expected_alone, found):
        if each.table == "object_change":
            assert [key[2:] for key in each.lost] == [(lost.data.uid, lost.data.version, "modified")]
            assert not each.extra
            assert not each.different
        else:
            uids = {expected_alone[each.table].get(key, found[each.table].get(key))["job_uid"] for key in touched(each)}
            assert uids <= {lost.data.job.uid}


def touched(difference: straight.Difference) -> list[tuple[Any, ...]]:
    return [*difference.lost, *difference.extra, *difference.different]
