"""PodGroup of `scheduling.volcano.sh` and of `scheduling.k8s.io`, and the native Workload."""

from __future__ import annotations

import msgspec

from pipeline.records.quantity import Quantity
from pipeline.records.shapes.base import Condition, Part, Shape


class VolcanoGroupSpec(Part):
    min_member: int | None = None
    min_task_member: dict[str, int] | None = None
    min_resources: dict[str, Quantity] | None = None
    queue: str | None = None
    priority_class_name: str | None = None


class VolcanoGroupStatus(Part):
    phase: str | None = None
    running: int | None = None
    succeeded: int | None = None
    failed: int | None = None
    conditions: list[Condition] | None = None


class VolcanoGroup(Shape):
    spec: VolcanoGroupSpec = msgspec.field(default_factory=VolcanoGroupSpec)
    status: VolcanoGroupStatus = msgspec.field(default_factory=VolcanoGroupStatus)


class Gang(Part):
    min_count: int | None = None


class Empty(Part):
    """An object whose presence is its meaning."""


class SchedulingPolicy(Part):
    gang: Gang | None = None
    basic: Empty | None = None


class GroupWorkloadRef(Part):
    workload_name: str | None = None
    template_name: str | None = None


class NativeGroupSpec(Part):
    scheduling_policy: SchedulingPolicy | None = None
    workload_ref: GroupWorkloadRef | None = None
    priority_class_name: str | None = None
    priority: int | None = None


class NativeGroupStatus(Part):
    conditions: list[Condition] | None = None


class NativeGroup(Shape):
    spec: NativeGroupSpec = msgspec.field(default_factory=NativeGroupSpec)
    status: NativeGroupStatus = msgspec.field(default_factory=NativeGroupStatus)


class ControllerRef(Part):
    api_group: str | None = None
    kind: str = ""
    name: str = ""


class GroupTemplate(Part):
    name: str = ""
    scheduling_policy: SchedulingPolicy | None = None


class NativeWorkloadSpec(Part):
    controller_ref: ControllerRef | None = None
    pod_group_templates: list[GroupTemplate] | None = None


class NativeWorkload(Shape):
    spec: NativeWorkloadSpec = msgspec.field(default_factory=NativeWorkloadSpec)
