"""A replay tells nothing of the next second before those who answer in its log have answered the last one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.app import Replayer
from collector.replay.player import parse_pace
from collector.replay.recording import Recording
from collector.settings import Settings, Spool
from pipeline.config.places import Places
from pipeline.log import LogFull, LogReader, steps
from pipeline.log.segment import SegmentWriter
from pipeline.log.steps import Steps
from pipeline.records import codec
from pipeline.records.envelope import TickRecord
from tests.support.cluster import poll

BEGIN_MS = 1_800_000_000_000
SECONDS = 6
NAME = "slow"


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Steps]:
    """Asked by a replay of a pod that changes with every second, which is under way; `NAME` answers when the test does."""
    folder = tmp_path / "recording"
    folder.mkdir()
    page = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}, "items": []}
    lines = [
        {"t": BEGIN_MS, "request": {"method": "GET", "status": 200, "headers": {}, "target": "/api/v1/pods"}},
        {"t": BEGIN_MS, "list": page},
        *({"t": BEGIN_MS + 1000 * n, "frame": {"type": "MODIFIED", "object": pod(n)}} for n in range(1, SECONDS)),
    ]
    (folder / "pods.ndjson").write_text("".join(json.dumps({"watch": "pods", **line}) + "\n" for line in lines))
    places = Places(tmp_path)
    found = steps.of(places.records)
    found.join(NAME)
    settings = Settings(spool=Spool(min_free_bytes=0))
    replayer = Replayer(settings, places, "c1@replay", Recording(folder), parse_pace("max"))
    replayer.start()
    poll("it is asked before anything is told", lambda: found.asked == 1)
    found.answer(NAME, 1)
    yield found
    replayer.stop(60)


def pod(n: int) -> dict[str, object]:
    meta = {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": str(10 + n), "labels": {"n": str(n)}}
    return {"metadata": meta, "spec": {}, "status": {"phase": "Pending"}}


def told(folder: Path) -> tuple[list[int], list[int]]:
    """Seconds of the ticks in the log, and of its other records."""
    ticks, others = [], []
    with LogReader(Places(folder).records, "test") as reader:
        for record in (codec.decode(entry.line) for entry in reader.read().entries):
            of = ticks if isinstance(record, TickRecord) else others
            of.append((record.observedms - BEGIN_MS) // 1000)
    return ticks, others


def test_each_second_is_answered_before_the_next_is_told(asking: Steps, tmp_path: Path) -> None:
    for second in range(SECONDS):
        poll("it is asked", lambda: told(tmp_path)[0][-1:] == [second])
        question = asking.asked
        assert told(tmp_path) == (list(range(second + 1)), list(range(1, second)))
        asking.answer(NAME, question)
        poll("it goes on", lambda: asking.asked > question or second == SECONDS - 1)


def test_a_disk_that_was_full_at_a_second_has_it_answered_too(
    asking: Steps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise LogFull("no space")

    poll("the first second is told", lambda: told(tmp_path)[0] == [0])
    question = asking.asked
    monkeypatch.setattr(SegmentWriter, "write", full)
    asking.answer(NAME, question)
    poll("it asks, of a second that nobody can read", lambda: asking.asked > question)
    unheard = asking.asked
    asking.answer(NAME, unheard)
    monkeypatch.undo()
    poll("it asks once more", lambda: asking.asked > unheard)
    assert told(tmp_path) == ([0, 1], []), "nothing of the second itself before that"
