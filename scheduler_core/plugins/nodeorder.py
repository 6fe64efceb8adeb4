"""nodeorder: the scores of the Kubernetes scheduler, each from 0 to 100, weighted and summed.

On one node, in whole numbers: least requested (on by default), most requested, and balanced (all three over cpu and
memory; a container that names none of either counts with 100m and 200Mi in the first two). Between nodes: preferred node
affinity, soft taints, pods near and far, spread; these are divided by the largest among the candidates. Image locality
needs to know images, which the core does not; it adds nothing.

Balanced, as Kubernetes 1.36 has it, rewards a node that the pod makes more even, not one that is: half of a hundred, and
half of what evenness gains. Evenness is a hundred less the standard deviation of the used parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from pipeline.records.shapes.pod import TopologySpreadConstraint
from scheduler_core.model.nodes import Bools, Cells, Floats, Ints, Number, Score
from scheduler_core.model.resources import CPU, MEMORY
from scheduler_core.model.tasks import Demand, Task, TaskClass
from scheduler_core.session import arguments, relations
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session

_MOST = 100
_GPU = "nvidia.com/gpu"
_CORE = ((CPU, 0), (MEMORY, 1))
"""Places on the axis, and in what is scored."""

WEIGHTS = {
    "leastrequested.weight": 1, "mostrequested.weight": 0, "nodeaffinity.weight": 2, "podaffinity.weight": 2,
    "balancedresource.weight": 1, "tainttoleration.weight": 3, "imagelocality.weight": 1, "podtopologyspread.weight": 2,
}  # fmt: skip
"""Arguments and their defaults."""


class NodeOrder(Plugin):
    name = "nodeorder"
    arguments_known = tuple(WEIGHTS)

    def open(self, session: Session) -> None:
        self.session = session
        self.table = session.nodes
        self.axis = session.axis
        self.relations = session.relations
        self.weight = {
            name.partition(".")[0]: arguments.whole(self.arguments, name, default) for name, default in WEIGHTS.items()
        }
        self._affinity: dict[int, Floats | None] = {}
        self._taints: dict[int, Floats | None] = {}

    # --- one node ----------------------------------------------------------------------------------------------------

    def row_scores(self, demand: Demand) -> Iterable[Score]:
        if self.weight["leastrequested"]:
            yield _weighted(self.weight["leastrequested"], lambda cells: _requested(cells, demand, _least))
        if self.weight["mostrequested"]:
            yield _weighted(self.weight["mostrequested"], lambda cells: _requested(cells, demand, _most))
        if self.weight["balancedresource"] and not demand.best_effort:
            yield _weighted(self.weight["balancedresource"], self._balanced(demand))

    def _balanced(self, demand: Demand) -> Score:
        places = [CPU, MEMORY]
        gpu = self.axis.index.get(_GPU)
        if gpu is not None and demand.request.values[gpu] > 0:
            places.append(gpu)
        asked = [int(demand.request.values[place]) for place in places]
        nothing = [0] * len(places)

        def score(cells: Cells) -> Number:
            gain = _evenness(cells, places, asked) - _evenness(cells, places, nothing)
            return 50 + (50 + gain) // 2

        return score

    # --- between nodes -----------------------------------------------------------------------------------------------

    def compares(self, cls: TaskClass) -> bool:
        return bool(
            (self.weight["nodeaffinity"] and self._preferred(cls) is not None)
            or (self.weight["tainttoleration"] and self._soft_taints(cls) is not None)
            or (self.relations.active and self.weight["podaffinity"])
            or (cls.spread and self.weight["podtopologyspread"])
        )

    def table_score(self, task: Task, rows: Ints) -> Floats | None:
        total = np.zeros(len(rows))
        near = self._preferred(task.cls)
        if near is not None:
            total += self.weight["nodeaffinity"] * _normalised(near[rows])
        taints = self._soft_taints(task.cls)
        evenly = np.zeros(len(rows)) if taints is None else _normalised(taints[rows])
        total += self.weight["tainttoleration"] * (_MOST - evenly)
        if self.relations.active:
            total += self.weight["podaffinity"] * self._by_pods(task, rows)
        if task.cls.spread:
            total += self.weight["podtopologyspread"] * self._by_spread(task, rows)
        return total

    def _preferred(self, cls: TaskClass) -> Floats | None:
        """The weights of preferred terms that each row satisfies; None if no row satisfies any."""
        if cls.number not in self._affinity:
            sums = np.zeros(len(self.table))
            for each in cls.preferred:
                if each.preference is not None and each.weight:
                    sums += each.weight * self.table.by_label.term(each.preference)
            self._affinity[cls.number] = sums if sums.any() else None
        return self._affinity[cls.number]

    def _soft_taints(self, cls: TaskClass) -> Floats | None:
        """The number of soft taints of each row that the class does not tolerate; None if there are none."""
        if cls.number not in self._taints:
            soft = [each for each in cls.wants.tolerations if not each.effect or each.effect == "PreferNoSchedule"]
            counts = self.table.by_label.soft_untolerated(soft).astype(np.float64)
            self._taints[cls.number] = counts if counts.any() else None
        return self._taints[cls.number]

    def _by_pods(self, task: Task, rows: Ints) -> Floats:
        """Pods that draw near or keep away, by their number in each domain; scaled between the least and the most."""
        sums = np.zeros(len(self.table))
        own = ((1, task.cls.affinity), (-1, task.cls.anti_affinity))
        for sign, affinity in own:
            for weight, term in relations.preferred(affinity):
                counts = self.relations.count((self.relations.selector(task, term),))
                sums += sign * weight * self.relations.spread_out(term.topology_key, counts)
        for kind, weight, key, carriers in self.relations.carried(("near", "prefer", "avoid"), task):
            sign = -1 if kind == "avoid" else 1
            sums += sign * weight * self.relations.spread_out(key, carriers)
        found = sums[rows]
        low, high = found.min(), found.max()
        if low == high:
            return np.zeros(len(rows))
        scaled: Floats = np.trunc(_MOST * ((found - low) / (high - low)))
        return scaled

    def _by_spread(self, task: Task, rows: Ints) -> Floats:
        """Fewer pods of its kind in a domain are better; a node that lacks a label that is spread over gets 0."""
        soft = [each for each in task.cls.spread if each.when_unsatisfiable == "ScheduleAnyway"]
        if not soft:
            return np.zeros(len(rows))
        labelled = np.all([self.relations.has_domain(each.topology_key) for each in soft], axis=0)
        sums = np.zeros(len(self.table))
        for constraint in soft:
            sums += self._spread_of(task, constraint, rows, labelled)
        counts = np.floor(sums + 0.5)[rows]
        known = labelled[rows]
        if not known.any():
            return np.zeros(len(rows))
        low, high = counts[known].min(), counts[known].max()
        if high == 0:
            return np.where(known, float(_MOST), 0.0)
        return np.where(known, np.floor(_MOST * (high + low - counts) / high), 0.0)

    def _spread_of(self, task: Task, constraint: TopologySpreadConstraint, rows: Ints, labelled: Bools) -> Floats:
        key = constraint.topology_key
        selector = relations.spread_selector(self.relations, task, constraint)
        counts = self.relations.count((selector,), skip_leaving=True)
        candidates = rows[labelled[rows]]
        if key == _HOST:
            size, by_domain = len(candidates), counts.astype(np.float64)
        else:
            size = len(np.unique(self.relations.domains(key)[0][candidates]))
            wants = task.cls.wants
            counted = labelled & self.table.by_label.wanted(wants) if _asks_nodes(task.cls) else labelled
            by_domain = self.relations.spread_out(key, counts, counted & self.table.usable)
        return by_domain * math.log(size + 2) + (constraint.max_skew - 1)


_HOST = "kubernetes.io/hostname"


def _asks_nodes(cls: TaskClass) -> bool:
    return bool(cls.wants.node_selector) or cls.wants.terms is not None


def _weighted(weight: int, score: Score) -> Score:
    return score if weight == 1 else lambda cells: weight * score(cells)


def _requested(cells: Cells, demand: Demand, of: Callable[[Cells, Number, Number], Number]) -> Number:
    """The mean over cpu and memory, of those that the node has."""
    total: Number = 0
    number: Number = 0
    for place, at in _CORE:
        alloc = cells.alloc[place]
        has = alloc > 0
        total = total + cells.where(has, of(cells, alloc, cells.scored[at] + demand.scored[at]), 0)
        number = number + cells.where(has, 1, 0)
    return total // cells.most(number, 1)


def _least(cells: Cells, alloc: Number, asked: Number) -> Number:
    return cells.where(asked > alloc, 0, (alloc - asked) * _MOST // cells.most(alloc, 1))


def _most(cells: Cells, alloc: Number, asked: Number) -> Number:
    return cells.least(asked, alloc) * _MOST // cells.most(alloc, 1)


def _evenness(cells: Cells, places: list[int], asked: list[int]) -> Number:
    """A hundred less the standard deviation of the used parts, over the resources that the node has."""
    parts = []
    number: Number = 0
    total: Number = 0.0
    for place, amount in zip(places, asked, strict=True):
        alloc = cells.alloc[place]
        has = alloc > 0
        part = cells.where(has, cells.least((cells.present[place] + amount) / cells.most(alloc, 1), 1.0), 0.0)
        parts.append((has, part))
        number = number + cells.where(has, 1, 0)
        total = total + part
    if len(parts) == 2:
        deviation = cells.where(number == 2, abs((parts[0][1] - parts[1][1]) / 2), 0.0)
    else:
        deviation = cells.where(number == 2, _half_apart(cells, parts), _deviation(cells, parts, total, number))
    return cells.floor((1 - deviation) * _MOST)


def _deviation(cells: Cells, parts: list[tuple[Number, Number]], total: Number, number: Number) -> Number:
    """The standard deviation of the parts that count."""
    mean = total / cells.most(number, 1)
    squares: Number = 0.0
    for has, part in parts:
        squares = squares + cells.where(has, (part - mean) * (part - mean), 0.0)
    return cells.root(squares / cells.most(number, 1))


def _half_apart(cells: Cells, parts: list[tuple[Number, Number]]) -> Number:
    """Half the distance of two parts: what the deviation of two is, without rounding on the way."""
    low, high = _ends(cells, parts)
    return abs((high - low) / 2)


def _ends(cells: Cells, parts: list[tuple[Number, Number]]) -> tuple[Number, Number]:
    """The least and the most of the parts that count."""
    low: Number = 2.0
    high: Number = -1.0
    for has, part in parts:
        low = cells.least(low, cells.where(has, part, 2.0))
        high = cells.most(high, cells.where(has, part, -1.0))
    return low, high


def _normalised(values: Floats) -> Floats:
    """Scaled so that the largest is 100; all 0 stay so."""
    high = values.max()
    if high == 0:
        return np.zeros(len(values))
    scaled: Floats = np.floor(values * _MOST / high)
    return scaled
