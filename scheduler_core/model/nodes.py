"""The node table: one column per attribute, rows sorted by pool, spine, rack and name, so that a domain is a slice.

Two things want two layouts. Judging all nodes for a class wants columns (numpy); placing one task touches one row, where
Python integers are several times faster than elements of an array. So a row that is touched becomes a `Row` of plain
integers, which from then on is the truth for it, and the columns catch up (`settle`) before they are read as a whole.
Columns and rows answer to the same names (`idle[place]`, `pods`, …), so that a filter or a score is written once and
evaluated on the whole table, on some rows, or on one row; `where`, `least` and `floor` are the three operations whose
spelling differs.

Every change of a row is noted in `changes`. Who derives something from the table remembers how far it has read (`changed`)
and looks again only at rows noted since.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.records.matching import Traits
from scheduler_core.model import status
from scheduler_core.model.labels import LabelColumns, Taints
from scheduler_core.model.resources import Axis, Resource
from scheduler_core.model.tasks import Task, TaskClass

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint64]
Number = Any
"""One row's value or a column of them: filters and scores are written for both."""


class Cells:
    """What a filter or score sees: the same names on one row, on some rows and on the table.

    Indexed by place on the axis: `alloc` what the node has, `idle` what is not held, `releasing` what is held and being
    given back, `pipelined` what was promised on that, `present` what pods on the node ask (with promised ones, without
    those evicted in this session). `pods` counts them, `scored` is their cpu and memory with defaults.
    """

    __slots__ = ("alloc", "idle", "pipelined", "pods", "present", "releasing", "scored")

    alloc: Any
    idle: Any
    releasing: Any
    pipelined: Any
    present: Any
    pods: Number
    scored: Any

    def where(self, condition: Number, then: Number, otherwise: Number) -> Number:
        """Elementwise choice; both values are computed, so neither may fail."""
        raise NotImplementedError

    def least(self, one: Number, other: Number) -> Number:
        raise NotImplementedError

    def most(self, one: Number, other: Number) -> Number:
        raise NotImplementedError

    def floor(self, value: Number) -> Number:
        raise NotImplementedError

    def root(self, value: Number) -> Number:
        """Square root."""
        raise NotImplementedError

    def pick(self, rows: Ints) -> Cells:
        """Some of the rows."""
        raise NotImplementedError

    def everywhere(self, place: int) -> bool:
        """Whether all nodes of the table have something of a resource."""
        raise NotImplementedError

    def free(self, place: int) -> Number:
        """What will be idle when what is being released has gone and what is promised has come; may be below zero."""
        return self.idle[place] + self.releasing[place] - self.pipelined[place]


class Columns(Cells):
    """All rows as arrays, views of one block: what belongs to a row is one column of it."""

    __slots__ = ("block", "known", "width")

    def __init__(self, block: Ints, width: int) -> None:
        self.block = block
        self.width = width
        self.known: dict[int, bool] = {}
        self.alloc, self.idle, self.releasing, self.pipelined, self.present = (
            block[kind * width : (kind + 1) * width] for kind in range(5)
        )
        self.pods = block[5 * width]
        self.scored = block[5 * width + 1 :]

    def pick(self, rows: Ints) -> Cells:
        return Picked(self, rows)

    def everywhere(self, place: int) -> bool:
        found = self.known.get(place)
        if found is None:
            found = self.known[place] = bool((self.alloc[place] > 0).all())
        return found

    def free_columns(self) -> Ints:
        """What is free of every resource, as a copy."""
        found: Ints = self.idle + self.releasing - self.pipelined
        return found

    def where(self, condition: Number, then: Number, otherwise: Number) -> Number:
        return np.where(condition, then, otherwise)

    def least(self, one: Number, other: Number) -> Number:
        return np.minimum(one, other)

    def most(self, one: Number, other: Number) -> Number:
        return np.maximum(one, other)

    def floor(self, value: Number) -> Number:
        return np.floor(value)

    def root(self, value: Number) -> Number:
        return np.sqrt(value)


class Picked(Columns):
    """Some rows as arrays."""

    __slots__ = ("source",)

    def __init__(self, source: Columns, rows: Ints) -> None:
        super().__init__(source.block.take(rows, axis=1), source.width)
        self.source = source

    def everywhere(self, place: int) -> bool:
        return self.source.everywhere(place)


class Row(Cells):
    """One row as Python integers."""

    __slots__ = ()

    def __init__(self, cells: list[int], width: int) -> None:
        self.alloc = cells[:width]
        self.idle = cells[width : 2 * width]
        self.releasing = cells[2 * width : 3 * width]
        self.pipelined = cells[3 * width : 4 * width]
        self.present = cells[4 * width : 5 * width]
        self.pods = cells[5 * width]
        self.scored = cells[5 * width + 1 :]

    def cells(self) -> list[int]:
        """The row as it stands in the block."""
        return [
            *self.alloc, *self.idle, *self.releasing, *self.pipelined, *self.present, self.pods, *self.scored
        ]  # fmt: skip

    def equals(self, other: Row) -> bool:
        """Whether all cells are the same."""
        return bool(
            self.present == other.present
            and self.idle == other.idle
            and self.alloc == other.alloc
            and self.pods == other.pods
            and self.scored == other.scored
            and self.releasing == other.releasing
            and self.pipelined == other.pipelined
        )

    def everywhere(self, place: int) -> bool:
        return bool(self.alloc[place] > 0)

    def where(self, condition: Number, then: Number, otherwise: Number) -> Number:
        return then if condition else otherwise

    def least(self, one: Number, other: Number) -> Number:
        return one if one < other else other

    def most(self, one: Number, other: Number) -> Number:
        return one if one > other else other

    def floor(self, value: Number) -> Number:
        return math.floor(value)

    def root(self, value: Number) -> Number:
        return math.sqrt(value)


class NodeTable:
    """All nodes of a snapshot. `usable` masks those that are ready; the others are kept only to be counted.

    `track_pods` says whether changes in the session reach `present`, `pods` and `scored`: whoever filters by pods
    switches it on (in Volcano the predicates plugin keeps them). With `forgets` a pod whose eviction was undone stays gone
    for them, as in Volcano. `moving` says that something is, or was, being released or promised; as long as nothing is, what
    is idle is also what will be free.
    """

    def __init__(
        self, axis: Axis, traits: Sequence[Traits], soft: Sequence[Taints], usable: Bools, cordoned: Bools
    ) -> None:
        count = len(traits)
        self.axis = axis
        self.names = [node.name for node in traits]
        self.rows = {name: row for row, name in enumerate(self.names)}
        self.by_label = LabelColumns(traits, soft)
        self.usable = usable
        self.cordoned = cordoned
        self.tasks: list[dict[str, Task]] = [{} for _ in range(count)]
        self.columns = Columns(np.zeros((5 * len(axis) + 3, count), dtype=np.int64), len(axis))
        self.alloc: Ints = self.columns.alloc
        self.track_pods = False
        self.forgets = False
        self.moving = False
        self.changes: Ints = np.zeros(1024, dtype=np.int64)
        self.changed = 0
        self.last = -1
        self._mark: Bools = np.zeros(count, dtype=np.bool_)
        self._gone: set[str] = set()
        self._may_return: set[str] = set()
        self._opening: Columns | None = None
        self._leaving = 0
        self._total: Resource | None = None
        self._hot: list[Row | None] = [None] * count
        self._unsettled: dict[int, Row] = {}

    def __len__(self) -> int:
        return len(self.names)

    @property
    def total(self) -> Resource:
        """What all usable nodes have."""
        if self._total is None:
            self._total = self._sum_of_all()
        return self._total.copy()

    def _sum_of_all(self) -> Resource:
        sums = self.alloc[:, self.usable].sum(axis=1)
        named = sum(1 << place for place, amount in enumerate(sums) if amount)
        return Resource([int(amount) for amount in sums], named)

    @property
    def used(self) -> Resource:
        """What is held on all usable nodes."""
        sums = (self.alloc - self.settle().idle)[:, self.usable].sum(axis=1)
        return Resource([int(amount) for amount in sums], self.axis.all_named)

    # --- one row ---------------------------------------------------------------------------------------------------

    def row(self, at: int) -> Row:
        """The row as plain integers; the same object as long as the table lives."""
        found = self._hot[at]
        if found is None:
            found = self._hot[at] = Row(self.columns.block[:, at].tolist(), len(self.axis))
        return found

    def alike(self, one: int, other: int) -> bool:
        """Whether two rows, both touched, stand just alike."""
        mine, theirs = self._hot[one], self._hot[other]
        return mine is not None and theirs is not None and mine.equals(theirs)

    def settle(self) -> Columns:
        """Brings the columns up to date with the rows that were touched."""
        if self._unsettled:
            rows = list(self._unsettled)
            self.columns.block[:, rows] = np.array([row.cells() for row in self._unsettled.values()], dtype=np.int64).T
            self._unsettled.clear()
        return self.columns

    def some(self, rows: Ints) -> Picked:
        """These rows as arrays, in this order; settled columns are taken for granted."""
        return Picked(self.columns, rows)

    # --- changes in a session ----------------------------------------------------------------------------------------

    def hold(self, at: int, task: Task, sign: int = 1) -> None:
        """A task takes free room of a node (or gives it back, sign -1)."""
        row = self._note(at, task, sign)
        cls = task.cls
        idle = row.idle
        if not self.track_pods:
            for place, amount in cls.items:
                idle[place] -= sign * amount
            return
        present, scored = row.present, row.scored
        for place, amount in cls.items:
            amount *= sign
            idle[place] -= amount
            present[place] += amount
        row.pods += sign
        scored[0] += sign * cls.scored[0]
        scored[1] += sign * cls.scored[1]

    def promise(self, at: int, task: Task, sign: int = 1) -> None:
        """A task is promised room that is being released (or the promise is withdrawn)."""
        row = self._note(at, task, sign)
        self.moving = True
        pipelined, present = row.pipelined, row.present
        for place, amount in task.cls.items:
            pipelined[place] += sign * amount
            if self.track_pods:
                present[place] += sign * amount
        if self.track_pods:
            _count(row, task.cls, sign)

    def release(self, at: int, task: Task, sign: int = 1) -> None:
        """A task that holds room begins to leave (or stays after all)."""
        row = self._touch(at)
        self.moving = True
        releasing = row.releasing
        for place, amount in task.cls.items:
            releasing[place] += sign * amount
        if self.track_pods:
            self._leave(row, task, sign)

    def _leave(self, row: Row, task: Task, sign: int) -> None:
        """A pod is gone for checks as soon as it is evicted; it comes back with an undone eviction unless those are forgotten."""
        uid = task.uid
        if sign > 0 and uid not in self._gone:
            self._gone.add(uid)
            if not self.forgets:
                self._may_return.add(uid)
        elif sign < 0 and uid in self._may_return:
            self._may_return.discard(uid)
            self._gone.discard(uid)
        else:
            return
        for place, amount in task.cls.items:
            row.present[place] -= sign * amount
        _count(row, task.cls, -sign)

    def is_gone(self, task: Task) -> bool:
        """Whether checks see the pod as evicted."""
        return task.uid in self._gone

    def _note(self, at: int, task: Task, sign: int) -> Row:
        if sign > 0:
            self.tasks[at][task.uid] = task
        else:
            del self.tasks[at][task.uid]
        return self._touch(at)

    def _touch(self, at: int) -> Row:
        row = self._hot[at]
        if row is None:
            row = self.row(at)
        self._unsettled[at] = row
        changed = self.changed
        if changed == len(self.changes):
            self.changes = np.concatenate([self.changes, np.zeros(changed, dtype=np.int64)])
        self.changes[changed] = self.last = at
        self.changed = changed + 1
        return row

    def changed_since(self, seen: int) -> Ints:
        """Rows noted since `changed` was `seen`, each once, in order."""
        mark = self._mark
        mark[self.changes[seen : self.changed]] = True
        rows = np.flatnonzero(mark)
        mark[rows] = False
        return rows

    # --- opening -----------------------------------------------------------------------------------------------------

    def open(self) -> Columns:
        """The columns as they are now, which is when a session opens; they stay so whatever the session does."""
        if self._opening is None:
            self._opening = Columns(self.settle().block.copy(), len(self.axis))
        return self._opening

    @property
    def opening(self) -> Columns:
        """The columns as they were when the session opened."""
        assert self._opening is not None
        return self._opening

    def reopen(self) -> None:
        """Forgets what a session did, in the columns; which tasks are on a node, `unplace` forgets."""
        assert self._opening is not None
        rows = self.changed_since(0)
        self.columns.block[:, rows] = self._opening.block[:, rows]
        for row in rows.tolist():
            self._hot[row] = None
        self._unsettled.clear()
        self._gone.clear()
        self._may_return.clear()
        self.changed = 0
        self.last = -1
        self.track_pods = self.forgets = False
        self.moving = self._leaving > 0

    def unplace(self, task: Task) -> None:
        """Takes a task off the row that a session gave it."""
        if task.row != task.opening_row and task.row >= 0:
            self.tasks[task.row].pop(task.uid, None)

    def seat_one(self, task: Task, sign: int) -> None:
        """Puts a task on its node between sessions (or takes it off, sign -1)."""
        row = task.opening_row
        width = len(self.axis)
        for block in (self.columns.block, self.open().block):
            column = block[:, row]
            for place, amount in task.cls.items:
                column[width + place] -= sign * amount
                column[4 * width + place] += sign * amount
                if task.opening_status == status.RELEASING:
                    column[2 * width + place] += sign * amount
            column[5 * width] += sign
            column[5 * width + 1] += sign * task.cls.scored[0]
            column[5 * width + 2] += sign * task.cls.scored[1]
        self._hot[row] = None
        self._leaving += sign * (task.opening_status == status.RELEASING)
        self.moving = self._leaving > 0
        if sign > 0:
            self.tasks[row][task.uid] = task
        else:
            del self.tasks[row][task.uid]

    def seat(self, tasks: Sequence[Task]) -> None:
        """Puts the tasks that are on nodes when a session opens into the columns, all at once."""
        if not tasks:
            return
        width = len(self.axis)
        rows = np.fromiter((task.row for task in tasks), dtype=np.int64, count=len(tasks))
        asked = np.array([task.cls.request.values for task in tasks], dtype=np.int64).T
        leaving = np.fromiter((task.status == status.RELEASING for task in tasks), dtype=np.bool_, count=len(tasks))
        self._leaving = int(leaving.sum())
        self.moving = self._leaving > 0
        columns = self.columns
        for place in range(width):
            np.subtract.at(columns.idle[place], rows, asked[place])
            np.add.at(columns.present[place], rows, asked[place])
            np.add.at(columns.releasing[place], rows[leaving], asked[place][leaving])
        np.add.at(columns.pods, rows, 1)
        for place in (0, 1):
            scored = np.fromiter((task.cls.scored[place] for task in tasks), dtype=np.int64, count=len(tasks))
            np.add.at(columns.scored[place], rows, scored)
        for task in tasks:
            self.tasks[task.row][task.uid] = task


def _count(row: Row, cls: TaskClass, sign: int) -> None:
    row.pods += sign
    scored = row.scored
    scored[0] += sign * cls.scored[0]
    scored[1] += sign * cls.scored[1]


Filter = Callable[[Cells], Number]
"""True where a node is refused."""
Score = Callable[[Any], Number]
"""The higher, the better. One that has a method `on_row` is asked that for a single row: the same, spelled for speed."""
