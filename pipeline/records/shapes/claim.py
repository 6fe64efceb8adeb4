"""ResourceClaim and PersistentVolumeClaim: what a pod waits for besides nodes."""

from __future__ import annotations

import msgspec

from pipeline.records.shapes.base import Condition, Part, Shape


class DeviceResult(Part):
    """A device that was given; what its driver was told about it (opaque parameters) never enters."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""


class Devices(Part):
    results: list[DeviceResult] | None = None


class Allocation(Part):
    devices: Devices | None = None


class Consumer(Part):
    resource: str = ""
    name: str = ""
    uid: str = ""


class ClaimStatus(Part):
    allocation: Allocation | None = None
    reserved_for: list[Consumer] | None = None


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
