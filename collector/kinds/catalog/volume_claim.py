"""PersistentVolumeClaim: a volume that a pod waits for."""

from __future__ import annotations

from collector.kinds.base import Kind, Role, Stage

KIND = Kind(
    group="",
    plural="persistentvolumeclaims",
    kind="PersistentVolumeClaim",
    versions=("v1",),
    stage=Stage.REST,
    role=Role.FACET,
)
