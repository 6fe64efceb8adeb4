"""The reason that held most of a wait."""

from __future__ import annotations

from typing import NamedTuple

from aggregation.attribution.segments import Stretch
from pipeline.records import reasons


class Led(NamedTuple):
    """Sums over an episode's stretches; `share` of the time that has a reason."""

    reason: str | None = None
    detail: str | None = None
    resource: str | None = None
    share: float | None = None
    estimated_ms: int = 0
    gap_ms: int = 0


def of(stretches: list[Stretch], now: int) -> Led:
    """The longest reason, of equal ones the first."""
    held: dict[tuple[str, str, str], int] = {}
    estimated = gap = 0
    for segment, start, to in stretches:
        length = (now if to is None else to) - start
        if length < 0:
            length = 0
        name = segment.reason, segment.detail, segment.resource
        held[name] = held.get(name, 0) + length
        if segment.estimated:
            estimated += length
        if segment.reason == reasons.GAP:
            gap += length
    if not held:
        return Led()
    first = max(held, key=held.__getitem__)
    total = sum(held.values())
    share = held[first] / total if total else 1.0
    return Led(first[0], first[1] or None, first[2] or None, round(share, 4), estimated, gap)
