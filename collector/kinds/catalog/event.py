"""Event, as `events.k8s.io` serves it: what somebody said about an object. It is no object of a job itself."""

from __future__ import annotations

from collector.kinds.base import Kind, Role, Stage
from pipeline.records import kinds

KIND = Kind(
    group=kinds.EVENT.group,
    plural="events",
    kind=kinds.EVENT.kind,
    versions=("v1",),
    stage=Stage.EVENTS,
    role=Role.EVENT,
)
