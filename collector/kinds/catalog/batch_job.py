"""Job of batch: a job, unless something above made it (JobSet and alike)."""

from __future__ import annotations

from collector.kinds import conventions
from collector.kinds.base import Kind, QueueName, Role, Stage
from pipeline.records.shapes.job import Job

_ENDED = frozenset({"Complete", "Failed"})


def queue(job: Job) -> QueueName | None:
    meta = job.metadata
    local = conventions.queue_label(meta.labels, meta.annotations)
    if local:
        return QueueName(local, meta.namespace)
    name = conventions.volcano_queue(meta.annotations)
    return QueueName(name) if name else None


def waits(job: Job) -> bool:
    if job.metadata.deletion_timestamp is not None:
        return False
    return not any(each.type in _ENDED and each.status == "True" for each in job.status.conditions or ())


KIND = Kind(
    group="batch",
    plural="jobs",
    kind="Job",
    versions=("v1",),
    stage=Stage.JOBS,
    role=Role.JOB,
    queue=queue,
    waits=waits,
)
