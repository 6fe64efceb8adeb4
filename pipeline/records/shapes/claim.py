"""ResourceClaim and PersistentVolumeClaim: what a pod waits for besides nodes."""

from __future__ import annotations

import msgspec

from pipeline.records.shapes.base import Condition, Part, Shape


class ClaimStatus(Part):
    allocation: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    reserved_for: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class ResourceClaim(Shape):
    status: ClaimStatus = msgspec.field(default_factory=ClaimStatus)


class VolumeClaimSpec(Part):
    volume_name: str | None = None
    storage_class_name: str | None = None


class VolumeClaimStatus(Part):
    phase: str | None = None
    conditions: list[Condition] | None = None


class PersistentVolumeClaim(Shape):
    spec: VolumeClaimSpec = msgspec.field(default_factory=VolumeClaimSpec)
    status: VolumeClaimStatus = msgspec.field(default_factory=VolumeClaimStatus)
