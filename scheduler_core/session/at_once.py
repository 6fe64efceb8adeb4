"""Turns of jobs that are over with their first task, since no node takes it: no statement is begun for them.

Where a fleet is full, most jobs that wait are like one that all nodes have just refused. Nothing has been placed since, so
what nodes said of it they say again. Left for such a job are what its queue says, its refusal and the vote on it. Whatever is
not as plain as that, or of a policy with a plugin that is not steady (`Plugin.steady`), is left to the action.
"""

from __future__ import annotations

from scheduler_core.model.jobs import Job
from scheduler_core.model.refusal import Refusal
from scheduler_core.model.tasks import Task
from scheduler_core.session import refusals
from scheduler_core.session.judging import Judge
from scheduler_core.session.session import Session
from scheduler_core.session.topology import hard_tier


class AtOnce:
    """Refuses jobs of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._on = session.places_together and session.steady
        self._judges: dict[int, Judge] = {}

    def turn(self, job: Job, waiting: list[Task]) -> bool | None:
        """The turn of a job, as the action would take it; None, and nothing done, if the action has to.

        True if the job is ready all the same and has more to place.
        """
        task = waiting[-1]
        if not self._on or task.nominated or job.min_member < len(job.tasks) or task.role in job.failed_roles:
            return None
        refusal = self._refusal(job, task)
        if refusal is None:
            return None
        waiting.pop()
        job.refusals[task.uid] = refusal
        job.failed_roles.add(task.role)
        session = self.session
        if session.ready(job):
            return bool(waiting)
        ballot = session.pipelined(job)
        if not ballot.passed:
            job.why = job.why or ballot.why
        return False

    def _refusal(self, job: Job, task: Task) -> Refusal | None:
        """What nodes say of the task if they can be asked in short, and none takes it."""
        session, number = self.session, task.cls.number
        judge = self._judges.get(number)
        if judge is None or not judge.hopeless:
            if session.not_filtered(task) is not None:
                return None
            judge = self._judges[number] = session.judges.of(task.cls)
            if judge.room.fits and not judge.hopeless:
                return None
        task.near = ""
        if job.topology is not None:
            if hard_tier(session.domains, job) is not None:
                return None
            task.near = job.held_domain
        if not judge.alone(task) or session.not_allocatable(job.queue, task) is not None:
            return None
        return refusals.again(task, judge) if judge.hopeless else refusals.by_all(session, task, judge)
