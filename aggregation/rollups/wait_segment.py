"""wait_segment: the parts of an episode, numbered from 1; they tile it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aggregation.attribution.segments import Stretch
from aggregation.lifecycle.state import Episode, JobState
from aggregation.operators.merge import Made
from aggregation.rollups import identity

TABLE = "wait_segment"
_MOVING = frozenset({"as_of", "ms", "nodes", "total_nodes", "message", "also"})
_AS_OF = frozenset({"as_of"})


def made(state: JobState, episode: Episode, stretches: list[Stretch], since_ms: int, now: int) -> Iterator[Made]:
    """The rows of the parts that had not ended before `since_ms`."""
    shared = identity.columns(state, episode.number)
    for place, (segment, start, to) in enumerate(stretches, 1):
        if to is not None and to < since_ms:
            continue
        values = {
            **shared,
            "n": place,
            "reason": segment.reason,
            "detail": segment.detail or None,
            "resource": segment.resource or None,
            "from_at": start,
            "to_at": to,
            "ms": max((now if to is None else to) - start, 0),
            "nodes": segment.nodes,
            "total_nodes": segment.total_nodes,
            "message": segment.message or None,
            "also": msgspec.json.encode(segment.also).decode() if segment.also else None,
            "evidence": segment.evidence,
            "estimated": segment.estimated,
            "as_of": now,
        }
        yield Made((TABLE, place), values, _MOVING if to is None else _AS_OF, grows=to is None)
