"""Which segments may go. Pure: what is there and how far readers are comes in, numbers of segments come out.

A segment that every registered reader has passed stays for time travel and rebuilds until it is `keep_s` old. At the
limit of the log passed segments go earlier, oldest first, but only when there is a reader at all: with none nobody has
seen them. The segment being written never goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipeline.log.layout import Segment
from pipeline.log.positions import BEGINNING, Position


def passed(segments: Sequence[Segment], acks: Iterable[Position | None]) -> list[Segment]:
    """The closed segments that lie wholly before every ack, oldest first. None holds everything."""
    slowest = min((ack or BEGINNING for ack in acks), default=None)
    closed = segments[:-1]
    if slowest is None:
        return list(closed)
    return [segment for segment in closed if Position(segment.number, segment.data_bytes) <= slowest]


def outlived(segments: Sequence[Segment], acks: Iterable[Position | None], oldest_ms: int) -> list[int]:
    """Passed segments whose last write was before `oldest_ms`: the oldest ones, without a hole between them."""
    gone: list[int] = []
    for segment in passed(segments, acks):
        if segment.modified_ms >= oldest_ms:
            break
        gone.append(segment.number)
    return gone


def sacrificed(
    segments: Sequence[Segment], acks: Sequence[Position | None], excess_bytes: int, *, unread: bool
) -> list[int]:
    """The oldest segments that free `excess_bytes`, or as much as there is. `unread`: also those not yet passed."""
    spare = passed(segments, acks) if acks else []
    candidates = segments[:-1] if unread else spare
    gone: list[int] = []
    for segment in candidates:
        if excess_bytes <= 0:
            break
        gone.append(segment.number)
        excess_bytes -= segment.total_bytes
    return gone
