"""`kube-collector spool`: what a person sees of a spool, whole and damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collector.kinds.known import KnownChanges, KnownObject
from collector.spool import picking
from collector.spool.checkpoint import Watch
from collector.spool.command import app
from collector.spool.spool import Spool
from pipeline.cli import invoke
from pipeline.config.places import Places
from pipeline.errors import BadUsage, CheckFailed, NotFound, UserError
from pipeline.log import LogOptions, LogReader, layout
from pipeline.records.decisions import Decision
from pipeline.records.envelope import DecisionRecord, EventRecord, FiguresRecord, GapRecord, ObjectRecord, Record
from pipeline.records.events import EventSeen, Regarding
from pipeline.records.figures import Figures, NodeFigures
from pipeline.records.gaps import Gap
from pipeline.records.jobs import JobRef
from pipeline.records.objects import ObjectChange

TRAIN = JobRef("Job", "team", "train", "j1", "batch")
START_MS = 1_790_000_000_000


def envelope(second: int) -> dict[str, Any]:
    ms = START_MS + second * 1000
    return {"id": f"c1/{second}", "source": "kube", "cluster": "c1", "partitionkey": "1", "observedms": ms}


RECORDS: list[Record] = [
    ObjectRecord(**envelope(0), data=ObjectChange(change="added", kind="Node", name="n1", uid="n1", version="1")),
    ObjectRecord(
        **envelope(10),
        data=ObjectChange(
            change="added", kind="Pod", namespace="team", name="train-0", uid="p1", version="2", job=TRAIN
        ),
    ),
    EventRecord(
        **envelope(20),
        data=EventSeen(
            uid="e1",
            version="3",
            name="e",
            at_us=1,
            regarding=Regarding("Pod", "train-0", "team"),
            job=TRAIN,
            reason="FailedScheduling",
            message="0/1 nodes are available",
        ),
    ),
    DecisionRecord(
        **envelope(30),
        data=Decision(source="shadow", policy="p", session_ms=1, kind="attribution", job=TRAIN, reason="quota"),
    ),
    FiguresRecord(**envelope(35), data=Figures(minute_ms=START_MS, nodes=(NodeFigures("n1"),))),
    GapRecord(**envelope(40), data=Gap(kind="Pod", to_ms=2, why="expired", changed=3)),
]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places(tmp_path)
    with Spool(places, options=LogOptions(cluster="c1", min_free_bytes=0)) as spool:
        spool.checkpoint.claim("uid-a")
        spool.write(RECORDS)
        spool.tick(START_MS + 41_000)
        spool.commit(KnownChanges([KnownObject("pods", "p1", "2")], []), [Watch("pods", "2", 1)])
    with LogReader(places.records, "doris") as reader:
        reader.ack(reader.read(max_records=2).end)
    return places


def run(places: Places, *arguments: str) -> int:
    return invoke.invoke("spool", app, [arguments[0], "--data-dir", str(places.data_dir), *arguments[1:]])


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("filters", "seconds"),
    [
        ([], [0, 10, 20, 30, 35, 40, 41]),
        (["--type", "event"], [20]),
        (["--type", "object", "--type", "gap"], [0, 10, 40]),
        (["--type", "figures"], [35]),
        (["--kind", "pod"], [10, 20, 40]),
        (["--job", "team/train"], [10, 20, 30]),
        (["--from", "2026-09-21T14:13:30Z", "--to", "2026-09-21T14:13:50Z"], [10, 20]),
        (["--limit", "2"], [0, 10]),
        (["--job", "team/train", "--type", "decision"], [30]),
    ],
)
def test_cat_prints_the_lines_that_are_wanted(
    places: Places, capsys: pytest.CaptureFixture[str], filters: list[str], seconds: list[int]
) -> None:
    assert run(places, "cat", *filters) == 0
    found = [json.loads(text) for text in printed(capsys)]
    assert [(record["observedms"] - START_MS) // 1000 for record in found] == seconds


def test_cat_as_a_table_says_what_each_record_is_about(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    run(places, "cat", "-o", "table", "--utc")
    heading, *rows = printed(capsys)
    assert heading.split() == ["OBSERVED", "TYPE", "KIND", "NAME", "JOB", "WHAT"]
    assert rows[2].split()[:6] == ["2026-09-21", "14:13:40Z", "event", "Pod", "team/train-0", "Job/team/train"]
    assert rows[2].endswith("FailedScheduling: 0/1 nodes are available")
    assert [row.split()[2] for row in rows] == ["object", "object", "event", "decision", "figures", "gap", "tick"]
    assert rows[4].endswith("0 queues, 1 nodes")


def test_the_help_of_cat_names_every_type_of_record() -> None:
    cat = invoke.prepare("spool", app).commands["cat"]
    (said,) = [param.help for param in cat.params if param.name == "types"]
    assert [name for name in picking.TYPES if name not in said] == []


@pytest.mark.parametrize("arguments", [["--type", "pod"], ["--job", "train"], ["-o", "csv"], ["--from", "soon"]])
def test_cat_refuses_what_it_does_not_understand(places: Places, arguments: list[str]) -> None:
    with pytest.raises(BadUsage):
        run(places, "cat", *arguments)


def test_info_shows_readers_watches_and_known_objects(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    run(places, "info", "-o", "json")
    found = json.loads(capsys.readouterr().out)
    assert found["running"] is False
    assert found["records"]["first_ms"] == START_MS
    assert found["records"]["last_ms"] == START_MS + 41_000
    (reader,) = found["records"]["readers"]
    size = layout.size_of(layout.data_path(places.records, 1))
    assert (reader["name"], reader["behind_bytes"]) == ("doris", size - reader["position"]["offset"])
    assert found["clusters"] == [
        {"name": "c1", "uid": "uid-a", "watches": {"pods": "2"}, "known": {"pods": 1}, "gaps": []}
    ]
    run(places, "info", "--utc")
    text = capsys.readouterr().out
    assert "2026-09-21 14:13:20Z to 2026-09-21 14:14:01Z" in text
    assert "1 watch; 1 pods" in text and "1 segment\n" in text and "last record" in text


def test_info_of_a_replay_counts_no_time_from_the_clock(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = Places(tmp_path)
    with Spool(places, options=LogOptions(cluster="demo@replay", min_free_bytes=0)) as spool:
        spool.checkpoint.claim("uid-a")
        spool.write(RECORDS)
        spool.commit(KnownChanges([], []), [Watch("replay", "2", 1)])
    with LogReader(places.records, "scheduler") as reader:
        reader.ack(reader.read(max_records=2).end)
    run(places, "info")
    text = capsys.readouterr().out
    assert "plays a recording" in text and "last record" not in text
    assert "since its last snapshot" in text and "behind" not in text


def test_info_and_check_work_while_a_collector_runs(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    with Spool(places, options=LogOptions(cluster="c1", min_free_bytes=0)):
        with layout.data_path(places.records, 1).open("ab") as file:
            file.write(b"a write that is not finished")
        run(places, "info", "-o", "json")
        assert json.loads(capsys.readouterr().out)["running"] is True
        assert run(places, "check") == 0
        with pytest.raises(UserError, match="in use by process"):
            run(places, "repair")


def test_check_fails_on_damage_and_repair_keeps_the_bytes(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(places, "check") == 0
    path = layout.data_path(places.records, 1)
    data = bytearray(path.read_bytes())
    data[data.index(b"FailedScheduling")] ^= 1
    path.write_bytes(data)
    layout.index_path(places.dead_letters, 1).unlink()
    capsys.readouterr()
    with pytest.raises(CheckFailed, match="damaged"):
        run(places, "check", "-o", "json")
    records, _ = json.loads(capsys.readouterr().out)
    (part,) = records["segments"][0]["damage"]
    assert b"GailedScheduling" in data[part["begin"] : part["end"]]
    run(places, "repair")
    (copy,) = (places.records / layout.QUARANTINE).iterdir()
    assert copy.read_bytes() == data[part["begin"] : part["end"]]
    capsys.readouterr()
    run(places, "cat")
    assert len(printed(capsys)) == len(RECORDS)


def test_a_reader_that_will_not_come_back_can_be_forgotten(places: Places) -> None:
    with pytest.raises(NotFound, match="no reader 'nobody'"):
        run(places, "forget", "nobody", "--yes")
    assert run(places, "forget", "doris", "--yes") == 0
    with pytest.raises(NotFound):
        run(places, "forget", "doris", "--yes")


def test_a_folder_without_a_spool_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no spool"):
        run(Places(tmp_path / "nowhere"), "info")
