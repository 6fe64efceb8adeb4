"""Why a job waits, as one reason: what every part of a session said of it, in the order in which it comes first.

A job that was not let in waits for that, whatever nodes would say. One that is let in and cannot be scheduled as it is
waits for that. Then what its queue said, then what nodes said of its first refused task, then its gang.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pipeline.records import reasons
from scheduler_core.model.jobs import Job
from scheduler_core.model.refusal import Refusal
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why
from scheduler_core.session.orders import compare_keys
from scheduler_core.session.points import says
from scheduler_core.session.session import Session


def of_job(session: Session, job: Job) -> Why | None:
    """Why the job waits; None if it does not: nothing of it is left to place."""
    ballot = session.ballots.get(job.uid)
    if job.is_pending and ballot is not None and not ballot.passed:
        return ballot.why or Why(reasons.SCHEDULER_BACKLOG, "not_enqueued", message="nobody permitted it")
    waiting = [task for task in job.pending() if not task.cls.best_effort or task.fault or task.uid in job.refusals]
    if not waiting:
        return job.why if not job.tasks or _too_few(job) else None
    gated = [task for task in waiting if task.gated]
    if len(gated) == len(waiting):
        wait = "1 task waits" if len(gated) == 1 else f"{len(gated)} tasks wait"
        return Why(reasons.NOT_ADMITTED, "gated", message=f"{wait} behind a scheduling gate")
    if not session.nodes.usable_count:
        return _no_node(len(session.nodes))
    if job.why is not None and not job.refusals:
        return job.why
    refused = _first(session, job, waiting)
    if refused is not None:
        return of_refusal(job, refused)
    faulty = next((task for task in waiting if task.fault), None)
    if faulty is not None:
        return Why(reasons.UNKNOWN, message=f"task {faulty.key} cannot be meant as it is: {faulty.fault}")
    if job.is_pending:
        return Why(reasons.SCHEDULER_BACKLOG, "not_enqueued", message="it was not let into its queue yet")
    return Why(reasons.SCHEDULER_BACKLOG, "not_tried", message="no action of this session came to it")


def _no_node(closed: int) -> Why:
    """Why nothing was looked at: there are no nodes, or so many and none of them ready."""
    if not closed:
        return Why(reasons.INSUFFICIENT_RESOURCE, message="there is no node to look at")
    are = "1 node is there, and it is not" if closed == 1 else f"{closed} nodes are there, and none of them is"
    return Why(reasons.NODE_NOT_READY, message=f"{are} ready")


def _too_few(job: Job) -> bool:
    return job.valid < job.min_member


def _first(session: Session, job: Job, waiting: Iterable[Task]) -> Refusal | None:
    """The refusal that speaks for a job: of its first task that nodes refused, else of its first refused one."""
    if len(job.refusals) == 1:
        return next((job.refusals[task.uid] for task in waiting if task.uid in job.refusals), None)
    found = [job.refusals[task.uid] for task in session.orders.sorted_tasks(waiting) if task.uid in job.refusals]
    return next((each for each in found if each.report is not None), found[0] if found else None)


def of_refusal(job: Job, refusal: Refusal) -> Why:
    """A task's refusal, with how far its gang had come."""
    if refusal.report is None or job.min_member < 2:
        return refusal.why
    why = refusal.why
    return Why(
        why.reason, why.detail, why.resource, f"{refusal.placed} of {job.min_member} placed, then {why.message}",
        why.plugin, why.asked, why.used, why.limit,
    )  # fmt: skip


class Before(NamedTuple):
    """Which plugin puts one job before another, with the keys of both; no plugin: its age, or its name."""

    plugin: str
    ours: Any
    theirs: Any


def order(session: Session, job: Job, other: Job) -> Before:
    """What decides the order of two jobs of one queue: the first plugin that tells them apart."""
    for tier in session.tiers:
        for plugin in tier:
            if "jobOrder" not in plugin.enabled or not says(plugin, "job_order"):
                continue
            ours, theirs = plugin.job_order(job), plugin.job_order(other)
            if compare_keys((ours,), (theirs,)):
                return Before(plugin.name, ours, theirs)
    if job.created_ns != other.created_ns:
        return Before("creation time", job.created_ns, other.created_ns)
    return Before("name", job.uid, other.uid)


class Turns:
    """Who of a queue was taken before whom."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._of_queue: dict[str, list[Job]] = {}
        for uid in session.tried:
            job = session.jobs[uid]
            self._of_queue.setdefault(job.queue.name, []).append(job)
        self._place = {job.uid: place for jobs in self._of_queue.values() for place, job in enumerate(jobs)}

    def ahead(self, job: Job) -> tuple[int, Job | None]:
        """How many jobs of its queue this session took before the job, and the last of them; all if it never came to it."""
        jobs = self._of_queue.get(job.queue.name, [])
        place = self._place.get(job.uid, len(jobs))
        return place, jobs[place - 1] if place else None
