"""Event, as `core` serves it: the same objects as in `events.k8s.io`, watched only where that API is not served."""

from __future__ import annotations

from collector.kinds.base import Kind, Role, Stage
from collector.kinds.catalog import event
from pipeline.records import kinds

KIND = Kind(
    group=kinds.CORE_EVENT.group,
    plural="events",
    kind=kinds.CORE_EVENT.kind,
    versions=("v1",),
    stage=Stage.EVENTS,
    role=Role.EVENT,
    unless=event.KIND.name,
)
