"""`collect` and its neighbours as a person runs them: how they end, and what they say when they cannot go on."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from collector import app
from collector.spool.spool import Spool
from pipeline import clock
from pipeline.cli import options
from pipeline.config.places import Places
from pipeline.log import LogOptions, LogReader, Position
from pipeline.process import deaths
from pipeline.process.supervisor import Supervisor
from pipeline.records import codec
from pipeline.records.envelope import ObjectRecord
from tests.support import disks
from tests.support.cluster import free_port, poll
from tests.support.collecting import Collecting
from tests.support.commands import failed
from tests.support.scripted_api import Exchange, ScriptedApi, Then, chunks, page, serve, status
from tests.support.scripted_transport import frame, pod

ROOT = Path(__file__).parents[2]


class Process:
    """A command of the project in a process of its own; `said` is what it wrote to stderr."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.log = home / "said"
        command = [sys.executable, "-m", "pipeline.cli.main", *arguments]
        environment = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"} | {"HOME": str(home)}
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def said(self) -> str:
        return self.log.read_text()

    def end(self, number: signal.Signals | None = None, limit_s: float = 60.0) -> int:
        """Its exit code, after a signal if one is given; 1 if what was to end in order took too long."""
        if number is not None:
            self._process.send_signal(number)
        return self._process.wait(limit_s)

    def over(self) -> bool:
        return self._process.poll() is not None

    def kill(self) -> None:
        if not self.over():
            self._process.kill()
        self._process.wait()


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Starts a command; those that still run are killed in the end."""
    running: list[Process] = []

    def start(*arguments: str) -> Process:
        home = tmp_path / f"home-{len(running)}"
        home.mkdir()
        running.append(Process(home, *arguments))
        return running[-1]

    yield start
    for each in running:
        each.kill()


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with ScriptedApi() as server:
        serve(server, "uid-of-the-cluster", "nodes", "pods")
        yield server


def kubeconfig(folder: Path, api: ScriptedApi | str, **user: Any) -> str:
    content = ScriptedApi.kubeconfig(api, user or None) if isinstance(api, ScriptedApi) else None
    if content is None:
        content = {
            "apiVersion": "v1", "kind": "Config", "current-context": "t",
            "clusters": [{"name": "t", "cluster": {"server": api}}], "users": [{"name": "t", "user": user or {"token": "x"}}],
            "contexts": [{"name": "t", "context": {"cluster": "t", "user": "t"}}],
        }  # fmt: skip
    path = folder / f"{free_port()}.kubeconfig"
    path.write_text(json.dumps(content))
    return str(path)


def objects(data: Path) -> list[str]:
    """Names of the objects in the log, one for each record."""
    found = []
    with LogReader(Places(data).records, "test", start=Position(0, 0)) as reader:
        while entries := reader.read().entries:
            records = [codec.decode(entry.line) for entry in entries]
            found += [record.data.name for record in records if isinstance(record, ObjectRecord)]
    return found


# How it ends


def test_a_server_that_never_answers_does_not_keep_it_from_ending(
    run: Callable[..., Process], api: ScriptedApi, tmp_path: Path
) -> None:
    api.lists.will(Exchange.wait_until_left)
    process = run("collect", "--kubeconfig", kubeconfig(tmp_path, api), "--set", f"data_dir={tmp_path / 'data'}")
    poll("its lists hang", lambda: len(api.lists.requests) == 2)
    assert process.end(signal.SIGTERM) == 0


PODS_ALONE = ["namespaces", "nodes"]
"""Disabled, so that only pods are listed: which of two kinds asks first is chance."""


def test_an_end_in_the_middle_of_a_big_list_costs_nothing_and_brings_nothing_twice(
    api: ScriptedApi, tmp_path: Path
) -> None:
    pods = [pod(f"p{n}", str(n)) for n in range(1200)]
    parts = [page("5000", *pods[n : n + 200], token="more") for n in range(0, 1000, 200)]
    api.lists.will(*parts, Exchange.wait_until_left)
    path = Path(kubeconfig(tmp_path, api))
    with Collecting(path, tmp_path / "data", disabled_kinds=PODS_ALONE) as collecting:
        poll("it is in the middle", lambda: len(api.lists.requests) == 6)
        collecting.stop()
        assert sorted(names(collecting)) == sorted(f"p{n}" for n in range(1000)), "what had come is written"
        api.lists.will(page("5001", *pods))
        collecting.restart()
        poll("the rest came", lambda: len(names(collecting)) == len(pods))
        assert sorted(names(collecting)) == sorted(f"p{n}" for n in range(1200))


def test_a_checkpoint_that_is_lost_costs_neither_the_end_of_an_object_nor_a_record_twice(
    api: ScriptedApi, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    api.lists.will(page("9", pod("stays", "3"), pod("goes", "4")))
    with Collecting(Path(kubeconfig(tmp_path, api)), tmp_path / "data", disabled_kinds=PODS_ALONE) as collecting:
        poll("it is ready", collecting.ready)
        collecting.stop()
        for path in collecting.places.spool.glob("collector.db*"):
            path.unlink()
        api.lists.will(page("20", pod("stays", "3")))
        collecting.restart()
        poll(
            "its end is told",
            lambda: [each.change for each in collecting.changes("Pod", "goes")] == ["added", "deleted"],
        )
        assert [each.change for each in collecting.changes("Pod", "stays")] == ["added"]
    assert "checkpoint_lost" in caplog.text


def test_a_clock_that_was_set_back_is_told_and_log_time_waits_for_it(
    api: ScriptedApi, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Collecting(Path(kubeconfig(tmp_path, api)), tmp_path / "data", disabled_kinds=PODS_ALONE) as collecting:
        poll("it is ready, and time passes", lambda: collecting.ready() and collecting.ticks())
        collecting.stop()
        last_ms, true_ms = collecting.ticks()[-1], clock.now_ms
        monkeypatch.setattr(clock, "now_ms", lambda: true_ms() - 3_600_000)
        api.lists.will(page("12", pod("later", "12")))
        collecting.restart()
        poll("it says so", lambda: collecting.check("clock") is not None and not collecting.check("clock").ok)
        assert "whose time stands still" in collecting.check("clock").detail
        poll("records come all the same", lambda: collecting.saw("Pod", "later"))
        assert collecting.ticks()[-1] == last_ms
        monkeypatch.setattr(clock, "now_ms", true_ms)
        poll("it is well again", lambda: collecting.check("clock").ok)
        poll("time goes on", lambda: collecting.ticks()[-1] > last_ms)
    assert caplog.text.count("clock_behind_log") == 1


def names(collecting: Collecting) -> list[str]:
    return [change.name for change in collecting.changes("Pod")]


def test_a_reload_leaves_the_watches_as_they_are(api: ScriptedApi, tmp_path: Path) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text("collector:\n  page_limit: 100\n")
    sets = [f"data_dir={tmp_path / 'data'}", "collector.spool.min_free_bytes=0"]
    loaded = options.settings([settings], sets, {"collector.kubeconfig": kubeconfig(tmp_path, api)})
    collector = app.stage(loaded)
    supervisor = Supervisor([collector], loaded)
    thread = threading.Thread(target=supervisor.run)
    thread.start()
    try:
        poll("it is ready", lambda: all(check.ok for check in supervisor.checks()))
        poll("it watches", lambda: len(api.watches.requests) == 2)
        settings.write_text("collector:\n  page_limit: 200\n")
        for _ in range(10):
            assert supervisor.reload() == {"taken": [], "waiting_for_restart": ["collector.page_limit"]}
        assert len(api.watches.requests) == 2
    finally:
        supervisor.finish()
        thread.join(60.0)


# What it says


def test_no_cluster_is_no_end_and_is_told_with_its_address(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    with Collecting(Path(kubeconfig(tmp_path, address)), tmp_path / "data") as collecting:
        poll("it says so", lambda: "refused" in collecting.check("cluster").detail)
        poll("time goes on", lambda: len(collecting.ticks()) >= 2)
        assert [check.name for check in collecting.collector.checks() if not check.ok] == ["cluster"]
        assert collecting.check("collector").ok, "a restart would not help"
    (told,) = [record.msg for record in caplog.records if "cluster_unreachable" in str(record.msg)]
    assert (told["host"], told["again_in_s"]) == (address, 0.2), "once, however often it is tried"


@pytest.mark.parametrize("command", ["collect", "record"])
def test_a_kubeconfig_that_cannot_be_used_is_named(tmp_path: Path, command: str) -> None:
    more = [str(tmp_path / "recording")] if command == "record" else ["--set", f"data_dir={tmp_path / 'data'}"]
    missing = tmp_path / "missing.kubeconfig"
    code, lines = failed(command, *more, "--kubeconfig", str(missing))
    assert code == 1
    assert lines[0] == f"Error: {missing}: there is no such file"
    assert lines[1].startswith("  Name one with --kubeconfig")
    broken = tmp_path / "broken.kubeconfig"
    broken.write_text("contexts: [")
    code, lines = failed(command, *more, "--kubeconfig", str(broken))
    assert (code, lines[0].startswith(f"Error: {broken}: the kubeconfig cannot be used: ")) == (1, True)
    assert len(lines) == 2


def test_a_second_collector_on_the_same_data_is_refused(api: ScriptedApi, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Spool(Places(data), options=LogOptions(cluster="default", min_free_bytes=0)):
        code, lines = failed("collect", "--kubeconfig", kubeconfig(tmp_path, api), "--set", f"data_dir={data}")
    assert code == 1
    assert lines == [
        f"Error: {data / 'spool'}: the spool is in use by process {os.getpid()}",
        "  Stop that process, or give this one a folder of its own.",
    ]


def test_a_name_that_belongs_to_another_cluster_is_refused(api: ScriptedApi, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Spool(Places(data), options=LogOptions(cluster="prod", min_free_bytes=0)) as spool:
        spool.checkpoint.claim("uid-of-another")
    api.lists.will(page("7", pod("of-this-one", "5")))
    code, lines = failed("collect", "--kubeconfig", kubeconfig(tmp_path, api), "--set", f"data_dir={data}",
                         "--set", "cluster.name=prod", "--set", "collector.spool.min_free_bytes=0")  # fmt: skip
    assert code == 1
    assert lines == [
        f"Error: {data / 'spool' / 'collector.db'}: the name 'prod' belongs to another cluster "
        "(kube-system uid-of-another, this one has uid-of-the-cluster)",
        "  Give this cluster a name of its own, or a spool of its own if the other one is gone.",
    ]
    assert objects(data) == []


def test_a_kubeconfig_that_is_rewritten_for_another_cluster_ends_the_collector(
    api: ScriptedApi, tmp_path: Path
) -> None:
    path = Path(kubeconfig(tmp_path, api))
    died: list[BaseException] = []
    with ScriptedApi() as other, deaths.watched(lambda _, error: died.append(error)):
        serve(other, "uid-of-another", "nodes", "pods")
        other.lists.will(page("7", pod("of-another", "5")))
        with Collecting(path, tmp_path / "data") as collecting:
            poll("it watches", collecting.streaming)
            refused = status(401, "Unauthorized", "Unauthorized")
            api.watches.will(refused)
            api.probes.will(refused)
            path.write_text(json.dumps(other.kubeconfig()))
            api.drop_connections()
            poll("it ends", lambda: died)
    assert "belongs to another cluster" in str(died[0])


def test_a_port_that_is_taken_is_named_with_the_setting(tmp_path: Path) -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        code, lines = failed("collect", "--kubeconfig", kubeconfig(tmp_path, "http://127.0.0.1:9"),
                             "--set", f"data_dir={tmp_path / 'data'}", "--set", f"admin.port={port}")  # fmt: skip
    assert code == 1
    assert lines[0] == f"Error: port {port} on 127.0.0.1 is taken by another program"
    assert "--set admin.port=PORT" in lines[1]


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    code, lines = failed("collect", "--kubeconfig", kubeconfig(tmp_path, "http://127.0.0.1:9"),
                         "--set", f"data_dir={tmp_path / 'file'}")  # fmt: skip
    assert code == 1
    assert lines == [
        f"Error: {tmp_path / 'file'}: the data folder cannot be used: a file is in its place",
        "  Name a folder that this user may write, with --set data_dir=PATH; `up` and `demo` take --data-dir PATH too.",
    ]


def test_a_full_disk_is_told_stops_the_reading_and_ends_nothing(api: ScriptedApi, tmp_path: Path) -> None:
    died: list[BaseException] = []
    serve(api, "uid-of-the-cluster", "pods")
    with (
        disks.small(tmp_path / "disk", "8m") as small,
        deaths.watched(lambda _, error: died.append(error)),
        Collecting(Path(kubeconfig(tmp_path, api)), small / "data") as collecting,
    ):
        poll("it watches", collecting.streaming)
        filler = disks.fill(small)
        api.watches.will(chunks(frame("ADDED", pod("while-full", "12")), then=Then.SILENCE))
        api.drop_connections()
        poll("it says so", lambda: not collecting.check("spool").ok)
        # Of the log or of the checkpoint: which of the two is written next is chance.
        assert "no space for the " in collecting.check("spool").detail
        assert "goes on when there is space again" in collecting.check("spool").detail
        collecting.stop()
        assert died == []
        filler.unlink()
        collecting.restart()
        poll("nothing is missing", lambda: collecting.saw("Pod", "while-full"))
        poll("all is well", collecting.ready)


@pytest.mark.parametrize("command", [["replay"], ["up", "--replay"]], ids=["replay", "up"])
def test_a_wrong_recording_is_named_with_the_line(tmp_path: Path, command: list[str]) -> None:
    own = ["--set", f"data_dir={tmp_path / 'data'}", "--set", "dashboards.port=0"]
    code, lines = failed(*command, str(tmp_path / "nowhere"), *own)
    assert code == 1
    assert lines[0] == f"Error: {tmp_path / 'nowhere'}: there is no such recording"
    assert lines[1] == "  Name a folder of NAME.ndjson.gz files."
    folder = tmp_path / "recording"
    folder.mkdir()
    code, lines = failed(*command, str(folder), *own)
    assert (code, lines[0]) == (1, f"Error: {folder}: no recorded watch is in this folder")
    (folder / "pods.ndjson").write_text('{"t":1,"watch":"pods","request":{"target":"/api/v1/pods"}}\n{"t":2,"li\n')
    code, lines = failed(*command, str(folder), *own)
    assert (code, lines[0].startswith("Error: pods.ndjson:2: the recording cannot be read: ")) == (1, True)
    assert lines[1] == "  Record it again, or remove the line."


def test_a_recorder_that_was_killed_leaves_a_recording_that_is_played_up_to_the_cut(
    run: Callable[..., Process], api: ScriptedApi, tmp_path: Path
) -> None:
    names = [f"p{n}" for n in range(5)]
    api.lists.will(page("9", *[pod(name, str(n)) for n, name in enumerate(names, 1)]))
    alone = ("--set", f"collector.disabled_kinds={json.dumps(PODS_ALONE)}")
    folder, data = tmp_path / "recording", tmp_path / "data"
    recorder = run("record", str(folder), "--kubeconfig", kubeconfig(tmp_path, api), *alone)
    poll("the pods are on disk", lambda: b'"p4"' in on_disk(folder / "pods.ndjson.gz"))
    recorder.kill()
    replay = run("replay", str(folder), "--set", f"data_dir={data}", "--set", "collector.spool.min_free_bytes=0")
    assert replay.end() == 0, replay.said
    assert objects(data) == names
    assert "recording_cut" in replay.said and "pods.ndjson.gz" in replay.said and "was killed" in replay.said


def on_disk(archive: Path) -> bytes:
    """What can be had of an archive that is still written."""
    return zlib.decompressobj(wbits=31).decompress(archive.read_bytes()) if archive.exists() else b""


def test_a_recorder_that_nobody_lets_in_leaves_no_folder(api: ScriptedApi, tmp_path: Path) -> None:
    refused = status(401, "Unauthorized", "Unauthorized")
    for path in list(api.others):
        api.other(path, refused)
    folder = tmp_path / "recording"
    code, lines = failed("record", str(folder), "--kubeconfig", kubeconfig(tmp_path, api), "--for", "5s")
    assert code == 6
    assert lines[0] == f"Error: {api.url}: the cluster does not answer: 401 Unauthorized: Unauthorized"
    assert "doctor cluster" in lines[1]
    assert not folder.exists()
