"""reclaim: starving jobs of a queue that deserves more take room from other queues.

Queues take their turn by order; one that uses all it deserves has none. For each waiting task the first node is taken on
which evicting those whom the plugins offer, the least worthy first, makes enough room; the checks of the node are not
asked again after that. For a job all goes into one statement, which stands only if the gang then has its places.
"""

from __future__ import annotations

from typing import Final

from scheduler_core.model import status
from scheduler_core.model.jobs import Job, Queue
from scheduler_core.model.tasks import Task
from scheduler_core.session import eviction, placing
from scheduler_core.session.session import Session
from scheduler_core.session.statement import Statement

REASON: Final = "reclaim"


def execute(session: Session) -> None:
    """Runs the action."""
    starving = eviction.Starving(session, skip=lambda job: False)
    jobs = {name: session.orders.live_jobs(waiting) for name, waiting in starving.jobs.items()}
    queues = session.orders.live_queues(starving.queues.values())
    while queues:
        queue = queues.pop()
        if queue.name not in jobs or session.overused(queue) is not None:
            continue
        waiting = jobs[queue.name]
        while waiting:
            _for_job(session, queue, waiting.pop(), starving)
            if waiting:
                queues.push(queue)  # it finds nothing more to do, but moves the others in the heap, as upstream


def _for_job(session: Session, queue: Queue, job: Job, starving: eviction.Starving) -> None:
    statement = Statement(session)
    waiting = starving.tasks(job)
    while waiting and session.starving(job):
        task = waiting.pop()
        if not task.preempts or session.not_preemptive(queue, task) is not None:
            continue
        if session.not_filtered(task) is not None:
            continue
        _for_task(session, statement, task)
    if session.pipelined(job).passed:
        statement.commit()
    else:
        statement.discard()


def _for_task(session: Session, statement: Statement, task: Task) -> None:
    for row in placing.candidates(session, task).tolist():
        offered = eviction.candidates_on(session, row, lambda victim: _may_lose(victim, task))
        if offered and _on_node(session, statement, task, row, offered):
            return


def _on_node(session: Session, statement: Statement, task: Task, row: int, offered: list[Task]) -> bool:
    victims = session.reclaimable(task, offered)
    if not eviction.enough(session, task, row, victims):
        return False
    local = Statement(session)
    order = session.orders.live_victims(victims, task)
    while order and not placing.will_fit(session, task, row):
        local.evict(order.pop(), REASON, task)
    if not placing.will_fit(session, task, row):
        local.discard()
        return False
    local.pipeline(task, row, evicted=len(local) > 0)
    statement.merge(local)
    return True


def _may_lose(victim: Task, task: Task) -> bool:
    if victim.status != status.RUNNING or not victim.preemptable or victim.job is None or task.job is None:
        return False
    queue = victim.job.queue
    return queue is not task.job.queue and queue.reclaimable
