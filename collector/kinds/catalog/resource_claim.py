"""ResourceClaim: a device that a pod waits for; it belongs to the pod that owns it."""

from __future__ import annotations

from collector.kinds.base import Kind, Role, Stage
from pipeline.records import kinds

KIND = Kind(
    group=kinds.RESOURCE_CLAIM.group,
    plural="resourceclaims",
    kind=kinds.RESOURCE_CLAIM.kind,
    versions=("v1", "v1beta2", "v1beta1"),
    stage=Stage.REST,
    role=Role.FACET,
)
