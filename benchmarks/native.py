"""Benchmarks of the scheduler core, run twice: on the core as it is read, then on the compiled one that `make native` leaves.

The compiled core's figures are those that count; what the same code takes interpreted is their baseline, unless they have
one of their own, and stands in their setup in any case.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "native"
TWICE = {"scheduler", "scheduler_volcano"}


def stands() -> bool:
    """Whether a compiled core of these very files is there; says on stderr why not."""
    sources = sorted((ROOT / "scheduler_core").rglob("*.py"))
    ours = all(
        (copy := FOLDER / each.relative_to(ROOT)).is_file() and copy.read_bytes() == each.read_bytes()
        for each in sources
    )
    if not ours:
        sys.stderr.write(
            "No compiled scheduler core of these files (`make native`): figures are of the interpreted one.\n"
        )
    return ours


def lines(name: str) -> Iterator[str]:
    """JSON lines of a benchmark on the compiled core, each with what the interpreted one has. Raises CalledProcessError."""
    plain = {figure["name"]: figure for figure in _figures(name, ROOT)}
    for figure in _figures(name, FOLDER):
        before = plain[figure["name"]]["value"]
        if figure["baseline"] is None:
            figure["baseline"], figure["ratio"] = before, round(figure["value"] / before, 2) if before else None
        figure["setup"] = {**figure["setup"], "core": "compiled", "interpreted": before}
        yield json.dumps(figure, separators=(",", ":"))


def _figures(name: str, core: Path) -> Iterator[dict[str, Any]]:
    """What a process prints that finds the scheduler core in this folder, figure by figure."""
    environment = {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": f"{core}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "benchmarks", "--once", name]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield from map(json.loads, process.stdout)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
