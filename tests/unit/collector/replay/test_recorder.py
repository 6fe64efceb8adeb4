"""What watches tell is written so that a replay tells it again, refusals included."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from collector.kinds.catalog import KINDS
from collector.kinds.mirror import Mirror, MirrorOptions
from collector.replay.recorder import Recorder
from collector.replay.recording import Played, Recording
from collector.watch.follower import Follower
from pipeline.errors import UserError
from pipeline.kubeapi import frames
from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.frames import BadLine
from pipeline.kubeapi.happenings import Doing, Happening, Why
from pipeline.kubeapi.statuses import Action
from pipeline.records.envelope import GapRecord, ObjectRecord, Record
from tests.support.mirrored import BEGIN_MS, NODES, PODS, WORKLOADS, pod, thing


def versioned(each: dict[str, object], version: str = "5") -> dict[str, object]:
    metadata = each["metadata"]
    assert isinstance(metadata, dict)
    return {**each, "metadata": {"resourceVersion": version, **metadata}}


def page(at_ms: int, kind: str, *objects: dict[str, object], version: str = "9") -> tell.ListPage:
    items = [msgspec.Raw(json.dumps(each).encode()) for each in objects]
    return tell.ListPage(at_ms, items, kind, "", version, last=True)


def change(at_ms: int, type: str, each: dict[str, object]) -> tell.Frames:
    found = frames.decode(json.dumps({"type": type, "object": each}).encode())
    assert isinstance(found[0], frames.Frame)
    return tell.Frames(at_ms, [found[0]])


def recorded(folder: Path, *told: tuple[str, Happening]) -> list[Played]:
    recorder = Recorder(folder, "prod", KINDS, frozenset())
    for watch, happening in told:
        recorder.take(watch, happening)
    recorder.close()
    return list(Recording(folder))


def records_of(told: list[Played]) -> list[Record]:
    """As a replay writes them; kinds without a file are not served."""
    mirror = Mirror("test", "collector", MirrorOptions())
    follower = Follower(mirror)
    present = {watch for _, watch, _ in told}
    records = follower.absent([kind.name for kind in KINDS if kind.name not in present], BEGIN_MS)
    for _, watch, happening in told:
        records += follower.take(watch, happening)
    return records


def names(records: list[Record]) -> list[str]:
    return [record.data.name for record in records if isinstance(record, ObjectRecord)]


def test_what_was_flushed_can_be_replayed_though_the_recorder_was_killed(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "r", "prod", KINDS, frozenset())
    recorder.take(PODS, tell.ListStarted(BEGIN_MS, Why.START))
    recorder.take(PODS, page(BEGIN_MS + 1, "Pod", versioned(pod("a"))))
    recorder.flush()
    recorder.take(PODS, change(BEGIN_MS + 2, "ADDED", versioned(pod("b"))))
    assert names(records_of(list(Recording(tmp_path / "r")))) == ["a"]
    recorder.close()
    assert names(records_of(list(Recording(tmp_path / "r")))) == ["a", "b"]


def test_a_kind_that_was_forbidden_keeps_nobody_waiting_in_the_replay(tmp_path: Path) -> None:
    told = recorded(
        tmp_path / "r",
        (NODES, tell.ListStarted(BEGIN_MS, Why.START)),
        (NODES, tell.Forbidden(BEGIN_MS + 1, 'nodes is forbidden: User "x" cannot list resource "nodes"')),
        (PODS, tell.ListStarted(BEGIN_MS, Why.START)),
        (PODS, page(BEGIN_MS + 2, "Pod", versioned(pod("a")))),
    )
    assert names(records_of(told)) == ["a"]
    (refused,) = [happening for _, _, happening in told if isinstance(happening, tell.Forbidden)]
    assert 'cannot list resource "nodes"' in refused.message


def test_a_list_that_never_comes_keeps_the_replay_waiting_no_longer_than_the_recorder(tmp_path: Path) -> None:
    failed = tell.Retrying(BEGIN_MS + 31_000, Doing.LIST, 5, 30.0, Action.RECONNECT_BACKOFF, "500: webhook failed")
    told = recorded(
        tmp_path / "r",
        (WORKLOADS, tell.ListStarted(BEGIN_MS, Why.START)),
        (PODS, tell.ListStarted(BEGIN_MS, Why.START)),
        (PODS, page(BEGIN_MS + 2, "Pod", versioned(pod("a")))),
        (WORKLOADS, failed),
    )
    assert names(records_of(told[:-1])) == []
    assert names(records_of(told)) == ["a"]


def test_a_kind_that_came_later_was_not_served_until_then(tmp_path: Path) -> None:
    told = recorded(
        tmp_path / "r",
        (WORKLOADS, tell.NotServed(BEGIN_MS, "the server does not serve it")),
        (PODS, tell.ListStarted(BEGIN_MS, Why.START)),
        (PODS, page(BEGIN_MS + 2, "Pod", versioned(pod("a")))),
        (WORKLOADS, tell.ListStarted(BEGIN_MS + 60_000, Why.START)),
        (WORKLOADS, page(BEGIN_MS + 60_001, "Workload", versioned(thing("w")))),
    )
    assert [type(h).__name__ for _, watch, h in told if watch == WORKLOADS] == ["NotServed", "ListStarted", "ListPage"]
    assert names(records_of(told)) == ["a", "w"]
    assert records_of(told)[0].observedms == BEGIN_MS + 2


def test_a_kind_that_never_came_has_no_file(tmp_path: Path) -> None:
    recorded(
        tmp_path / "r",
        (WORKLOADS, tell.NotServed(BEGIN_MS, "the server does not serve it")),
        (PODS, tell.ListStarted(BEGIN_MS, Why.START)),
    )
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["manifest.json", "pods.ndjson.gz"]
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    assert manifest == {"files": ["pods.ndjson.gz"], "cluster": "prod", "recorded": "2027-01-15T08:00:00.000Z"}


@pytest.mark.parametrize("why", [Why.EXPIRED, Why.AHEAD])
def test_a_gap_is_the_same_gap_in_the_replay(tmp_path: Path, why: Why) -> None:
    live = [
        (PODS, tell.ListStarted(BEGIN_MS, Why.START)),
        (PODS, page(BEGIN_MS + 2, "Pod", versioned(pod("a")))),
        (PODS, tell.WatchStarted(BEGIN_MS + 3, "9")),
        (PODS, change(BEGIN_MS + 4, "ADDED", versioned(pod("b"), "11"))),
        (PODS, tell.Expired(BEGIN_MS + 50, "11", BEGIN_MS + 4, why)),
        (PODS, tell.ListStarted(BEGIN_MS + 51, why)),
        (PODS, page(BEGIN_MS + 52, "Pod", versioned(pod("b"), "11"), version="20")),
    ]
    told = recorded(tmp_path / "r", *live)
    played = records_of(told)
    (gap,) = [record.data for record in played if isinstance(record, GapRecord)]
    assert (gap.from_ms, gap.to_ms, gap.from_version, gap.to_version) == (BEGIN_MS + 4, BEGIN_MS + 52, "11", "20")
    assert gap.why == ("too_large" if why is Why.AHEAD else "expired")
    assert [record.id for record in played] == [record.id for record in records_of([Played(0, *each) for each in live])]


def test_lines_that_could_not_be_read_are_counted_since_they_cannot_be_redacted(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "r", "prod", KINDS, frozenset())
    recorder.take(PODS, tell.BadLines(BEGIN_MS, [BadLine(b"{secret", "broken"), BadLine(b"", "broken")]))
    recorder.close()
    assert (recorder.skipped, recorder.lines) == (2, 0)


def test_a_folder_that_holds_something_or_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder, what in (
        (tmp_path, "not empty"),
        (tmp_path / "file", "not empty"),
        (tmp_path / "file" / "r", "cannot be made"),
    ):
        with pytest.raises(UserError, match=what) as refused:
            Recorder(folder, "prod", KINDS, frozenset())
        assert refused.value.fix


def test_nothing_recorded_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    Recorder(tmp_path / "new", "prod", KINDS, frozenset()).discard()
    assert not (tmp_path / "new").exists()
    (tmp_path / "own").mkdir()
    Recorder(tmp_path / "own", "prod", KINDS, frozenset()).discard()
    assert (tmp_path / "own").is_dir()
