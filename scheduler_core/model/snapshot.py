"""Facts about a cluster made into what a session works on.

Nothing that is wrong with the facts stops a snapshot: it is reported in `mistakes` and made harmless. The result does
not depend on the order in which facts are given. Groups whose queue does not exist are left out, as Volcano leaves them
out, and kept in `outside` with the reason; pods of no group hold their room on nodes and are otherwise nobody's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np

from pipeline.records import keys, reasons
from pipeline.records.matching import Traits
from scheduler_core.model import amounts, collector, status
from scheduler_core.model.amounts import Amounts
from scheduler_core.model.classes import Classes
from scheduler_core.model.domains import DomainTree
from scheduler_core.model.facts import ClusterFacts, GroupFacts, NodeFacts, PodFacts, Quantities, QueueFacts
from scheduler_core.model.jobs import Job, Queue
from scheduler_core.model.nodes import NodeTable
from scheduler_core.model.resources import Axis, Resource
from scheduler_core.model.tasks import NOWHERE, Task
from scheduler_core.model.why import Misconfigured, Why

_CRITICAL: Final = frozenset({"system-cluster-critical", "system-node-critical"})
_HARD: Final = frozenset({"NoSchedule", "NoExecute"})
_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})

F = TypeVar("F", NodeFacts, QueueFacts, GroupFacts, PodFacts)


class Snapshot:
    """What one session works on, and changes. `networked` are the jobs with a wish for the network.

    For one that stands over sessions (`standing`): `ledger` is what `session.accounts` keeps from one to the next, `fresh`
    the jobs that have changed since it looked, `used` those that a session has done something about, once it is over.
    `kept` is what plugins of earlier sessions left, by their class with their arguments and flags, `left` what those of the
    session on it leave for the next. `end` lets go of the session that was opened on it last.
    """

    def __init__(self, axis: Axis, nodes: NodeTable, domains: DomainTree) -> None:
        self.axis = axis
        self.nodes = nodes
        self.domains = domains
        self.classes = Classes(axis)
        self.queues: dict[str, Queue] = {}
        self.jobs: dict[str, Job] = {}
        self.tasks: dict[str, Task] = {}
        self.networked: dict[str, Job] = {}
        self.outside: list[tuple[GroupFacts, Why]] = []
        self.mistakes: list[Misconfigured] = []
        self.ledger: object = None
        self.fresh: set[str] = set()
        self.used: list[Job] | None = None
        self.kept: dict[type, tuple[object, object]] = {}
        self.left: dict[type, tuple[object, object]] = {}
        self.end: Callable[[], None] | None = None


def build(facts: ClusterFacts) -> Snapshot:
    """A snapshot of these facts. Python's collector of cycles waits meanwhile: all that is made stays."""
    with collector.waits():
        return _build(facts)


def _build(facts: ClusterFacts) -> Snapshot:
    mistakes: list[Misconfigured] = []
    groups = _unique(facts.groups, "PodGroup", lambda each: f"{each.namespace}/{each.name}", mistakes)
    nodes = _nodes(facts, mistakes)
    queues = _unique(facts.queues, "Queue", lambda each: each.name, mistakes)
    pods = _unique(facts.pods, "Pod", lambda each: each.uid, mistakes)
    axis = Axis(amounts.names_in(_quantities(nodes, queues, groups, pods)))
    table = _table(axis, nodes, mistakes)
    found = Snapshot(axis, table, DomainTree(facts.domains, table, ready=facts.domains_ready))
    found.mistakes = mistakes
    reader = Reader(found, facts)
    for queue in queues:
        found.queues[queue.name] = reader.queue(queue)
    for group in groups:
        reader.group(group)
    reader.pods(pods)
    return found


def renew_nodes(standing: Snapshot, facts: ClusterFacts, pods: Mapping[str, PodFacts]) -> None:
    """Puts the nodes of these facts in the place of those that a snapshot has, between two sessions; jobs and tasks stay.

    `pods` are its pods by uid, of which the nodes are taken. All resources that the nodes name are on its axis.
    """
    mistakes = [each for each in standing.mistakes if each.kind != "Node"]
    with collector.waits():
        table = standing.nodes = _table(standing.axis, _nodes(facts, mistakes), mistakes)
        standing.domains = DomainTree(facts.domains, table, ready=facts.domains_ready)
        standing.mistakes = mistakes
        for uid, task in standing.tasks.items():
            _settle(task, task.opening_status, pods[uid].node, table)
        table.seat([task for task in standing.tasks.values() if task.seated])
        table.open()


def _nodes(facts: ClusterFacts, mistakes: list[Misconfigured]) -> list[NodeFacts]:
    return _unique(facts.nodes, "Node", lambda each: each.name, mistakes)


def _settle(task: Task, state: int, node: str, table: NodeTable) -> None:
    """Puts a task where its pod is."""
    task.settle(state, table.rows.get(node, NOWHERE))
    task.elsewhere = bool(node) and task.row == NOWHERE


def _unique(facts: Sequence[F], kind: str, key, mistakes: list[Misconfigured]) -> list[F]:  # type: ignore[no-untyped-def]
    """Facts by their key, in its order; of two with one key the first in order of their text stays."""
    by_key: dict[str, F] = {}
    for each in facts:
        name = key(each)
        if name not in by_key:
            by_key[name] = each
        elif each != by_key[name]:
            by_key[name] = min(by_key[name], each, key=repr)
            mistakes.append(Misconfigured(kind, name, "given twice; one of them was taken"))
    return [by_key[name] for name in sorted(by_key)]


def _quantities(
    nodes: Iterable[NodeFacts], queues: Iterable[QueueFacts], groups: Iterable[GroupFacts], pods: Iterable[PodFacts]
) -> Iterable[Quantities | None]:
    yield from (node.allocatable for node in nodes)
    for queue in queues:
        yield from (queue.capability, queue.deserved, queue.guarantee)
    yield from (group.min_resources for group in groups)
    for pod in pods:
        yield from (container.requests for container in (*pod.containers, *pod.init_containers))
        yield pod.overhead


# --- nodes --------------------------------------------------------------------------------------------------------------


def _table(axis: Axis, nodes: list[NodeFacts], mistakes: list[Misconfigured]) -> NodeTable:
    nodes = sorted(nodes, key=lambda node: (node.pool, node.spine, node.rack, node.name))
    table = NodeTable(
        axis,
        [_traits(node) for node in nodes],
        [tuple(taint for taint in node.taints if taint[2] == "PreferNoSchedule") for node in nodes],
        usable=np.array([node.ready for node in nodes], dtype=np.bool_),
        cordoned=np.array([node.unschedulable for node in nodes], dtype=np.bool_),
    )
    for row, node in enumerate(nodes):
        reader = Amounts(axis)
        table.alloc[:, row] = reader.read(node.allocatable).values
        mistakes += (Misconfigured("Node", node.name, f"{name}: {what}") for name, what in reader.mistakes)
        if not node.allocatable:
            mistakes.append(Misconfigured("Node", node.name, "has no allocatable resources; nothing fits"))
    table.columns.idle[:] = table.alloc
    return table


def _traits(node: NodeFacts) -> Traits:
    """As the scheduler's filters see it: a cordon is its own filter there, so it implies no taint here."""
    return Traits(node.name, node.labels, tuple(taint for taint in node.taints if taint[2] in _HARD))


# --- queues, groups, pods -------------------------------------------------------------------------------------------------


class Reader:
    """Reads everything but nodes into a snapshot."""

    def __init__(self, into: Snapshot, facts: ClusterFacts) -> None:
        self.into = into
        self.axis = into.axis
        self.classes = {each.name: each.value for each in facts.priority_classes}
        self.default_priority = next((each.value for each in facts.priority_classes if each.is_default), 0)

    def amount(self, kind: str, name: str, quantities: Quantities | None) -> Resource | None:
        if quantities is None:
            return None
        reader = Amounts(self.axis)
        amount = reader.read(quantities)
        self.into.mistakes += (Misconfigured(kind, name, f"{which}: {what}") for which, what in reader.mistakes)
        return amount

    def queue(self, facts: QueueFacts) -> Queue:
        queue = Queue(
            facts.name, weight=facts.weight, state=facts.state or "Open", priority=facts.priority, parent=facts.parent
        )
        queue.reclaimable = facts.reclaimable
        queue.created_ns = facts.created_ns
        queue.capability = self.amount("Queue", facts.name, facts.capability or None)
        queue.deserved = self.amount("Queue", facts.name, facts.deserved or None)
        queue.guarantee = self.amount("Queue", facts.name, facts.guarantee or None)
        if facts.weight < 0:
            queue.weight = 0
            self.into.mistakes.append(Misconfigured("Queue", facts.name, f"weight {facts.weight} counts as 0"))
        return queue

    def group(self, facts: GroupFacts) -> None:
        queue = self.into.queues.get(facts.queue)
        if queue is None:
            what = f"queue {facts.queue} does not exist" if facts.queue else "names no queue"
            self.into.outside.append((facts, Why(reasons.NOT_ADMITTED, "queue_missing", message=what)))
            return
        job = Job(facts.namespace, facts.name, queue, self.axis.account())
        job.ref = facts.job
        job.priority = self.classes.get(facts.priority_class, self.default_priority)
        job.created_ns = facts.created_ns
        job.min_member = facts.min_member
        job.role_minimums = dict(facts.min_task_member)
        job.min_resources = self.amount("PodGroup", job.uid, facts.min_resources)
        job.phase = job.opening_phase = facts.phase
        job.annotations = facts.annotations
        job.owner_annotations = facts.owner_annotations
        job.topology = facts.topology
        job.held_domain = job.opening_domain = facts.allocated_domain
        self.into.jobs[job.uid] = job
        if job.topology is not None:
            self.into.networked[job.uid] = job

    def pods(self, pods: list[PodFacts]) -> None:
        seated = []
        for facts in pods:
            task = self.task(facts)
            self.into.tasks[task.uid] = task
            job = self.into.jobs.get(facts.group)
            if job is not None:
                job.add(task)
            if task.seated:
                seated.append(task)
        self.into.nodes.seat(seated)

    def task(self, facts: PodFacts) -> Task:
        cls, asked = self.into.classes.of(facts)
        task = Task(facts.uid, facts.namespace, facts.name, cls)
        _settle(task, _state(facts), facts.node, self.into.nodes)
        task.created_ns = facts.created_ns
        task.labels = facts.labels
        task.role = facts.annotations.get(keys.VOLCANO_ROLE) or facts.labels.get(keys.VOLCANO_ROLE) or ""
        task.pod_priority = facts.priority or 0
        task.priority = self._priority(facts)
        task.preemptable = _preemptable(facts)
        task.preempts = facts.preemption_policy != "Never"
        task.critical = facts.priority_class in _CRITICAL or facts.namespace == "kube-system"
        task.gated = bool(facts.gates)
        task.victim = facts.deleting and facts.victim
        task.nominated = facts.nominated_node
        if asked.mistakes:
            self._mistaken(task, asked.mistakes)
        return task

    def _mistaken(self, task: Task, mistakes: tuple[tuple[str, str], ...]) -> None:
        self.into.mistakes += (Misconfigured("Pod", task.key, f"{name}: {what}") for name, what in mistakes)
        bad = [f"{name}: {what}" for name, what in mistakes if "counted as 0" in what]
        task.fault = "; ".join(bad)

    def _priority(self, facts: PodFacts) -> int:
        text = facts.annotations.get(keys.VOLCANO_PRIORITY)
        if text is not None:
            number = _whole(text)
            if number is not None:
                return number
            what = f"annotation {keys.VOLCANO_PRIORITY}: {text[:40]!r} is no number of 32 bits; ignored"
            self.into.mistakes.append(Misconfigured("Pod", f"{facts.namespace}/{facts.name}", what))
        return 1 if facts.priority is None else facts.priority


_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,300}")


def _whole(text: str) -> int | None:
    """A whole number of 32 bits in plain digits, as Go reads one; None for anything else."""
    number = int(text) if _WHOLE.fullmatch(text) else None
    return number if number is not None and -(2**31) <= number < 2**31 else None


def _state(facts: PodFacts) -> int:
    if facts.phase == "Running":
        return status.RELEASING if facts.deleting else status.RUNNING
    if facts.phase == "Pending":
        if facts.deleting:
            return status.RELEASING
        if facts.binding:
            return status.BINDING
        return status.BOUND if facts.node else status.PENDING
    return {"Succeeded": status.SUCCEEDED, "Failed": status.FAILED}.get(facts.phase, status.UNKNOWN)


def _preemptable(facts: PodFacts) -> bool:
    """The annotation, then the label; what is no truth value is false, absence is true."""
    text = facts.annotations.get(keys.VOLCANO_PREEMPTABLE)
    if text is None:
        text = facts.labels.get(keys.VOLCANO_PREEMPTABLE)
    return text is None or text in _TRUE
