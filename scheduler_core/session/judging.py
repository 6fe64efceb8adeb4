"""How nodes are judged for a class of tasks, and how that stays cheap.

A judge holds, for its class and every row, the code of failing checks (against what will be free) and the rank: the
score where the node passes everything and has the room now, minus infinity elsewhere. The best node is the largest
rank. Both are worked out once for the table and then only for rows that have changed since (the table notes them), a
few as plain integers, many as arrays. How many rows have which code is counted along, so that "no node fits, and why" is
known exactly without looking at any node.

Checks and scores that compare nodes with each other, or look at pods elsewhere, cannot be kept that way. A class to
which one applies is judged anew for each task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scheduler_core.model.nodes import Bools, Cells, Codes, Filter, Floats, Ints, Score
from scheduler_core.model.tasks import Task, TaskClass
from scheduler_core.session import codes as codes_
from scheduler_core.session.codes import FITS

if TYPE_CHECKING:
    from scheduler_core.model.refusal import Report
    from scheduler_core.session.session import Session

_FEW_ROWS = 12
"""Up to so many changed rows are judged one by one; above, as arrays."""

NO_RANK = -np.inf


class Judges:
    """The judges of a session, made when first asked for."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.codes = codes_.Codes(session.axis)
        self._by_class: dict[int, Judge] = {}
        self._table_filters = [ask for tier in session.asked("table_filters") for ask in tier]
        self._table_scores = [ask for tier in session.asked("table_score") for ask in tier]
        self._compares = [ask for tier in session.asked("compares") for ask in tier]

    def of(self, cls: TaskClass) -> Judge:
        found = self._by_class.get(cls.number)
        if found is None:
            found = self._by_class[cls.number] = Judge(self.session, self.codes, cls)
        return found

    def elsewhere(self, task: Task) -> Codes | None:
        """Codes of checks that look beyond one node, or None if none applies to the task."""
        found: Codes | None = None
        for ask in self._table_filters:
            for check, fails in ask(task) or ():
                if found is None:
                    found = np.zeros(len(self.session.nodes), dtype=np.uint64)
                found[fails] |= np.uint64(self.codes.bit(check))
        return found

    def compares(self, task: Task) -> bool:
        """Whether any score compares nodes with each other for this task."""
        return any(ask(task) for ask in self._compares)

    def compared(self, task: Task, rows: Ints) -> Floats | None:
        """The sum of scores that compare these rows with each other, or None if none applies."""
        found: Floats | None = None
        for ask in self._table_scores:
            scores = ask(task, rows)
            if scores is not None:
                found = scores if found is None else found + scores
        return found


class Judge:
    """All nodes judged for one class. Read `codes`, `counts` and `rank` after `look`."""

    def __init__(self, session: Session, codes: codes_.Codes, cls: TaskClass) -> None:
        self.session = session
        self.table = session.nodes
        self.cls = cls
        self.meaning = codes
        self.needs = cls.needs
        self._needs_bits = [(place, amount, codes.resource_bit(place)) for place, amount in cls.needs]
        self._filters: list[tuple[int, Filter]] = [
            (codes.bit(check), fails)
            for tier in session.asked("row_filters")
            for ask in tier
            for check, fails in ask(cls)
        ]
        self._scores: list[Score] = [
            score for tier in session.asked("row_scores") for ask in tier for score in ask(cls)
        ]
        self.fixed = self._fixed()
        self._fixed_list: list[int] = self.fixed.tolist()
        self._seen = len(self.table.changes)
        self.report: Report | None = None
        self.reported = -1
        self.codes, self.rank = self._judged(self.table.settle(), self.fixed)
        values, counts = np.unique(self.codes, return_counts=True)
        self.counts: dict[int, int] = dict(zip(values.tolist(), counts.tolist(), strict=True))

    def _fixed(self) -> Codes:
        found: Codes = np.zeros(len(self.table), dtype=np.uint64)
        found[~self.table.usable] |= np.uint64(self.meaning.bit(codes_.NOT_READY))
        for tier in self.session.asked("fixed_filters"):
            for ask in tier:
                for check, fails in ask(self.cls):
                    found[fails] |= np.uint64(self.meaning.bit(check))
        return found

    # --- keeping up ------------------------------------------------------------------------------------------------

    def look(self) -> Judge:
        """Judges the rows that have changed since the last look."""
        changes = self.table.changes
        if self._seen < len(changes):
            rows = set(changes[self._seen :])
            self._seen = len(changes)
            if len(rows) <= _FEW_ROWS:
                for at in rows:
                    self._judge_row(at)
            else:
                self._judge_rows(np.fromiter(sorted(rows), dtype=np.int64, count=len(rows)))
        return self

    @property
    def version(self) -> int:
        """Moves whenever the table does."""
        return self._seen

    def _judge_row(self, at: int) -> None:
        row = self.table.row(at)
        code = self._fixed_list[at]
        fits_now = True
        idle, releasing, pipelined = row.idle, row.releasing, row.pipelined
        for place, amount, bit in self._needs_bits:
            if amount > idle[place]:
                fits_now = False
            if amount > idle[place] + releasing[place] - pipelined[place]:
                code |= bit
        for bit, fails in self._filters:
            if fails(row):
                code |= bit
        before = int(self.codes[at])
        if code != before:
            self.codes[at] = code
            self._recount(before, code)
        self.rank[at] = self.score(row) if fits_now and code == FITS else NO_RANK

    def _recount(self, before: int, after: int, by: int = 1) -> None:
        counts = self.counts
        counts[before] -= by
        if not counts[before]:
            del counts[before]
        counts[after] = counts.get(after, 0) + by

    def _judge_rows(self, rows: Ints) -> None:
        codes, rank = self._judged(self.table.some(rows), self.fixed[rows])
        before = self.codes[rows]
        moved = before != codes
        for one, other in zip(before[moved].tolist(), codes[moved].tolist(), strict=True):
            self._recount(one, other)
        self.codes[rows] = codes
        self.rank[rows] = rank

    def _judged(self, cells: Cells, fixed: Codes) -> tuple[Codes, Floats]:
        codes = fixed.copy()
        fits_now: Bools = np.ones(len(codes), dtype=np.bool_)
        for place, amount, bit in self._needs_bits:
            fits_now &= amount <= cells.idle[place]
            codes[amount > cells.free(place)] |= np.uint64(bit)
        for mark, fails in self._filters:
            codes[fails(cells)] |= np.uint64(mark)
        rank = np.full(len(codes), NO_RANK)
        good = fits_now & (codes == FITS)
        if good.any():
            rank[good] = self._broadcast(self.score(cells), len(codes))[good]
        return codes, rank

    # --- scores ------------------------------------------------------------------------------------------------------

    def score(self, cells: Cells) -> float | Floats:
        """The sum of scores of what is on a node: a number for a row, an array for columns."""
        total: float | Floats = 0.0
        for score in self._scores:
            total = total + score(cells)
        return total

    def scores(self, rows: Ints) -> Floats:
        """Scores of these rows, whether they fit or not."""
        return self._broadcast(self.score(self.table.some(rows)), len(rows)).copy()

    @staticmethod
    def _broadcast(score: float | Floats, count: int) -> Floats:
        return np.broadcast_to(np.asarray(score, dtype=np.float64), (count,))


class Choice(NamedTuple):
    """A node for a task: its row, and whether it has the room now (else when what is leaving has gone)."""

    row: int
    now: bool


Within = Bools | None
"""Rows that may be looked at; None: all."""
