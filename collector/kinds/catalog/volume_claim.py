"""PersistentVolumeClaim: a volume that a pod waits for."""

from __future__ import annotations

from collector.kinds.base import Kind, Role, Stage
from pipeline.records import kinds

KIND = Kind(
    group=kinds.VOLUME_CLAIM.group,
    plural="persistentvolumeclaims",
    kind=kinds.VOLUME_CLAIM.kind,
    versions=("v1",),
    stage=Stage.REST,
    role=Role.FACET,
)
