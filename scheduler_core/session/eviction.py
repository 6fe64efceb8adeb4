"""What preempt and reclaim share: who starves, which victims a node offers, and whether that would be enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scheduler_core.model.jobs import Job, Queue
from scheduler_core.model.tasks import Task
from scheduler_core.session.session import Session


class Starving:
    """The queues of all jobs that may run, and the starving jobs of each with their waiting tasks, in order."""

    def __init__(self, session: Session, skip: Callable[[Job], bool]) -> None:
        self.session = session
        self.queues: dict[str, Queue] = {}
        self.jobs: dict[str, list[Job]] = {}
        for job in session.jobs.values():
            if job.is_pending or skip(job) or session.invalid(job) is not None:
                continue
            self.queues[job.queue.name] = job.queue
            if session.starving(job):
                self.jobs.setdefault(job.queue.name, []).append(job)

    def tasks(self, job: Job) -> list[Task]:
        """Waiting tasks of a job, the first last."""
        return self.session.orders.sorted_tasks(task for task in job.pending() if task.open)[::-1]


def candidates_on(session: Session, row: int, fits: Callable[[Task], bool]) -> list[Task]:
    """Tasks on a node that pass a condition, those that would be scheduled last first."""
    return session.orders.lowest_first(task for task in session.nodes.tasks[row].values() if fits(task))


def enough(session: Session, task: Task, row: int, victims: Iterable[Task]) -> bool:
    """Whether the node would hold the task if all victims were gone; with none, as it will be."""
    cells = session.nodes.row(row)
    freed = [0] * len(session.axis)
    for victim in victims:
        for place, amount in victim.cls.items:
            freed[place] += amount
    return all(amount <= cells.free(place) + freed[place] for place, amount in task.cls.needs)
