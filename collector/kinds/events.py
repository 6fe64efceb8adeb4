"""A Kubernetes Event, of either API, to the body of `event.v1`.

Two recorders write events. The new one sets `eventTime` once and counts repeats in `series`; the old one moves
`lastTimestamp` and `count`. `core` and `events.k8s.io` are two spellings of one stored object. The time of an event is
that of its newest occurrence: the latest of all times it carries, else its creation, else its arrival.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import msgspec

from collector.kinds import projection, truncation
from collector.kinds.base import Kind
from collector.kinds.projection import Arrival, Json
from pipeline.records import times
from pipeline.records.events import EventSeen, Regarding
from pipeline.records.shapes import Shape
from pipeline.records.shapes.event import Event, EventTarget

AGGREGATED: Final = "(combined from similar events): "
"""How a recorder begins the message when it merges events that differ by message."""
_MAX_MESSAGE_CHARS: Final = 32 * 1024

TimeSource = Literal["event", "series", "last", "first", "created", "received"]
_SOURCES: Final[tuple[TimeSource, ...]] = ("event", "series", "last", "first")


class EventSight(msgspec.Struct, gc=False):
    """An event as it was received; its job is not known yet."""

    kind: Kind
    seen: EventSeen
    received_ms: int
    expired: bool = False
    """The event was deleted: no news."""

    @property
    def uid(self) -> str:
        return self.seen.uid

    @property
    def version(self) -> str:
        return self.seen.version


class Times(NamedTuple):
    """Of all times that an event may carry those that it does, in microseconds."""

    event: int | None
    series: int | None
    last: int | None
    first: int | None


def read(kind: Kind, found: Json | Shape, arrival: Arrival, max_bytes: int) -> EventSight:
    """One event of a watch or list. Raises Terminal if it is none, or has no name."""
    event = projection.shape_of(kind, found)
    received_ms = arrival.received_ms
    if not isinstance(event, Event):
        raise TypeError(f"{kind.name} is no kind of event")
    uid, surrogate = projection.identity_of(event, kind.kind)
    meta = event.metadata
    message = event.note or event.message or ""
    at = _times(event)
    at_us, source = _newest(at, meta.creation_timestamp, received_ms)
    seen = EventSeen(
        uid=uid,
        version=meta.resource_version,
        name=meta.name,
        namespace=meta.namespace,
        at_us=at_us,
        time_source=source,
        regarding=_target(event.regarding or event.involved_object),
        related=_target(event.related),
        reason=event.reason or "",
        message=truncation.cut_text(message, _MAX_MESSAGE_CHARS),
        type=event.type or "",
        action=event.action or "",
        count=_count(event),
        first_us=at.first if at.first is not None else at.event,
        last_us=at.series if at.last is None or (at.series is not None and at.series > at.last) else at.last,
        component=_component(event),
        time_anomaly=_before(at.last, at.first) or _before(at.series, at.event),
        aggregated=message.startswith(AGGREGATED),
        truncated=projection.size_of(found, arrival) > max_bytes or len(message) > _MAX_MESSAGE_CHARS,
        surrogate=surrogate,
    )
    return EventSight(kind, seen, received_ms)


def _times(event: Event) -> Times:
    return Times(
        times.parse_us(event.event_time),
        times.parse_us(event.series.last_observed_time) if event.series is not None else None,
        times.parse_us(event.last_timestamp or event.deprecated_last_timestamp),
        times.parse_us(event.first_timestamp or event.deprecated_first_timestamp),
    )


def _newest(at: Times, created: str | None, received_ms: int) -> tuple[int, TimeSource]:
    """The time of the newest occurrence, and where it stands; of equal times the more exact source."""
    found: tuple[int, TimeSource] | None = None
    for moment, source in zip(at, _SOURCES, strict=True):
        if moment is not None and (found is None or moment > found[0]):
            found = moment, source
    if found is not None:
        return found
    created_us = times.parse_us(created)
    return (created_us, "created") if created_us is not None else (received_ms * 1000, "received")


def _count(event: Event) -> int:
    """Occurrences so far; a series' count includes the first."""
    in_series = event.series.count if event.series is not None else None
    return max(1, event.count or 0, event.deprecated_count or 0, in_series or 0)


def _component(event: Event) -> str:
    for source in (event.source, event.deprecated_source):
        if source is not None and source.component:
            return source.component
    return event.reporting_component or event.reporting_controller or ""


def _target(target: EventTarget | None) -> Regarding | None:
    if target is None or not (target.kind or target.name or target.uid):
        return None
    return Regarding(target.kind, target.name, target.namespace, target.uid, target.api_version)


def _before(later: int | None, earlier: int | None) -> bool:
    return later is not None and earlier is not None and later < earlier
