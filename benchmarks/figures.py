"""One figure, and the two clocks."""

from __future__ import annotations

import os
import platform
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec


class Figure(msgspec.Struct, kw_only=True):
    """`higher_is_better` says which side of `goal` is reached; `setup` says what was measured on what."""

    name: str
    value: float
    unit: str
    goal: float
    higher_is_better: bool = True
    baseline: float | None = None
    setup: dict[str, object] = {}

    def line(self) -> bytes:
        """The JSON line."""
        reached = self.value >= self.goal if self.higher_is_better else self.value <= self.goal
        return msgspec.json.encode(
            {
                "name": self.name,
                "value": round(self.value, 3),
                "unit": self.unit,
                "baseline": None if self.baseline is None else round(self.baseline, 3),
                "ratio": None if not self.baseline else round(self.value / self.baseline, 2),
                "goal": self.goal,
                "reached": reached,
                "setup": {**self.setup, "machine": _machine()},
            }
        )


class Clocks:
    """Seconds of CPU of this process and of wall time since it was made."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        self.cpu_s = self.wall_s = 0.0

    def stop(self) -> None:
        """Takes the time."""
        self.cpu_s, self.wall_s = time.process_time() - self._cpu, time.perf_counter() - self._wall


@contextmanager
def measured() -> Iterator[Clocks]:
    """Both clocks over a block."""
    clocks = Clocks()
    yield clocks
    clocks.stop()


def rss_bytes(pid: int | None = None) -> int:
    """Resident memory of a process now: of this one unless another is named."""
    with open(f"/proc/{pid or 'self'}/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * resource.getpagesize()


def percentile(values: list[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _machine() -> str:
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}"
