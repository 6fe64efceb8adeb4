"""The list of kinds, in the order in which they are listed, and kinds that the configuration adds."""

from __future__ import annotations

from collector.kinds import references
from collector.kinds.base import Kind, Role, Stage
from collector.kinds.catalog import (
    batch_job,
    core_event,
    event,
    kueue_cluster_queue,
    kueue_local_queue,
    kueue_workload,
    namespace,
    native_group,
    native_workload,
    node,
    pod,
    priority_class,
    replica_set,
    resource_claim,
    volcano_group,
    volcano_job,
    volcano_queue,
    volume_claim,
)

KINDS: tuple[Kind, ...] = (
    node.KIND,
    namespace.KIND,
    priority_class.KIND,
    volcano_queue.KIND,
    kueue_cluster_queue.KIND,
    kueue_local_queue.KIND,
    volcano_group.KIND,
    native_group.KIND,
    native_workload.KIND,
    kueue_workload.KIND,
    volcano_job.KIND,
    batch_job.KIND,
    replica_set.KIND,
    pod.KIND,
    resource_claim.KIND,
    volume_claim.KIND,
    event.KIND,
    core_event.KIND,
)


def extra(group: str, version: str, plural: str, kind: str, *, namespaced: bool = True) -> Kind:
    """A further kind, of which only the metadata is kept: a job kind such as JobSet, or a link between a pod and one."""
    role = Role.JOB if references.is_job_kind(group, kind) else Role.LINK
    return Kind(group, plural, kind, (version,), Stage.JOBS, role, namespaced=namespaced)
