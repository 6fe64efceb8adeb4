"""Node labels and taints as columns of numbers, so that a selector is judged once per distinct value, not per node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pipeline.records import matching
from pipeline.records.matching import Traits, Wants
from pipeline.records.shapes.pod import LabelExpression, NodeSelectorTerm, Toleration

Taints = tuple[tuple[str, str, str], ...]
"""(key, value, effect) of each."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class LabelColumns:
    """The labels and hard taints of all rows. Masks of equal wishes are made once."""

    def __init__(self, traits: Sequence[Traits], soft: Sequence[Taints], usable: Bools, cordoned: Bools) -> None:
        self.traits = traits
        self._columns: dict[str, tuple[Ints, list[str]]] = {}
        self._wanted: dict[bytes, Bools] = {}
        self._unwanted: dict[bytes, Bools] = {}
        self._unwelcome: dict[tuple[bool, bytes], Bools] = {}
        hard = [node.taints for node in traits]
        further = [_further(*each) for each in zip(traits, usable.tolist(), cordoned.tolist(), strict=True)]
        self._hard = _Distinct(hard)
        self._further = self._hard if further == hard else _Distinct(further)
        self._soft = _Distinct(soft)

    def column(self, key: str) -> tuple[Ints, list[str]]:
        """The number of each row's value of a label (-1: none), and the values."""
        found = self._columns.get(key)
        if found is None:
            values: dict[str, int] = {}
            numbers = [
                values.setdefault(node.labels[key], len(values)) if key in node.labels else -1 for node in self.traits
            ]
            found = self._columns[key] = (np.array(numbers, dtype=np.int64), list(values))
        return found

    def wanted(self, wants: Wants) -> Bools:
        """Rows that match node selector and required affinity."""
        found = self._wanted.get(wants.key)
        if found is None:
            found = self._wanted[wants.key] = self._match(wants)
        return found

    def unwanted(self, wants: Wants) -> Bools:
        """Rows that do not match; the same array for equal wishes."""
        found = self._unwanted.get(wants.key)
        if found is None:
            found = self._unwanted[wants.key] = ~self.wanted(wants)
        return found

    def _match(self, wants: Wants) -> Bools:
        mask: Bools = np.ones(len(self.traits), dtype=np.bool_)
        for key, value in wants.node_selector.items():
            mask &= self._has(key, value)
        if wants.terms is not None:
            either: Bools = np.zeros(len(self.traits), dtype=np.bool_)
            for term in wants.terms:
                either |= self.term(term)
            mask &= either
        return mask

    def _has(self, key: str, value: str) -> Bools:
        numbers, values = self.column(key)
        mask: Bools = numbers == (values.index(value) if value in values else len(values))
        return mask

    def term(self, term: NodeSelectorTerm) -> Bools:
        """Rows that satisfy all requirements of a term; a term without any matches nothing."""
        if not term.match_expressions and not term.match_fields:
            return np.zeros(len(self.traits), dtype=np.bool_)
        mask: Bools = np.ones(len(self.traits), dtype=np.bool_)
        for expression in term.match_expressions or ():
            mask &= self._expression(expression)
        if term.match_fields:
            only_fields = NodeSelectorTerm(match_fields=term.match_fields)
            mask &= np.fromiter(
                (matching.term_matches(only_fields, node.name, {}) for node in self.traits),
                dtype=np.bool_, count=len(self.traits),
            )  # fmt: skip
        return mask

    def _expression(self, expression: LabelExpression) -> Bools:
        return self._holds(expression.key, lambda labels: matching.requirement_holds(expression, labels))

    def _holds(self, key: str, holds: Callable[[Mapping[str, str]], bool]) -> Bools:
        """A condition on one label, judged for each of its values and for its absence."""
        numbers, values = self.column(key)
        verdicts = np.array([*(holds({key: value}) for value in values), holds({})], dtype=np.bool_)
        return verdicts[numbers]

    def untolerated(self, tolerations: Sequence[Toleration]) -> Bools:
        """Rows with a hard taint that these tolerations do not cover."""
        return self._hard.untolerated(tolerations) > 0

    def unwelcome(self, wants: Wants, *, further: bool) -> Bools:
        """Rows with a hard taint that is not tolerated; the same array for equal wishes. `further`: one beyond those that
        only repeat that the node is cordoned or not ready."""
        found = self._unwelcome.get((further, wants.key))
        if found is None:
            taints = self._further if further else self._hard
            found = self._unwelcome[further, wants.key] = taints.untolerated(wants.tolerations) > 0
        return found

    def soft_untolerated(self, tolerations: Sequence[Toleration]) -> Ints:
        """The number of soft taints of each row that these tolerations do not cover."""
        return self._soft.untolerated(tolerations)

    def hard_taints(self, rows: Ints) -> list[Taints]:
        """The different sets of hard taints that these rows have."""
        return [self._hard.sets[place] for place in np.unique(self._hard.of_row[rows]).tolist()]

    @property
    def tainted(self) -> bool:
        """Whether any node has a hard taint."""
        return any(self._hard.sets)


def _further(node: Traits, usable: bool, cordoned: bool) -> Taints:
    """The hard taints of a node without those that its controllers give it because it is cordoned or not ready."""
    if usable and not cordoned:
        return node.taints
    told = () if usable else (matching.NOT_READY, matching.UNREACHABLE)
    return tuple(
        taint
        for taint in node.taints
        if taint[0] not in told and not (cordoned and taint == matching.UNSCHEDULABLE_TAINT)
    )


class _Distinct:
    """The sets of taints that occur, and which one each row has."""

    def __init__(self, taints: Sequence[Taints]) -> None:
        known: dict[Taints, int] = {}
        self.of_row = np.array([known.setdefault(each, len(known)) for each in taints], dtype=np.int64)
        self.sets = list(known)

    def untolerated(self, tolerations: Sequence[Toleration]) -> Ints:
        """How many taints of each row no toleration covers."""
        counts = [
            sum(not any(matching.tolerates(each, *taint) for each in tolerations) for taint in taints)
            for taints in self.sets
        ]
        found: Ints = np.array(counts, dtype=np.int64)[self.of_row]
        return found
