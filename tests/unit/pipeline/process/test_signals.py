"""Signals as the kernel sends them: a real process is started, signalled, and its exit code read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline.process import supervisor
from tests.support import ttys

PROGRAM = """
import sys, threading
from pathlib import Path
from pipeline.config.load import load
from pipeline.process import supervisor
from pipeline.process.stage import Check

class Stage:
    name = "told"
    def start(self):
        print("started", flush=True)
    def stop(self, deadline_s):
        print("stopping", flush=True)
        if sys.argv[2] == "hang":
            threading.Event().wait()
        if sys.argv[2] == "slow":
            threading.Event().wait(0.3)
            print("stopped", flush=True)
    def checks(self):
        return [Check("told", True)]
    def reload(self, loaded):
        print("reloaded", loaded.ground.log.level, flush=True)

sys.exit(supervisor.run([Stage()], load([Path(sys.argv[1])], {}, {}), drain_s=20.0))
"""


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    file = tmp_path / "c.yaml"
    file.write_text("log: {level: warning}\n")
    return file


IGNORING = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture
def program(settings: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    running: list[subprocess.Popen[str]] = []

    def start(how: str, *launcher: str, stdin: int | None = None) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*launcher, sys.executable, "-c", PROGRAM, str(settings), how],
            stdin=stdin,
            stdout=subprocess.PIPE,
            start_new_session=True,  # without the terminal that the tests may have been started from
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        running.append(process)
        assert process.stdout is not None and process.stdout.readline() == "started\n", process.communicate()[1]
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_drains_and_ends_with_its_code(
    program: Callable[[str], subprocess.Popen[str]], number: signal.Signals, code: int
) -> None:
    process = program("end")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, "stopping\n", "")


def test_a_second_signal_ends_at_once(program: Callable[[str], subprocess.Popen[str]]) -> None:
    process = program("hang")
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None and process.stdout.readline() == "stopping\n"
    time.sleep(supervisor.TOGETHER_S)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "ended at once, on the second signal\n"


def test_a_signal_that_comes_together_with_the_first_ends_nothing_at_once(
    program: Callable[[str], subprocess.Popen[str]],
) -> None:
    process = program("slow")
    # Stopped meanwhile, so that they come together however busy the machine is.
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGCONT):
        process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (out, err) == ("stopping\nstopped\n", "")
    assert process.returncode in (0, 130), "whichever of the two was seen first"


def test_sighup_reads_the_settings_again(program: Callable[[str], subprocess.Popen[str]], settings: Path) -> None:
    process = program("end")
    settings.write_text("log: {level: error}\n")
    process.send_signal(signal.SIGHUP)
    assert process.stdout is not None and process.stdout.readline() == "reloaded error\n"
    settings.write_text("log: {level: loud}\n")
    process.send_signal(signal.SIGHUP)
    assert process.stderr is not None
    assert "old ones stay in use" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


def test_a_closed_terminal_ends_it_as_ctrl_c_does(program: Callable[..., subprocess.Popen[str]]) -> None:
    with ttys.terminal() as terminal:
        process = program("slow", *ttys.LAUNCHER, stdin=terminal.inside)
        terminal.close()
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (129, "stopping\nstopped\n", "")


def test_a_closed_terminal_that_is_told_again_is_not_urgent(program: Callable[..., subprocess.Popen[str]]) -> None:
    with ttys.terminal() as terminal:
        process = program("slow", *ttys.LAUNCHER, stdin=terminal.inside)
        for _ in range(2):
            process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (129, "stopping\nstopped\n", "")


def test_under_nohup_a_closed_terminal_is_ignored(
    program: Callable[..., subprocess.Popen[str]], settings: Path
) -> None:
    with ttys.terminal() as terminal:
        nohup = (sys.executable, "-c", IGNORING)
        process = program("end", *ttys.LAUNCHER, *nohup, stdin=terminal.inside)
        settings.write_text("log: {level: error}\n")
        terminal.close()
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "stopping\n", "")
