"""Phases of groups at the end of a session, by Volcano's rules.

A task counts as scheduled when it is seen on a node: running, bound, over, or leaving from a node. One whose bind was only
sent does not count, so a gang that was just bound stays Inqueue until its pods are seen. A running group that falls below
its minimum becomes Pending and has to be let in again.
"""

from __future__ import annotations

from scheduler_core.model import status
from scheduler_core.model.jobs import COMPLETED, INQUEUE, PENDING, RUNNING, UNKNOWN, Job


def scheduled(job: Job) -> int:
    """Tasks that were seen on a node."""
    states = job.by_status
    seen = len(states[status.RUNNING]) + len(states[status.BOUND])
    over = len(states[status.SUCCEEDED]) + len(states[status.FAILED])
    return seen + over + (leaving(job) if states[status.RELEASING] else 0)


def leaving(job: Job) -> int:
    """Tasks that are leaving a node."""
    return sum(task.has_node for task in job.by_status[status.RELEASING].values())


def phase(job: Job, *, unschedulable: bool) -> str:
    """The phase after a session. `unschedulable`: the group got the condition Unschedulable in this very session."""
    if unschedulable and job.by_status[status.RUNNING]:
        return UNKNOWN
    seen = scheduled(job)
    if seen >= job.min_member:
        over = len(job.by_status[status.SUCCEEDED]) + len(job.by_status[status.FAILED])
        return COMPLETED if seen == over else RUNNING
    return INQUEUE if job.phase == INQUEUE else PENDING
