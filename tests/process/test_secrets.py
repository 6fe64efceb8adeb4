"""Values that policy forbids are nowhere: log, databases, tables, recordings, process logs, metrics."""

from __future__ import annotations

import gzip
import json
import urllib.request
from pathlib import Path
from typing import Any

from collector.kinds import conventions
from collector.kinds.catalog.kinds import KINDS
from collector.replay.recorder import Recorder
from collector.replay.recording import Recording
from tests.support.cluster import free_port, poll
from tests.support.running import Pipeline

PLANTED = {
    place: f"planted-{place}-7f3a91"
    for place in (
        "env", "init-env", "template-env", "task-env", "args", "command", "annotation", "template-annotation",
        "last-applied", "managed", "volume", "config-map", "probe", "lifecycle", "status-message-of-container",
    )
}  # fmt: skip
MAY_CARRY = "said-in-an-event-51c2"
"""A text that somebody wrote into an Event: kept, as the security page says."""


def meta(name: str, uid: str, version: str, **annotations: str) -> dict[str, Any]:
    return {
        "name": name, "namespace": "team-a", "uid": uid, "resourceVersion": version,
        "creationTimestamp": "2026-03-02T08:00:00Z",
        "annotations": {
            "example.com/token": PLANTED["annotation"],
            "kubectl.kubernetes.io/last-applied-configuration": PLANTED["last-applied"],
            **annotations,
        },
        "managedFields": [{"manager": PLANTED["managed"], "fieldsV1": {PLANTED["managed"]: {}}}],
    }  # fmt: skip


def container(place: str) -> dict[str, Any]:
    return {
        "name": "main",
        "image": "registry.invalid/train:1",
        "command": ["sh", "-c", PLANTED["command"]],
        "args": [f"--token={PLANTED['args']}"],
        "env": [
            {"name": "API_TOKEN", "value": PLANTED[place]},
            {"name": "FROM", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        ],
        "livenessProbe": {"httpGet": {"path": "/", "httpHeaders": [{"name": "A", "value": PLANTED["probe"]}]}},
        "lifecycle": {"preStop": {"exec": {"command": [PLANTED["lifecycle"]]}}},
    }


def pod_spec(place: str) -> dict[str, Any]:
    return {
        "containers": [container(place)],
        "initContainers": [container("init-env")],
        "volumes": [
            {"name": "a", "csi": {"driver": "x", "volumeAttributes": {"password": PLANTED["volume"]}}},
            {"name": "b", "configMap": {"name": PLANTED["config-map"]}},
        ],
    }


def objects() -> dict[str, tuple[str, dict[str, Any]]]:
    template = {"metadata": {"annotations": {"x/y": PLANTED["template-annotation"]}}, "spec": pod_spec("template-env")}
    owner = [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "j1", "controller": True}]
    status = {"phase": "Pending", "containerStatuses": [
        {"name": "main", "state": {"waiting": {"message": PLANTED["status-message-of-container"]}}}]}  # fmt: skip
    return {
        "pods": ("/api/v1/pods", {"kind": "Pod", "apiVersion": "v1", "metadata": {**meta("train-0", "p1", "5"), "ownerReferences": owner},
                 "spec": pod_spec("env"), "status": status}),
        "jobs": ("/apis/batch/v1/jobs", {"kind": "Job", "apiVersion": "batch/v1", "metadata": meta("train", "j1", "4"),
                 "spec": {"parallelism": 1, "completions": 1, "template": template}, "status": {}}),
        "vcjobs": ("/apis/batch.volcano.sh/v1alpha1/jobs", {"kind": "Job", "apiVersion": "batch.volcano.sh/v1alpha1",
                   "metadata": meta("vc", "v1", "3"), "spec": {"minAvailable": 1, "tasks": [
                       {"name": "w", "replicas": 1, "template": {**template, "spec": pod_spec("task-env")}}]}, "status": {}}),
        "events": ("/api/v1/events", {"kind": "Event", "apiVersion": "v1", "metadata": meta("train-0.1", "e1", "6"),
                   "involvedObject": {"kind": "Pod", "namespace": "team-a", "name": "train-0", "uid": "p1"},
                   "reason": "FailedMount", "message": f"cannot mount: {MAY_CARRY}", "type": "Warning", "count": 1,
                   "firstTimestamp": "2026-03-02T08:00:01Z", "lastTimestamp": "2026-03-02T08:00:01Z"}),
    }  # fmt: skip


def recording(folder: Path) -> Path:
    folder.mkdir()
    for name, (path, obj) in objects().items():
        lines: list[dict[str, Any]] = [
            {"t": 1772438402000, "watch": name, "request": {"method": "GET", "target": path, "sent": 1, "status": 200}},
            {"t": 1772438402001, "watch": name, "list": {"kind": f"{obj['kind']}List", "apiVersion": obj["apiVersion"],
             "metadata": {"resourceVersion": "9"}, "items": [obj]}},
            {"t": 1772438402002, "watch": name, "request": {"method": "GET", "target": f"{path}?watch=1&resourceVersion=9", "sent": 1, "status": 200}},
            {"t": 1772438412000, "watch": name, "frame": {"type": "MODIFIED", "object": {**obj, "metadata": {**obj["metadata"], "resourceVersion": "10"}}}},
        ]  # fmt: skip
        (folder / f"{name}.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def found_in(data: bytes) -> set[str]:
    return {place for place, value in PLANTED.items() if value.encode() in data}


def test_planted_secrets_are_in_no_file_table_log_or_metric(tmp_path: Path) -> None:
    admin = free_port()
    arguments = (
        "--replay",
        str(recording(tmp_path / "planted")),
        "--speed",
        "max",
        "--set",
        f"admin.port={admin}",
        "-v",
    )
    with Pipeline(tmp_path / "data", *arguments) as pipeline:
        poll("the job shows", lambda: (pipeline.try_get("jobs") or {}).get("items"))
        poll("the event shows", lambda: pipeline.sql("select * from event"))
        with urllib.request.urlopen(f"http://127.0.0.1:{admin}/metrics", timeout=60) as answer:
            metrics = answer.read()
        tables = [row["Tables_in_kube_collector"] for row in pipeline.sql("show tables")]
        rows = json.dumps([pipeline.sql(f"select * from `{table}`") for table in tables], default=str).encode()
        assert pipeline.stop() == 130
    assert b"train" in rows
    assert MAY_CARRY.encode() in rows
    assert found_in(rows) == set()
    assert found_in(metrics) == set()
    for path in [pipeline.log, *(tmp_path / "data").rglob("*")]:
        if path.is_file():
            assert found_in(path.read_bytes()) == set(), path.name


def test_recordings_are_redacted_like_the_log(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "copy", "prod", KINDS, conventions.KEPT)
    for _, watch, happening in Recording(recording(tmp_path / "planted")):
        recorder.take(watch, happening)
    recorder.close()
    written = b"".join(gzip.decompress(path.read_bytes()) for path in (tmp_path / "copy").glob("*.gz"))
    assert b"train-0" in written
    assert found_in(written) == set()


def test_a_recording_of_a_recording_plays_the_same(tmp_path: Path) -> None:
    source = Recording(recording(tmp_path / "planted"))
    recorder = Recorder(tmp_path / "copy", "prod", KINDS, conventions.KEPT)
    for _, watch, happening in source:
        recorder.take(watch, happening)
    recorder.close()
    told = [(t, watch, type(happening).__name__) for t, watch, happening in source]
    copied = [(t, watch, type(happening).__name__) for t, watch, happening in Recording(tmp_path / "copy")]
    assert sorted(copied) == sorted(told)
