"""ClusterQueue of Kueue: quota, and whether it admits anything."""

from __future__ import annotations

from collector.kinds import queues
from collector.kinds.base import Kind, Role, Stage

KIND = Kind(
    group="kueue.x-k8s.io",
    plural="clusterqueues",
    kind="ClusterQueue",
    versions=("v1beta2", "v1beta1"),
    stage=Stage.QUEUES,
    role=Role.SURROUNDINGS,
    namespaced=False,
    noisy=True,
    learn=queues.cluster_queue,
)
