"""PriorityClass: what the number behind a priority's name is."""

from __future__ import annotations

from collector.kinds.base import Kind, Role, Stage

KIND = Kind(
    group="scheduling.k8s.io",
    plural="priorityclasses",
    kind="PriorityClass",
    versions=("v1",),
    stage=Stage.NODES,
    role=Role.SURROUNDINGS,
    namespaced=False,
)
