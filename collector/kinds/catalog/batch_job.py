"""Job of batch: a job, unless something above made it (JobSet and alike)."""

from __future__ import annotations

from collector.kinds.base import Kind, Role, Stage, named_queue
from pipeline.records import kinds
from pipeline.records.shapes.job import Job

_ENDED = frozenset({"Complete", "Failed"})


def waits(job: Job) -> bool:
    if job.metadata.deletion_timestamp is not None:
        return False
    return not any(each.type in _ENDED and each.status == "True" for each in job.status.conditions or ())


KIND = Kind(
    group=kinds.BATCH_JOB.group,
    plural="jobs",
    kind=kinds.BATCH_JOB.kind,
    versions=("v1",),
    stage=Stage.JOBS,
    role=Role.JOB,
    queue=named_queue,
    waits=waits,
)
