"""wait_segment: the parts of an episode, numbered from 1; they tile it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aggregation.operators.merge import Made
from aggregation.rollups.draft import Draft

TABLE = "wait_segment"
_MOVING = frozenset({"as_of", "ms", "nodes", "total_nodes", "message", "also", "evidence"})
_AS_OF = frozenset({"as_of"})


def made(draft: Draft, since_ms: int) -> Iterator[Made]:
    """The rows of the parts that had not ended before `since_ms`."""
    for place, (segment, start, to) in enumerate(draft.stretches, 1):
        if to is not None and to < since_ms:
            continue
        values = {
            **draft.shared,
            "n": place,
            "reason": segment.reason,
            "detail": segment.detail or None,
            "resource": segment.resource or None,
            "from_at": start,
            "to_at": to,
            "ms": max((draft.now if to is None else to) - start, 0),
            "nodes": segment.nodes,
            "total_nodes": segment.total_nodes,
            "message": segment.message or None,
            "also": msgspec.json.encode(segment.also).decode() if segment.also else None,
            "evidence": segment.evidence,
            "estimated": segment.estimated,
            "as_of": draft.now,
        }
        yield Made((TABLE, place), values, _MOVING if to is None else _AS_OF, grows=to is None)
