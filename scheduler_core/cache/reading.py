"""One object of the API as facts: what a session looks at, and nothing else.

Two objects with equal facts are the same to a session, so a change of a status that nobody asks about costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

import msgspec

from pipeline.records import keys, quantity
from pipeline.records.jobs import JobRef
from pipeline.records.quantity import Quantity
from pipeline.records.shapes.base import Container, Meta
from pipeline.records.shapes.claim import PersistentVolumeClaim
from pipeline.records.shapes.cluster import PriorityClass
from pipeline.records.shapes.group import NativeGroup, VolcanoGroup
from pipeline.records.shapes.node import Node
from pipeline.records.shapes.pod import Pod
from pipeline.records.shapes.queue import Queue
from scheduler_core.cache import relating
from scheduler_core.model.facts import (
    ContainerFacts,
    GroupFacts,
    NodeFacts,
    PodFacts,
    PriorityClassFacts,
    Quantities,
    QueueFacts,
)

DEFAULT_SCHEDULER = "default-scheduler"
_NEVER_NS = 0
"""Creation of what has none."""
_NS_IN_MS = 1_000_000
_ENDED = ("Succeeded", "Failed")


class PodSeen(msgspec.Struct, frozen=True, gc=False):
    """A pod with what a session has no word for. `native_group` and the group in `facts` are namespaced names, empty for
    none; `claims` are names of the PersistentVolumeClaims it mounts; `tried`: its own scheduler has refused it. `devices`
    are what it calls the ResourceClaims that it needs."""

    facts: PodFacts
    scheduler: str = DEFAULT_SCHEDULER
    job: JobRef | None = None
    native_group: str = ""
    claims: tuple[str, ...] = ()
    tried: bool = False
    devices: tuple[str, ...] = ()

    @property
    def waits(self) -> bool:
        """Without a node, not at its end and not about to be gone."""
        return not self.facts.node and not self.facts.deleting and self.facts.phase not in _ENDED


class ClaimSeen(msgspec.Struct, frozen=True, gc=False):
    """A PersistentVolumeClaim: its phase, and the volume it has."""

    namespace: str
    name: str
    phase: str = ""
    volume: str = ""
    storage_class: str = ""


def node(shape: Node) -> NodeFacts:
    return NodeFacts(
        name=shape.metadata.name,
        allocatable=shape.status.allocatable or {},
        labels=shape.metadata.labels or {},
        taints=tuple((taint.key, taint.value or "", taint.effect) for taint in shape.spec.taints or ()),
        unschedulable=bool(shape.spec.unschedulable),
        ready=shape.ready == "True",
    )


def queue(shape: Queue) -> QueueFacts:
    """A queue whose controller has not told its state yet is open, as Volcano takes it."""
    spec = shape.spec
    return QueueFacts(
        name=shape.metadata.name,
        weight=1 if spec.weight is None else spec.weight,
        state=shape.status.state or "Open",
        priority=spec.priority or 0,
        parent=spec.parent or "",
        reclaimable=spec.reclaimable is not False,
        capability=spec.capability,
        deserved=spec.deserved,
        guarantee=spec.guarantee.resource if spec.guarantee is not None else None,
        annotations=shape.metadata.annotations or {},
        created_ns=_created_ns(shape.metadata),
    )


def volcano_group(shape: VolcanoGroup, job: JobRef | None) -> GroupFacts:
    spec = shape.spec
    return GroupFacts(
        namespace=shape.metadata.namespace,
        name=shape.metadata.name,
        queue=spec.queue or keys.VOLCANO_DEFAULT_QUEUE,
        min_member=spec.min_member or 0,
        min_task_member=spec.min_task_member or {},
        min_resources=spec.min_resources,
        priority_class=spec.priority_class_name or "",
        phase=shape.status.phase or "Pending",
        annotations=shape.metadata.annotations or {},
        created_ns=_created_ns(shape.metadata),
        job=job,
    )


def native_group(shape: NativeGroup, job: JobRef | None) -> GroupFacts:
    """A gang of Kubernetes itself: it has no queue, and is let in as soon as it is there."""
    gang = shape.spec.scheduling_policy.gang if shape.spec.scheduling_policy is not None else None
    return GroupFacts(
        namespace=shape.metadata.namespace,
        name=shape.metadata.name,
        queue="",
        min_member=(gang.min_count or 0) if gang is not None else 0,
        priority_class=shape.spec.priority_class_name or "",
        phase="Inqueue",
        annotations=shape.metadata.annotations or {},
        created_ns=_created_ns(shape.metadata),
        job=job,
    )


def priority_class(shape: PriorityClass) -> PriorityClassFacts:
    return PriorityClassFacts(shape.metadata.name, shape.value or 0, bool(shape.global_default))


def claim(shape: PersistentVolumeClaim) -> ClaimSeen:
    return ClaimSeen(
        shape.metadata.namespace,
        shape.metadata.name,
        shape.status.phase or "",
        shape.spec.volume_name or "",
        shape.spec.storage_class_name or "",
    )


def pod(shape: Pod, job: JobRef | None) -> PodSeen:
    spec, meta = shape.spec, shape.metadata
    notes = meta.annotations or {}
    group = keys.volcano_group(notes)
    native = spec.scheduling_group.pod_group_name if spec.scheduling_group is not None else None
    facts = PodFacts(
        uid=meta.uid,
        namespace=meta.namespace,
        name=meta.name,
        group=_within(meta.namespace, group),
        phase=shape.status.phase or "Pending",
        node=spec.node_name or "",
        deleting=meta.deletion_timestamp is not None,
        victim=meta.deletion_timestamp is not None and _preempted(shape),
        containers=tuple(ContainerFacts(_requests(each)) for each in _staying(spec.containers, spec.init_containers)),
        init_containers=tuple(_starting(spec.init_containers or ())),
        overhead=spec.overhead or None,
        labels=meta.labels or {},
        annotations=notes,
        node_selector=spec.node_selector or {},
        affinity=relating.own_labels(spec.affinity, meta.labels or {}),
        tolerations=tuple(spec.tolerations or ()),
        spread=tuple(spec.topology_spread_constraints or ()),
        ports=tuple(_ports(_staying(spec.containers, spec.init_containers))),
        priority=spec.priority,
        priority_class=spec.priority_class_name or "",
        preemption_policy=spec.preemption_policy or "",
        nominated_node=shape.status.nominated_node_name or "",
        gates=tuple(gate.name for gate in spec.scheduling_gates or ()),
        created_ns=_created_ns(meta),
    )
    claims = tuple(
        volume.persistent_volume_claim.claim_name
        for volume in spec.volumes or ()
        if volume.persistent_volume_claim is not None
    )
    devices = tuple(each.name for each in spec.resource_claims or ())
    return PodSeen(
        facts, spec.scheduler_name or DEFAULT_SCHEDULER, job, _within(meta.namespace, native or ""), claims, _tried(shape),
        devices,
    )  # fmt: skip


def _within(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if name else ""


def _created_ns(meta: Meta) -> int:
    at_ms = meta.created_ms
    return _NEVER_NS if at_ms is None else at_ms * _NS_IN_MS


def _preempted(shape: Pod) -> bool:
    """Whether a scheduler made it go for another pod."""
    return any(
        each.type == "DisruptionTarget" and each.reason == "PreemptionByScheduler"
        for each in shape.status.conditions or ()
    )


def _tried(shape: Pod) -> bool:
    return any(
        each.type == "PodScheduled" and each.status == "False" and each.reason != "SchedulingGated"
        for each in shape.status.conditions or ()
    )


def _stays(container: Container) -> bool:
    """An init container that runs beside the others (a sidecar): its request adds to theirs."""
    return container.restart_policy == "Always"


def _staying(containers: list[Container] | None, init: list[Container] | None) -> Iterable[Container]:
    """All that run at the same time: containers, and sidecars."""
    yield from containers or ()
    yield from (each for each in init or () if _stays(each))


def _starting(init: Iterable[Container]) -> Iterable[ContainerFacts]:
    """The init containers that end, one after the other: each with the sidecars that were started before it."""
    beside: list[Quantities] = []
    for each in init:
        if _stays(each):
            beside.append(_requests(each))
        else:
            yield ContainerFacts(_together([*beside, _requests(each)]))


def _together(lists: list[Quantities]) -> Quantities:
    """What containers ask for that run at the same time. What cannot be read adds nothing."""
    found: dict[str, Quantity] = {}
    for each in lists:
        for name, value in each.items():
            found[name] = _sum(found[name], value) if name in found else value
    return found


def _sum(one: Quantity, other: Quantity) -> Quantity:
    return format((_exact(one) + _exact(other)).normalize(), "f")


def _exact(value: Quantity) -> Decimal:
    try:
        return quantity.parse(value)
    except (ValueError, ArithmeticError):
        return Decimal(0)


def _requests(container: Container) -> Quantities:
    """What is asked for; a limit without a request is one."""
    needs = container.resources
    if needs is None:
        return {}
    return {**(needs.limits or {}), **(needs.requests or {})}


def _ports(containers: Iterable[Container]) -> Iterable[tuple[str, int, str]]:
    for container in containers:
        for port in container.ports or ():
            if port.host_port:
                yield port.protocol or "TCP", port.host_port, port.host_ip or ""
