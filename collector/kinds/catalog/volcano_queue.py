"""Queue of Volcano. Its allocated figures move all the time; updates that change nothing kept are suppressed."""

from __future__ import annotations

from collector.kinds import queues
from collector.kinds.base import Kind, Role, Stage

KIND = Kind(
    group="scheduling.volcano.sh",
    plural="queues",
    kind="Queue",
    versions=("v1beta1",),
    stage=Stage.QUEUES,
    role=Role.SURROUNDINGS,
    namespaced=False,
    noisy=True,
    learn=queues.volcano_queue,
)
