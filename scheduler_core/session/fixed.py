"""What checks that do not change in a session say of all nodes, for classes that wish alike.

Labels, taints and cordons stay as they are while a session lasts, so whichever nodes they close are closed for good. What is
told of the open ones often needs not each of them: only in which states the session found them, and how many in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from scheduler_core.model.amounts import MOST
from scheduler_core.model.cells import Bools, Codes, Floats, Ints
from scheduler_core.model.nodes import NodeTable
from scheduler_core.session import codes as codes_
from scheduler_core.session.codes import FITS
from scheduler_core.session.nearby import NO_RANK

_NOT_ASKED: Final = -2


class Fixed:
    """What checks that do not change say of all nodes: codes, where any of them fails, and that as a rank to be added."""

    __slots__ = (
        "_alloc", "_free", "_kinds", "_least", "_most_alike", "_opening", "_sets", "_when_empty", "closed", "codes", "shut",
    )  # fmt: skip

    def __init__(self, named: Sequence[tuple[int, Bools]]) -> None:
        self._sets = codes_.of_rows(named)
        self._kinds: codes_.Kinds | None = None
        self.codes: Codes = self._sets.codes.take(self._sets.of)
        self.closed: Bools = self.codes != FITS
        self.shut: Floats = np.where(self.closed, NO_RANK, 0.0)
        self._opening: tuple[Ints, Ints] | None = None
        self._when_empty: dict[tuple[int, int], int] = {}
        self._most_alike = _NOT_ASKED
        self._alloc: dict[int, Ints] = {}
        self._least: dict[int, int] = {}
        self._free: dict[int, Ints] = {}

    @property
    def kinds(self) -> codes_.Kinds:
        """Which different sets of these checks fail, and which of them on each row."""
        if self._kinds is None:
            self._kinds = codes_.fewest(self._sets)
        return self._kinds

    def opening(self, table: NodeTable) -> tuple[Ints, Ints]:
        """The open nodes by the state in which the session found them: states, and how many nodes were in each."""
        if self._opening is None:
            nodes = np.bincount(table.opening_states[~self.closed])
            states = nodes.nonzero()[0]
            self._opening = states, nodes.take(states)
        return self._opening

    def most_alike(self, table: NodeTable) -> int:
        """Which of these states most nodes were in; -1 if no node is open. What it answers often answers for all."""
        if self._most_alike == _NOT_ASKED:
            nodes = self.opening(table)[1]
            self._most_alike = int(nodes.argmax()) if len(nodes) else -1
        return self._most_alike

    def alloc(self, table: NodeTable, place: int) -> Ints:
        """What the nodes of each of these states have of a resource."""
        found = self._alloc.get(place)
        if found is None:
            found = self._alloc[place] = table.states.whole.cells.alloc[place].take(self.opening(table)[0])
        return found

    def least(self, table: NodeTable, place: int) -> int:
        """How much of a resource every open node has at least."""
        found = self._least.get(place)
        if found is None:
            found = self._least[place] = int(self.alloc(table, place).min(initial=MOST))
        return found

    def free(self, table: NodeTable, place: int) -> Ints:
        """What is free of a resource in each of these states, at least nothing."""
        found = self._free.get(place)
        if found is None:
            found = self._free[place] = np.maximum(table.states.whole.free[place].take(self.opening(table)[0]), 0)
        return found

    def when_empty(self, table: NodeTable, place: int, amount: int) -> int:
        """How often the open nodes could have so much of a resource, each by itself, if they were empty."""
        found = self._when_empty.get((place, amount))
        if found is None:
            each = self.alloc(table, place) // amount
            found = self._when_empty[place, amount] = int(each.dot(self.opening(table)[1]))
        return found
