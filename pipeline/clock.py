"""The one place that knows what time it is. Pure code takes time as a parameter and never imports this."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Wall clock, milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


def monotonic_s() -> float:
    """Seconds of a clock that never goes back; for time-outs and intervals only."""
    return time.monotonic()
