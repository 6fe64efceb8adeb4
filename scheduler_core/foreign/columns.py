"""What nodes say of one part of a pod, kept as a small number for each row and shared by all pods that ask this part alike.

`Wished` is about labels, names and taints, and stays as it is while the nodes do. `Short` is about room: rows that have
changed since it was looked at last are looked at again, and no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scheduler_core.model.cells import Bools
from scheduler_core.model.checks import UNRESOLVABLE, Check
from scheduler_core.model.nodes import NodeTable
from scheduler_core.model.resources import PODS
from scheduler_core.model.tasks import Demand
from scheduler_core.session.codes import FITS

Small = npt.NDArray[Any]
"""A small number for each row."""


class Mark(NamedTuple):
    """A check and its bit. `counted`: kube-scheduler counts nodes at it; `told`: it is among what would help."""

    check: Check
    bit: int
    counted: bool
    told: bool


class Wish(NamedTuple):
    """What is true of some nodes: see `judged.Kind`."""

    first: int
    joint: int
    opened: bool
    never: bool


class Wished:
    """`marks` with the rows they refuse, in the order of the filters; `opened` rows are wanted and closed by nothing."""

    def __init__(self, marks: Sequence[tuple[Mark, Bools]], opened: Bools, closed: tuple[str, int]) -> None:
        self.opened = opened
        self.closed = closed
        """The reason where no node is open, and for how many it holds."""
        packed: npt.NDArray[np.uint16] = opened.astype(np.uint16)
        for at, (_, rows) in enumerate(marks, 1):
            packed |= rows.astype(np.uint16) << np.uint16(at)
        values = np.flatnonzero(np.bincount(packed, minlength=1 << (len(marks) + 1)))
        places = np.zeros(1 << (len(marks) + 1), dtype=np.uint16)
        places[values] = np.arange(len(values))
        self.of_row: Small = places[packed]
        self.kinds = [_wish(value, [mark for mark, _ in marks]) for value in values.tolist()]


def _wish(value: int, marks: Sequence[Mark]) -> Wish:
    there = [mark for at, mark in enumerate(marks, 1) if value >> at & 1]
    first = next((mark for mark in there if mark.counted), None)
    joint = 0
    for mark in there:
        joint |= mark.bit if mark.told else 0
    return Wish(
        FITS if first is None else first.bit, joint, bool(value & 1),
        first is not None and first.check.code == UNRESOLVABLE,
    )  # fmt: skip


class Short:
    """Of which resources a row has too little: a bit for each that is asked for, and above them one that says that it
    never had enough of one."""

    def __init__(self, table: NodeTable, demand: Demand, bit_of: Mapping[int, int]) -> None:
        self._table = table
        self._needs = [(place, amount) for place, amount in demand.needs if amount > 0]
        self._bits = [bit_of[place] for place, _ in self._needs]
        self.bound = 2 << len(self._needs)
        kind: Any = np.uint8 if self.bound <= 256 else np.int64
        final: Bools = np.zeros(len(table), dtype=np.bool_)
        for place, amount in self._needs:
            if place != PODS:
                final |= table.alloc[place] < amount
        self._final: Small = final.astype(kind) << kind(len(self._needs))
        self._seen = table.changed
        self._of_row: Small = self._looked(table.settle().idle) | self._final

    def of_row(self) -> Small:
        """The number of each row as it is now."""
        table = self._table
        if self._seen != table.changed:
            rows = table.changed_since(self._seen)
            self._of_row[rows] = self._looked(table.settle().idle[:, rows]) | self._final[rows]
            self._seen = table.changed
        return self._of_row

    def _looked(self, idle: npt.NDArray[np.int64]) -> Small:
        found: Small = np.zeros(idle.shape[1], dtype=self._final.dtype)
        for at, (place, amount) in enumerate(self._needs):
            found |= (idle[place] < amount).astype(found.dtype) << found.dtype.type(at)
        return found

    def code(self, number: int) -> int:
        """The resources in a number, as a code."""
        found = 0
        for at, bit in enumerate(self._bits):
            found |= bit if number >> at & 1 else 0
        return found

    def never(self, number: int) -> bool:
        """Whether the row never had enough of something."""
        return bool(number >> len(self._needs) & 1)
