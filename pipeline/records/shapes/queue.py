"""Volcano's Queue; Kueue's Workload, LocalQueue and ClusterQueue."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from pipeline.records.quantity import Quantity
from pipeline.records.shapes.base import Condition, Inside, Part, Shape
from pipeline.records.shapes.pod import PodTemplate


class Guarantee(Part):
    resource: dict[str, Quantity] | None = None


class QueueSpec(Part):
    weight: int | None = None
    capability: dict[str, Quantity] | None = None
    deserved: dict[str, Quantity] | None = None
    guarantee: Guarantee | None = None
    reclaimable: bool | None = None
    priority: int | None = None
    parent: str | None = None


class QueueStatus(Part):
    state: str | None = None
    allocated: dict[str, Quantity] | None = None


class Queue(Shape):
    spec: QueueSpec = msgspec.field(default_factory=QueueSpec)
    status: QueueStatus = msgspec.field(default_factory=QueueStatus)


class PodSet(Part):
    name: str = ""
    count: int | None = None
    min_count: int | None = None
    template: PodTemplate | None = None


class WorkloadSpec(Part):
    queue_name: str | None = None
    active: bool | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    pod_sets: list[PodSet] | None = None


class Admission(Part):
    cluster_queue: str | None = None


class RequeueState(Part):
    count: int | None = None
    requeue_at: str | None = None


class WorkloadStatus(Part):
    conditions: list[Condition] | None = None
    admission: Admission | None = None
    requeue_state: RequeueState | None = None


class Workload(Shape):
    spec: WorkloadSpec = msgspec.field(default_factory=WorkloadSpec)
    status: WorkloadStatus = msgspec.field(default_factory=WorkloadStatus)

    def pods(self) -> Iterable[Inside]:
        for n, pod_set in enumerate(self.spec.pod_sets or ()):
            if pod_set.template is not None:
                yield pod_set.template.inside(f"spec.podSets[{n}].template")


class LocalQueueSpec(Part):
    cluster_queue: str | None = None
    stop_policy: str | None = None


class ClusterQueueSpec(Part):
    stop_policy: str | None = None
    cohort: str | None = None
    cohort_name: str | None = None
    resource_groups: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class KueueQueueStatus(Part):
    conditions: list[Condition] | None = None
    pending_workloads: int | None = None
    reserving_workloads: int | None = None
    admitted_workloads: int | None = None


class LocalQueue(Shape):
    spec: LocalQueueSpec = msgspec.field(default_factory=LocalQueueSpec)
    status: KueueQueueStatus = msgspec.field(default_factory=KueueQueueStatus)


class ClusterQueue(Shape):
    spec: ClusterQueueSpec = msgspec.field(default_factory=ClusterQueueSpec)
    status: KueueQueueStatus = msgspec.field(default_factory=KueueQueueStatus)
