"""A terminal that is closed takes all of it along; a service reads its settings again, and its local Doris stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from pipeline.config.places import Places
from tests.support import ttys
from tests.support.cluster import free_port, poll
from tests.support.running import Pipeline

RECORDING = Path(__file__).parent.parent.parent / "examples" / "kube-a"


def test_closing_the_terminal_ends_all_of_it(tmp_path: Path) -> None:
    address = Places(tmp_path / "demo").doris / "address.json"
    arguments = ["demo", "--data-dir", str(tmp_path / "demo"), "--port", str(free_port())]
    with ttys.terminal() as terminal:
        process = subprocess.Popen(
            [*ttys.LAUNCHER, sys.executable, "-m", "pipeline.cli.main", *arguments],
            stdin=terminal.inside,
            stdout=terminal.inside,
            stderr=terminal.inside,
            start_new_session=True,
        )
        try:
            poll("it has started", lambda: "Ctrl-C ends everything." in terminal.read())
            assert address.exists()
            terminal.close()
            assert process.wait(120) == 129
            assert not address.exists(), "its local Doris was ended in order"
            poll("nothing of its session is left", lambda: not members(process.pid))
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def members(session: int) -> list[int]:
    """Processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session:
                found.append(int(entry.name))
    return found


def test_a_service_told_to_reload_with_its_group_keeps_its_local_doris(tmp_path: Path) -> None:
    with Pipeline(tmp_path / "data", "--replay", str(RECORDING)) as up:
        assert up.process is not None
        poll("the local Doris runs", lambda: up.warehouse_pid)
        before = up.warehouse_pid
        os.killpg(up.process.pid, signal.SIGHUP)
        poll("the settings are read again", lambda: "settings_read_again" in up.log.read_text())
        assert up.sql("select 1 as one") == [{"one": 1}]
        assert up.warehouse_pid == before
        assert up.stop(signal.SIGTERM) == 0
