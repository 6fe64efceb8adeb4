"""wait_reason_hour: an episode's waiting in each hour by reason, so that sums over jobs are plain SQL."""

from __future__ import annotations

from collections.abc import Iterator

from aggregation.attribution.segments import Stretch
from aggregation.operators.merge import Made
from aggregation.rollups import identity
from aggregation.rollups.draft import Draft
from pipeline.records.times import HOUR_MS

TABLE = "wait_reason_hour"


def made(draft: Draft, since_ms: int) -> Iterator[Made]:
    """The rows of the hours from that of `since_ms` on."""
    gpus = identity.asks(draft.state).gpus
    for (hour, reason, resource), length in _by_hour(draft.stretches, hour_of(since_ms), draft.now).items():
        values = {
            **draft.shared,
            "hour": hour,
            "reason": reason,
            "resource": resource,
            "wait_ms": length,
            "gpu_ms": length * gpus,
        }
        yield Made((TABLE, hour, reason, resource), values)


def hour_of(at_ms: int) -> int:
    """Begin of the UTC hour."""
    return at_ms - at_ms % HOUR_MS


def _by_hour(stretches: list[Stretch], first_hour: int, now: int) -> dict[tuple[int, str, str], int]:
    sums: dict[tuple[int, str, str], int] = {}
    for segment, start, to in stretches:
        end = now if to is None else to
        at = max(start, first_hour)
        while at < end:
            hour = hour_of(at)
            until = min(end, hour + HOUR_MS)
            name = hour, segment.reason, segment.resource
            sums[name] = sums.get(name, 0) + until - at
            at = until
    return sums
