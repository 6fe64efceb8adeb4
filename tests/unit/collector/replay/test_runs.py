"""`replay` and `record` as runs: they end, whatever they meet, and say why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from collector.replay import runs
from pipeline.cli import options
from pipeline.errors import Unreachable, UserError
from tests.support.cluster import free_port


def recording(folder: Path, *lines: dict[str, object]) -> Path:
    folder.mkdir()
    first = {"t": 1, "watch": "pods", "request": {"method": "GET", "target": "/api/v1/pods", "sent": 1, "status": 200}}
    text = "".join(json.dumps(line) + "\n" for line in (first, *lines))
    (folder / "pods.ndjson").write_text(text)
    return folder


def test_a_replay_that_meets_a_line_it_cannot_read_ends_and_names_it(tmp_path: Path) -> None:
    folder = recording(tmp_path / "r", {"t": 2, "watch": "pods", "list": {"kind": "PodList", "items": []}})
    with pytest.raises(UserError, match="the list has no resourceVersion") as failed:
        runs.replay(folder, "max", None, [f"data_dir={tmp_path / 'data'}"])
    assert failed.value.where == "pods.ndjson:2"
    assert failed.value.fix


def test_what_a_recording_holds_back_to_its_end_is_written_then(tmp_path: Path) -> None:
    folder = recording(
        tmp_path / "r",
        {"t": 2, "watch": "pods", "list": {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"},
         "items": [{"metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "3"}}]}},
    )  # fmt: skip
    cut = {"t": 1, "watch": "nodes", "request": {"method": "GET", "target": "/api/v1/nodes", "sent": 1, "status": 200}}
    (folder / "nodes.ndjson").write_text(json.dumps(cut) + "\n")  # its answer never came
    assert runs.replay(folder, "max", None, [f"data_dir={tmp_path / 'data'}"]) == 0
    written = b"".join(path.read_bytes() for path in (tmp_path / "data" / "spool" / "records").glob("*.ndjson"))
    assert b'"name":"a"' in written


def test_a_recorder_without_a_cluster_says_so_and_leaves_no_folder(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "t", "users": [{"name": "t", "user": {"token": "x"}}],
        "clusters": [{"name": "t", "cluster": {"server": f"http://127.0.0.1:{free_port()}"}}],
        "contexts": [{"name": "t", "context": {"cluster": "t", "user": "t"}}],
    }))  # fmt: skip
    loaded = options.settings(None, [f"collector.kubeconfig={kubeconfig}"])
    with pytest.raises(Unreachable, match="does not answer") as failed:
        runs.record(tmp_path / "r", None, loaded)
    assert failed.value.fix
    assert not (tmp_path / "r").exists()
