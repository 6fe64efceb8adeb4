"""Queue of Volcano. Its allocated figures move all the time; updates that change nothing kept are suppressed."""

from __future__ import annotations

from collector.kinds import queues
from collector.kinds.base import Kind, Role, Stage
from pipeline.records import kinds

KIND = Kind(
    group=kinds.VOLCANO_QUEUE.group,
    plural="queues",
    kind=kinds.VOLCANO_QUEUE.kind,
    versions=("v1beta1",),
    stage=Stage.QUEUES,
    role=Role.SURROUNDINGS,
    namespaced=False,
    noisy=True,
    learn=queues.volcano_queue,
)
