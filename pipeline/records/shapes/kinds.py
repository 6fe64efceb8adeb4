"""The list of shapes: (API group, kind) to struct."""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec

from pipeline.errors import Terminal
from pipeline.records import kinds
from pipeline.records.shapes import claim, cluster, event, group, job, node, pod, queue
from pipeline.records.shapes.base import Shape

SHAPES: dict[tuple[str, str], type[Shape]] = {
    kinds.NODE: node.Node,
    kinds.POD: pod.Pod,
    kinds.CORE_EVENT: event.Event,
    kinds.EVENT: event.Event,
    kinds.NAMESPACE: cluster.Namespace,
    kinds.VOLUME_CLAIM: claim.PersistentVolumeClaim,
    kinds.PRIORITY_CLASS: cluster.PriorityClass,
    kinds.NATIVE_GROUP: group.NativeGroup,
    kinds.NATIVE_WORKLOAD: group.NativeWorkload,
    kinds.VOLCANO_GROUP: group.VolcanoGroup,
    kinds.VOLCANO_QUEUE: queue.Queue,
    kinds.VOLCANO_JOB: job.VolcanoJob,
    kinds.BATCH_JOB: job.Job,
    kinds.KUEUE_WORKLOAD: queue.Workload,
    kinds.KUEUE_LOCAL_QUEUE: queue.LocalQueue,
    kinds.KUEUE_CLUSTER_QUEUE: queue.ClusterQueue,
    kinds.RESOURCE_CLAIM: claim.ResourceClaim,
}
"""A kind that is not listed is decoded as `job.Owner`: its metadata only."""

_decoders = {key: msgspec.json.Decoder(shape) for key, shape in SHAPES.items()}
_owner = msgspec.json.Decoder(job.Owner)


def shape_of(api_group: str, kind: str) -> type[Shape]:
    """The struct for a kind; `job.Owner` for a kind without one."""
    return SHAPES.get((api_group, kind), job.Owner)


def decode(api_group: str, kind: str, data: bytes | memoryview | msgspec.Raw) -> Shape:
    """An object's JSON as its shape; a part that is null counts as missing, as everywhere in the API.

    Raises Terminal, naming the path, when a field has another type than the API's.
    """
    decoder = _decoders.get((api_group, kind), _owner)
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if b":null" in bytes(data).replace(b" ", b""):
            with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                return decoder.decode(msgspec.json.encode(_without_nulls(msgspec.json.decode(data))))
        raise Terminal(f"{kind}: {error}") from error


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value
