"""What can be chosen about a log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True, kw_only=True)
class LogOptions:
    """`cluster` and `source` stand in the ticks that the writer adds. The rest are limits.

    A segment ends at `segment_bytes` or after `segment_age_s`. A segment that every registered reader has passed is
    kept for `keep_s` after its last write. The log never grows above `max_bytes`, nor past the point where the disk has
    less than `min_free_bytes` left: there `refuse` raises LogFull and keeps everything, `drop_oldest` removes the oldest
    segment, read or not, and counts it.
    """

    cluster: str
    source: str = "log"
    segment_bytes: int = 64 * MIB
    segment_age_s: float = 3600.0
    keep_s: float = 7 * 86400.0
    max_bytes: int = 20 * GIB
    min_free_bytes: int = 512 * MIB
    when_full: Literal["refuse", "drop_oldest"] = "refuse"
