"""gang: a job starts with at least `minMember` tasks or not at all.

With minimums of roles these count too, unless together they are above `minMember`. A gang is starving by its tasks
alone: waiting tasks without request do not make up for missing ones there, as they do for ready and pipelined. Victims
are the surplus of a job: those above its minimum. Order: gangs that are not ready go first (argument
`order: ready-first` turns that round).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pipeline.records import reasons
from scheduler_core.model import status
from scheduler_core.model.jobs import Job
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why
from scheduler_core.session import arguments
from scheduler_core.session.combine import PERMIT, Vote, reject
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session

NOT_ENOUGH_PODS_OF_ROLE: Final = "NotEnoughPodsOfTask"
NOT_ENOUGH_TASKS: Final = "NotEnoughTasks"


def is_ready(job: Job) -> bool:
    """Whether the minimum, and those of roles, hold places; waiting tasks without request count as if they did."""
    enough = job.ready + job.pending_best_effort >= job.min_member
    return enough and (not job.role_minimums or _roles(job, status.READY, best_effort=True))


def is_pipelined(job: Job) -> bool:
    """The same with promised places."""
    enough = job.waiting + job.ready + job.pending_best_effort >= job.min_member
    return enough and _roles(job, (*status.READY, status.PIPELINED), best_effort=True)


def is_starving(job: Job) -> bool:
    return job.waiting + job.ready < job.min_member


def _roles(job: Job, states: tuple[int, ...], *, best_effort: bool) -> bool:
    if not job.roles_count:
        return True
    return all(
        job.role_has(role, states, best_effort=best_effort) >= least for role, least in job.role_minimums.items()
    )


class Gang(Plugin):
    name = "gang"
    steady = True
    arguments_known = ("order",)

    def open(self, session: Session) -> None:
        self.ready_first = arguments.text(self.arguments, "order") == "ready-first"

    def job_valid(self, job: Job) -> Why | None:
        if not _roles_exist(job):
            return self._incomplete(NOT_ENOUGH_PODS_OF_ROLE, "Not enough valid pods of each task for gang-scheduling")
        valid = job.valid
        if valid < job.min_member:
            text = f"Not enough valid tasks for gang-scheduling, valid: {valid}, min: {job.min_member}"
            return self._incomplete(NOT_ENOUGH_TASKS, text)
        return None

    def _incomplete(self, code: str, text: str) -> Why:
        return Why(reasons.GANG_INCOMPLETE, "members_missing", message=f"{code}: {text}", plugin=self.name)

    def job_order(self, job: Job) -> Any:
        return is_ready(job) != self.ready_first

    def job_ready(self, job: Job) -> bool:
        return is_ready(job)

    def job_missing(self, job: Job) -> int:
        return job.min_member - job.ready - job.pending_best_effort

    def job_pipelined(self, job: Job) -> Vote:
        if is_pipelined(job):
            return PERMIT
        return _too_few(self.name, job.waiting + job.ready + job.pending_best_effort, job.min_member)

    def job_starving(self, job: Job) -> bool:
        return is_starving(job)

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> Iterable[Task]:
        return surplus(candidates)

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> Iterable[Task]:
        return surplus(candidates)


@functools.lru_cache(maxsize=4096)
def _too_few(name: str, have: int, least: int) -> Vote:
    text = f"{have} of at least {least} tasks have a place"
    return reject(Why(reasons.GANG_INCOMPLETE, message=text, plugin=name))


def surplus(candidates: Sequence[Task]) -> list[Task]:
    """Those whose jobs stay at their minimum without them, taken in the order given."""
    left: dict[str, int] = {}
    found = []
    for task in candidates:
        job = task.job
        if job is None:
            continue
        have = left.setdefault(job.uid, job.ready)
        if have > job.min_member:
            left[job.uid] = have - 1
            found.append(task)
    return found


def _roles_exist(job: Job) -> bool:
    """Whether each role has its minimum of tasks that can run; minimums of nothing do not count."""
    if not job.roles_count:
        return True
    return all(
        job.role_has(role, status.VALID, best_effort=False) >= least
        for role, least in job.role_minimums.items()
        if least
    )
