"""LocalQueue of Kueue: the name by which a namespace's jobs reach a ClusterQueue."""

from __future__ import annotations

from collector.kinds import queues
from collector.kinds.base import Kind, Role, Stage

KIND = Kind(
    group="kueue.x-k8s.io",
    plural="localqueues",
    kind="LocalQueue",
    versions=("v1beta2", "v1beta1"),
    stage=Stage.QUEUES,
    role=Role.SURROUNDINGS,
    noisy=True,
    learn=queues.local_queue,
)
