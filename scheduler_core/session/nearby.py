"""What being near to the tasks of a job that have a place makes of nodes, followed task by task.

Every row near what the job holds scores by how near it lies. Of the nearest, those in a domain of the lowest tier that has
tasks of the job score more, by the part of the job that is there, unless only one of the nearest can take the task. All
other rows score nothing, so of them only the best by rank can be chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from scheduler_core.model.cells import Bools, Floats, Ints

NO_RANK: Final = -np.inf


class Around:
    """The rows near one part of the network, in order. `scores` is what each scores by nearness, `nearest` masks those in
    that very part, which `nearness` is worth. `rows_of_leaf` gives the rows of a domain of the lowest tier by its number.
    """

    __slots__ = ("_places", "factor", "leaves", "nearest", "nearness", "rows", "rows_of_leaf", "scores")

    def __init__(
        self,
        nearness: Floats,
        leaves: list[int],
        factor: float,
        leaf_numbers: Ints,
        rows_of_leaf: Callable[[int], Ints],
    ) -> None:
        self.leaves = frozenset(leaves)
        self.nearness = float(nearness.item(leaves[0])) if leaves else 0.0
        self.factor = factor
        self.rows_of_leaf = rows_of_leaf
        near = [rows_of_leaf(leaf) for leaf in nearness.nonzero()[0].tolist()]
        self.rows: Ints = np.concatenate(near) if near else np.zeros(0, dtype=np.int64)
        self.rows.sort()
        by_row = nearness.take(leaf_numbers.take(self.rows))
        self.scores: Floats = factor * by_row
        self.nearest: Bools = by_row == self.nearness
        self._places: dict[int, Ints] = {}

    def places(self, leaf: int) -> Ints:
        """Where among the rows those of a domain of the lowest tier are."""
        found = self._places.get(leaf)
        if found is None:
            found = self._places[leaf] = self.rows.searchsorted(self.rows_of_leaf(leaf))
        return found


class Nearby:
    """The rows near what one job holds, with their `scores`. `counts` are its tasks by domain of the lowest tier."""

    __slots__ = ("_around", "_counts", "_stale", "_tasks", "rows", "scores")

    def __init__(self, around: Around, counts: dict[int, int], tasks: int) -> None:
        self._around = around
        self._counts = counts
        self._tasks = tasks
        self._stale: set[int] = set(counts)
        self.rows = around.rows
        self.scores: Floats = around.scores.copy()

    def put(self, leaf: int) -> None:
        """One more task of the job lies in this domain of the lowest tier."""
        self._counts[leaf] = self._counts.get(leaf, 0) + 1
        self._stale.add(leaf)

    def best(self, rank: Floats) -> tuple[int, float]:
        """The row that is best by rank and nearness, the first of equal ones, and both together; no rank if there is none."""
        if self._stale:
            self._settle()
        if not len(self.rows):
            return -1, NO_RANK
        ranks = rank.take(self.rows)
        total = ranks + self.scores
        at = int(total.argmax())
        if self._is_alone(ranks, at):
            total = ranks + self._around.scores
            at = int(total.argmax())
        return self.rows.item(at), total.item(at)

    def _is_alone(self, ranks: Floats, at: int) -> bool:
        """Whether this row is the only one of the nearest that can take the task. Of nodes without nearness none is alone:
        whatever else is in the cluster is as near."""
        nearest = self._around.nearest
        if self._around.nearness <= 0 or not nearest.item(at):
            return False
        if at + 1 < len(ranks) and nearest.item(at + 1) and ranks.item(at + 1) != NO_RANK:
            return False
        return bool(np.count_nonzero(ranks[nearest] != NO_RANK) == 1)

    def _settle(self) -> None:
        around = self._around
        if around.nearness > 0:
            for leaf in self._stale:
                self.scores[around.places(leaf)] = self._score(leaf)
        else:
            self._gather()
        self._stale.clear()

    def _score(self, leaf: int) -> float:
        around = self._around
        return around.factor * (around.nearness + self._counts[leaf] / self._tasks)

    def _gather(self) -> None:
        """Where all is equally near, only domains with tasks of the job score."""
        parts = [self._around.rows_of_leaf(leaf) for leaf in self._counts]
        rows = np.concatenate(parts)
        scores = np.repeat([self._score(leaf) for leaf in self._counts], [len(part) for part in parts])
        order = rows.argsort()
        self.rows, self.scores = rows[order], scores[order]
