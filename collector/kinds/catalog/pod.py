"""Pod: a task. Its controller leads to its job; if that way ends, the group it names does."""

from __future__ import annotations

from collector.kinds.base import Kind, Link, Role, Stage, named_queue, owner_links
from pipeline.records import keys, kinds
from pipeline.records.shapes.pod import Pod

_ENDED = frozenset({"Succeeded", "Failed"})


def links(pod: Pod) -> tuple[Link, ...]:
    """Controller, then group; a job that only a label names comes last and only if nothing else does."""
    found = owner_links(pod)
    group = _group(pod)
    if group is not None:
        return (*found, group)
    return found or _by_label(pod)


def _group(pod: Pod) -> Link | None:
    spec, meta = pod.spec, pod.metadata
    if spec.scheduling_group is not None and spec.scheduling_group.pod_group_name:
        name = spec.scheduling_group.pod_group_name
        return Link(*kinds.NATIVE_GROUP, meta.namespace, name, at_once=True)
    if spec.workload_ref is not None and spec.workload_ref.name:
        return Link(*kinds.NATIVE_WORKLOAD, meta.namespace, spec.workload_ref.name, at_once=True)
    if group := keys.volcano_group(meta.annotations):
        return Link(*kinds.VOLCANO_GROUP, meta.namespace, group, at_once=True)
    if workload := (meta.labels or {}).get(keys.KUEUE_POD_GROUP):
        return Link(*kinds.KUEUE_WORKLOAD, meta.namespace, workload, at_once=True)
    return None


def _by_label(pod: Pod) -> tuple[Link, ...]:
    meta = pod.metadata
    name = (meta.labels or {}).get(keys.VOLCANO_JOB)
    return (Link(*kinds.VOLCANO_JOB, meta.namespace, name),) if name else ()


def waits(pod: Pod) -> bool:
    """Without a node, not at its end, and not about to be gone."""
    return not pod.spec.node_name and pod.metadata.deletion_timestamp is None and pod.status.phase not in _ENDED


KIND = Kind(
    group=kinds.POD.group,
    plural="pods",
    kind=kinds.POD.kind,
    versions=("v1",),
    stage=Stage.PODS,
    role=Role.TASK,
    links=links,
    queue=named_queue,
    waits=waits,
)
