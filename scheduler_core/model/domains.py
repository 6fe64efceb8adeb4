"""The tree of the network: domains in tiers, below a virtual one that holds the whole cluster.

Tier numbers grow upwards; the virtual root has the tier above the highest. A domain that no other contains is a child of
the root.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from scheduler_core.model.cells import Bools, Ints
from scheduler_core.model.facts import DomainFacts
from scheduler_core.model.nodes import NodeTable

ROOT: Final = "<cluster-top-hypernode>"


class Domain:
    """A part of the network. `nodes` masks the rows below it."""

    __slots__ = ("children", "name", "nodes", "parent", "tier", "tier_name")

    def __init__(self, name: str, tier: int, tier_name: str, nodes: Bools) -> None:
        self.name = name
        self.tier = tier
        self.tier_name = tier_name
        self.nodes = nodes
        self.parent = ""
        self.children: list[str] = []


class DomainTree:
    """All domains by name. `tiers` are the numbers in use, lowest first, with the root's.

    `leaf_numbers` has, for each row, the number of its domain of the lowest tier (one above the last: it has none),
    `leaves_of_row` those of all domains of the lowest tier that hold it; `overlap` says whether there are several for any row.
    """

    def __init__(self, facts: Iterable[DomainFacts], table: NodeTable, *, ready: bool) -> None:
        self.ready = ready
        self.by_name: dict[str, Domain] = {}
        known = sorted(facts, key=lambda each: each.name)
        for each in known:
            mask = np.zeros(len(table), dtype=np.bool_)
            mask[[table.rows[name] for name in each.nodes if name in table.rows]] = True
            self.by_name[each.name] = Domain(each.name, each.tier, each.tier_name, mask & table.usable)
        self._link(known)
        self._crown(table)
        self.tiers: list[int] = sorted({each.tier for each in self.by_name.values()})
        self.tier_of_name: dict[str, int] = {}
        for each in known:
            if each.tier_name:
                self.tier_of_name[each.tier_name] = each.tier
        self._around: list[list[str]] | None = None
        self._common: dict[tuple[str, str], str] = {}
        self._under: dict[str, list[int]] = {}
        names = [each.name for each in self.by_name.values() if each.tier == self.tiers[0]]
        self.leaf_index = {name: number for number, name in enumerate(names)}
        self.leaves_of_row = self._leaves(len(table))
        self.overlap = any(len(leaves) > 1 for leaves in self.leaves_of_row)
        self._rows_of_leaf: dict[int, Ints] = {}
        self._leaf_names = names
        self.leaf_of_row = [names[leaves[0]] if leaves else "" for leaves in self.leaves_of_row]
        self.leaf_numbers = np.array(
            [leaves[0] if leaves else len(names) for leaves in self.leaves_of_row], dtype=np.int64
        )

    def _link(self, known: Sequence[DomainFacts]) -> None:
        """A child is taken by the first domain of a higher tier that names it, so no cycle can arise."""
        for each in known:
            for child in each.children:
                below = self.by_name.get(child)
                if below is not None and not below.parent and below.tier < each.tier:
                    below.parent = each.name
                    self.by_name[each.name].children.append(child)

    def _crown(self, table: NodeTable) -> None:
        top = max((each.tier for each in self.by_name.values()), default=0)
        root = Domain(ROOT, max(top, 0) + 1, "", table.usable.copy())
        for each in self.by_name.values():
            if not each.parent:
                each.parent = ROOT
                root.children.append(each.name)
        self.by_name[ROOT] = root

    def _leaves(self, count: int) -> list[tuple[int, ...]]:
        """The numbers (`leaf_index`) of the domains of the lowest tier that each row is in."""
        found: list[tuple[int, ...]] = [()] * count
        for name, number in self.leaf_index.items():
            for row in np.flatnonzero(self.by_name[name].nodes).tolist():
                found[row] = (*found[row], number)
        return found

    def upwards(self, name: str) -> list[str]:
        """The domain and all above it."""
        found = []
        while name in self.by_name and name not in found:
            found.append(name)
            name = self.by_name[name].parent
        return found

    def common(self, one: str, other: str) -> str:
        """The lowest domain that holds both; one of them if the other is empty."""
        if not one or not other:
            return one or other
        found = self._common.get((one, other))
        if found is None:
            above = set(self.upwards(one))
            found = self._common[one, other] = next((name for name in self.upwards(other) if name in above), "")
        return found

    def around(self, row: int) -> list[str]:
        """All domains that hold a row."""
        if self._around is None:
            self._around = [[] for _ in self.leaf_of_row]
            for each in self.by_name.values():
                for at in np.flatnonzero(each.nodes).tolist():
                    self._around[at].append(each.name)
        return self._around[row]

    def leaves_under(self, name: str) -> list[int]:
        """The numbers (`leaf_index`) of the domains of the lowest tier that are this one or below it."""
        if not self._under:
            for leaf, number in self.leaf_index.items():
                for each in self.upwards(leaf):
                    self._under.setdefault(each, []).append(number)
        return self._under.get(name, [])

    def rows_of_leaf(self, number: int) -> Ints:
        """The rows in a domain of the lowest tier, by its number."""
        found = self._rows_of_leaf.get(number)
        if found is None:
            found = self._rows_of_leaf[number] = np.flatnonzero(self.by_name[self._leaf_names[number]].nodes)
        return found

    def tier(self, name: str) -> int | None:
        found = self.by_name.get(name)
        return found.tier if found else None
