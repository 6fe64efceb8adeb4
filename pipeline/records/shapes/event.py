"""Event, in both of its APIs: `core/v1` and `events.k8s.io/v1` name the same stored object's fields differently."""

from __future__ import annotations

from pipeline.records.shapes.base import Part, Shape


class EventTarget(Part):
    kind: str = ""
    namespace: str | None = None
    name: str = ""
    uid: str = ""
    api_version: str = ""


class EventSeries(Part):
    count: int | None = None
    last_observed_time: str | None = None


class EventSource(Part):
    component: str | None = None
    host: str | None = None


class Event(Shape):
    involved_object: EventTarget | None = None
    regarding: EventTarget | None = None
    related: EventTarget | None = None
    reason: str | None = None
    message: str | None = None
    note: str | None = None
    type: str | None = None
    action: str | None = None
    event_time: str | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    count: int | None = None
    series: EventSeries | None = None
    source: EventSource | None = None
    reporting_component: str | None = None
    reporting_controller: str | None = None
    deprecated_source: EventSource | None = None
    deprecated_first_timestamp: str | None = None
    deprecated_last_timestamp: str | None = None
    deprecated_count: int | None = None
