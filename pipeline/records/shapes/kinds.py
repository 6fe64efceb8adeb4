"""The list of shapes: (API group, kind) to struct."""

from __future__ import annotations

import msgspec

from pipeline.errors import Terminal
from pipeline.records.shapes import claim, cluster, event, group, job, node, pod, queue
from pipeline.records.shapes.base import Shape

SHAPES: dict[tuple[str, str], type[Shape]] = {
    ("", "Node"): node.Node,
    ("", "Pod"): pod.Pod,
    ("", "Event"): event.Event,
    ("events.k8s.io", "Event"): event.Event,
    ("", "Namespace"): cluster.Namespace,
    ("", "PersistentVolumeClaim"): claim.PersistentVolumeClaim,
    ("scheduling.k8s.io", "PriorityClass"): cluster.PriorityClass,
    ("scheduling.k8s.io", "PodGroup"): group.NativeGroup,
    ("scheduling.k8s.io", "Workload"): group.NativeWorkload,
    ("scheduling.volcano.sh", "PodGroup"): group.VolcanoGroup,
    ("scheduling.volcano.sh", "Queue"): queue.Queue,
    ("batch.volcano.sh", "Job"): job.VolcanoJob,
    ("batch", "Job"): job.Job,
    ("kueue.x-k8s.io", "Workload"): queue.Workload,
    ("kueue.x-k8s.io", "LocalQueue"): queue.LocalQueue,
    ("kueue.x-k8s.io", "ClusterQueue"): queue.ClusterQueue,
    ("resource.k8s.io", "ResourceClaim"): claim.ResourceClaim,
}
"""A kind that is not listed is decoded as `job.Owner`: its metadata only."""

_decoders = {key: msgspec.json.Decoder(shape) for key, shape in SHAPES.items()}
_owner = msgspec.json.Decoder(job.Owner)


def shape_of(api_group: str, kind: str) -> type[Shape]:
    """The struct for a kind; `job.Owner` for a kind without one."""
    return SHAPES.get((api_group, kind), job.Owner)


def decode(api_group: str, kind: str, data: bytes | memoryview | msgspec.Raw) -> Shape:
    """An object's JSON as its shape. Raises Terminal, naming the path, when a field has another type than the API's."""
    try:
        return _decoders.get((api_group, kind), _owner).decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Terminal(f"{kind}: {error}") from error
