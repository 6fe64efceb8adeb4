"""ResourceClaim: a device that a pod waits for; it belongs to the pod that owns it."""

from __future__ import annotations

from collector.kinds.base import Kind, Role, Stage

KIND = Kind(
    group="resource.k8s.io",
    plural="resourceclaims",
    kind="ResourceClaim",
    versions=("v1", "v1beta2", "v1beta1"),
    stage=Stage.REST,
    role=Role.FACET,
)
