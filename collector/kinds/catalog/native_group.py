"""PodGroup of Kubernetes itself: a gang. Its owner, else the controller that its Workload names, is its job."""

from __future__ import annotations

from collector.kinds.base import Kind, Link, Role, Stage, owner_links
from pipeline.records import kinds
from pipeline.records.shapes.group import NativeGroup


def links(group: NativeGroup) -> tuple[Link, ...]:
    found = owner_links(group)
    workload = group.spec.workload_ref
    if found or workload is None or not workload.workload_name:
        return found
    return (Link(*kinds.NATIVE_WORKLOAD, group.metadata.namespace, workload.workload_name),)


def waits(group: NativeGroup) -> bool:
    return group.metadata.deletion_timestamp is None


KIND = Kind(
    group=kinds.NATIVE_GROUP.group,
    plural="podgroups",
    kind=kinds.NATIVE_GROUP.kind,
    versions=("v1beta1", "v1alpha3"),
    stage=Stage.GROUPS,
    role=Role.JOB,
    links=links,
    waits=waits,
)
