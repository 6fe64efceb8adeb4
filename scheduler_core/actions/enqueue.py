"""enqueue: lets waiting jobs into their queues, each tried once, in the order of queues and jobs.

It looks at quotas, not at nodes. A job that is refused never blocks a later one. A job that names no minimum resources is
let in unasked.
"""

from __future__ import annotations

from scheduler_core.model.jobs import Job, Queue
from scheduler_core.session.session import Session


def execute(session: Session) -> None:
    """Runs the action."""
    waiting: dict[str, list[Job]] = {}
    queues: dict[str, Queue] = {}
    for job in session.jobs.values():
        queues[job.queue.name] = job.queue
        if job.is_pending:
            waiting.setdefault(job.queue.name, []).append(job)
    heaps = {name: session.orders.job_heap(jobs) for name, jobs in waiting.items()}
    order = session.orders.queue_heap(queues.values())
    queue = order.take()
    while queue is not None:
        jobs = heaps.get(queue.name)
        if jobs:
            _try(session, jobs.pop())
            queue = order.next(queue)
        else:
            queue = order.take()


def _try(session: Session, job: Job) -> None:
    ballot = session.enqueueable(job)
    session.ballots[job.uid] = ballot
    if ballot.passed:
        session.enqueue(job)
    else:
        job.why = ballot.why
