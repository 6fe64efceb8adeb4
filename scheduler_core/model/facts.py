"""What is known of a cluster, as plain facts: the input of a snapshot, whoever gathered it.

A cache of records, a trace and a scenario all speak these words; nothing here is specific to one of them. Fields follow
the Kubernetes objects. Times are nanoseconds since 1970 (waiting times are promised in nanoseconds, and a vote turns at
the very one); 0 or less is a time that was never set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from pipeline.records.jobs import JobRef
from pipeline.records.quantity import Quantity
from pipeline.records.shapes.pod import Affinity, Toleration, TopologySpreadConstraint

NEVER_NS: Final = -62_135_596_800 * 1_000_000_000
"""The zero instant of an unset time (year 1), before every other."""

_NONE: Mapping[str, str] = {}
Quantities = Mapping[str, Quantity]


class NodeFacts(msgspec.Struct, kw_only=True, frozen=True):
    """A node. `taints` are (key, value, effect). Pool, spine and rack order its row; empty: unknown."""

    name: str
    allocatable: Quantities
    labels: Mapping[str, str] = _NONE
    taints: tuple[tuple[str, str, str], ...] = ()
    unschedulable: bool = False
    ready: bool = True
    pool: str = ""
    spine: str = ""
    rack: str = ""


class ContainerFacts(msgspec.Struct, frozen=True):
    """What one container asks for. None of cpu or memory counts 100m and 200Mi where nodes are scored."""

    requests: Quantities


class PodFacts(msgspec.Struct, kw_only=True, frozen=True):
    """A pod. `group` is the namespaced name of its group, empty for none. `ports` are (protocol, port, host address).
    `volume_fault` says why it can have its volumes on no node; empty: nothing is known against it.

    `phase` is the pod's; `binding` says that a bind was sent and not seen yet. `victim` says that it is being deleted
    because it was preempted.
    """

    uid: str
    namespace: str
    name: str
    group: str = ""
    phase: str = "Pending"
    node: str = ""
    deleting: bool = False
    binding: bool = False
    victim: bool = False
    containers: tuple[ContainerFacts, ...] = ()
    init_containers: tuple[ContainerFacts, ...] = ()
    overhead: Quantities | None = None
    labels: Mapping[str, str] = _NONE
    annotations: Mapping[str, str] = _NONE
    node_selector: Mapping[str, str] = _NONE
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    spread: tuple[TopologySpreadConstraint, ...] = ()
    ports: tuple[tuple[str, int, str], ...] = ()
    volume_fault: str = ""
    priority: int | None = None
    priority_class: str = ""
    preemption_policy: str = ""
    nominated_node: str = ""
    gates: tuple[str, ...] = ()
    created_ns: int = NEVER_NS


class TopologyFacts(msgspec.Struct, frozen=True):
    """A group's wish to stay together in the network; `mode` hard or soft, the highest tier by number or by name."""

    mode: str = ""
    highest_tier: int | None = None
    highest_tier_name: str = ""


class GroupFacts(msgspec.Struct, kw_only=True, frozen=True):
    """A gang: Volcano's PodGroup, or what another API says of one. `job` is who waits, if known.

    `min_resources` None is unset, which is not the same as empty. `owner_annotations` are those of the job above it.
    """

    namespace: str
    name: str
    queue: str
    min_member: int = 0
    min_task_member: Mapping[str, int] = msgspec.field(default_factory=dict)
    min_resources: Quantities | None = None
    priority_class: str = ""
    phase: str = "Pending"
    annotations: Mapping[str, str] = _NONE
    owner_annotations: Mapping[str, str] = _NONE
    topology: TopologyFacts | None = None
    allocated_domain: str = ""
    created_ns: int = NEVER_NS
    job: JobRef | None = None


class QueueFacts(msgspec.Struct, kw_only=True, frozen=True):
    """A queue; its name is its identity."""

    name: str
    weight: int = 1
    state: str = "Open"
    priority: int = 0
    parent: str = ""
    reclaimable: bool = True
    capability: Quantities | None = None
    deserved: Quantities | None = None
    guarantee: Quantities | None = None
    annotations: Mapping[str, str] = _NONE
    created_ns: int = NEVER_NS


class PriorityClassFacts(msgspec.Struct, frozen=True):
    name: str
    value: int
    is_default: bool = False


class DomainFacts(msgspec.Struct, kw_only=True, frozen=True):
    """A part of the network (Volcano's HyperNode): its tier (lowest is nearest), all nodes below it, its parts."""

    name: str
    tier: int
    nodes: tuple[str, ...] = ()
    tier_name: str = ""
    children: tuple[str, ...] = ()


class ClusterFacts(msgspec.Struct, kw_only=True, frozen=True):
    """Everything a session needs to know. The order inside the tuples changes nothing."""

    nodes: tuple[NodeFacts, ...] = ()
    queues: tuple[QueueFacts, ...] = ()
    groups: tuple[GroupFacts, ...] = ()
    pods: tuple[PodFacts, ...] = ()
    priority_classes: tuple[PriorityClassFacts, ...] = ()
    domains: tuple[DomainFacts, ...] = ()
    domains_ready: bool = True
