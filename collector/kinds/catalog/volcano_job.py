"""Job of Volcano: a job of tasks, with a PodGroup that it owns."""

from __future__ import annotations

from collector.kinds.base import Kind, QueueName, Role, Stage
from pipeline.records import keys, kinds
from pipeline.records.shapes.job import VolcanoJob

_ENDED = frozenset({"Completed", "Failed", "Terminated", "Aborted"})


def queue(job: VolcanoJob) -> QueueName | None:
    return QueueName(job.spec.queue or keys.VOLCANO_DEFAULT_QUEUE)


def waits(job: VolcanoJob) -> bool:
    if job.metadata.deletion_timestamp is not None:
        return False
    return job.status.state is None or job.status.state.phase not in _ENDED


KIND = Kind(
    group=kinds.VOLCANO_JOB.group,
    plural="jobs",
    kind=kinds.VOLCANO_JOB.kind,
    versions=("v1alpha1",),
    stage=Stage.JOBS,
    role=Role.JOB,
    queue=queue,
    waits=waits,
)
