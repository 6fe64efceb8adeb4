"""Starts the local Doris as a child process: for `up`, and for tests.

The child ends when the parent does, however that ends: it watches a pipe that only the parent holds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import msgspec

from pipeline import errors

LOG_NAME = "doris-local.log"
READY_S = 180.0
STOP_S = 30.0
LOCK_WAIT_S = 20.0
"""A parent that was killed leaves a child that is just ending: it has the file until all is written."""
TAIL_BYTES = 2000
PASSWORD_ENV = "KC_DORIS_LOCAL_PASSWORD"


class _Ready(msgspec.Struct):
    http_port: int
    backend_port: int
    mysql_port: int


class LocalDoris:
    """A running child. All ports are on 127.0.0.1; `http_port` is the frontend's."""

    def __init__(self, process: subprocess.Popen[bytes], ready: _Ready, log_path: Path) -> None:
        self.process = process
        self.http_port = ready.http_port
        self.backend_port = ready.backend_port
        self.mysql_port = ready.mysql_port
        self.log_path = log_path

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        """Let it end: it finishes what it commits and writes its file. Killed if it takes longer than `STOP_S`."""
        assert self.process.stdin is not None and self.process.stdout is not None, "both were asked for at the start"
        self.process.stdin.close()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def start(
    path: Path,
    *,
    http_port: int = 0,
    mysql_port: int = 0,
    password: str = "",
    options: tuple[str, ...] = (),
) -> LocalDoris:
    """Start it on the data in `path` and wait until it listens. `options`: further flags of its command line.

    Raises CheckFailed if it ends early (its log's tail is in the message), Unreachable if it does not become ready.
    """
    path.mkdir(parents=True, exist_ok=True)
    log_path = path / LOG_NAME
    command = [sys.executable, "-m", "sinks.doris_local", "--path", str(path), "--stop-at-eof"]
    command += [
        "--http-port",
        str(http_port),
        "--mysql-port",
        str(mysql_port),
        "--password-env",
        PASSWORD_ENV,
        "--lock-wait-s",
        str(LOCK_WAIT_S),
        *options,
    ]
    with log_path.open("ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, PASSWORD_ENV: password},
        )
    try:
        return LocalDoris(process, _read_ready(process, log_path), log_path)
    except BaseException:
        process.kill()
        process.communicate()
        raise


def _read_ready(process: subprocess.Popen[bytes], log_path: Path) -> _Ready:
    assert process.stdout is not None, "it was asked for at the start"
    timer = threading.Timer(READY_S, process.kill)
    timer.start()
    try:
        line = process.stdout.readline()
    finally:
        timed_out = not timer.is_alive()
        timer.cancel()
    if line:
        return msgspec.json.decode(line, type=_Ready)
    if timed_out:
        raise errors.Unreachable(f"the local Doris did not become ready within {READY_S:.0f} s", where=str(log_path))
    raise errors.CheckFailed(
        f"the local Doris ended at once with exit code {process.wait()}", where=str(log_path), fix=_tail(log_path)
    )


def _tail(log_path: Path) -> str:
    return log_path.read_bytes()[-TAIL_BYTES:].decode(errors="replace").strip()
