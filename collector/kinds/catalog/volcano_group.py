"""PodGroup of Volcano: a gang. It belongs to the job that owns it, and is a job of its own without one."""

from __future__ import annotations

from collector.kinds.base import Kind, QueueName, Role, Stage
from pipeline.records import keys, kinds
from pipeline.records.shapes.group import VolcanoGroup


def queue(group: VolcanoGroup) -> QueueName | None:
    return QueueName(group.spec.queue or keys.VOLCANO_DEFAULT_QUEUE)


def waits(group: VolcanoGroup) -> bool:
    return group.metadata.deletion_timestamp is None and group.status.phase != "Completed"


KIND = Kind(
    group=kinds.VOLCANO_GROUP.group,
    plural="podgroups",
    kind=kinds.VOLCANO_GROUP.kind,
    versions=("v1beta1",),
    stage=Stage.GROUPS,
    role=Role.JOB,
    queue=queue,
    waits=waits,
)
