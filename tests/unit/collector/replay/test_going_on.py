"""A replay that is started again goes on where its log ends, in what it writes and in its pace."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from collector.app import Replayer
from collector.replay.player import parse_pace
from collector.replay.recording import Recording
from collector.settings import Settings, Spool
from collector.spool.checkpoint import Changes, Checkpoint
from pipeline.config.places import Places
from pipeline.log import LogReader
from pipeline.records import codec
from pipeline.telemetry.event import ROOT
from tests.support.cluster import poll

BEGIN_MS = 1_800_000_000_000
STATES = 40


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    """A pod that changes every second."""
    folder = tmp_path / "recording"
    folder.mkdir()
    request = {"method": "GET", "status": 200, "headers": {}}
    page = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}, "items": []}
    lines = [
        {"request": {**request, "target": "/api/v1/pods"}},
        {"list": page},
        {"request": {**request, "target": "/api/v1/pods?watch=true&resourceVersion=9"}},
        *({"frame": {"type": "MODIFIED" if n else "ADDED", "object": pod(n)}} for n in range(STATES)),
    ]
    text = "".join(
        json.dumps({"t": BEGIN_MS + 1000 * n, "watch": "pods", **line}) + "\n" for n, line in enumerate(lines)
    )
    (folder / "pods.ndjson").write_text(text)
    return Recording(folder)


def pod(n: int) -> dict[str, object]:
    meta = {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": str(10 + n), "labels": {"n": str(n)}}
    return {"metadata": meta, "spec": {}, "status": {"phase": "Pending"}}


def play(recording: Recording, folder: Path, speed: str, until: str = "done") -> float:
    """Seconds it took until the replay had come to its end, or to a place in the log."""
    settings = Settings(spool=Spool(min_free_bytes=0))
    replayer = Replayer(settings, Places(folder), "c1@replay", recording, parse_pace(speed))
    began_s = time.monotonic()
    replayer.start()
    try:
        poll("the replay is there", lambda: replayer.done if until == "done" else until in ids(folder))
    finally:
        replayer.stop(60)
    return time.monotonic() - began_s


def test_the_end_of_a_recording_is_said(recording: Recording, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger=f"{ROOT}.collector.app"):
        play(recording, tmp_path, "max")
    (line,) = [str(each.msg) for each in caplog.records if "recording" in str(each.msg)]
    assert line.startswith("recording_over") and "until=" in line


def ids(folder: Path) -> list[str]:
    with LogReader(Places(folder).records, "test") as reader:
        return [codec.decode(entry.line).id for entry in reader.read().entries]


def test_records_behind_the_checkpoint_are_not_written_again(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(recording, tmp_path / "straight", "max")
    straight = ids(tmp_path / "straight")
    commit = Checkpoint.commit

    def dies(checkpoint: Checkpoint, changes: Changes) -> None:
        if not changes.watches:
            commit(checkpoint, changes)

    monkeypatch.setattr(Checkpoint, "commit", dies)
    play(recording, tmp_path / "killed", "20x", until=f"c1@replay/u/{10 + STATES // 2}/modified/u/{tag(straight)}")
    before = ids(tmp_path / "killed")
    monkeypatch.undo()
    play(recording, tmp_path / "killed", "max")
    assert len(before) > STATES // 2
    assert ids(tmp_path / "killed") == straight
    assert len(set(straight)) == len(straight)


def tag(found: list[str]) -> str:
    return next(each for each in found if "/modified/" in each).rpartition("/")[2]


def test_what_was_played_before_costs_no_time_and_the_pace_goes_on_from_there(
    recording: Recording, tmp_path: Path
) -> None:
    play(recording, tmp_path / "straight", "max")
    reached = f"c1@replay/u/{10 + STATES - 8}/modified/u/{tag(ids(tmp_path / 'straight'))}"
    play(recording, tmp_path / "data", "max@35s,0.1x", until=reached)
    took_s = play(recording, tmp_path / "data", "0.1x@30s,5x")
    assert 1 < took_s < 60, "the last 7 of 43 seconds; the first 30 alone would take five minutes"
