"""PriorityClass: what the number behind a priority's name is."""

from __future__ import annotations

from collector.kinds.base import Kind, Role, Stage
from pipeline.records import kinds

KIND = Kind(
    group=kinds.PRIORITY_CLASS.group,
    plural="priorityclasses",
    kind=kinds.PRIORITY_CLASS.kind,
    versions=("v1",),
    stage=Stage.NODES,
    role=Role.SURROUNDINGS,
    namespaced=False,
)
