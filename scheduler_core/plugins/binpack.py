"""binpack: nodes that the task fills more score higher.

100 × `binpack.weight` × the weighted mean, over the resources that the task asks and that have a weight, of what of the
node is used with the task. If one of them does not fit the node as it is, the whole score is 0; one that the node does not
have at all adds nothing, yet its weight counts. Cpu and memory weigh 1, others only if named in `binpack.resources`;
weights below zero are 1; a `binpack.weight` of 0 switches the plugin off.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from scheduler_core.model.cells import Cells, Columns, Floats, Number, Row, Score, Spelled
from scheduler_core.model.tasks import Demand
from scheduler_core.session import arguments
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session

_MOST: Final = 100.0


class Binpack(Plugin):
    name = "binpack"
    arguments_known = ("binpack.weight", "binpack.cpu", "binpack.memory", "binpack.resources", "binpack.resources.*")

    def open(self, session: Session) -> None:
        self.axis = session.axis
        self.weight = arguments.weight(self.arguments, "binpack.weight")
        self.resources = arguments.resource_weights(self.arguments, "binpack")

    def row_scores(self, demand: Demand) -> Iterable[Score]:
        weighed = [(place, amount, self.resources.get(self.axis.names[place], 0)) for place, amount in demand.items]
        terms = [(place, amount, float(weight)) for place, amount, weight in weighed if weight]
        if self.weight and terms:
            yield Packed(terms, _MOST * self.weight)


class Packed(Spelled):
    """The score of one demand; `terms` are (place, amount, weight above 0) of what it asks for.

    Every step is upstream's, in its order: nodes that are equal there are equal here to the last bit.
    """

    def __init__(self, terms: list[tuple[int, int, float]], factor: float) -> None:
        self.terms = terms
        self.weights = sum(weight for _, _, weight in terms)
        self.factor = factor
        self._places = [place for place, _, _ in terms]
        self._amounts = np.array([[amount] for _, amount, _ in terms])
        self._each = np.array([[weight] for _, _, weight in terms])

    def __call__(self, cells: Cells) -> Number:
        if isinstance(cells, Columns) and cells.all_have(self._places):
            return self._on_all(cells)
        total: Number = 0.0
        over: Number = False
        for place, amount, weight in self.terms:
            alloc = cells.alloc[place]
            used = alloc - cells.idle[place] + amount
            total = total + cells.where(alloc > 0, used * weight / cells.most(alloc, 1), 0.0)
            over = over | ((alloc > 0) & (used > alloc))
        return cells.where(over, 0.0, total / self.weights * self.factor)

    def _on_all(self, cells: Columns) -> Floats:
        """The same where every node has something of each: all resources at once."""
        alloc = cells.alloc[self._places]
        used = alloc - cells.idle[self._places]
        used += self._amounts
        parts = used * self._each
        parts /= alloc
        total: Floats = parts[0]
        for part in parts[1:]:  # one after the other: a reduction of a single column adds in another order
            total += part
        total /= self.weights
        total *= self.factor
        total[np.logical_or.reduce(used > alloc, axis=0)] = 0.0
        return total

    def on_row(self, row: Row) -> float:
        """The same in plain numbers."""
        total = 0.0
        has: list[int] = row.alloc
        idle: list[int] = row.idle
        for place, amount, weight in self.terms:
            alloc = has[place]
            if alloc > 0:
                used = alloc - idle[place] + amount
                if used > alloc:
                    return 0.0
                total += used * weight / alloc
        return total / self.weights * self.factor
