"""priority: what has the higher priority goes first, and takes from lower ones of its queue.

Between jobs the job's priority decides, within a job the task's. Equal priority is never a victim. A job is starving as
long as any of its tasks has no place, whatever its minimum: a satisfied gang with more tasks waiting still preempts.
There is no word on reclaim: priority protects nobody from another queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scheduler_core.model.jobs import Job
from scheduler_core.model.tasks import Task
from scheduler_core.session.plugin import Plugin


class Priority(Plugin):
    name = "priority"
    steady = True

    def task_order(self, task: Task) -> Any:
        return -task.priority

    def job_order(self, job: Job) -> Any:
        return -job.priority

    def job_starving(self, job: Job) -> bool:
        return job.ready + job.waiting < len(job.tasks)

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> Iterable[Task]:
        return [task for task in candidates if _lower(task, preemptor)]


def _lower(task: Task, preemptor: Task) -> bool:
    if task.job is preemptor.job:
        return task.priority < preemptor.priority
    if task.job is None or preemptor.job is None:
        return False
    return task.job.priority < preemptor.job.priority
