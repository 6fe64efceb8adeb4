"""Namespace: a label of it may name the tenant."""

from __future__ import annotations

from collector.kinds.base import Kind, Role, Stage
from pipeline.records import kinds
from pipeline.records.shapes.cluster import Namespace


def learn(namespace: Namespace) -> dict[str, str]:
    """Its labels."""
    return namespace.metadata.labels or {}


KIND = Kind(
    group=kinds.NAMESPACE.group,
    plural="namespaces",
    kind=kinds.NAMESPACE.kind,
    versions=("v1",),
    stage=Stage.NODES,
    role=Role.SURROUNDINGS,
    namespaced=False,
    learn=learn,
)
