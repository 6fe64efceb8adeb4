"""Places where a test lets the process die.

A durable store is only believed after it was killed in the middle of its writes. `point("log.write")` marks such a
middle; it does nothing unless the environment names it: `KC_FAULT_POINTS=log.write:3,log.index:0.01` kills this process
with SIGKILL at the third pass of `log.write`, and at each pass of `log.index` with probability 0.01. With
`KC_FAULT_GROUP=1` it kills its whole process group, children and parent, as the end of a machine would.
"""

from __future__ import annotations

import os
import random
import signal

ENVIRONMENT = "KC_FAULT_POINTS"
GROUP = "KC_FAULT_GROUP"


def _armed(text: str) -> dict[str, float]:
    """`name:number` pairs; 1 and more is the nth pass, below 1 a probability. Raises ValueError."""
    pairs = (item.rpartition(":") for item in text.split(",") if item.strip())
    return {name.strip(): float(number) for name, _, number in pairs}


_points = _armed(os.environ.get(ENVIRONMENT, ""))
_passes: dict[str, int] = {}
_whole_group = os.environ.get(GROUP, "") == "1"


def point(name: str) -> None:
    """A place to die. Costs one look into an empty dict when no fault is asked for."""
    if name not in _points:
        return
    _passes[name] = _passes.get(name, 0) + 1
    wanted = _points[name]
    if _passes[name] == wanted or (wanted < 1 and random.random() < wanted):
        _die()


def _die() -> None:
    if _whole_group:
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
