"""LocalQueue of Kueue: the name by which a namespace's jobs reach a ClusterQueue."""

from __future__ import annotations

from collector.kinds import queues
from collector.kinds.base import Kind, Role, Stage
from pipeline.records import kinds

KIND = Kind(
    group=kinds.KUEUE_LOCAL_QUEUE.group,
    plural="localqueues",
    kind=kinds.KUEUE_LOCAL_QUEUE.kind,
    versions=("v1beta2", "v1beta1"),
    stage=Stage.QUEUES,
    role=Role.SURROUNDINGS,
    noisy=True,
    learn=queues.local_queue,
)
