"""preempt: starving jobs take room from lower ones of their own queue, and higher tasks of a job from its lower ones.

For a job all evictions and promises go into one statement, which stands only if the gang then has its places. Nodes are
tried by score, without those on which not even everybody's going would make room. On a node victims go one by one, the
least worthy first, until the queue may take the task, the node will have the room, and its checks pass; that may need no
eviction at all. A node where it does not come to that is left as it was.

With `enableTopologyAwarePreemption` victims are found by a dry run instead: those that turn out not to be needed are spared,
and of some nodes the one that hurts least is taken.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from scheduler_core.model import status
from scheduler_core.model.cells import Bools, Ints
from scheduler_core.model.jobs import Job, Queue
from scheduler_core.model.policy import Arguments
from scheduler_core.model.tasks import NOWHERE, Task
from scheduler_core.session import arguments, dry_run, eviction, placing
from scheduler_core.session.session import Session
from scheduler_core.session.statement import Statement

NAME: Final = "preempt"
REASON: Final = "preempt"
Fits = Callable[[Task], bool]


def execute(session: Session) -> None:
    """Runs the action."""
    action = Preempt(session, session.policy.arguments_of(NAME))
    starving = eviction.Starving(session, skip=lambda job: job.topology is not None)
    queues = session.orders.queue_heap(starving.queues.values())
    while queues:
        name = queues.pop().name
        hungry = starving.jobs.get(name, [])
        jobs = session.orders.live_jobs(hungry)
        while jobs:
            job = jobs.pop()
            if action.between_jobs(job, starving):
                jobs.push(job)
        for job in sorted(hungry, key=session.orders.job):
            action.within_job(job, starving)


class Preempt:
    """The action with its arguments."""

    def __init__(self, session: Session, given: Arguments) -> None:
        self.session = session
        self._waiting: dict[str, list[Task]] = {}
        self._refused: dict[tuple[str, str], Bools] = {}
        self.remembers = arguments.truth(given, "predicateErrorCacheEnable", default=True)
        self.dry_run = arguments.truth(given, "enableTopologyAwarePreemption", default=False)
        self.limits = dry_run.Limits(
            percent=arguments.whole(given, "minCandidateNodesPercentage", 10),
            least=arguments.whole(given, "minCandidateNodesAbsolute", 1),
            most=arguments.whole(given, "maxCandidateNodesAbsolute", 100),
        )

    def between_jobs(self, job: Job, starving: eviction.Starving) -> bool:
        """Takes from other jobs of the queue, all or nothing; True if the last of its tasks got a place, for another turn."""
        session = self.session
        statement = Statement(session)
        waiting = self._waiting.setdefault(job.uid, starving.tasks(job))
        placed = False
        while waiting and session.starving(job):
            task = waiting.pop()
            placed = self.preempt(statement, task, functools.partial(_of_other_job, task))
        if not session.pipelined(job).passed:
            statement.discard()
            return False
        statement.commit()
        return placed

    def within_job(self, job: Job, starving: eviction.Starving) -> None:
        """Takes from lower tasks of the job, task by task, until one finds nothing."""
        waiting = starving.tasks(job)
        while waiting:
            task = waiting.pop()
            statement = Statement(self.session)
            if not self.preempt(statement, task, functools.partial(_of_same_job, task)):
                statement.discard()
                return
            statement.commit()

    def preempt(self, statement: Statement, task: Task, fits: Fits) -> bool:
        """Finds a node for a task by evictions; True if it was promised one."""
        session = self.session
        if not eligible(session, task) or session.not_filtered(task) is not None:
            return False
        rows = by_score(session, task, self._refused_to_role(task))
        if self.dry_run:
            return dry_run.preempt(session, statement, task, rows, fits, self.limits, REASON)
        return any(self._on_node(statement, task, row, fits) for row in in_reach(session, task, rows, fits).tolist())

    def _refused_to_role(self, task: Task) -> Bools | None:
        """Rows that no eviction freed for another task of the role; as in Volcano they are not asked again."""
        if not self.remembers or not task.role:
            return None
        assert task.job is not None
        key = (task.job.uid, task.role)
        if key not in self._refused:
            self._refused[key] = np.zeros(len(self.session.nodes), dtype=np.bool_)
        return self._refused[key]

    def _on_node(self, statement: Statement, task: Task, row: int, fits: Fits) -> bool:
        session = self.session
        victims = session.preemptable(task, eviction.candidates_on(session, row, fits))
        if not eviction.enough(session, task, row, victims):
            return False
        order = session.orders.live_victims(victims, task)
        local = Statement(session)
        placed = may_go(session, task, row)
        while order and not placed:
            local.evict(order.pop(), REASON, task)
            placed = may_go(session, task, row)
        if not placed:
            local.discard()
            return False
        local.pipeline(task, row, evicted=len(local) > 0)
        statement.merge(local)
        return True


def may_go(session: Session, task: Task, row: int) -> bool:
    """Whether queue, room and checks all let the task onto the node as it now is."""
    assert task.job is not None
    return (
        session.not_allocatable(task.job.queue, task) is None
        and placing.will_fit(session, task, row)
        and placing.passes(session, task, row)
    )


def eligible(session: Session, task: Task) -> bool:
    """Whether a task may preempt: not if it says never, nor while pods it has preempted are still leaving."""
    if not task.preempts:
        return False
    if not task.nominated:
        return True
    row = session.nodes.rows.get(task.nominated)
    if row is None or not session.nodes.usable[row]:
        return False
    code = placing.code_at(session, task, row) & 0xFFFFFFFF
    if not code:
        return False
    if code & session.judges.codes.unresolvable:
        return True
    leaving = (victim for victim in session.nodes.tasks[row].values() if victim.victim)
    return not any(victim.pod_priority < task.pod_priority for victim in leaving)


def by_score(session: Session, task: Task, refused: Bools | None) -> Ints:
    """Candidate nodes, the best first, of equal ones in order."""
    rows = placing.candidates(session, task, refused)
    if len(rows) < 2:
        return rows
    scores = placing.totals(session, task, rows)
    found: Ints = rows[np.argsort(-scores, kind="stable")]
    return found


def in_reach(session: Session, task: Task, rows: Ints, fits: Fits) -> Ints:
    """Of these rows those on which evictions may help: where the task fits once everybody who may go has gone.

    No vote can give more than that. While the queue does not let the task in, somebody of it has to go.
    """
    assert task.job is not None
    cells = session.nodes.settle()
    room = {place: cells.free(place).copy() for place, _ in task.cls.needs}
    good = np.full(len(session.nodes), session.not_allocatable(task.job.queue, task) is None)
    for victim in _of_queue(session, task.job.queue):
        if victim.row != NOWHERE and fits(victim):
            good[victim.row] = True
            for place, amount in victim.cls.items:
                if place in room:
                    room[place][victim.row] += amount
    for place, amount in task.cls.needs:
        good &= room[place] >= amount
    found: Ints = rows[good[rows]]
    return found


def _of_queue(session: Session, queue: Queue) -> Iterator[Task]:
    for job in session.jobs.values():
        if job.queue is queue:
            for state in status.PREEMPTABLE:
                yield from job.by_status[state].values()


def _may_lose(task: Task, victim: Task) -> bool:
    """A task without request takes only from such."""
    if victim.status not in status.PREEMPTABLE or not victim.preemptable or victim.job is None:
        return False
    return victim.cls.best_effort or not task.cls.best_effort


def _of_other_job(task: Task, victim: Task) -> bool:
    if not _may_lose(task, victim) or victim.job is task.job:
        return False
    assert victim.job is not None and task.job is not None
    return victim.job.queue is task.job.queue


def _of_same_job(task: Task, victim: Task) -> bool:
    return _may_lose(task, victim) and victim.job is task.job
