"""Tasks, and the classes they are interned into.

All tasks that ask the same of a node share one class: request, selector and affinity, tolerations, ports, relations to
other pods. A class is what a node is judged for, so a gang of a thousand equal tasks is judged once. What differs
between tasks of a class (name, priority, labels, state) is on the task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pipeline.records.matching import Wants
from pipeline.records.shapes.pod import PodAffinity, PreferredTerm, TopologySpreadConstraint
from scheduler_core.model import status
from scheduler_core.model.amounts import MOST
from scheduler_core.model.resources import CPU, MEMORY, PODS, Resource

if TYPE_CHECKING:
    from scheduler_core.model.jobs import Job

NOWHERE: Final = -1
"""The row of a task that has no node."""


class Demand:
    """What tasks ask of a node's resources, whatever they ask of its labels: many classes share one.

    `items` are (place, amount) of what is asked for, as it is charged; `needs` those that are compared with what a node
    has: cpu and memory always, others if named. `scored` is cpu (milli) and memory (bytes) with the defaults that count
    where nodes are scored.
    """

    __slots__ = ("best_effort", "items", "needs", "number", "request", "scored")

    def __init__(self, number: int, request: Resource, scored: tuple[int, int]) -> None:
        self.number = number
        self.request = request
        self.scored = scored
        self.best_effort = request.is_empty()
        values = request.values
        self.items: tuple[tuple[int, int], ...] = tuple(
            (place, int(amount)) for place, amount in enumerate(values) if amount
        )
        self.needs: tuple[tuple[int, int], ...] = tuple(
            (place, int(values[place])) for place in range(len(values)) if request.has(place)
        )


class TaskClass:
    """What a task asks of a node: its demand, and its wishes for labels, ports and other pods."""

    __slots__ = (
        "affinity", "anti_affinity", "best_effort", "demand", "items", "needs", "number", "ports", "preferred",
        "request", "scored", "selects", "spread", "volume_fault", "wants",
    )  # fmt: skip

    def __init__(self, number: int, demand: Demand, wants: Wants, relations: Relations) -> None:
        self.number = number
        self.demand = demand
        self.request = demand.request
        self.items = demand.items
        self.needs = demand.needs
        self.scored = demand.scored
        self.best_effort = demand.best_effort
        self.wants = wants
        self.preferred = relations.preferred
        self.ports = relations.ports
        self.affinity = relations.affinity
        self.anti_affinity = relations.anti_affinity
        self.spread = relations.spread
        self.volume_fault = relations.volume_fault
        self.selects = bool(relations.affinity or relations.anti_affinity or relations.spread)


class Relations:
    """The rarer wishes of a class: preferred nodes, host ports, other pods, spread; and why it can have its volumes nowhere."""

    __slots__ = ("affinity", "anti_affinity", "ports", "preferred", "spread", "volume_fault")

    def __init__(
        self,
        preferred: tuple[PreferredTerm, ...] = (),
        ports: tuple[tuple[str, int, str], ...] = (),
        affinity: PodAffinity | None = None,
        anti_affinity: PodAffinity | None = None,
        spread: tuple[TopologySpreadConstraint, ...] = (),
        volume_fault: str = "",
    ) -> None:
        self.preferred = preferred
        self.ports = ports
        self.affinity = affinity
        self.anti_affinity = anti_affinity
        self.spread = spread
        self.volume_fault = volume_fault


class LastPlace:
    """What a rolled back statement had promised a task: its state there, the row, and whether pods were evicted for it."""

    __slots__ = ("evicted", "row", "status")

    def __init__(self, state: int, row: int, evicted: bool) -> None:
        self.status = state
        self.row = row
        self.evicted = evicted


class Task:
    """A pod in a session. `row` is its node's row or NOWHERE; `last` what a rolled back statement had promised it.

    `priority` is the scheduling one (1 when the pod names none), `pod_priority` the pod's own (0 when it names none).
    `elsewhere`: on a node that is not in the snapshot. `fault` is set when the pod cannot be meant as it stands; such a task is never placed.
    """

    __slots__ = (
        "cls", "created_ns", "critical", "elsewhere", "fault", "gated", "job", "label_class", "labels", "last", "name", "namespace",
        "near", "nominated", "number", "opening_row", "opening_status", "pod_priority", "preemptable", "preempts", "priority",
        "role", "row", "status", "uid", "victim",
    )  # fmt: skip

    def __init__(self, uid: str, namespace: str, name: str, cls: TaskClass) -> None:
        self.uid = uid
        self.namespace = namespace
        self.name = name
        self.cls = cls
        self.job: Job | None = None
        self.role = ""
        self.priority = 1
        self.pod_priority = 0
        self.status = status.PENDING
        self.row = NOWHERE
        self.opening_status = status.PENDING
        self.opening_row = NOWHERE
        self.created_ns = 0
        self.labels: Mapping[str, str] = {}
        self.label_class = -1
        self.preemptable = True
        self.preempts = True
        self.critical = False
        self.gated = False
        self.victim = False
        self.elsewhere = False
        self.nominated = ""
        self.near = ""
        self.fault = ""
        self.last: LastPlace | None = None
        self.number = _number_in(name)

    def __repr__(self) -> str:
        return f"Task({self.key} {status.NAMES[self.status]})"

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    def settle(self, state: int, row: int) -> None:
        """Where the task is when a session opens."""
        self.status = self.opening_status = state
        self.row = self.opening_row = row

    def reopen(self) -> None:
        """Forgets what a session did."""
        self.status, self.row = self.opening_status, self.opening_row
        self.last = None
        self.near = ""

    @property
    def seated(self) -> bool:
        """Takes room of a node of the table when a session opens."""
        return self.opening_row != NOWHERE and self.opening_status in status.ON_NODE

    @property
    def has_node(self) -> bool:
        """Has a node, be it one that the session does not know."""
        return self.row != NOWHERE or self.elsewhere

    @property
    def open(self) -> bool:
        """Waits for a place and may get one."""
        return self.status == status.PENDING and not self.gated and not self.fault


def _number_in(name: str) -> int | None:
    """The index in a name like `job-role-7`: the last of at least three parts, if it is a number of 64 bits."""
    parts = name.split("-")
    if len(parts) < 3 or not (parts[-1].isascii() and parts[-1].isdecimal()):
        return None
    digits = parts[-1].lstrip("0")[:20] or "0"
    return int(digits) if int(digits) < 2**63 else None


def request_of(containers: list[Resource], init: list[Resource], overhead: Resource) -> Resource:
    """A pod's request: what its containers ask together, or the largest init container, and the overhead; one pod.

    Of no resource more than `MOST`, however many containers ask it: columns of nodes have 64 bits.
    """
    total = overhead.copy()
    total.values = [0] * len(total.values)
    for each in containers:
        total.add(each)
    for each in init:
        total = total.at_least(each)
    total.add(overhead).set(PODS, 1)
    total.values = [min(amount, MOST) for amount in total.values]
    return total


DEFAULT_CPU_MILLI: Final = 100
DEFAULT_MEMORY_BYTES: Final = 200 * 1024 * 1024


def scored_of(
    containers: list[Resource], init: list[Resource], overhead: Resource, unset: list[tuple[bool, bool]]
) -> tuple[int, int]:
    """Cpu and memory of a pod where nodes are scored. `unset` says for each container which of both it does not name."""
    cpu = memory = 0
    for place, each in enumerate(containers):
        no_cpu, no_memory = unset[place]
        cpu += DEFAULT_CPU_MILLI if no_cpu else int(each.values[CPU])
        memory += DEFAULT_MEMORY_BYTES if no_memory else int(each.values[MEMORY])
    for each in init:
        cpu, memory = max(cpu, int(each.values[CPU])), max(memory, int(each.values[MEMORY]))
    return min(cpu + int(overhead.values[CPU]), MOST), min(memory + int(overhead.values[MEMORY]), MOST)
