"""The whole pipeline as users run it: `kube-collector up` in a process of its own, asked over its two ports."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pymysql

from pipeline.config.places import Places
from pipeline.errors import Unreachable
from tests.support.cluster import free_port, poll


class Pipeline:
    """`up` with these arguments over `data`; ends with the block. `log` is its stderr."""

    command = "up"

    def __init__(self, data: Path, *arguments: str, env: dict[str, str] | None = None) -> None:
        self.data = data
        self.port = free_port()
        self.log = data.parent / f"{data.name}.log"
        self._arguments = [*arguments, "--data-dir", str(data), "--port", str(self.port)]
        self._env = {**os.environ, **(env or {})}
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Pipeline:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None and self.process.poll() is None:
            self.stop()

    def start(self, limit_s: float = 240.0) -> None:
        """Starts it and waits for its page."""
        self.launch()
        self.answers(limit_s)

    def launch(self, **env: str) -> None:
        """Starts it, in a process group of its own, and waits for nothing. `env`: further variables, this time only."""
        # If the test run is killed, the kernel takes it along; its local Doris follows.
        guard = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
        command = [*guard, sys.executable, "-m", "pipeline.cli.main", self.command, *self._arguments]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=self._env | env,
                start_new_session=True,
            )

    def answers(self, limit_s: float = 240.0) -> None:
        """Waits for its page. Fails with the tail of its log if it ends before."""
        poll("the page answers", self._answers, limit_s)

    def kill(self) -> None:
        """Kills all of it at once, the local Doris too, and waits until it is gone."""
        assert self.process is not None
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # the last of it went before
        self.process.wait()

    def stop(self, number: signal.Signals = signal.SIGINT, limit_s: float = 120.0) -> int:
        """Ends it with a signal; its exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(limit_s)

    def get(self, path: str) -> Any:
        """JSON of an API path, below /api/v1. Raises urllib.error.HTTPError."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=60) as answer:
            return json.load(answer)

    def try_get(self, path: str) -> Any:
        """As `get`, None for an error answer or none at all."""
        try:
            return self.get(path)
        except OSError:
            return None

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command that asks this pipeline."""
        env = {**self._env, "KUBE_COLLECTOR_URL": f"http://127.0.0.1:{self.port}"}
        command = [sys.executable, "-m", "pipeline.cli.main", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=env, timeout=180, check=False)

    def told(self, *arguments: str) -> str:
        """What such a command writes, asked again while the page is too busy to answer it in time."""
        done = self.cli(*arguments)

        def answered() -> bool:
            nonlocal done
            if done.returncode == Unreachable.exit_code:
                done = self.cli(*arguments)
            return done.returncode != Unreachable.exit_code

        poll(f"{arguments[0]} is answered", answered)
        assert done.returncode == 0, done
        return done.stdout

    def why(self, name: str, namespace: str) -> dict[str, Any] | None:
        """The answer of `why -o json`, or None while the job is not known."""
        done = self.cli("why", name, "-n", namespace, "-o", "json")
        return json.loads(done.stdout) if done.returncode == 0 else None

    @property
    def sql_port(self) -> int:
        """MySQL port of its local Doris."""
        return int(json.loads((Places(self.data).doris / "address.json").read_text())["mysql_port"])

    @property
    def warehouse_pid(self) -> int | None:
        """Process of its local Doris, None while there is none."""
        assert self.process is not None
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True)
        for line in listed.stdout.splitlines():
            pid, parent, command = line.split(maxsplit=2)
            if int(parent) == self.process.pid and "sinks.doris_local" in command:
                return int(pid)
        return None

    def sql(self, statement: str, *values: Any) -> list[dict[str, Any]]:
        """Rows of a query, read with pymysql."""
        connection = pymysql.connect(
            host="127.0.0.1", port=self.sql_port, user="root", database="kube_collector",
            cursorclass=pymysql.cursors.DictCursor,
        )  # fmt: skip
        with connection, connection.cursor() as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())

    def _answers(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise AssertionError(f"ended with {self.process.returncode}:\n{self.log.read_text()[-4000:]}")
        return self.try_get("meta") is not None
