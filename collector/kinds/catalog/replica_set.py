"""ReplicaSet: only followed upwards; pods of a Deployment are their own jobs."""

from __future__ import annotations

from collector.kinds.base import Kind, Role, Stage

KIND = Kind(
    group="apps",
    plural="replicasets",
    kind="ReplicaSet",
    versions=("v1",),
    stage=Stage.JOBS,
    role=Role.LINK,
)
