"""sla: jobs with a promised waiting time go first by deadline, and once it is over they are let in and held.

The promise is an annotation of the group (`pipeline.records.sla` has the keys and the grammar), else the argument
`sla-waiting-time`, which must be text. A value that cannot be read or is not above zero counts as absent, so the next
place applies. The vote, for entering the queue and for keeping what was promised, permits from the very nanosecond of
the deadline on and abstains before; it never rejects. In a tier with plugins that always permit or reject (gang,
proportion, capacity, overcommit) it cannot change the result.

Arguments beyond upstream: `annotations: job` reads the job's annotations before the group's. `hold: fitting` keeps places
only for gangs whose minimum the empty cluster could hold within the capability of their queue: without it a gang that can
never start, and is late, takes its places from others in every session.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

from pipeline.records import sla
from scheduler_core.model import status
from scheduler_core.model.jobs import Job
from scheduler_core.model.resources import UNLIMITED, Resource
from scheduler_core.model.tasks import Task
from scheduler_core.session import arguments
from scheduler_core.session.combine import ABSTAIN, PERMIT, Vote
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session

ARGUMENT: Final = "sla-waiting-time"
_LAST: Final = (1, 0)
_NOT_KNOWN: Final = -1
"""No waiting time: those are above zero."""


def default_waiting_ns(value: object) -> int | None:
    """The waiting time that the argument promises everyone, or None."""
    if not isinstance(value, str):
        return None
    return _positive_ns(value)


@functools.lru_cache(maxsize=1024)
def _positive_ns(text: str) -> int | None:
    try:
        nanos = sla.parse_duration_ns(text)
    except ValueError:
        return None
    return nanos if nanos > 0 else None


def _promised(notes: Mapping[str, str]) -> int | None:
    """The waiting time that annotations promise."""
    if not notes:
        return None
    for key in sla.KEYS:
        text = notes.get(key)
        nanos = None if text is None else _positive_ns(text)
        if nanos is not None:
            return nanos
    return None


class Sla(Plugin):
    name = "sla"
    steady = True
    arguments_known = (ARGUMENT, "annotations", "hold")

    def open(self, session: Session) -> None:
        self.session = session
        self.default_ns = default_waiting_ns(self.arguments.get(ARGUMENT))
        self.job_first = arguments.text(self.arguments, "annotations") == "job"
        self.only_fitting = arguments.text(self.arguments, "hold") == "fitting"
        self._waiting_ns: dict[str, int | None] = {}

    def waiting_ns(self, job: Job) -> int | None:
        """The promised waiting time, or None without a promise."""
        found = self._waiting_ns.get(job.uid, _NOT_KNOWN)
        if found == _NOT_KNOWN:
            found = self._waiting_ns[job.uid] = self._find(job)
        return found

    def _find(self, job: Job) -> int | None:
        found = _promised(job.owner_annotations) if self.job_first else None
        if found is None:
            found = _promised(job.annotations)
        return self.default_ns if found is None else found

    def deadline_ns(self, job: Job) -> int | None:
        """When the promise is over, or None without one."""
        waiting = self.waiting_ns(job)
        return None if waiting is None else job.created_ns + waiting

    def job_order(self, job: Job) -> Any:
        deadline = self.deadline_ns(job)
        return _LAST if deadline is None else (0, deadline)

    def job_enqueueable(self, job: Job) -> Vote:
        return self._vote(job)

    def job_pipelined(self, job: Job) -> Vote:
        vote = self._vote(job)
        if vote is PERMIT and self.only_fitting and not could_ever_fit(self.session, job):
            return ABSTAIN
        return vote

    def _vote(self, job: Job) -> Vote:
        waiting = self.waiting_ns(job)
        if waiting is None or self.session.now_ns - job.created_ns < waiting:
            return ABSTAIN
        return PERMIT


def could_ever_fit(session: Session, job: Job) -> bool:
    """Whether nothing rules out that the job's minimum finds places in the empty cluster.

    Each class alone must have enough places on open nodes, and all together must be within the queue's capability.
    Tasks that hold places already are counted first; what was placed in this session counts like what waits.
    """
    needed = max(job.min_member - job.count(status.SUCCEEDED), 0)
    counts: dict[int, list[Task]] = {}
    total = session.axis.account()
    for task in _settled_first(session, job)[:needed]:
        counts.setdefault(task.cls.number, []).append(task)
        total.charge(task.cls.items)
    capability = job.queue.capability
    if capability is not None and total.exceeding(_unlimited(capability), total):
        return False
    return all(session.judges.of(tasks[0].cls).places_when_empty() >= len(tasks) for tasks in counts.values())


_UNSETTLED: Final = (status.PENDING, status.PIPELINED, status.ALLOCATED)


def _settled_first(session: Session, job: Job) -> list[Task]:
    settled = [task for task in job.tasks.values() if status.IS_HOLDING[task.status] and task.status not in _UNSETTLED]
    return settled + session.orders.sorted_tasks(task for task in job.tasks.values() if task.status in _UNSETTLED)


def _unlimited(capability: Resource) -> Resource:
    """A capability in which what is not named, or not above zero, is without limit."""
    values = [amount if amount > 0 else UNLIMITED for amount in capability.values]
    return Resource(values, capability.named)
