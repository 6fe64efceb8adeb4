"""Recordings of our own: what a script arranged, job by job, against what was judged from the frames alone.

`tests/recordings/own-*/truth.json` was written by the script while it ran (`SOURCE.md` there): when it sent each request
and had the answer, what held a job from when to when, when the pods had their nodes, why a later wait began, and what
was promised. It was not made from the rows.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from aggregation import topology
from tests.support import agreement, replayed
from tests.support.replayed import Judged

FOLDERS = sorted(path.parent for path in (Path(__file__).parents[1] / "recordings").glob("own-*/truth.json"))
MOST_MISSED_MS = 1500


@cache
def _truth(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    return found


@cache
def _judged(folder: Path) -> Judged:
    return replayed.judge(replayed.log_of(folder), folder.name, topology.Options())


def _jobs() -> list[Any]:
    return [
        pytest.param(folder, job, id=f"{folder.name}-{job['name']}-{job['uid'][:4]}")
        for folder in FOLDERS
        for job in _truth(folder)["jobs"]
    ]


def _waits(folder: Path, job: dict[str, Any]) -> list[agreement.Wait]:
    return agreement.waits_of(_judged(folder), job["uid"], _truth(folder)["end_ms"])


def test_there_are_recordings_of_our_own() -> None:
    assert len(_jobs()) >= 163


@pytest.mark.parametrize(("folder", "job"), _jobs())
def test_what_was_arranged_leads_while_it_held(folder: Path, job: dict[str, Any]) -> None:
    waits = _waits(folder, job)
    for step in job["intended"]:
        wanted_ms = step["to_ms"] - step["from_ms"]
        led_ms = sum(
            max(0, min(to, step["to_ms"]) - max(since, step["from_ms"]))
            for wait in waits
            for reason, resource, since, to in wait.stretches
            if _coarse(reason) == _coarse(step["reason"]) and step.get("resource", resource) == resource
        )
        stretches = [wait.stretches for wait in waits]
        assert led_ms >= 0.97 * wanted_ms or wanted_ms - led_ms <= MOST_MISSED_MS, f"{step}: {led_ms} ms of {stretches}"


@pytest.mark.parametrize(("folder", "job"), _jobs())
def test_a_wait_begins_and_ends_when_the_script_saw_it(folder: Path, job: dict[str, Any]) -> None:
    tolerance_ms = _truth(folder)["tolerance_ms"]
    waits = _waits(folder, job)
    assert [wait.row["cause"] for wait in waits] == job["causes"]
    first = waits[0].row
    assert job["created_sent_ms"] - tolerance_ms <= first["started_at"] <= job["created_done_ms"] + tolerance_ms
    if job.get("ended_ms") is not None:
        assert abs(first["ended_at"] - job["ended_ms"]) <= tolerance_ms


@pytest.mark.parametrize(("folder", "job"), [each for each in _jobs() if "promise_ms" in each.values[1]])
def test_a_promise_is_kept_or_broken_as_the_times_say(folder: Path, job: dict[str, Any]) -> None:
    wait = _waits(folder, job)[0]
    deadline_ms = job["created_done_ms"] // 1000 * 1000 + job["promise_ms"]
    assert wait.row["deadline_at"] == deadline_ms
    assert wait.violated is (job["ended_ms"] >= deadline_ms)


def _coarse(reason: str) -> str:
    """Without decisions nobody can tell fragmentation from a plain lack."""
    return "insufficient_resource" if reason == "fragmentation" else reason
