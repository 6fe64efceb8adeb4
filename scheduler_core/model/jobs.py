"""Jobs (gangs) and queues.

A job keeps its tasks by state and counts what every vote asks for, so that "is the gang ready" is a few additions
however large the gang is. All changes of a task's state go through `Job.move`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pipeline.records.jobs import JobRef
from scheduler_core.model import status
from scheduler_core.model.facts import TopologyFacts
from scheduler_core.model.refusal import Refusal
from scheduler_core.model.resources import Resource
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why

PENDING: Final = "Pending"
INQUEUE: Final = "Inqueue"
RUNNING: Final = "Running"
UNKNOWN: Final = "Unknown"
COMPLETED: Final = "Completed"
"""Phases of a group. An empty phase counts as Pending."""

OPEN: Final = "Open"


class Queue:
    """A queue as a session sees it; its amounts are None where the queue names none."""

    __slots__ = (
        "capability", "created_ns", "deserved", "guarantee", "name", "parent", "priority", "reclaimable", "state",
        "weight",
    )  # fmt: skip

    def __init__(self, name: str, *, weight: int = 1, state: str = OPEN, priority: int = 0, parent: str = "") -> None:
        self.name = name
        self.weight = weight
        self.state = state
        self.priority = priority
        self.parent = parent
        self.reclaimable = True
        self.created_ns = 0
        self.capability: Resource | None = None
        self.deserved: Resource | None = None
        self.guarantee: Resource | None = None

    def __repr__(self) -> str:
        return f"Queue({self.name})"

    @property
    def open(self) -> bool:
        return self.state == OPEN


class Job:
    """A gang in a session.

    `refusals` holds the last refusal of each task by uid, `failed_roles` roles of which a task was refused by nodes.
    `settled_domain` is what `topology.settle_held` has found for the tasks as they are when a session opens.
    `ready` counts tasks that hold a place or have succeeded. `why` is what was said of the whole job last. `role_minimums` count only when together they are not above
    `min_member`.
    """

    __slots__ = (
        "allocated", "annotations", "by_status", "created_ns", "failed_roles", "held_domain", "min_member",
        "min_resources", "name", "namespace", "opening_allocated", "opening_domain", "opening_phase", "owner_annotations",
        "pending_best_effort", "phase", "priority", "queue", "ready", "ref", "refusals", "role_counts", "role_minimums",
        "settled_domain", "tasks", "topology", "uid", "why",
    )  # fmt: skip

    def __init__(self, namespace: str, name: str, queue: Queue, allocated: Resource) -> None:
        self.namespace = namespace
        self.name = name
        self.uid = f"{namespace}/{name}"
        self.queue = queue
        self.allocated = allocated
        self.ref: JobRef | None = None
        self.priority = 0
        self.created_ns = 0
        self.min_member = 0
        self.role_minimums: Mapping[str, int] = {}
        self.min_resources: Resource | None = None
        self.phase = PENDING
        self.opening_phase = PENDING
        self.annotations: Mapping[str, str] = {}
        self.owner_annotations: Mapping[str, str] = {}
        self.topology: TopologyFacts | None = None
        self.held_domain = self.opening_domain = ""
        self.settled_domain: str | None = None
        self.opening_allocated: Resource | None = None
        self.tasks: dict[str, Task] = {}
        self.by_status: list[dict[str, Task]] = [{} for _ in status.NAMES]
        self.ready = 0
        self.pending_best_effort = 0
        self.role_counts: dict[str, list[int]] = {}
        self.refusals: dict[str, Refusal] = {}
        self.failed_roles: set[str] = set()
        self.why: Why | None = None

    def __repr__(self) -> str:
        return f"Job({self.uid})"

    def allocated_when_opened(self) -> Resource:
        """What the job held when the session opened; not to be changed."""
        return self.opening_allocated or self.allocated

    def was_used(self) -> bool:
        """Whether a session said or did anything about the job."""
        return (
            self.opening_allocated is not None
            or self.why is not None
            or bool(self.refusals)
            or self.phase != self.opening_phase
            or self.held_domain != self.opening_domain
        )

    def reopen(self) -> None:
        """Forgets what a session said and did about the job."""
        self.phase, self.why, self.held_domain = self.opening_phase, None, self.opening_domain
        if self.refusals:
            self.refusals = {}
        if self.failed_roles:
            self.failed_roles = set()
        if self.opening_allocated is None:
            return
        self.opening_allocated = None
        self.allocated.values = [0] * len(self.allocated.values)
        self.by_status = [{} for _ in status.NAMES]
        self.ready = self.pending_best_effort = 0
        self.role_counts = {}
        for task in self.tasks.values():
            task.reopen()
            self._enter(task, task.status)

    # --- tasks ---------------------------------------------------------------------------------------------------

    def add(self, task: Task) -> None:
        """Takes a task in, in its present state."""
        task.job = self
        self.settled_domain = None
        self.tasks[task.uid] = task
        self._enter(task, task.status)

    def move(self, task: Task, state: int) -> None:
        """Changes a task's state."""
        if self.opening_allocated is None:
            self.opening_allocated = self.allocated.copy()
        before = task.status
        del self.by_status[before][task.uid]
        self._count(task, before, -1)
        self._enter(task, state)
        task.status = state

    def hold_on(self, task: Task, state: int) -> None:
        """Changes the state of a task that holds a place before and after, so that hardly anything needs counting."""
        if self.role_minimums:
            self.move(task, state)
            return
        del self.by_status[task.status][task.uid]
        self.by_status[state][task.uid] = task
        task.status = state

    def all_hold_on(self, tasks: Sequence[Task], state: int) -> bool:
        """The same for all of its tasks in a state, where none is in the new one; False, and nothing done, if it is not so."""
        before = tasks[0].status
        states = self.by_status
        if self.role_minimums or states[state] or len(tasks) != len(states[before]) or tasks[0].job is not self:
            return False
        if [*states[before]] != [task.uid for task in tasks]:
            return False
        states[before], states[state] = states[state], states[before]
        for task in tasks:
            task.status = state
        return True

    def move_together(self, tasks: Sequence[Task], state: int) -> None:
        """Changes the state of equal tasks that all are in one state."""
        if self.role_minimums:
            for task in tasks:
                self.move(task, state)
            return
        if self.opening_allocated is None:
            self.opening_allocated = self.allocated.copy()
        before = tasks[0].status
        source, target = self.by_status[before], self.by_status[state]
        for task in tasks:
            del source[task.uid]
            target[task.uid] = task
            task.status = state
        self._count_all(tasks[0], len(tasks), before, state)

    def _count_all(self, like: Task, number: int, before: int, state: int) -> None:
        held = status.IS_HOLDING[state] - status.IS_HOLDING[before]
        self.ready += number * (status.IS_READY[state] - status.IS_READY[before])
        if held > 0:
            self.allocated.charge(like.cls.items, number)
        elif held < 0:
            self.allocated.refund(like.cls.items, number)
        if like.cls.best_effort:
            self.pending_best_effort += number * ((state == status.PENDING) - (before == status.PENDING))

    def drop(self, uid: str) -> None:
        """Forgets a task, between sessions."""
        task = self.tasks.pop(uid)
        self.settled_domain = None
        del self.by_status[task.status][uid]
        self._count(task, task.status, -1)
        task.job = None

    def _enter(self, task: Task, state: int) -> None:
        self.by_status[state][task.uid] = task
        self._count(task, state, 1)

    def _count(self, task: Task, state: int, by: int) -> None:
        if status.IS_READY[state]:
            self.ready += by
        if status.IS_HOLDING[state]:
            if by > 0:
                self.allocated.charge(task.cls.items)
            else:
                self.allocated.refund(task.cls.items)
        elif state == status.PENDING and task.cls.best_effort:
            self.pending_best_effort += by
        if self.role_minimums:
            self._count_role(task, state, by)

    def _count_role(self, task: Task, state: int, by: int) -> None:
        counts = self.role_counts.get(task.role)
        if counts is None:
            counts = self.role_counts[task.role] = [0] * (len(status.NAMES) + 1)
        counts[state] += by
        if state == status.PENDING and task.cls.best_effort:
            counts[-1] += by

    def pending(self) -> Iterator[Task]:
        return iter(self.by_status[status.PENDING].values())

    def count(self, *states: int) -> int:
        """Number of tasks in these states."""
        return sum(len(self.by_status[state]) for state in states)

    @property
    def valid(self) -> int:
        """Number of tasks in `status.VALID`: all but those that leave, failed, or are in no known state."""
        states = self.by_status
        return (
            len(self.tasks) - len(states[status.RELEASING]) - len(states[status.FAILED]) - len(states[status.UNKNOWN])
        )

    # --- gang arithmetic -------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        return len(self.by_status[status.PIPELINED])

    @property
    def roles_count(self) -> bool:
        """Whether the minimums of roles are looked at."""
        return bool(self.role_minimums) and self.min_member >= sum(self.role_minimums.values())

    def role_has(self, role: str, states: tuple[int, ...], *, best_effort: bool) -> int:
        """Tasks of a role in these states; with its waiting tasks without request if `best_effort`."""
        counts = self.role_counts.get(role)
        if counts is None:
            return 0
        return sum(counts[state] for state in states) + (counts[-1] if best_effort else 0)

    @property
    def is_pending(self) -> bool:
        """Not let into its queue yet."""
        return self.phase in ("", PENDING)
