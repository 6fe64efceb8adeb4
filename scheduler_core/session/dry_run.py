"""Victims by dry run: evict until the task fits, spare whom it did not take, and of several nodes take the gentlest.

The run is on the session itself, in a statement that is undone. What a plugin may see of it depends on its flags, as
upstream: pods seem to stay where they are for a plugin whose `preemptable` and `allocatable` flags are both off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from scheduler_core.model.cells import Ints
from scheduler_core.model.tasks import Task
from scheduler_core.session import eviction, placing
from scheduler_core.session.session import Session
from scheduler_core.session.statement import Statement

_OFFSET: Final = 2**31


class Limits(NamedTuple):
    """How many nodes are compared: a share in percent of the candidates, at least and at most so many."""

    percent: int
    least: int
    most: int

    def of(self, count: int) -> int:
        return min(max(count * self.percent // 100, self.least), self.most, count)


class Found(NamedTuple):
    """A node and those who would have to go, highest first."""

    row: int
    victims: list[Task]


def preempt(
    session: Session, statement: Statement, task: Task, rows: Ints, fits: Callable[[Task], bool], limits: Limits,
    text: str,
) -> bool:  # fmt: skip
    """Evicts on the gentlest node and promises it to the task; False if no node needs and allows that."""
    options: list[Found] = []
    wanted = limits.of(len(rows))
    for row in sorted(rows.tolist()):
        victims = _victims_on(session, task, row, fits)
        if victims:
            options.append(Found(row, victims))
            if len(options) >= wanted:
                break
    if not options:
        return False
    best = min(options, key=_harm)
    for victim in best.victims:
        statement.evict(victim, text, task)
    statement.pipeline(task, best.row, evicted=True)
    return True


def _victims_on(session: Session, task: Task, row: int, fits: Callable[[Task], bool]) -> list[Task]:
    """Those on a node whom the task cannot do without, highest first; empty if it takes none or does not fit."""
    offered = session.preemptable(task, eviction.candidates_on(session, row, fits))
    if not eviction.enough(session, task, row, offered):
        return []
    table = session.nodes
    tracked, forgets = table.track_pods, table.forgets
    table.track_pods, table.forgets = tracked and _seen_by_checks(session), False
    try:
        return _spared(session, task, row, session.orders.sorted_victims(offered, task))
    finally:
        table.track_pods, table.forgets = tracked, forgets


def _seen_by_checks(session: Session) -> bool:
    """Whether the plugin that keeps pods of nodes is told of the dry run."""
    checks = session.plugin("predicates")
    return checks is None or bool({"preemptable", "allocatable"} & checks.enabled)


def _spared(session: Session, task: Task, row: int, order: list[Task]) -> list[Task]:
    gone: list[Task] = []
    runs: dict[str, Statement] = {}
    try:
        for victim in order:
            runs[victim.uid] = Statement(session, dry=True)
            runs[victim.uid].evict(victim, "")
            gone.append(victim)
            if _fits(session, task, row):
                break
        if not gone or not placing.passes(session, task, row):
            return []
        needed = []
        for victim in sorted(gone, key=_importance):
            runs[victim.uid].discard()
            if not _fits(session, task, row):
                runs[victim.uid].evict(victim, "")
                needed.append(victim)
        return needed
    finally:
        for run in runs.values():
            run.discard()


def _fits(session: Session, task: Task, row: int) -> bool:
    assert task.job is not None
    return (
        session.not_allocatable(task.job.queue, task) is None
        and placing.will_fit(session, task, row)
        and placing.passes(session, task, row)
    )


def _importance(task: Task) -> tuple[int, int, str]:
    """Higher priority first, then older."""
    return (-task.pod_priority, task.created_ns, task.uid)


def _harm(found: Found) -> tuple[int, int, int, int]:
    """Lowest top victim, lowest sum of priorities, fewest victims, the latest start of the top ones."""
    priorities = [victim.pod_priority for victim in found.victims]
    top = max(priorities)
    oldest = min(victim.created_ns for victim in found.victims if victim.pod_priority == top)
    return (top, sum(priority + _OFFSET for priority in priorities), len(priorities), -oldest)
