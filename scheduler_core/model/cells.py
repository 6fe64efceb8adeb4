"""How nodes stand: what a node has, what of it is held, being released and promised, in whole numbers.

Judging many nodes wants columns (numpy); placing one task touches one, where Python integers are several times faster than
elements of an array. Columns and rows answer to the same names (`idle[place]`, `pods`, …), so that a filter or a score is
written once and evaluated on many nodes or on one; `where`, `least` and `floor` are operations whose spelling differs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint64]
Number = Any
"""One row's value or a column of them: filters and scores are written for both."""
_where: Callable[[Number, Number, Number], Number] = np.where


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
        return Picked(self, self.block.take(rows, axis=1))

    def everywhere(self, place: int) -> bool:
        found = self.known.get(place)
        if found is None:
            found = self.known[place] = bool((self.alloc[place] > 0).all())
        return found

    def all_have(self, places: list[int]) -> bool:
        """Whether all nodes of the table have something of each of these resources."""
        return all(self.everywhere(place) for place in places)

    def free_columns(self) -> Ints:
        """What is free of every resource, as a copy."""
        found: Ints = self.idle + self.releasing - self.pipelined
        return found

    def where(self, condition: Number, then: Number, otherwise: Number) -> Number:
        return _where(condition, then, otherwise)

    def least(self, one: Number, other: Number) -> Number:
        return np.minimum(one, other)

    def most(self, one: Number, other: Number) -> Number:
        return np.maximum(one, other)

    def floor(self, value: Number) -> Number:
        return np.floor(value)

    def root(self, value: Number) -> Number:
        return np.sqrt(value)


class Picked(Columns):
    """Some of the rows of others, or how they may come to stand, as arrays."""

    __slots__ = ("source",)

    def __init__(self, source: Columns, block: Ints) -> None:
        super().__init__(block, source.width)
        self.source = source

    def everywhere(self, place: int) -> bool:
        return self.source.everywhere(place)


class Row(Cells):
    """One row as Python integers, as it stood; not to be changed. `sure` is what is idle of each resource and stays so."""

    __slots__ = ("sure",)

    def __init__(self, cells: list[int], width: int) -> None:
        self.alloc = cells[:width]
        self.idle = cells[width : 2 * width]
        self.releasing = cells[2 * width : 3 * width]
        self.pipelined = cells[3 * width : 4 * width]
        self.present = cells[4 * width : 5 * width]
        self.pods = cells[5 * width]
        self.scored = cells[5 * width + 1 :]
        self.sure = self.idle
        if any(self.releasing) or any(self.pipelined):
            self.sure = [min(idle, self.free(place)) for place, idle in enumerate(self.idle)]

    def cells(self) -> list[int]:
        """The row as it stands in the block."""
        return [
            *self.alloc, *self.idle, *self.releasing, *self.pipelined, *self.present, self.pods, *self.scored
        ]  # fmt: skip

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


class Spelled:
    """A score that is also spelled for a single row, for speed."""

    def __call__(self, cells: Any) -> Number:
        raise NotImplementedError

    def on_row(self, row: Row) -> float:
        """The same in plain numbers."""
        raise NotImplementedError


Filter = Callable[[Cells], Number]
"""True where a node is refused."""
Score = Callable[[Any], Number]
"""The higher, the better. One that is `Spelled`, or has a method `on_row` all the same, is asked that for a single row."""
