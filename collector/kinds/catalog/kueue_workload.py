"""Workload of Kueue: how a job stands in its queue. A facet of its owner; of a group of plain pods, the job itself."""

from __future__ import annotations

from collector.kinds.base import Kind, QueueName, Role, Stage
from pipeline.records import kinds
from pipeline.records.shapes.queue import Workload


def queue(workload: Workload) -> QueueName | None:
    name = workload.spec.queue_name
    return QueueName(name, workload.metadata.namespace) if name else None


def waits(workload: Workload) -> bool:
    if workload.metadata.deletion_timestamp is not None:
        return False
    return not any(each.type == "Finished" and each.status == "True" for each in workload.status.conditions or ())


KIND = Kind(
    group=kinds.KUEUE_WORKLOAD.group,
    plural="workloads",
    kind=kinds.KUEUE_WORKLOAD.kind,
    versions=("v1beta2", "v1beta1"),
    stage=Stage.GROUPS,
    role=Role.JOB,
    queue=queue,
    waits=waits,
)
