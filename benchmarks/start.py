"""How long a person waits for the command line: wall time of whole processes, the median of ten."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure


def run() -> Iterable[Figure]:
    """`--help`, beside an interpreter that does nothing."""
    nothing = _wall_ms([sys.executable, "-c", "pass"])
    yield Figure(
        name="help_ms", value=_wall_ms([str(Path(sys.executable).with_name("kube-collector")), "--help"]), unit="ms", goal=150, higher_is_better=False,
        baseline=nothing, setup={"baseline": "python -c pass"},
    )  # fmt: skip


def _wall_ms(command: list[str]) -> float:
    taken = []
    for _ in range(10):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        taken.append(1000 * (time.perf_counter() - began))
    return median(taken)
