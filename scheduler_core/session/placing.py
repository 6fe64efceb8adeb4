"""The choice of a node for one task, and the refusal when there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from scheduler_core.model.cells import Bools, Codes, Floats, Ints
from scheduler_core.model.refusal import Refusal
from scheduler_core.model.tasks import Task
from scheduler_core.session import refusals
from scheduler_core.session.codes import FITS
from scheduler_core.session.judging import LEAST_SCORE, Choice, Judge, Within
from scheduler_core.session.nearby import NO_RANK, Nearby

if TYPE_CHECKING:
    from scheduler_core.session.session import Session


NOISE: Final = 1e-6
"""Differences of scores below this may come from rounding."""


def choose(session: Session, task: Task, within: Within = None, barred: Bools | None = None) -> Choice | Refusal | None:
    """The best node that passes everything: among those with room now, else among those where room comes.

    `barred` are rows that an equal-named role has been refused on. None: nodes pass, but none may be chosen by score.
    """
    judge = session.judges.of(task.cls)
    if within is None and barred is None and judge.alone(task):
        return _choose_plain(session, task, judge)
    if within is None and barred is None:
        nearby = judge.nearby(task)
        row = None if nearby is None else choose_near(nearby, judge)
        if row is not None:
            return Choice(row, True)
    elsewhere = judge.elsewhere(task)
    ready = judge.rank != NO_RANK
    allowed = within if barred is None else ~barred if within is None else within & ~barred
    if elsewhere is not None:
        ready &= elsewhere == FITS
    rows = np.flatnonzero(ready if allowed is None else ready & allowed)
    if len(rows):
        row = best(session, task, rows, judge.rank[rows])
        return None if row is None else Choice(row, True)
    codes = judge.codes if elsewhere is None else judge.codes | elsewhere
    return _choose_later(session, task, judge, codes, within, allowed)


def _choose_plain(session: Session, task: Task, judge: Judge) -> Choice | Refusal | None:
    best = judge.top() if judge.room.fits and not judge.hopeless else -1
    score = judge.rank[best] if best >= 0 else NO_RANK
    if score == NO_RANK:
        return refusals.by_all(session, task, judge) or _choose_later(session, task, judge, judge.codes, None, None)
    return Choice(best, True) if score > LEAST_SCORE or np.count_nonzero(judge.rank != NO_RANK) == 1 else None


def choose_near(nearby: Nearby, judge: Judge) -> int | None:
    """The best node where nodes are compared, and all but some come out equal: the best of those, or the best by rank."""
    far = judge.top()
    most = judge.rank.item(far)
    row, best = nearby.best(judge.rank)
    if row < 0 or most > best or (far < row and most >= best):
        row, best = far, most
    return row if best > LEAST_SCORE else None


def _choose_later(
    session: Session, task: Task, judge: Judge, codes: Codes, within: Within, allowed: Within
) -> Choice | Refusal | None:
    """Where no node has the room now: the best of those where room comes."""
    passing = codes == FITS
    rows = np.flatnonzero(passing if allowed is None else passing & allowed)
    if not len(rows):
        return refusals.by_nodes(session, task, judge, codes, within)
    row = best(session, task, rows, None, judge)
    return None if row is None else Choice(row, False)


def best(session: Session, task: Task, rows: Ints, scores: Floats | None, judge: Judge | None = None) -> int | None:
    """The row with the highest score, of equal ones the first; a single one is taken unscored."""
    if len(rows) == 1:
        return int(rows[0])
    if scores is None:
        scores = (judge or session.judges.of(task.cls)).scores(rows)
    total = with_compared(session, task, rows, scores)
    for tier in session.asked("best_node"):
        for ask in tier:
            chosen = ask(task, rows, total)
            if chosen is not None:
                return int(chosen)
    at = int(total.argmax())
    return int(rows[at]) if total[at] > LEAST_SCORE else None


def with_compared(session: Session, task: Task, rows: Ints, scores: Floats) -> Floats:
    """Scores of these rows with those that compare them with each other."""
    compared = session.judges.of(task.cls).compared(task, rows)
    return scores if compared is None else scores + compared


def totals(session: Session, task: Task, rows: Ints) -> Floats:
    """The total score of these rows for a task, whether they fit or not."""
    judge = session.judges.of(task.cls)
    compared = judge.compared(task, rows, all_scores=True)
    scores = judge.scores(rows)
    return scores if compared is None else scores + compared


def candidates(session: Session, task: Task, refused: Bools | None = None) -> Ints:
    """Rows on which evictions may make room for a task: none of their checks is one that evictions do not cure.

    Rows that were refused so in this session's allocate are left out, whatever has changed since. `refused` are rows that
    were refused so to others of its role: they are left out too, and those that this task finds are added.
    """
    judge = session.judges.of(task.cls)
    elsewhere = judge.elsewhere(task)
    codes: Codes = judge.codes if elsewhere is None else judge.codes | elsewhere
    good = (codes & np.uint64(session.judges.codes.unresolvable)) == 0
    before = refusal_of(task)
    known = None if before is None else before.unresolvable
    if refused is not None:
        good &= ~refused
        refused |= ~good if known is None else ~good & ~known
    if known is not None:
        good &= ~known
    return np.flatnonzero(good)


def refusal_of(task: Task) -> Refusal | None:
    """What allocate said of the task in this session."""
    return None if task.job is None else task.job.refusals.get(task.uid)


def passes(session: Session, task: Task, row: int) -> bool:
    """Whether the node passes every check of plugins as it is now; resources are not looked at."""
    return not code_at(session, task, row) & 0xFFFFFFFF


def code_at(session: Session, task: Task, row: int) -> int:
    """The code of failing checks of one row."""
    judge = session.judges.of(task.cls)
    code = judge.code_at(row)
    elsewhere = judge.elsewhere(task)
    return code if elsewhere is None else code | int(elsewhere[row])


def codes_of(session: Session, task: Task) -> Codes:
    """The codes of all rows for a task, as they are now."""
    judge = session.judges.of(task.cls)
    codes = judge.codes
    elsewhere = judge.elsewhere(task)
    return codes.copy() if elsewhere is None else codes | elsewhere


def fits_now(session: Session, task: Task, row: int) -> bool:
    """Whether the request fits what is idle on the node."""
    idle = session.nodes.row(row).idle
    return all(amount <= idle[place] for place, amount in task.cls.needs)


def will_fit(session: Session, task: Task, row: int) -> bool:
    """Whether the request fits what will be free on the node."""
    cells = session.nodes.row(row)
    return all(amount <= cells.free(place) for place, amount in task.cls.needs)
