"""Event, as `core` serves it: the same objects as in `events.k8s.io`, watched only where that API is not served."""

from __future__ import annotations

from collector.kinds.base import Kind, Role, Stage
from collector.kinds.catalog import event

KIND = Kind(
    group="",
    plural="events",
    kind="Event",
    versions=("v1",),
    stage=Stage.EVENTS,
    role=Role.EVENT,
    unless=event.KIND.name,
)
