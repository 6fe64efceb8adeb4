"""backfill: places pods that ask for nothing wherever a check of the node allows it.

No room is compared, no queue is asked, and nothing is rolled back: such a task stays where it is put and is bound as soon
as its job is ready in this session. Tasks that had been promised a place give it up first.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from scheduler_core.model import status
from scheduler_core.model.jobs import Job, Queue
from scheduler_core.model.tasks import NOWHERE, Task
from scheduler_core.session import placing, refusals
from scheduler_core.session.orders import Heap
from scheduler_core.session.session import Session

_PLUGINS: Final = np.uint64(0xFFFFFFFF)


def execute(session: Session) -> None:
    """Runs the action."""
    tasks = order(session)
    for task in tasks:
        if task.status == status.PIPELINED:
            _give_up(session, task)
    for task in tasks:
        _place(session, task)


def order(session: Session) -> list[Task]:
    """The tasks in the order in which they are placed: all jobs of a queue, all tasks of a job."""
    jobs: dict[str, Heap[Job]] = {}
    queues: dict[str, Queue] = {}
    for job in session.jobs.values():
        may = job.pending_best_effort or job.by_status[status.PIPELINED]
        if not may or job.is_pending or session.invalid(job) is not None:
            continue
        queues[job.queue.name] = job.queue
        jobs.setdefault(job.queue.name, session.orders.job_heap()).push(job)
    found: list[Task] = []
    waiting = session.orders.queue_heap(queues.values())
    while waiting:
        heap = jobs[waiting.pop().name]
        while heap:
            found += session.orders.sorted_tasks(_without_request(heap.pop()))
    return found


def _without_request(job: Job) -> list[Task]:
    promised = job.by_status[status.PIPELINED].values()
    waiting = [task for task in job.pending() if task.open]
    return [task for task in (*waiting, *promised) if task.cls.best_effort]


def _place(session: Session, task: Task) -> None:
    job = task.job
    assert job is not None
    why = session.not_filtered(task)
    if why is not None:
        job.refusals[task.uid] = refusals.by_word(task, why)
        return
    codes = placing.codes_of(session, task) & _PLUGINS
    rows = np.flatnonzero(codes == 0)
    row = placing.best(session, task, rows, None) if len(rows) else None
    if row is None:
        job.refusals[task.uid] = refusals.by_nodes(session, task, session.judges.of(task.cls), codes, None)
        return
    job.refusals.pop(task.uid, None)
    session.allocate_alone(task, row)


def _give_up(session: Session, task: Task) -> None:
    job = task.job
    assert job is not None
    job.move(task, status.PENDING)
    session.nodes.promise(task.row, task, -1)
    session.tell_deallocated(task)
    task.row = NOWHERE
