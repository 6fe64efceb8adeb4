"""The area of waiting over time from its corners. Pure.

Each part of a wait is a step: from its begin the curve is higher by its weight, from its end lower again. The warehouse sums
steps by bucket (`reason_edges.sql`), which is a row for each bucket in which something changes, however many parts there
are; the area below the curve in each bucket follows exactly: a step in bucket b, `skew` into it, adds weight × (width − skew)
to b and weight × width to every bucket behind it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

STEPS_MS = (
    1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000,
    7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000, 604_800_000,
)  # fmt: skip
"""Widths of buckets that people read well."""
MOST_BUCKETS = 1500
AIM_BUCKETS = 240


class Edge(NamedTuple):
    """Steps of one reason within one bucket: their weights summed, and weight × place in the bucket summed."""

    reason: str
    bucket: int
    slope: int
    skew_ms: int


def width_ms(length_ms: int, least_ms: int = 0) -> int:
    """The narrowest good width, at least `least_ms`, that cuts a range into no more than about 240 buckets."""
    fitting = (step for step in STEPS_MS if step >= least_ms and step * AIM_BUCKETS >= length_ms)
    return next(fitting, STEPS_MS[-1])


def begins(from_ms: int, to_ms: int, bucket_ms: int) -> list[int]:
    """Begins of the buckets that cover the range, each at a whole multiple of the width; none for a range of no length."""
    return list(range(from_ms - from_ms % bucket_ms, to_ms, bucket_ms)) if from_ms < to_ms else []


def areas(edges: Iterable[Edge], count: int, bucket_ms: int) -> dict[str, list[int]]:
    """Of each reason the area in each of `count` buckets."""
    steps: dict[str, list[tuple[int, int]]] = {}
    for edge in edges:
        of_reason = steps.setdefault(edge.reason, [(0, 0)] * count)
        if edge.bucket < count:  # an end at the very end of the range lies behind the last bucket
            slope, skew_ms = of_reason[edge.bucket]
            of_reason[edge.bucket] = slope + edge.slope, skew_ms + edge.skew_ms
    return {reason: _areas(of_reason, bucket_ms) for reason, of_reason in steps.items()}


def _areas(steps: list[tuple[int, int]], bucket_ms: int) -> list[int]:
    height, found = 0, []
    for slope, skew_ms in steps:
        height += slope
        found.append(height * bucket_ms - skew_ms)
    return found
