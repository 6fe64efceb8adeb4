"""The shadow scheduler in a whole pipeline: decisions in the log and in the warehouse, across a kill, and of the past."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from pipeline.config.places import Places
from pipeline.log import LogReader
from pipeline.log.positions import BEGINNING
from pipeline.records import codec, times
from pipeline.records.decisions import Decision
from pipeline.records.envelope import DecisionRecord
from tests.support import straight
from tests.support.cluster import poll
from tests.support.running import Pipeline

RECORDINGS = Path(__file__).parents[1] / "recordings"


def decisions(data: Path) -> list[DecisionRecord]:
    """Decision records in the log, in its order."""
    found = []
    with LogReader(Places(data).records, "test", start=BEGINNING) as reader:
        while (batch := reader.read()).entries:
            for entry in batch.entries:
                record = codec.decode(entry.line)
                if isinstance(record, DecisionRecord):
                    found.append(record)
    return found


def closes(data: Path) -> list[int]:
    return [each.data.session_ms for each in decisions(data) if each.data.kind == "close"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pipeline.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=straight.LIMIT_S, check=False)


def test_a_replay_explains_its_waiting_jobs_by_decisions(tmp_path: Path) -> None:
    recording = str(RECORDINGS / "kube-a")
    with Pipeline(tmp_path / "data", "--replay", recording, "--speed", "20x") as up:
        loaded = "select kind, reason, failure_sets from decision where reason = 'fragmentation'"
        poll("decisions are loaded", lambda: up.sql(loaded), straight.LIMIT_S)
        assert all(json.loads(row["failure_sets"]) for row in up.sql(loaded))
        decided = "select reason, nodes, total_nodes from wait_segment where evidence = 'decision'"
        poll("a wait is judged by them", lambda: up.sql(decided), straight.LIMIT_S)
        assert up.sql("select count(*) as n from dead_letter")[0]["n"] == 0
    assert len(set(closes(up.data))) == len(closes(up.data)) > 1


def test_figures_of_queues_and_nodes_are_loaded_and_shown_by_the_hour(tmp_path: Path) -> None:
    recording = RECORDINGS / "volcano-a"
    with Pipeline(tmp_path / "data", "--replay", str(recording), "--speed", "max") as up:
        end_ms = straight.end_ms(recording)
        straight.await_end(up, end_ms)
        nodes = up.sql("select node, count(*) as n from node_minute group by node")
        assert len(nodes) > 2 and sum(row["n"] for row in nodes) > len(nodes), (
            "some have changed since they were told first"
        )
        (gpus,) = up.sql("select sum(gpus) as gpus, min(gpus - gpus_free) as held from v_gpu_fragmentation_hour")
        assert gpus["gpus"] > 0 and gpus["held"] > 0
        quota = up.sql("select queue, used, requested from v_queue_quota_hour where resource = 'cpu'")
        assert any(0 < row["used"] <= row["requested"] for row in quota)


def test_a_recording_gives_the_same_log_at_any_speed(tmp_path: Path) -> None:
    recording = RECORDINGS / "volcano-a"
    logs = []
    for speed in ("max", "40x"):
        with Pipeline(tmp_path / speed, "--replay", str(recording), "--speed", speed) as up:
            end_ms = straight.end_ms(recording)
            straight.await_end(up, end_ms)
        logs.append([path.read_bytes() for path in sorted(Places(up.data).records.glob("*.ndjson"))])
        assert len(closes(up.data)) > 50
    assert logs[0] == logs[1]


def test_a_killed_pipeline_opens_no_session_again(tmp_path: Path) -> None:
    recording = str(RECORDINGS / "volcano-a")
    up = Pipeline(tmp_path / "data", "--replay", recording, "--speed", "5x")  # so that more comes after the kill
    with up:
        poll("sessions were closed", lambda: len(closes(up.data)) > 3, straight.LIMIT_S)
        up.kill()
        before = closes(up.data)
        up.start()
        poll("it goes on", lambda: max(closes(up.data)) > max(before) + 5000, straight.LIMIT_S)
    found = closes(up.data)
    assert found == sorted(set(found))
    written: dict[str, DecisionRecord] = {}
    for each in decisions(up.data):
        assert written.setdefault(each.id, each).data == each.data, "what was not closed is decided again as before"


def test_a_log_is_scheduled_by_a_command_and_asked_about_its_past(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert run("replay", str(RECORDINGS / "volcano-a"), "--set", f"data_dir={data}").returncode == 0
    policy = tmp_path / "volcano-scheduler.conf"
    truth = json.loads((RECORDINGS / "volcano-a" / "ground_truth.json").read_text(encoding="utf-8"))
    policy.write_text(truth["policy"], encoding="utf-8")

    done = run("schedule", "--shadow", "--once", "--policy", str(policy), "--set", f"data_dir={data}")
    assert done.returncode == 0, done.stderr
    found = decisions(data)
    assert {each.data.policy for each in found} == {"volcano-scheduler.conf"}
    assert {each.cluster for each in found} == {"volcano-a@replay"}
    assert any(each.data.reason == "fragmentation" for each in found)
    again = run("schedule", "--shadow", "--once", "--policy", str(policy), "--set", f"data_dir={data}")
    assert again.returncode == 0 and len(decisions(data)) == len(found)

    sure = next(each.data for each in found if each.data.reason == "fragmentation" and each.data.task is None)
    asked = _past(data, policy, sure.session_ms)
    told = [each for each in asked if each["job"]["uid"] == sure.job.uid and "task" not in each]
    assert [(each["reason"], each["resource"]) for each in told] == [(sure.reason, sure.resource)]
    _ask_about_one(data, policy, sure)


def _ask_about_one(data: Path, policy: Path, sure: Decision) -> None:
    """A slip in the job's name is an error with the nearest; a moment that has not come says as of when it is answered."""
    name = f"{sure.job.namespace}/{sure.job.name}" if sure.job else ""
    at = ("--policy", str(policy), "--set", f"data_dir={data}", "--at", times.format_us((sure.session_ms - 1) * 1000))
    assert run("schedule", *at, "--job", name).returncode == 0
    slip = run("schedule", *at, "--job", f"{name}x")
    assert slip.returncode == 4 and f"Did you mean {name}?" in slip.stderr and slip.stdout == ""
    ahead = run("schedule", *at[:-1], "2100-01-01T00:00:00Z")
    assert ahead.returncode == 0 and "That moment has not come" in ahead.stderr


def _past(data: Path, policy: Path, at_ms: int) -> list[dict[str, Any]]:
    at = times.format_us((at_ms - 1) * 1000)
    done = run("schedule", "--at", at, "--policy", str(policy), "-o", "json", "--set", f"data_dir={data}")
    assert done.returncode == 0, done.stderr
    return [each for each in json.loads(done.stdout) if "job" in each]


def test_beside_a_running_pipeline_the_log_has_its_writer_already(tmp_path: Path) -> None:
    with Pipeline(tmp_path / "data", "--replay", str(RECORDINGS / "volcano-a"), "--speed", "20x") as up:
        poll("something is in the log", lambda: closes(up.data), straight.LIMIT_S)
        done = run("schedule", "--shadow", "--once", "--set", f"data_dir={up.data}")
        assert done.returncode == 1
        assert f"the log is in use by process {up.process.pid}" in done.stderr
        past = run("schedule", "--at", "now", "--set", f"data_dir={up.data}")
        assert past.returncode == 0, past.stderr


def test_without_the_shadow_no_decision_is_written_and_nothing_is_held_back(tmp_path: Path) -> None:
    off = ("--set", "scheduler.enabled=false")
    with Pipeline(tmp_path / "data", "--replay", str(RECORDINGS / "volcano-a"), "--speed", "30x", *off) as up:
        poll(
            "waits are judged",
            lambda: up.sql("select job_name from wait_segment where reason = 'quota'"),
            straight.LIMIT_S,
        )
    assert decisions(up.data) == []
    assert not (Places(up.data).records / "readers" / "scheduler.json").exists()


def test_how_to_schedule_must_be_said(tmp_path: Path) -> None:
    done = run("schedule", "--set", f"data_dir={tmp_path}")
    assert done.returncode == 2
    assert "--shadow" in done.stderr and "--at TIME" in done.stderr
    nothing = run("schedule", "--at", "now", "--set", f"data_dir={tmp_path}")
    assert nothing.returncode == 4
    assert "there is no log of records" in nothing.stderr
