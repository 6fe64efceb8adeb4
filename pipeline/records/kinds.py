"""The kinds of Kubernetes objects that the project reads, each by its API group and kind, as records carry them."""

from __future__ import annotations

from typing import Final, NamedTuple


class GroupKind(NamedTuple):
    """Equal to the plain pair (group, kind). The core group is empty."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.group}/{self.kind}"


POD: Final = GroupKind("", "Pod")
NODE: Final = GroupKind("", "Node")
NAMESPACE: Final = GroupKind("", "Namespace")
VOLUME_CLAIM: Final = GroupKind("", "PersistentVolumeClaim")
CORE_EVENT: Final = GroupKind("", "Event")
EVENT: Final = GroupKind("events.k8s.io", "Event")
PRIORITY_CLASS: Final = GroupKind("scheduling.k8s.io", "PriorityClass")
NATIVE_GROUP: Final = GroupKind("scheduling.k8s.io", "PodGroup")
NATIVE_WORKLOAD: Final = GroupKind("scheduling.k8s.io", "Workload")
RESOURCE_CLAIM: Final = GroupKind("resource.k8s.io", "ResourceClaim")
BATCH_JOB: Final = GroupKind("batch", "Job")
VOLCANO_JOB: Final = GroupKind("batch.volcano.sh", "Job")
VOLCANO_GROUP: Final = GroupKind("scheduling.volcano.sh", "PodGroup")
VOLCANO_QUEUE: Final = GroupKind("scheduling.volcano.sh", "Queue")
KUEUE_WORKLOAD: Final = GroupKind("kueue.x-k8s.io", "Workload")
KUEUE_LOCAL_QUEUE: Final = GroupKind("kueue.x-k8s.io", "LocalQueue")
KUEUE_CLUSTER_QUEUE: Final = GroupKind("kueue.x-k8s.io", "ClusterQueue")
