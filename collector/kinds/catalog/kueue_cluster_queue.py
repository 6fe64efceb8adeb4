"""ClusterQueue of Kueue: quota, and whether it admits anything."""

from __future__ import annotations

from collector.kinds import queues
from collector.kinds.base import Kind, Role, Stage
from pipeline.records import kinds

KIND = Kind(
    group=kinds.KUEUE_CLUSTER_QUEUE.group,
    plural="clusterqueues",
    kind=kinds.KUEUE_CLUSTER_QUEUE.kind,
    versions=("v1beta2", "v1beta1"),
    stage=Stage.QUEUES,
    role=Role.SURROUNDINGS,
    namespaced=False,
    noisy=True,
    learn=queues.cluster_queue,
)
