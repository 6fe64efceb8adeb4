"""Places where a test lets the process die, or wait as for a slow disk.

A durable store is only believed after it was killed in the middle of its writes. `point("log.write")` marks such a
middle; it does nothing unless the environment names it: `KC_FAULT_POINTS=log.write:3,log.index:0.01` kills this process
with SIGKILL at the third pass of `log.write`, and at each pass of `log.index` with probability 0.01. With
`KC_FAULT_GROUP=1` it kills its whole process group, children and parent, as the end of a machine would.
`KC_FAULT_DELAYS=log.index:0.2` lets each pass take so many seconds longer.
"""

from __future__ import annotations

import os
import random
import signal
import time

ENVIRONMENT = "KC_FAULT_POINTS"
GROUP = "KC_FAULT_GROUP"
DELAYS = "KC_FAULT_DELAYS"


def _armed(text: str) -> dict[str, float]:
    """`name:number` pairs. Raises ValueError."""
    pairs = (item.rpartition(":") for item in text.split(",") if item.strip())
    return {name.strip(): float(number) for name, _, number in pairs}


_points = _armed(os.environ.get(ENVIRONMENT, ""))
"""1 and more is the nth pass, below 1 a probability."""
_delays_s = _armed(os.environ.get(DELAYS, ""))
_passes: dict[str, int] = {}
_whole_group = os.environ.get(GROUP, "") == "1"


def point(name: str) -> None:
    """A place to die. Costs a look into two empty dicts when no fault is asked for."""
    if name in _delays_s:
        time.sleep(_delays_s[name])
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
