"""drf: the job that holds the smallest part of the cluster goes first (dominant resource fairness).

A job's share is the largest part of the cluster that it holds of any resource, pods included. A job may take from one
that will still be better off: its share with the new task is below the victim's share without all candidates walked so
far, or equal to it within a millionth. Queues in a tree by annotations are not built here: upstream leaves unspecified
what they should do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from scheduler_core.model.jobs import Job
from scheduler_core.model.resources import Resource, largest_share
from scheduler_core.model.tasks import Task
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session

_EQUAL: Final = 1e-6
V = TypeVar("V")


class OfJobs(dict[str, V], Generic[V]):
    """Something of each job by its uid, made when it is first asked for: a session asks of few."""

    def __init__(self, jobs: Mapping[str, Job], make: Callable[[Job], V]) -> None:
        super().__init__()
        self._jobs = jobs
        self._make = make

    def __missing__(self, uid: str) -> V:
        found = self[uid] = self._make(self._jobs[uid])
        return found

    def all(self) -> dict[str, V]:
        """Of every job."""
        return {uid: self[uid] for uid in self._jobs}


class Drf(Plugin):
    name = "drf"
    steady = True

    def open(self, session: Session) -> None:
        self.total = session.total
        self.of = [(place, self.total.values[place]) for place in self.total.used_places()]
        self.held: dict[str, Resource] = OfJobs(session.jobs, lambda job: job.allocated_when_opened().copy())
        of = self.of  # not `self`, which would hold itself
        self.shares: dict[str, float] = OfJobs(session.jobs, lambda job: _share(job.allocated_when_opened(), of))

    def share(self, held: Resource) -> float:
        """The dominant share of an amount."""
        return _share(held, self.of)

    def job_order(self, job: Job) -> Any:
        found = self.shares.get(job.uid)
        if found is None:
            found = self.shares[job.uid] = self.share(job.allocated_when_opened())
        return found

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> Iterable[Task]:
        if preemptor.job is None:
            return []
        mine = self.share(self.held[preemptor.job.uid].copy().add(preemptor.cls.request))
        left: dict[str, Resource] = {}
        found = []
        for task in candidates:
            if task.job is None:
                continue
            holds = left.setdefault(task.job.uid, self.held[task.job.uid].copy())
            theirs = self.share(holds.take(task.cls.request))
            if mine < theirs or abs(mine - theirs) <= _EQUAL:
                found.append(task)
        return found

    def allocated(self, task: Task) -> None:
        if task.job is not None:
            held = self.held[task.job.uid]
            held.charge(task.cls.items)
            self.shares[task.job.uid] = largest_share(held.values, self.of)

    def allocated_together(self, tasks: Sequence[Task]) -> None:
        self._charge(tasks, 1)

    def deallocated_together(self, tasks: Sequence[Task]) -> None:
        self._charge(tasks, -1)

    def _charge(self, tasks: Sequence[Task], sign: int) -> None:
        job = tasks[0].job
        if job is not None:
            held = self.held[job.uid]
            held.charge(tasks[0].cls.items, sign * len(tasks))
            self.shares[job.uid] = largest_share(held.values, self.of)

    def deallocated(self, task: Task) -> None:
        if task.job is not None:
            held = self.held[task.job.uid]
            held.refund(task.cls.items)
            self.shares[task.job.uid] = largest_share(held.values, self.of)


def _share(held: Resource, of: Sequence[tuple[int, float]]) -> float:
    return 0.0 if not any(held.values) else largest_share(held.values, of)
