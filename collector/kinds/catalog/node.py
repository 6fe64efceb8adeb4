"""Node: where pods may go. Heartbeats change nothing of what is kept and are suppressed."""

from __future__ import annotations

from collector.kinds.base import Kind, Role, Stage
from pipeline.records import kinds, matching

KIND = Kind(
    group=kinds.NODE.group,
    plural="nodes",
    kind=kinds.NODE.kind,
    versions=("v1",),
    stage=Stage.NODES,
    role=Role.SURROUNDINGS,
    namespaced=False,
    noisy=True,
    learn=matching.traits_of,
)
