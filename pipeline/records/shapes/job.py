"""Job of `batch`, and Job of `batch.volcano.sh`."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from pipeline.records.shapes.base import Condition, Inside, Part, Shape
from pipeline.records.shapes.pod import PodTemplate


class JobSpec(Part):
    parallelism: int | None = None
    completions: int | None = None
    backoff_limit: int | None = None
    suspend: bool | None = None
    managed_by: str | None = None
    template: PodTemplate | None = None


class JobStatus(Part):
    active: int | None = None
    ready: int | None = None
    succeeded: int | None = None
    failed: int | None = None
    terminating: int | None = None
    start_time: str | None = None
    completion_time: str | None = None
    conditions: list[Condition] | None = None


class Job(Shape):
    spec: JobSpec = msgspec.field(default_factory=JobSpec)
    status: JobStatus = msgspec.field(default_factory=JobStatus)

    def pods(self) -> Iterable[Inside]:
        if self.spec.template is not None:
            yield self.spec.template.inside("spec.template")


class VolcanoTask(Part):
    name: str = ""
    replicas: int | None = None
    min_available: int | None = None
    template: PodTemplate | None = None


class VolcanoJobSpec(Part):
    min_available: int | None = None
    queue: str | None = None
    scheduler_name: str | None = None
    priority_class_name: str | None = None
    max_retry: int | None = None
    tasks: list[VolcanoTask] | None = None


class VolcanoJobState(Part):
    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None


class VolcanoJobStatus(Part):
    state: VolcanoJobState | None = None
    min_available: int | None = None
    pending: int | None = None
    running: int | None = None
    succeeded: int | None = None
    failed: int | None = None
    terminating: int | None = None
    retry_count: int | None = None


class VolcanoJob(Shape):
    spec: VolcanoJobSpec = msgspec.field(default_factory=VolcanoJobSpec)
    status: VolcanoJobStatus = msgspec.field(default_factory=VolcanoJobStatus)

    def pods(self) -> Iterable[Inside]:
        for n, task in enumerate(self.spec.tasks or ()):
            if task.template is not None:
                yield task.template.inside(f"spec.tasks[{n}].template")


class Owner(Shape):
    """Any further kind that is only followed upwards: ReplicaSet, JobSet, PyTorchJob, RayJob, MPIJob and alike."""
