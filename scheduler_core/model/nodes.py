"""The node table: one column per attribute, rows sorted by pool, spine, rack and name, so that a domain is a slice.

Two things want two layouts. Judging all nodes for a class wants columns (numpy); placing one task touches one row, where
Python integers are several times faster than elements of an array. So a row that is touched becomes a `Row` of plain
integers, which from then on is the truth for it, and the columns catch up (`settle`) before they are read as a whole.
Columns and rows answer to the same names (`idle[place]`, `pods`, …), so that a filter or a score is written once and
evaluated on the whole table, on some rows, or on one row; `where`, `least` and `floor` are the three operations whose
spelling differs.

Every change of a row is noted in `changes`. Who derives something from the table remembers how far it has read and looks
again only at rows noted since.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.records.matching import Traits
from scheduler_core.model import status
from scheduler_core.model.labels import LabelColumns
from scheduler_core.model.resources import Axis, Resource
from scheduler_core.model.tasks import Task, TaskClass

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint64]
Number = Any
"""One row's value or a column of them: filters and scores are written for both."""

_KINDS = ("idle", "releasing", "pipelined", "present")


class Cells:
    """What a filter or score sees: the same names on one row, on some rows and on the table.

    Indexed by place on the axis: `alloc` what the node has, `idle` what is not held, `releasing` what is held and being
    given back, `pipelined` what was promised on that, `present` what pods on the node ask (with promised ones, without
    those evicted in this session). `pods` counts them, `scored` is their cpu and memory with defaults.
    """

    __slots__ = ("alloc", "idle", "pipelined", "pods", "present", "releasing", "scored")

    alloc: Sequence[Number]
    idle: Sequence[Number]
    releasing: Sequence[Number]
    pipelined: Sequence[Number]
    present: Sequence[Number]
    pods: Number
    scored: Sequence[Number]

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

    def free(self, place: int) -> Number:
        """What will be idle when what is being released has gone and what is promised has come; may be below zero."""
        return self.idle[place] + self.releasing[place] - self.pipelined[place]


class Columns(Cells):
    """Several rows, or all of them, as arrays."""

    __slots__ = ()

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


class Row(Cells):
    """One row as Python integers."""

    __slots__ = ("noted",)

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
    for them, as in Volcano.
    """

    def __init__(self, axis: Axis, names: Sequence[str], traits: Sequence[Traits], usable: Bools) -> None:
        count, width = len(names), len(axis)
        self.axis = axis
        self.names = list(names)
        self.rows = {name: row for row, name in enumerate(names)}
        self.traits = list(traits)
        self.by_label = LabelColumns(self.traits)
        self.usable = usable
        self.cordoned: Bools = np.zeros(count, dtype=np.bool_)
        self.columns = Columns()
        self.alloc = self.columns.alloc = np.zeros((width, count), dtype=np.int64)  # type: ignore[assignment]
        for kind in _KINDS:
            setattr(self.columns, kind, np.zeros((width, count), dtype=np.int64))
        self.columns.pods = np.zeros(count, dtype=np.int64)
        self.columns.scored = np.zeros((2, count), dtype=np.int64)  # type: ignore[assignment]
        self.tasks: list[dict[str, Task]] = [{} for _ in range(count)]
        self.soft_taints: list[tuple[tuple[str, str, str], ...]] = []
        self.track_pods = False
        self.changes: list[int] = []
        self.forgets = False
        self._gone: set[str] = set()
        self._may_return: set[str] = set()
        self._hot: list[Row | None] = [None] * count
        self._unsettled: dict[int, Row] = {}

    def __len__(self) -> int:
        return len(self.names)

    @property
    def total(self) -> Resource:
        """What all usable nodes have."""
        sums = self.alloc[:, self.usable].sum(axis=1)
        named = sum(1 << place for place, amount in enumerate(sums) if amount)
        return Resource([int(amount) for amount in sums], named)

    @property
    def used(self) -> Resource:
        """What is held on all usable nodes."""
        self.settle()
        idle: Ints = self.columns.idle  # type: ignore[assignment]
        sums = (self.alloc - idle)[:, self.usable].sum(axis=1)
        return Resource([int(amount) for amount in sums], (1 << len(sums)) - 1)

    # --- one row ---------------------------------------------------------------------------------------------------

    def row(self, at: int) -> Row:
        """The row as plain integers; the same object as long as the table lives."""
        found = self._hot[at]
        if found is None:
            found = self._hot[at] = Row()
            found.alloc = self.alloc[:, at].tolist()
            for kind in _KINDS:
                setattr(found, kind, getattr(self.columns, kind)[:, at].tolist())
            found.pods = int(self.columns.pods[at])
            found.scored = self.columns.scored[:, at].tolist()  # type: ignore[call-overload]
        return found

    def settle(self) -> Columns:
        """Brings the columns up to date with the rows that were touched."""
        columns: Any = self.columns
        for at, row in self._unsettled.items():
            columns.idle[:, at] = row.idle
            columns.releasing[:, at] = row.releasing
            columns.pipelined[:, at] = row.pipelined
            columns.present[:, at] = row.present
            columns.pods[at] = row.pods
            columns.scored[:, at] = row.scored
        self._unsettled.clear()
        return self.columns

    def some(self, rows: Ints) -> Columns:
        """These rows as arrays, in this order."""
        source: Any = self.settle()
        found = Columns()
        for kind in ("alloc", *_KINDS):
            setattr(found, kind, getattr(source, kind)[:, rows])
        found.pods = source.pods[rows]
        found.scored = source.scored[:, rows]
        return found

    # --- changes in a session ----------------------------------------------------------------------------------------

    def hold(self, at: int, task: Task, sign: int = 1) -> None:
        """A task takes free room of a node (or gives it back, sign -1)."""
        row = self._touch(at)
        idle: Any = row.idle
        for place, amount in task.cls.items:
            idle[place] -= sign * amount
        self._pod(row, at, task, sign)

    def promise(self, at: int, task: Task, sign: int = 1) -> None:
        """A task is promised room that is being released (or the promise is withdrawn)."""
        row = self._touch(at)
        pipelined: Any = row.pipelined
        for place, amount in task.cls.items:
            pipelined[place] += sign * amount
        self._pod(row, at, task, sign)

    def release(self, at: int, task: Task, sign: int = 1) -> None:
        """A task that holds room begins to leave (or stays after all)."""
        row = self._touch(at)
        releasing: Any = row.releasing
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
            self._count(row, task.cls, -1)
        elif sign < 0 and uid in self._may_return:
            self._may_return.discard(uid)
            self._gone.discard(uid)
            self._count(row, task.cls, 1)

    def is_gone(self, task: Task) -> bool:
        """Whether checks see the pod as evicted."""
        return task.uid in self._gone

    def _touch(self, at: int) -> Row:
        row = self.row(at)
        self._unsettled[at] = row
        self.changes.append(at)
        return row

    def _pod(self, row: Row, at: int, task: Task, sign: int) -> None:
        if sign > 0:
            self.tasks[at][task.uid] = task
        else:
            del self.tasks[at][task.uid]
        if self.track_pods:
            self._count(row, task.cls, sign)

    @staticmethod
    def _count(row: Row, cls: TaskClass, sign: int) -> None:
        present: Any = row.present
        for place, amount in cls.items:
            present[place] += sign * amount
        row.pods += sign
        scored: Any = row.scored
        scored[0] += sign * cls.scored[0]
        scored[1] += sign * cls.scored[1]

    # --- opening -----------------------------------------------------------------------------------------------------

    def seat(self, tasks: Sequence[Task]) -> None:
        """Puts the tasks that are on nodes when a session opens into the columns, all at once."""
        if not tasks:
            return
        width = len(self.axis)
        rows = np.fromiter((task.row for task in tasks), dtype=np.int64, count=len(tasks))
        asked = np.array([task.cls.request.values for task in tasks], dtype=np.int64).T
        leaving = np.fromiter((task.status == status.RELEASING for task in tasks), dtype=np.bool_, count=len(tasks))
        columns: Any = self.columns
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


Filter = Callable[[Cells], Number]
"""True where a node is refused."""
Score = Callable[[Cells], Number]
"""The higher, the better."""
