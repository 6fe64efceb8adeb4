"""Every way in which nodes stand, once: nodes that stand alike share a state.

A fleet is bought by the hundred and filled by gangs of equal tasks, so that of thousands of nodes only some hundred differ
in what they have and what is held of it. A state is one such way: a column of cells with a number. Then
- a node is a number, and a change of it a look-up: from this state, with so much taken by a demand, to that state;
- what is judged by the cells alone (room, checks, scores) is judged once a state, however many nodes stand so, and for all
  sessions' changes only states that are new.

States are told apart by their cells, so what is taken and given back leads to the very state of before. In a fleet where no
two nodes are alike there are as many states as nodes, and one more with each change: then nothing is shared, and a change
costs a few microseconds more.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from scheduler_core.model.cells import Columns, Ints, Picked, Row
from scheduler_core.model.tasks import Demand

HOLD: Final = 0
PROMISE: Final = 1
RELEASE: Final = 2
APPEAR: Final = 3
"""Kinds of change: free room is taken; room that is being released is promised; room begins to be released; a pod is seen
by checks. The first two imply the last where pods are tracked."""


class Shift:
    """One kind of change by one demand: what it adds to the cells, and where it leads from each state, as far as met."""

    __slots__ = ("after", "delta")

    def __init__(self, delta: Ints) -> None:
        self.delta = delta
        self.after: dict[int, int] = {}


class Whole:
    """All states that there are so far: as arrays, what will be `free` in each (by place, by state), and the `most` that is
    idle in any of them, by place."""

    __slots__ = ("cells", "free", "most")

    def __init__(self, cells: Picked, free: Ints, most: list[int]) -> None:
        self.cells = cells
        self.free = free
        self.most = most


class States:
    """The states of one table; `source` are its columns. `block` has a column for each state, `count` of them in use.
    `moves` says whether anything may be being released or promised in any of them."""

    __slots__ = ("_free", "_numbers", "_rows", "_shifts", "_whole", "block", "count", "moves", "source")

    def __init__(self, source: Columns) -> None:
        self.source = source
        self.block: Ints = np.zeros((len(source.block), 64), dtype=np.int64)
        self.count = 0
        self.moves = False
        self._numbers: dict[bytes, int] = {}
        self._rows: list[Row | None] = []
        self._shifts: dict[int, Shift] = {}
        self._whole: Whole | None = None
        self._free: Ints = np.zeros((source.width, 0), dtype=np.int64)

    def of_all(self, block: Ints) -> Ints:
        """The state of each column."""
        columns = Columns(block, self.source.width)
        self.moves = self.moves or bool(columns.releasing.any() or columns.pipelined.any())
        data, size = np.ascontiguousarray(block.T).tobytes(), block.itemsize * len(block)
        numbers = self._numbers
        found = np.empty(block.shape[1], dtype=np.int64)
        for at in range(block.shape[1]):
            key = data[at * size : (at + 1) * size]
            number = numbers.get(key)
            found[at] = self._add(key, block[:, at]) if number is None else number
        return found

    def of(self, column: Ints) -> int:
        """The state of one column."""
        key = column.tobytes()
        number = self._numbers.get(key)
        return self._add(key, column) if number is None else number

    def _add(self, key: bytes, column: Ints) -> int:
        number = self.count
        if number == self.block.shape[1]:
            self.block = np.concatenate([self.block, np.zeros_like(self.block)], axis=1)
        self.block[:, number] = column
        self._numbers[key] = number
        self._rows.append(None)
        self.count = number + 1
        return number

    def row(self, number: int) -> Row:
        """A state as plain integers."""
        found = self._rows[number]
        if found is None:
            found = self._rows[number] = Row(self.block[:, number].tolist(), self.source.width)
        return found

    def since(self, known: int) -> Picked:
        """The states from this number on, as arrays."""
        return Picked(self.source, self.block[:, known : self.count])

    @property
    def whole(self) -> Whole:
        """All of them; the same as long as there is no new one."""
        found = self._whole
        if found is None or found.free.shape[1] != self.count:
            found = self._whole = self._with_new(found)
        return found

    def _with_new(self, known: Whole | None) -> Whole:
        """What is known, and the states that have come since."""
        before = 0 if known is None else known.free.shape[1]
        new, count = self.since(before), self.count
        if self._free.shape[1] < count:
            longer = np.empty((self.source.width, self.block.shape[1]), dtype=np.int64)
            longer[:, :before] = self._free[:, :before]
            self._free = longer
        self._free[:, before:count] = new.free_columns()
        most: list[int] = new.idle.max(axis=1, initial=0).tolist()
        if known is not None:
            most = [max(pair) for pair in zip(known.most, most, strict=True)]
        return Whole(self.since(0), self._free[:, :count], most)

    # --- changes -------------------------------------------------------------------------------------------------------

    def after(self, state: int, shift: Shift) -> int:
        """Where a change leads."""
        found = shift.after.get(state)
        if found is None:
            found = shift.after[state] = self.of(self.block[:, state] + shift.delta)
        return found

    def shift(self, kind: int, demand: Demand, sign: int, tracked: bool) -> Shift:
        """The change that a task of a demand makes (or takes back, sign -1); `tracked` says whether checks see the pod."""
        key = demand.number * 16 + kind * 4 + (sign > 0) * 2 + tracked
        found = self._shifts.get(key)
        if found is None:
            self.moves = self.moves or kind in (PROMISE, RELEASE)
            found = self._shifts[key] = Shift(sign * self._delta(kind, demand, tracked))
        return found

    def _delta(self, kind: int, demand: Demand, tracked: bool) -> Ints:
        delta = np.zeros(len(self.block), dtype=np.int64)
        cells = Columns(delta[:, None], self.source.width)
        for place, amount in demand.items:
            if kind == HOLD:
                cells.idle[place] -= amount
            elif kind == PROMISE:
                cells.pipelined[place] += amount
            elif kind == RELEASE:
                cells.releasing[place] += amount
            if tracked:
                cells.present[place] += amount
        if tracked:
            cells.pods += 1
            cells.scored[0] += demand.scored[0]
            cells.scored[1] += demand.scored[1]
        return delta
