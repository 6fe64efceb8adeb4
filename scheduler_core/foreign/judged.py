"""What all nodes say of one pod, as a count: nodes of which the same is true are one kind.

Kinds are few however many nodes there are, so whatever is told of counts is worked out on kinds. Rows are looked at only
where a node has to be named or taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scheduler_core.model.cells import Bools, Codes, Ints
from scheduler_core.session.codes import FITS

_LUT_MOST = 1 << 14
"""Up to so many different numbers kinds are counted by a table, above by sorting."""


class Kind(NamedTuple):
    """What is true of some nodes. `first` is the code of what kube-scheduler counts there, `joint` that of every filter
    that refuses them; `opened`: the pod wants them and nothing closes them; `never`: no eviction helps there."""

    first: int
    joint: int
    opened: bool
    never: bool


class Judged:
    """`kinds` with the number of `nodes` of each. `early`: words of a PreFilter that ended the attempt, else empty."""

    def __init__(self, kinds: Sequence[Kind], nodes: Sequence[int], of_row: Ints, early: str = "") -> None:
        self.kinds = kinds
        self.nodes = nodes
        self.early = early
        self.total = len(of_row)
        self._of_row = of_row

    @property
    def any_fits(self) -> bool:
        """Whether a node takes the pod as it is."""
        return not self.early and any(kind.first == FITS for kind in self.kinds)

    @property
    def firsts(self) -> list[tuple[int, int]]:
        """(first, nodes) of every code there is."""
        return _summed((kind.first, nodes) for kind, nodes in zip(self.kinds, self.nodes, strict=True))

    @property
    def joints(self) -> list[tuple[int, int]]:
        """(joint, nodes) of every code there is, most nodes first."""
        found = _summed((kind.joint, nodes) for kind, nodes in zip(self.kinds, self.nodes, strict=True))
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    @property
    def open_firsts(self) -> list[tuple[int, int]]:
        """(first, nodes) of open nodes alone."""
        pairs = zip(self.kinds, self.nodes, strict=True)
        return _summed((kind.first, nodes) for kind, nodes in pairs if kind.opened)

    def rows_of(self, joint: int) -> Ints:
        """The rows that are refused for exactly this."""
        wanted = [place for place, kind in enumerate(self.kinds) if kind.joint == joint]
        if len(wanted) == 1:
            return np.flatnonzero(self._of_row == wanted[0])
        return np.flatnonzero(np.isin(self._of_row, wanted))

    # --- by row ------------------------------------------------------------------------------------------------------

    @property
    def first(self) -> Codes:
        found: Codes = np.array([kind.first for kind in self.kinds], dtype=np.uint64)[self._of_row]
        return found

    @property
    def never(self) -> Bools:
        found: Bools = np.array([kind.never for kind in self.kinds], dtype=np.bool_)[self._of_row]
        return found

    @property
    def fits(self) -> Bools:
        fits = [kind.first == FITS and not self.early for kind in self.kinds]
        found: Bools = np.array(fits, dtype=np.bool_)[self._of_row]
        return found

    def refused_at(self, row: int) -> bool:
        """Whether this node refuses the pod."""
        return self.kinds[int(self._of_row[row])].first != FITS

    def replaced(self, rows: Sequence[int], other: Judged) -> Judged:
        """The same with what another judgement says of these rows."""
        of_row = self._of_row.astype(np.int64)
        of_row[rows] = other._of_row[rows].astype(np.int64) + len(self.kinds)
        kinds = [*self.kinds, *other.kinds]
        nodes = np.bincount(of_row, minlength=len(kinds))
        there = np.flatnonzero(nodes)
        places = np.zeros(len(kinds), dtype=np.int64)
        places[there] = np.arange(len(there))
        return Judged([kinds[place] for place in there.tolist()], nodes[there].tolist(), places[of_row])


def distinct(numbers: Ints, bound: int) -> tuple[list[int], list[int], Ints]:
    """The values of a column of numbers below `bound`, how often each is there, and the place of each row's among them."""
    if bound > _LUT_MOST:
        values, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
        return values.tolist(), counts.tolist(), places
    counts = np.bincount(numbers, minlength=bound)
    values = np.flatnonzero(counts)
    lut: npt.NDArray[np.int64] = np.zeros(bound, dtype=np.int64)
    lut[values] = np.arange(len(values))
    return values.tolist(), counts[values].tolist(), lut[numbers]


def _summed(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    found: dict[int, int] = {}
    for code, nodes in pairs:
        found[code] = found.get(code, 0) + nodes
    return list(found.items())
