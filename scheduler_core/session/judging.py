"""How nodes are judged for a class of tasks, and how that stays cheap.

Judged are two things apart. What a demand asks of the room on nodes: a code of failing checks (against what will be free)
and a rank, the score where everything fits now, minus infinity elsewhere; it is worked out once for the table and then
only for rows that have changed since (the table notes them), a few as plain integers, many as arrays. And what a class
asks of labels, which does not change in a session: a code a row. A judge lays one over the other; many classes with one
demand share the dear part. The best node is the largest rank; "no node fits, and why" is a count of equal codes.

Checks and scores that compare nodes with each other, or look at pods elsewhere, cannot be kept that way. A class to which
one applies is judged anew for each task.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from scheduler_core.model.nodes import Bools, Cells, Codes, Columns, Filter, Floats, Ints, NodeTable, Row, Score
from scheduler_core.model.refusal import Report
from scheduler_core.model.tasks import Demand, Task, TaskClass
from scheduler_core.session import codes as codes_
from scheduler_core.session.codes import FITS

if TYPE_CHECKING:
    from types import MethodType

    from scheduler_core.session.plugin import Plugin
    from scheduler_core.session.session import Session

_FEW_ROWS = 12
"""Up to so many changed rows are judged one by one; above, as arrays."""

NO_RANK = -np.inf
LEAST_SCORE = -1.0
"""A node is chosen only with more than this: Volcano starts its search here."""


class Judges:
    """The judges of a session, made when first asked for."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.codes = codes_.Codes(session.axis)
        self._by_class: dict[int, Judge] = {}
        self._rooms: dict[int, Room] = {}
        self._fixed_filters = _flat(session, "fixed_filters")
        self._closed: Bools = ~session.nodes.usable
        self._fixed: dict[tuple[tuple[int, int], ...], Fixed] = {}
        self._masks: dict[int, Bools] = {}
        self.nowhere: Floats = np.full(len(session.nodes), NO_RANK)
        self.nowhere.flags.writeable = False

    def of(self, cls: TaskClass) -> Judge:
        """The judge of a class, up to date with the table."""
        found = self._by_class.get(cls.number)
        if found is None:
            found = self._by_class[cls.number] = Judge(self.session, self.codes, cls, self._room(cls.demand))
        return found.look()

    def fixed(self, cls: TaskClass) -> Fixed:
        """What does not change in a session; classes for which plugins name the same masks share it."""
        named = [(self.codes.bit(codes_.NOT_READY), self._closed)]
        for ask in self._fixed_filters:
            named += [(self.codes.bit(check), fails) for check, fails in ask(cls)]
        key = tuple([(bit, id(mask)) for bit, mask in named])
        found = self._fixed.get(key)
        if found is None:
            self._masks.update((id(mask), mask) for _, mask in named)
            found = self._fixed[key] = Fixed(named)
        return found

    def _room(self, demand: Demand) -> Room:
        found = self._rooms.get(demand.number)
        if found is None:
            found = self._rooms[demand.number] = Room(self.session, self.codes, demand)
        return found


class Fixed:
    """What checks that do not change say of all nodes: codes, where any of them fails, and that as a rank to be added."""

    __slots__ = ("closed", "codes", "shut")

    def __init__(self, named: Sequence[tuple[int, Bools]]) -> None:
        self.codes: Codes = np.zeros(len(named[0][1]), dtype=np.uint64)
        for bit, fails in named:
            self.codes[fails] |= np.uint64(bit)
        self.closed: Bools = self.codes != FITS
        self.shut: Floats = np.where(self.closed, NO_RANK, 0.0)


class Room:
    """All nodes judged for one demand. `rank` is right after `look`; `codes` are worked out when they are asked for."""

    def __init__(self, session: Session, codes: codes_.Codes, demand: Demand) -> None:
        self.table: NodeTable = session.nodes
        self._needs = [(place, amount, codes.resource_bit(place)) for place, amount in demand.needs]
        self._places: list[int] | slice = [place for place, _, _ in self._needs]
        if self._places == list(range(len(self._needs))):
            self._places = slice(0, len(self._needs))
        self._amounts = np.array([[amount] for _, amount, _ in self._needs])
        self._filters: list[tuple[int, Filter]] = [
            (codes.bit(check), fails) for ask in _flat(session, "row_filters") for check, fails in ask(demand)
        ]
        self._scores: list[Score] = [score for ask in _flat(session, "row_scores") for score in ask(demand)]
        self._row_scores: list[Callable[[Row], float]] = [getattr(score, "on_row", score) for score in self._scores]
        self._seen = self._coded = self.table.changed
        self._codes: Codes | None = None
        self._nowhere = session.judges.nowhere
        self.rank = self._ranked(self.table.settle(), len(self.table))

    # --- ranks -------------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Ranks the rows that have changed since the last look."""
        table = self.table
        if self._seen == table.changed:
            return
        if table.changed - self._seen == 1:
            self._seen = table.changed
            self.judge_row(table.last)
            return
        rows = table.changed_since(self._seen)
        self._seen = table.changed
        if len(rows) <= _FEW_ROWS:
            for at in rows.tolist():
                self.judge_row(at)
            return
        table.settle()
        if len(rows) * 3 > len(self.rank):
            self.rank = self._ranked(table.columns, len(table))
        else:
            found = self._ranked(table.some(rows), len(rows))
            if self.rank is self._nowhere:
                self.rank = self.rank.copy()
            self.rank[rows] = found

    def judge_row(self, at: int) -> None:
        """Ranks one row anew."""
        row = self.table.row(at)
        fits = self._fits_now(row)
        if fits and self.rank is self._nowhere:
            self.rank = self.rank.copy()
        if self.rank is not self._nowhere:
            self.rank[at] = self.score(row) if fits else NO_RANK

    def rank_alike(self, at: int, other: int) -> None:
        """Takes over the rank of a row that is alike, and that a task fitted."""
        self.rank[at] = self.rank[other]

    def follows(self) -> None:
        """Says that every row that has changed was ranked."""
        self._seen = self.table.changed

    def _fits_now(self, row: Row) -> bool:
        idle, releasing, pipelined = row.idle, row.releasing, row.pipelined
        moving = self.table.moving
        for place, amount, _ in self._needs:
            if amount > idle[place] or (moving and amount > idle[place] + releasing[place] - pipelined[place]):
                return False
        return not any(fails(row) for _, fails in self._filters)

    def _ranked(self, cells: Columns, count: int) -> Floats:
        full: Bools = (cells.idle[self._places] < self._amounts).any(axis=0)
        if self.table.moving:
            for place, amount, _ in self._needs:
                full |= cells.free(place) < amount
        for _, fails in self._filters:
            full |= fails(cells)
        good = np.flatnonzero(~full)
        if not len(good) and count == len(self._nowhere):
            return self._nowhere
        if len(good) * 2 > count:
            return np.where(full, NO_RANK, self.score(cells))
        rank = np.full(count, NO_RANK)
        if len(good):
            rank[good] = self.score(cells.pick(good))
        return rank

    def score(self, cells: Cells) -> float | Floats:
        """The sum of scores of what is on a node: a number for a row, an array for columns."""
        total: float | Floats = 0.0
        if isinstance(cells, Row):
            for on_row in self._row_scores:
                total += on_row(cells)
            return total
        for score in self._scores:
            total = total + score(cells)
        return total

    # --- codes -------------------------------------------------------------------------------------------------------

    @property
    def codes(self) -> Codes:
        """The code of every row as it is now, to be read at once."""
        table = self.table
        if self._codes is None:
            self._codes = self._code_of(table.settle(), len(table))
        elif self._coded != table.changed:
            rows = table.changed_since(self._coded)
            table.settle()
            self._codes[rows] = self._code_of(table.some(rows), len(rows))
        self._coded = table.changed
        return self._codes

    def _code_of(self, cells: Columns, count: int) -> Codes:
        failed = [
            (bit, (cells.free(place) if self.table.moving else cells.idle[place]) < amount)
            for place, amount, bit in self._needs
        ]
        failed += [(bit, fails(cells)) for bit, fails in self._filters]
        return codes_.combined(failed, count)

    def code_at(self, at: int) -> int:
        """The code of one row."""
        row = self.table.row(at)
        code = 0
        for place, amount, bit in self._needs:
            if amount > row.free(place):
                code |= bit
        for bit, fails in self._filters:
            if fails(row):
                code |= bit
        return code


class Judge:
    """All nodes judged for one class. Read `codes` and `rank` after `look`."""

    def __init__(self, session: Session, codes: codes_.Codes, cls: TaskClass, room: Room) -> None:
        self.session = session
        self.table: NodeTable = session.nodes
        self.cls = cls
        self.meaning = codes
        self.needs = cls.needs
        self.room = room
        self._elsewhere = _applying(session, "looks_elsewhere", "table_filters", cls)
        self._compared = _applying(session, "compares", "table_score", cls)
        self._all_scores = _flat(session, "table_score")
        self._concerns = [_owner(ask).concerns for ask in (*self._elsewhere, *self._compared)]
        self._plain = not any(_flat(session, "best_node"))
        fixed = session.judges.fixed(cls)
        self.fixed = fixed.codes
        self.closed = fixed.closed
        self._shut = fixed.shut
        self.report: Report | None = None
        self.reported = -1
        room.look()
        self._seen = self.table.changed
        self._codes: Codes | None = None
        self.rank: Floats = room.rank if room.rank is session.judges.nowhere else room.rank + self._shut

    def places(self, free: Ints, within: Bools | None = None) -> int:
        """How many tasks of the class fit on open nodes with so much free (columns by place)."""
        opened = ~self.closed if within is None else within & ~self.closed
        fits: Ints | None = None
        for place, amount in self.needs:
            if amount:
                each = np.maximum(free[place][opened], 0) // amount
                fits = each if fits is None else np.minimum(fits, each)
        return int(opened.sum()) if fits is None else int(fits.sum())

    def places_when_empty(self) -> int:
        """How many tasks of the class the open nodes could hold if they were empty."""
        return self.places(self.table.alloc)

    def look(self) -> Judge:
        """Takes over what has changed in the room."""
        changed = self.table.changed
        if self._seen == changed:
            return self
        room = self.room
        room.look()
        if not self.rank.flags.writeable:
            self.rank = room.rank if not room.rank.flags.writeable else room.rank + self._shut
        elif changed - self._seen == 1:
            at = self.table.last
            self.rank[at] = NO_RANK if self.closed[at] else room.rank[at]
        else:
            np.add(room.rank, self._shut, out=self.rank)
        self._codes = None
        self._seen = changed
        return self

    @property
    def codes(self) -> Codes:
        """The codes of all rows; the same array as long as the table does not move."""
        if self._codes is None:
            self._codes = self.room.codes | self.fixed
        return self._codes

    def code_at(self, row: int) -> int:
        """The code of one row, pods elsewhere apart."""
        return self.room.code_at(row) | int(self.fixed[row])

    def fill(self, tasks: Sequence[Task]) -> list[int]:
        """Rows for equal tasks, the best for each in turn, and held at once; fewer where no node is best by its rank.

        What comes out is what choosing and placing them one by one gives. A node whose rank did not fall below what it
        was chosen for is still the first of the best, so it is taken again without a search; after one whose rank fell
        comes the next that is as good as it was. A node that now stands just like the one before it is judged like it.
        """
        table, room, rank = self.table, self.room, self.rank
        rows: list[int] = []
        equals: list[int] = []
        at, before, best, now = -1, -1, 0.0, 0.0
        for task in tasks:
            if at >= 0 and now >= best:
                if now > best:
                    best, equals = now, []
            elif equals:
                at = equals.pop()
            else:
                at = int(rank.argmax())
                best = rank.item(at)
                if best <= LEAST_SCORE:
                    break
                equals = np.flatnonzero(rank == best)[:0:-1].tolist() if len(tasks) - len(rows) > 2 else []
            table.hold(at, task)
            if before >= 0 and before != at and table.alike(at, before):
                room.rank_alike(at, before)
            else:
                room.judge_row(at)
            now = room.rank.item(at)
            rank[at] = now
            rows.append(at)
            before = at
        room.follows()
        self._seen = table.changed
        self._codes = None
        return rows

    @property
    def version(self) -> int:
        """Moves whenever the table does."""
        return self._seen

    @property
    def hopeless(self) -> bool:
        """Whether a task of the class was refused by all nodes, and the table has not moved since."""
        return self.report is not None and self.reported == self._seen

    def alone(self, task: Task) -> bool:
        """Whether everything about a node can be said for the task by looking at it alone."""
        return self._plain and not any(concerns(task) for concerns in self._concerns)

    def elsewhere(self, task: Task) -> Codes | None:
        """Codes of checks that look beyond one node, or None if none applies to the task."""
        found: Codes | None = None
        for ask in self._elsewhere:
            for check, fails in ask(task) or ():
                if found is None:
                    found = np.zeros(len(self.table), dtype=np.uint64)
                found[fails] |= np.uint64(self.meaning.bit(check))
        return found

    def compared(self, task: Task, rows: Ints, *, all_scores: bool = False) -> Floats | None:
        """The sum of scores that compare these rows with each other, or None if none applies.

        `all_scores` also asks those that are the same on every node for this class.
        """
        found: Floats | None = None
        for ask in self._all_scores if all_scores else self._compared:
            scores = ask(task, rows)
            if scores is not None:
                found = scores if found is None else found + scores
        return found

    def scores(self, rows: Ints) -> Floats:
        """Scores of what is on these rows, whether the class fits or not."""
        self.table.settle()
        score = self.room.score(self.table.some(rows))
        return np.broadcast_to(np.asarray(score, dtype=np.float64), (len(rows),)).copy()


def _flat(session: Session, method: str) -> list[Callable[..., Any]]:
    return [ask for tier in session.asked(method) for ask in tier]


def _owner(ask: Callable[..., Any]) -> Plugin:
    """The plugin that a method was taken from."""
    return cast("Plugin", cast("MethodType", ask).__self__)


def _applying(session: Session, applies: str, method: str, cls: TaskClass) -> list[Callable[..., Any]]:
    """Who is asked for a class: `applies` and `method` are overridden together, so they stand in the same places."""
    asked = zip(_flat(session, applies), _flat(session, method), strict=True)
    return [ask for may, ask in asked if may(cls)]


class Choice(NamedTuple):
    """A node for a task: its row, and whether it has the room now (else when what is leaving has gone)."""

    row: int
    now: bool


Within = Bools | None
"""Rows that may be looked at; None: all."""
