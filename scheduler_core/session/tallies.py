"""Nodes counted by how they stand and what is fixed about them: what a refusal is told from, whichever class was refused.

Nodes in one state (`model.states`) with equal fixed failures are alike to every question about a refusal, so they are one
line of a tally, with their number and the first of them. A fleet of thousands of nodes has some hundred lines. While no node
changes, all classes that wish alike are counted on the same lines, and those that fail alike in all states have one count.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler_core.model.cells import Codes, Ints

if TYPE_CHECKING:
    from scheduler_core.session.codes import Kinds
    from scheduler_core.session.judging import Judge, Within

_LUT_MOST: Final = 1 << 17
"""Up to so many different numbers lines are found by a table, above by sorting."""
_ROUND: Final = 255


Counts = tuple[tuple[int, int], ...]
"""(code, nodes), most nodes first."""


class Tally:
    """Lines in no order: the state of their nodes, the code of what is fixed, the code of all that fails, how many `nodes`
    there are and the `first` row of them; `total` nodes in all."""

    __slots__ = ("_open", "codes", "first", "fixed", "nodes", "states", "total")

    def __init__(
        self, states: Ints, fixed: Codes, codes: Codes, nodes: Ints, first: Ints, total: int
    ) -> None:  # fmt: skip
        self.states = states
        self.fixed = fixed
        self.codes = codes
        self.nodes = nodes
        self.first = first
        self.total = total
        self._open: Ints | None = None

    def histogram(self) -> Counts:
        """The nodes by the code of all that fails."""
        found: dict[int, int] = {}
        for code, nodes in zip(self.codes.tolist(), self.nodes.tolist(), strict=True):
            found[code] = found.get(code, 0) + nodes
        return _most_first(found)

    @property
    def open(self) -> Ints:
        """Lines in which nothing that is fixed fails."""
        if self._open is None:
            self._open = (self.fixed == 0).nonzero()[0]
        return self._open


Told = tuple[Tally, Counts]
"""All nodes at one moment as they stand to a class: their lines, and how many nodes have which code."""


class _Lines:
    """All nodes at one moment of the table, for classes with equal fixed failures; `moment` says which.

    Columns as in a tally; `kinds` is which of the different fixed codes a line has, `values` these codes by kind.
    """

    __slots__ = ("first", "fixed", "kinds", "moment", "nodes", "states", "values")

    def __init__(self, moment: int, kinds: Ints, values: Codes, lines: tuple[Ints, Ints, Ints]) -> None:
        self.moment = moment
        self.kinds = kinds
        self.values = values
        self.fixed: Codes = values.take(kinds)
        self.states, self.nodes, self.first = lines

    def told(self, total: int, failing: Kinds) -> Told:
        """How they stand to a class, given what fails for it in each state."""
        kinds = len(self.values)
        failing_of = failing.of.take(self.states)
        numbers = failing_of * np.int64(kinds)
        numbers += self.kinds
        found: dict[int, int] = {}
        values: list[int] = self.values.tolist()
        nodes: list[float] = np.bincount(numbers, self.nodes).tolist()
        for number, each in enumerate(nodes):
            if each:
                code = failing.codes.item(number // kinds) | values[number % kinds]
                found[code] = found.get(code, 0) + int(each)
        codes = failing.codes.take(failing_of)
        codes |= self.fixed
        return Tally(self.states, self.fixed, codes, self.nodes, self.first, total), _most_first(found)


class Tallies:
    """The tallies of a session; lines are kept for each set of fixed failures until a node changes."""

    def __init__(self) -> None:
        self._bases: dict[int, tuple[int, Ints]] = {}
        self._lines: dict[int, _Lines] = {}
        self._told: dict[tuple[int, tuple[int, ...], bytes], Told] = {}
        self._told_at = -1

    def of(self, judge: Judge, codes: Codes, within: Within) -> Tally:
        """How all nodes (`within`: these) stand to a class, of which the rows have these codes."""
        rows = np.arange(len(codes)) if within is None else within.nonzero()[0]
        values, kinds = np.unique(codes[rows], return_inverse=True)
        fixed, of_row = judge.wishes.kinds.codes, judge.wishes.kinds.of
        count = judge.table.states.count
        numbers = (kinds * len(fixed) + of_row[rows]) * count + judge.table.state[rows]
        found, nodes, first = _lines(numbers[::-1], len(values) * len(fixed) * count)
        rest = found // count
        return Tally(
            found % count, fixed[rest % len(fixed)], values[rest // len(fixed)], nodes, rows[first], len(rows)
        )  # fmt: skip

    def of_all(self, judge: Judge) -> Told:
        """How all nodes stand to a class that has just looked; the same for classes to which they stand alike."""
        room, moment = judge.room, judge.table.moment
        if self._told_at != moment:
            self._told.clear()
            self._told_at = moment
        key = (id(judge.fixed), room.bits, room.sets.tobytes())
        found = self._told.get(key)
        if found is None:
            found = self._told[key] = self._lines_of(judge).told(len(judge.table), room.kinds)
        return found

    def _lines_of(self, judge: Judge) -> _Lines:
        table = judge.table
        lines = self._lines.get(id(judge.fixed))
        if lines is None or lines.moment != table.moment:
            values, most = judge.wishes.kinds.codes, _rounded(table.states.count)
            found, nodes, first = _lines(self._base(judge, most) + table.state[::-1], len(values) * most)
            kinds = found // most
            lines = _Lines(table.moment, kinds, values, (found - kinds * most, nodes, first))
            self._lines[id(judge.fixed)] = lines
        return lines

    def _base(self, judge: Judge, most: int) -> Ints:
        """What makes of the state of each row, of at most so many, a number that says its fixed code too; the last row first."""
        known = self._bases.get(id(judge.fixed))
        if known is None or known[0] != most:
            known = self._bases[id(judge.fixed)] = (most, judge.wishes.kinds.of[::-1] * most)
        return known[1]


def _rounded(count: int) -> int:
    """So many states or some more, so that what follows from the number of states stays while few come."""
    return (count | _ROUND) + 1


@functools.lru_cache(maxsize=4)
def _downwards(count: int) -> Ints:
    """All places from the last to the first; not to be changed."""
    found = np.arange(count - 1, -1, -1)
    found.flags.writeable = False
    return found


def _most_first(found: dict[int, int]) -> Counts:
    return tuple([(code, -nodes) for nodes, code in sorted([(-nodes, code) for code, nodes in found.items()])])


def _lines(numbers: Ints, bound: int) -> tuple[Ints, Ints, Ints]:
    """The different ones of numbers that are given from the last to the first, how often each is there, and its first place."""
    if bound > _LUT_MOST:
        values, first, nodes = np.unique(numbers[::-1], return_index=True, return_counts=True)
        return values, nodes, first
    counts = np.bincount(numbers, minlength=bound)
    values = (counts != 0).nonzero()[0]
    place: npt.NDArray[np.int64] = np.empty(bound, dtype=np.int64)  # only what is set is read
    place[numbers] = _downwards(len(numbers))  # of equal ones the last that is set stays: the first
    return values, counts.take(values), place.take(values)
