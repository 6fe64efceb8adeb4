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
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from pipeline.records.shapes.pod import TopologySpreadConstraint
from scheduler_core.model.cells import Bools, Cells, Columns, Floats, Ints, Number, Row, Score
from scheduler_core.model.resources import CPU, MEMORY
from scheduler_core.model.tasks import Demand, Task, TaskClass
from scheduler_core.session import arguments, relations
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session

_MOST: Final = 100
_GPU: Final = "nvidia.com/gpu"
_CORE: Final = ((CPU, 0), (MEMORY, 1))
"""Places on the axis, and in what is scored."""

WEIGHTS: Final = {
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
        self.negative = any(weight < 0 for weight in self.weight.values())
        """A node is only chosen with a total that is not below 0, so then what is the same on every node counts too."""
        self._affinity: dict[int, Floats | None] = {}
        self._taints: dict[int, Floats | None] = {}

    # --- one node ----------------------------------------------------------------------------------------------------

    def row_scores(self, demand: Demand) -> Iterable[Score]:
        if self.weight["leastrequested"]:
            yield _weighted(self.weight["leastrequested"], Requested(demand, least=True))
        if self.weight["mostrequested"]:
            yield _weighted(self.weight["mostrequested"], Requested(demand, least=False))
        if self.weight["balancedresource"] and not demand.best_effort:
            yield _weighted(self.weight["balancedresource"], Balanced(demand, self.axis.index.get(_GPU)))

    # --- between nodes -----------------------------------------------------------------------------------------------

    def compares(self, cls: TaskClass) -> bool:
        return bool(
            self.negative
            or (self.weight["nodeaffinity"] and self._preferred(cls) is not None)
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
                    sums += relations.heeded(each.weight) * self.table.by_label.term(each.preference)
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
        return by_domain * math.log(size + 2) + (relations.heeded(constraint.max_skew) - 1)


_HOST: Final = "kubernetes.io/hostname"


def _asks_nodes(cls: TaskClass) -> bool:
    return bool(cls.wants.node_selector) or cls.wants.terms is not None


def _weighted(weight: int, score: Requested | Balanced) -> Score:
    return score if weight == 1 else Weighted(weight, score)


class Weighted:
    """A score so many times."""

    def __init__(self, weight: int, score: Requested | Balanced) -> None:
        self.weight = weight
        self.score = score

    def __call__(self, cells: Columns) -> Number:
        return self.weight * self.score(cells)

    def on_row(self, row: Row) -> int:
        """The same in plain integers."""
        return self.weight * self.score.on_row(row)


class Requested:
    """How little, or how much, of cpu and memory is asked on a node: the mean over those that it has."""

    def __init__(self, demand: Demand, *, least: bool) -> None:
        self.asked = demand.scored
        self.of = _least if least else _most
        self.least = least
        self._asked = np.array([[amount] for amount in demand.scored])

    def __call__(self, cells: Columns) -> Number:
        if cells.everywhere(CPU) and cells.everywhere(MEMORY):
            alloc, asked = cells.alloc[: MEMORY + 1], cells.scored + self._asked
            parts = (np.maximum(alloc - asked, 0) if self.least else np.minimum(asked, alloc)) * _MOST // alloc
            return (parts[0] + parts[1]) // 2
        total: Number = 0
        number: Number = 0
        for place, at in _CORE:
            alloc = cells.alloc[place]
            has = alloc > 0
            total = total + cells.where(has, self.of(cells, alloc, cells.scored[at] + self.asked[at]), 0)
            number = number + cells.where(has, 1, 0)
        return total // cells.most(number, 1)

    @staticmethod
    def stacked(scores: Sequence[Requested]) -> Callable[[Columns], Number]:
        """The same for several demands at once: one row each."""
        asked = np.array([each.asked for each in scores])[:, :, None]
        least = scores[0].least

        def score(cells: Columns) -> Number:
            if not (cells.everywhere(CPU) and cells.everywhere(MEMORY)):
                return np.array([each(cells) for each in scores])
            alloc, used = cells.alloc[: MEMORY + 1], cells.scored + asked
            parts = (np.maximum(alloc - used, 0) if least else np.minimum(used, alloc)) * _MOST // alloc
            return (parts[:, 0] + parts[:, 1]) // 2

        return score

    def on_row(self, row: Row) -> int:
        """The same in plain integers."""
        total = number = 0
        for place, at in _CORE:
            alloc = row.alloc[place]
            if alloc > 0:
                number += 1
                asked = row.scored[at] + self.asked[at]
                if not self.least:
                    total += min(asked, alloc) * _MOST // alloc
                elif asked <= alloc:
                    total += (alloc - asked) * _MOST // alloc
        return total // number if number else 0


def _least(cells: Cells, alloc: Number, asked: Number) -> Number:
    return cells.most(alloc - asked, 0) * _MOST // cells.most(alloc, 1)


def _most(cells: Cells, alloc: Number, asked: Number) -> Number:
    return cells.least(asked, alloc) * _MOST // cells.most(alloc, 1)


class Balanced:
    """How much more even a node becomes with the task, from 0 to 100; cpu, memory, and devices if it asks for some."""

    def __init__(self, demand: Demand, gpu: int | None) -> None:
        self.places = [CPU, MEMORY]
        if gpu is not None and demand.request.values[gpu] > 0:
            self.places.append(gpu)
        self.asked = [int(demand.request.values[place]) for place in self.places]
        self._together = _with_and_without([self])

    def __call__(self, cells: Columns) -> Number:
        return _evened(cells, self.places, self._together)[0]

    @staticmethod
    def stacked(scores: Sequence[Balanced]) -> Callable[[Columns], Number]:
        """The same for several demands at once: one row each."""
        groups = []
        for size in sorted({len(each.places) for each in scores}):
            rows = [at for at, each in enumerate(scores) if len(each.places) == size]
            groups.append((rows, scores[rows[0]].places, _with_and_without([scores[at] for at in rows])))

        def score(cells: Columns) -> Number:
            if len(groups) == 1:
                return _evened(cells, *groups[0][1:])
            found = np.empty((len(scores), cells.block.shape[1]))
            for rows, places, together in groups:
                found[rows] = _evened(cells, places, together)
            return found

        return score

    def on_row(self, row: Row) -> int:
        """The same in plain numbers."""
        alloc, present = row.alloc, row.present
        before, after = [], []
        for place, amount in zip(self.places, self.asked, strict=True):
            if alloc[place] > 0:
                before.append(min(present[place] / alloc[place], 1.0))
                after.append(min((present[place] + amount) / alloc[place], 1.0))
        return 50 + (50 + _even(after) - _even(before)) // 2


def _with_and_without(scores: Sequence[Balanced]) -> Ints:
    """What some demands for the same resources add to a node, and nothing, as (with or without, place, demand, 1)."""
    asked = np.array([each.asked for each in scores]).T[:, :, None]
    return np.stack([asked, np.zeros_like(asked)])


def _evened(cells: Columns, places: list[int], together: Ints) -> Number:
    """The score of some demands, one row each: with the task and without it at once."""
    alloc = cells.alloc[places][:, None]
    parts = np.minimum((cells.present[places][:, None] + together) / np.maximum(alloc, 1), 1.0)
    even = np.floor((1 - _deviation(cells, places, alloc > 0, parts)) * _MOST)
    return 50 + np.floor((50 + (even[0] - even[1])) * 0.5)


def _deviation(cells: Columns, places: list[int], has: Bools, parts: Floats) -> Floats:
    """The standard deviation of the parts that a node has; of two it is half their distance, without rounding on the way."""
    half_apart: Floats = abs(parts[:, 0] - parts[:, 1]) * 0.5
    core = cells.everywhere(CPU) and cells.everywhere(MEMORY)
    if core and len(places) == 2:
        return half_apart
    if not core:
        return _of_those(has, parts)
    gpu = has[2]
    mean = (parts[:, 0] + parts[:, 1] + parts[:, 2]) / 3
    away = parts - mean[:, None]
    away *= away
    deviation: Floats = np.where(gpu, np.sqrt((away[:, 0] + away[:, 1] + away[:, 2]) / 3), half_apart)
    return deviation


def _of_those(has: Bools, parts: Floats) -> Floats:
    """The same where nodes lack one resource or another."""
    number = has.sum(axis=0)
    some = np.maximum(number, 1)
    mean = np.where(has, parts, 0.0).sum(axis=1) / some
    away = np.where(has, (parts - mean[:, None]) ** 2, 0.0)
    apart = np.where(has, parts, -1.0).max(axis=1) - np.where(has, parts, 2.0).min(axis=1)
    deviation: Floats = np.where(number == 2, abs(apart) * 0.5, np.sqrt(away.sum(axis=1) / some))
    return deviation


def _even(parts: list[float]) -> int:
    """A hundred less the standard deviation of some used parts."""
    if len(parts) == 2:
        return math.floor((1 - abs(parts[0] - parts[1]) / 2) * _MOST)
    if len(parts) < 2:
        return _MOST
    mean = sum(parts) / len(parts)
    squares = sum([(part - mean) * (part - mean) for part in parts])
    return math.floor((1 - math.sqrt(squares / len(parts))) * _MOST)


def _normalised(values: Floats) -> Floats:
    """Scaled so that the largest is 100; all 0 stay so."""
    high = values.max()
    if high == 0:
        return np.zeros(len(values))
    scaled: Floats = np.floor(values * _MOST / high)
    return scaled
