"""Pods beside pods: affinity, anti-affinity and spread, counted per node.

A selector is counted once: how many of the pods on each node it matches, kept up with every pod that comes and goes. The
other way round, terms that pods on nodes carry are counted too, since they may keep a new pod away or draw it near.
Domains (zones, hosts) are a column of numbers per label; a count per domain is a sum over that column.

In a cluster where nobody says such things nothing of this is built.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec
import numpy as np

from pipeline.records import matching
from pipeline.records.shapes.pod import LabelSelector, PodAffinity, PodAffinityTerm, TopologySpreadConstraint
from scheduler_core.model import status
from scheduler_core.model.cells import Bools, Floats, Ints
from scheduler_core.model.classes import labels_key
from scheduler_core.model.nodes import NodeTable
from scheduler_core.model.snapshot import Snapshot
from scheduler_core.model.tasks import Task

_encode: Final = msgspec.json.Encoder(order="sorted").encode
HARD_WEIGHT: Final = 1
"""What a required affinity of a pod on a node adds to the score of nodes near it."""
_WEIGHT_MOST: Final = 2**31 - 1

Kind = Literal["anti", "near", "prefer", "avoid"]


class Selector:
    """Which pods a term means: namespaces (None: by their selector), and labels. Equal terms share one."""

    def __init__(
        self, namespaces: frozenset[str] | None, by: LabelSelector | None, labels: LabelSelector | None
    ) -> None:
        self.namespaces = namespaces
        self.by = by
        self.labels = labels
        self._known: dict[int, bool] = {}

    def matches(self, task: Task, label_class: int) -> bool:
        found = self._known.get(label_class)
        if found is None:
            found = self._known[label_class] = self._in_namespace(task.namespace) and matching.labels_match(
                self.labels, task.labels
            )
        return found

    def _in_namespace(self, namespace: str) -> bool:
        if self.namespaces is not None and namespace in self.namespaces:
            return True
        return self.by is not None and matching.labels_match(self.by, {matching.NAMESPACE_NAME: namespace})


class Relations:
    """The counts of a session. `active` is false where no pod says anything of other pods."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.table: NodeTable = snapshot.nodes
        self.active = snapshot.classes.any_selects
        self._selectors: dict[bytes, Selector] = {}
        self._counts: dict[tuple[object, ...], tuple[tuple[Selector, ...], bool, Ints]] = {}
        self._carried: dict[tuple[Kind, int, str, Selector], Ints] = {}
        self._label_classes: dict[tuple[str, frozenset[tuple[str, str]]], int] = {}
        self._present: dict[str, tuple[Task, int]] = {}
        if self.active:
            for row, tasks in enumerate(self.table.tasks):
                for task in tasks.values():
                    self.come(task, row)

    # --- pods come and go ------------------------------------------------------------------------------------------

    def come(self, task: Task, row: int) -> None:
        """A pod is on a node from now on."""
        self._present[task.uid] = (task, row)
        self._count(task, row, 1)

    def go(self, task: Task) -> None:
        """A pod is no longer on its node."""
        found = self._present.pop(task.uid, None)
        if found is not None:
            self._count(task, found[1], -1)

    def _count(self, task: Task, row: int, by: int) -> None:
        label_class = self._label_class(task)
        for selectors, skip_leaving, counts in self._counts.values():
            if not (skip_leaving and task.status == status.RELEASING) and _all(selectors, task, label_class):
                counts[row] += by
        if task.cls.selects:
            for kind, weight, key, selector in self._terms_of(task):
                carried = self._carried.get((kind, weight, key, selector))
                if carried is None:
                    carried = self._carried[kind, weight, key, selector] = np.zeros(len(self.table), dtype=np.int64)
                carried[row] += by

    def _label_class(self, task: Task) -> int:
        if task.label_class < 0:
            key = labels_key(task.namespace, task.labels)
            task.label_class = self._label_classes.setdefault(key, len(self._label_classes))
        return task.label_class

    # --- terms -------------------------------------------------------------------------------------------------------

    def selector(self, task: Task, term: PodAffinityTerm) -> Selector:
        """The selector of a term that a pod carries; without namespaces it means the pod's own."""
        named = term.namespaces or ([] if term.namespace_selector is not None else [task.namespace])
        labels = _with_keys(term.label_selector, term.match_label_keys, task.labels)
        return self._selector(frozenset(named), term.namespace_selector, labels)

    def _selector(self, namespaces: frozenset[str], by: LabelSelector | None, labels: LabelSelector | None) -> Selector:
        key = _encode((sorted(namespaces), by, labels))
        found = self._selectors.get(key)
        if found is None:
            found = self._selectors[key] = Selector(namespaces, by, labels)
        return found

    def _terms_of(self, task: Task) -> Iterable[tuple[Kind, int, str, Selector]]:
        """Every term that a pod carries to a node."""
        near, away = task.cls.affinity, task.cls.anti_affinity
        yield from (("near", HARD_WEIGHT, t.topology_key, self.selector(task, t)) for t in required(near))
        yield from (("anti", 0, t.topology_key, self.selector(task, t)) for t in required(away))
        yield from (("prefer", w, t.topology_key, self.selector(task, t)) for w, t in preferred(near))
        yield from (("avoid", w, t.topology_key, self.selector(task, t)) for w, t in preferred(away))

    def count(self, selectors: tuple[Selector, ...], *, skip_leaving: bool = False) -> Ints:
        """Pods that match all selectors, by row."""
        key = (*map(id, selectors), skip_leaving)
        found = self._counts.get(key)
        if found is None:
            counts = np.zeros(len(self.table), dtype=np.int64)
            for task, row in self._present.values():
                leaving = skip_leaving and task.status == status.RELEASING
                if not leaving and _all(selectors, task, self._label_class(task)):
                    counts[row] += 1
            found = self._counts[key] = (selectors, skip_leaving, counts)
        return found[2]

    def carried(self, kinds: tuple[Kind, ...], task: Task) -> Iterable[tuple[Kind, int, str, Ints]]:
        """Terms of pods on nodes that mean this task: kind, weight, topology key, carriers by row."""
        label_class = self._label_class(task)
        for (kind, weight, key, selector), counts in self._carried.items():
            if kind in kinds and selector.matches(task, label_class):
                yield kind, weight, key, counts

    def means_itself(self, task: Task, selectors: tuple[Selector, ...]) -> bool:
        """Whether a pod matches all of these selectors itself."""
        return _all(selectors, task, self._label_class(task))

    # --- domains -----------------------------------------------------------------------------------------------------

    def domains(self, key: str) -> tuple[Ints, int]:
        """The domain of each row by the value of a node label (-1: the node has none), and how many there are."""
        numbers, values = self.table.by_label.column(key)
        return numbers, len(values)

    def spread_out(self, key: str, counts: Ints, within: Bools | None = None) -> Floats:
        """Counts by row summed over each row's domain; rows without a domain get 0."""
        of_row, number = self.domains(key)
        known = of_row >= 0 if within is None else (of_row >= 0) & within
        sums = np.bincount(of_row[known], weights=counts[known], minlength=max(number, 1))
        return np.where(of_row >= 0, sums[np.maximum(of_row, 0)], 0.0)

    def has_domain(self, key: str) -> Bools:
        return self.domains(key)[0] >= 0


def required(affinity: PodAffinity | None) -> Iterable[PodAffinityTerm]:
    """Terms that must hold."""
    return (affinity.required_during_scheduling_ignored_during_execution or ()) if affinity else ()


def preferred(affinity: PodAffinity | None) -> Iterable[tuple[int, PodAffinityTerm]]:
    """Terms that count, with their weights."""
    for each in (affinity.preferred_during_scheduling_ignored_during_execution or ()) if affinity else ():
        if each.pod_affinity_term is not None:
            yield heeded(each.weight), each.pod_affinity_term


def heeded(number: int) -> int:
    """A weight of a preference, or a skew, within 32 bits, which is more than the API itself allows."""
    return max(-_WEIGHT_MOST, min(number, _WEIGHT_MOST))


def spread_selector(relations: Relations, task: Task, constraint: TopologySpreadConstraint) -> Selector:
    """The pods that a spread constraint counts: those of the namespace that its selector matches."""
    labels = _with_keys(constraint.label_selector, constraint.match_label_keys, task.labels)
    return relations._selector(frozenset({task.namespace}), None, labels)


def _with_keys(
    selector: LabelSelector | None, keys: list[str] | None, labels: Mapping[str, str]
) -> LabelSelector | None:
    """A selector that also asks for the pod's own values of some labels."""
    added = {key: labels[key] for key in keys or () if key in labels}
    if not added or selector is None:
        return selector
    return LabelSelector({**(selector.match_labels or {}), **added}, selector.match_expressions)


def _all(selectors: tuple[Selector, ...], task: Task, label_class: int) -> bool:
    return all(selector.matches(task, label_class) for selector in selectors)
