"""What a new user does first: the demo starts, answers, ends, and starts again."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.cli import up
from tests.support.cluster import free_port, poll
from tests.support.running import Pipeline


class Demo(Pipeline):
    """`kube-collector demo` in a process group of its own, as a terminal has it."""

    command = "demo"


def run(*arguments: str, limit_s: float = 300) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pipeline.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)


def children_of(pid: int) -> set[int]:
    """Processes below a process."""
    found, edge = set(), {pid}
    while edge:
        nearer = {
            int(entry.name)
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and _parent(int(entry.name)) in edge and int(entry.name) not in found
        }
        found |= nearer
        edge = nearer
    return found


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1


def test_the_demo_answers_soon_ends_with_ctrl_c_and_starts_again(tmp_path: Path) -> None:
    for _ in range(2):
        with Demo(tmp_path / "demo") as demo:
            poll("the demo shows jobs", lambda: (demo.try_get("jobs") or {}).get("items"))
            poll("a job of the recording waits or waited", lambda: (demo.try_get("overview") or {}).get("longest"))
            assert demo.get("jobs")["replay"]
            below = children_of(demo.process.pid)
            assert below
            assert demo.stop(signal.SIGINT) == 130
            gone = lambda: all(_parent(pid) == -1 for pid in below)  # noqa: E731
            poll("nothing is left", gone)


def test_a_taken_port_is_one_clear_error_and_nothing_is_left_behind(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("demo", "--port", str(port), "--data-dir", str(tmp_path / "demo"))
    assert done.returncode == 1
    assert f"port {port} on 127.0.0.1 is taken" in done.stderr
    assert "--port PORT" in done.stderr and "KUBE_COLLECTOR__DASHBOARDS__PORT=PORT" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "demo").exists(), "the port is looked at before anything is made or emptied"


def test_a_second_demo_leaves_the_data_of_the_first_alone(tmp_path: Path) -> None:
    with Demo(tmp_path / "demo") as demo:
        done = run("demo", "--port", str(free_port()), "--data-dir", str(tmp_path / "demo"))
        assert done.returncode == 1
        assert f"in use by process {demo.process.pid}" in done.stderr and "--data-dir PATH" in done.stderr
        poll("the first goes on", lambda: (demo.try_get("jobs") or {}).get("items"))
        assert demo.stop(signal.SIGTERM) == 0


def test_a_start_tells_where_the_page_the_sql_port_and_the_data_are(tmp_path: Path) -> None:
    with Demo(tmp_path / "demo") as demo:
        poll("it says where", lambda: "Ctrl-C ends everything." in demo.log.read_text())
        told = demo.log.read_text()
        assert f"Page  http://127.0.0.1:{demo.port}\n" in told
        assert f"SQL   mariadb -h 127.0.0.1 -P {demo.sql_port} -u root kube_collector\n" in told
        assert f"Data  {demo.data}\n" in told


def test_a_folder_that_is_not_the_demos_is_never_emptied(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("keep me")
    done = run("demo", "--port", str(free_port()), "--data-dir", str(tmp_path))
    assert done.returncode == 1
    assert "holds something else" in done.stderr
    assert (tmp_path / "precious.txt").read_text() == "keep me"


def test_the_folder_that_the_command_line_names_is_the_demos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the usual one, nor that of a settings file or a variable: those are of a real cluster."""
    ran: list[Path] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBE_COLLECTOR__DATA_DIR", str(tmp_path / "real"))
    monkeypatch.setattr(up, "_require_port", lambda loaded: None)
    monkeypatch.setattr(up, "_run", lambda loaded: ran.append(loaded.ground.data_dir) or 0)
    up.demo(sets=["data_dir=mine"])
    up.demo(data_dir=Path("yours"))
    up.demo()
    assert ran == [Path("mine"), Path("yours"), Path("data/demo")]
    marked = sorted(str(mark.parent.relative_to(tmp_path)) for mark in tmp_path.rglob(".kube-collector-demo"))
    assert marked == ["data/demo", "mine", "yours"]


def test_no_recording_is_one_clear_error(tmp_path: Path) -> None:
    done = run(
        "up", "--replay", str(tmp_path / "nowhere"), "--data-dir", str(tmp_path / "data"), "--port", str(free_port())
    )
    assert done.returncode == 1
    assert "there is no such recording" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("demo", "--port", "PORT"),
        ("up", "--replay", "examples/kube-a", "--port", "PORT"),
        ("collect", "--kubeconfig", "K"),
    ],
)
@pytest.mark.parametrize("place", ["a file", "below a file", "of the kernel", "below the kernel's"])
def test_a_data_folder_that_cannot_be_used_is_one_clear_error(
    tmp_path: Path, command: tuple[str, ...], place: str
) -> None:
    (tmp_path / "taken").write_text("keep me")
    places = {"a file": tmp_path / "taken", "below a file": tmp_path / "taken" / "data"}
    places |= {"of the kernel": Path("/proc/sys"), "below the kernel's": Path("/proc/nope")}
    kubeconfig = {"K": str(kubeconfig_in(tmp_path)), "PORT": str(free_port())}
    option = ("--set", f"data_dir={places[place]}") if command[0] == "collect" else ("--data-dir", str(places[place]))
    done = run(*(kubeconfig.get(each, each) for each in command), *option)
    assert done.returncode == 1
    refused = (
        "the demo empties its data folder" if (command[0], place) == ("demo", "of the kernel") else "cannot be used"
    )
    assert f"Error: {places[place]}: the " in done.stderr and refused in done.stderr
    assert (
        "Name a" in done.stderr and "fault of kube-collector" not in done.stderr and "This may pass" not in done.stderr
    )
    assert (tmp_path / "taken").read_text() == "keep me"


def test_a_demos_mark_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / ".kube-collector-demo").mkdir()
    done = run("demo", "--port", str(free_port()), "--data-dir", str(tmp_path))
    assert done.returncode == 1
    assert f"Error: {tmp_path}: the data folder cannot be used: Is a directory" in done.stderr
    assert "--data-dir PATH" in done.stderr


def kubeconfig_in(folder: Path) -> Path:
    """One that can be read, of a cluster where nobody answers."""
    file = folder / "kubeconfig"
    named = {
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [{"name": "u", "user": {}}],
    }
    context = {"name": "x", "context": {"cluster": "c", "user": "u"}}
    file.write_text(json.dumps({"current-context": "x", "contexts": [context], **named}))
    return file


def test_no_kubeconfig_is_found_before_anything_is_made(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    done = run("up", "--kubeconfig", str(nowhere), "--data-dir", str(tmp_path / "data"), "--port", str(free_port()))
    assert done.returncode == 1
    assert f"{nowhere}: there is no such file" in done.stderr and "--kubeconfig" in done.stderr
    assert not (tmp_path / "data").exists()


def test_a_replay_goes_on_where_it_was_stopped_and_adds_nothing_twice(tmp_path: Path) -> None:
    recording = str(Path(__file__).parent.parent.parent / "examples" / "kube-a")
    whole = run("replay", recording, "--set", f"data_dir={tmp_path / 'whole'}")
    assert whole.returncode == 0
    command = [
        sys.executable,
        "-m",
        "pipeline.cli.main",
        "replay",
        recording,
        "--speed",
        "40x",
        "--set",
        f"data_dir={tmp_path / 'cut'}",
    ]
    for after_s in (1.5, 2.5):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        log = tmp_path / "cut" / "spool" / "records" / "0000000001.ndjson"
        poll("records are written", lambda: log.exists() and log.stat().st_size > 1000)
        began = time.monotonic()
        poll("some time has passed", lambda: time.monotonic() - began > after_s, 10)
        process.kill()
        process.wait()
    assert run("replay", recording, "--set", f"data_dir={tmp_path / 'cut'}").returncode == 0
    assert ids(tmp_path / "cut") == ids(tmp_path / "whole")


def ids(data: Path) -> list[str]:
    """Ids of all records but ticks, in order; copies, which a kill before the checkpoint leaves, once."""
    done = run("spool", "cat", "--data-dir", str(data), *(f"--type={each}" for each in ("object", "event", "gap")))
    found = list(dict.fromkeys(json.loads(line)["id"] for line in done.stdout.splitlines()))
    assert len(found) > 1000
    return found
