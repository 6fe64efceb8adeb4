"""A Kubernetes Event, of either API, to the body of `event.v1`.

Two recorders write events. The new one sets `eventTime` once and counts repeats in `series`; the old one moves
`lastTimestamp` and `count`. `core` and `events.k8s.io` are two spellings of one stored object. The time of an event is
that of its newest occurrence: the latest of all times it carries, else its creation, else its arrival.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from collector.kinds import projection, truncation
from collector.kinds.base import Kind
from pipeline.records import shapes, times
from pipeline.records.events import EventSeen, Regarding
from pipeline.records.shapes.event import Event, EventTarget

AGGREGATED: Final = "(combined from similar events): "
"""How a recorder begins the message when it merges events that differ by message."""
_MAX_MESSAGE_CHARS: Final = 32 * 1024

TimeSource = Literal["event", "series", "last", "first", "created", "received"]


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


def read(kind: Kind, raw: bytes, received_ms: int, max_bytes: int) -> EventSight:
    """One event of a watch or list. Raises Terminal if it is none, or has no name."""
    event = shapes.decode(kind.group, kind.kind, raw)
    if not isinstance(event, Event):
        raise TypeError(f"{kind.name} is no kind of event")
    uid, surrogate = projection.identity_of(event, kind.kind)
    meta = event.metadata
    message = event.note or event.message or ""
    at_us, source = _newest(event, received_ms)
    first = times.parse_us(event.first_timestamp or event.deprecated_first_timestamp)
    last = times.parse_us(event.last_timestamp or event.deprecated_last_timestamp)
    started = times.parse_us(event.event_time)
    repeated = _series_us(event)
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
        first_us=first if first is not None else started,
        last_us=max((each for each in (last, repeated) if each is not None), default=None),
        component=_component(event),
        time_anomaly=_before(last, first) or _before(repeated, started),
        aggregated=message.startswith(AGGREGATED),
        truncated=len(raw) > max_bytes or len(message) > _MAX_MESSAGE_CHARS,
        surrogate=surrogate,
    )
    return EventSight(kind, seen, received_ms)


def _newest(event: Event, received_ms: int) -> tuple[int, TimeSource]:
    """The time of the newest occurrence, and where it stands; of equal times the more exact source."""
    sources: tuple[tuple[TimeSource, int | None], ...] = (
        ("event", times.parse_us(event.event_time)),
        ("series", _series_us(event)),
        ("last", times.parse_us(event.last_timestamp or event.deprecated_last_timestamp)),
        ("first", times.parse_us(event.first_timestamp or event.deprecated_first_timestamp)),
    )
    newest: tuple[int, TimeSource] | None = None
    for source, at_us in sources:
        if at_us is not None and (newest is None or at_us > newest[0]):
            newest = at_us, source
    if newest is not None:
        return newest
    created = times.parse_us(event.metadata.creation_timestamp)
    return (created, "created") if created is not None else (received_ms * 1000, "received")


def _series_us(event: Event) -> int | None:
    return times.parse_us(event.series.last_observed_time) if event.series is not None else None


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
