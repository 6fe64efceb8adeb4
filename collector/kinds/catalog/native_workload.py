"""Workload of Kubernetes itself: a template of groups. It only leads from a group to the controller behind it."""

from __future__ import annotations

from collector.kinds.base import Kind, Link, Role, Stage, owner_links
from pipeline.records import kinds
from pipeline.records.shapes.group import NativeWorkload


def links(workload: NativeWorkload) -> tuple[Link, ...]:
    found = owner_links(workload)
    ref = workload.spec.controller_ref
    if found or ref is None or not ref.name:
        return found
    return (Link(ref.api_group or "", ref.kind, workload.metadata.namespace, ref.name),)


KIND = Kind(
    group=kinds.NATIVE_WORKLOAD.group,
    plural="workloads",
    kind=kinds.NATIVE_WORKLOAD.kind,
    versions=("v1beta1", "v1alpha3"),
    stage=Stage.GROUPS,
    role=Role.FACET,
    links=links,
)
