"""Amounts of resources, with the arithmetic of Volcano's `api.Resource`.

An axis names the resources of one snapshot: cpu (thousandths), memory (bytes), pods (whole), then every other resource
by name (thousandths). An amount is a list along the axis. Amounts on nodes and of requests are exact integers; shares
that are divided (what a queue deserves) are floats, hence the tolerance of 0.1 in `less_equal`.

Cpu and memory are always there. Of the others it matters whether they were named: a missing one counts as nothing
("zero default"), in a limit as without limit ("infinity default"). `named` has one bit for each place on the axis.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from typing import Final

CPU: Final = 0
MEMORY: Final = 1
PODS: Final = 2
FIRST_NAMES: Final = ("cpu", "memory", "pods")

LEAST: Final = 0.1
"""Below this an amount is nothing, and two amounts are equal."""
UNLIMITED: Final = sys.float_info.max

Items = tuple[tuple[int, int], ...]
"""(place, amount) of what there is anything of."""


class Axis:
    """The resources of a snapshot, in order. `index` gives the place of a name."""

    __slots__ = ("all_named", "index", "names")

    def __init__(self, others: Iterable[str]) -> None:
        self.names = (*FIRST_NAMES, *sorted(set(others) - set(FIRST_NAMES)))
        self.index = {name: place for place, name in enumerate(self.names)}
        self.all_named = (1 << len(self.names)) - 1

    def __len__(self) -> int:
        return len(self.names)

    def empty(self) -> Resource:
        """Nothing of anything."""
        return Resource([0] * len(self.names), 0)

    def account(self) -> Resource:
        """Nothing of anything, every resource named: what is held or asked, to be added to."""
        return Resource([0] * len(self.names), self.all_named)

    def counted(self, place: int, amount: float) -> int:
        """An amount rounded up to one that can be asked for or freed: a thousandth of a core, a byte, a pod, a device."""
        step = 1 if place <= PODS or "/" not in self.names[place] else 1000
        return math.ceil(amount / step) * step

    def whole(self, place: int, amount: float) -> float:
        """An amount in the unit people use: cores, bytes, devices."""
        return float(amount) if place in (MEMORY, PODS) else amount / 1000


class Resource:
    """An amount of each resource of an axis. Methods that change it say so and return it."""

    __slots__ = ("named", "values")

    def __init__(self, values: list[float], named: int) -> None:
        self.values = values
        self.named = named

    def __repr__(self) -> str:
        return f"Resource({self.values})"

    def copy(self) -> Resource:
        return Resource(self.values[:], self.named)

    def has(self, place: int) -> bool:
        """Whether the amount names this resource (cpu and memory always)."""
        return place <= MEMORY or bool(self.named >> place & 1)

    def set(self, place: int, amount: float) -> Resource:
        """Sets one amount, and names it."""
        self.values[place] = amount
        self.named |= 1 << place
        return self

    def add(self, other: Resource) -> Resource:
        """Adds in place."""
        mine = self.values
        for place, amount in enumerate(other.values):
            if amount:
                mine[place] += amount
        self.named |= other.named
        return self

    def take(self, other: Resource) -> Resource:
        """Subtracts in place; below nothing is possible."""
        mine = self.values
        for place, amount in enumerate(other.values):
            if amount:
                mine[place] -= amount
        self.named |= other.named
        return self

    def charge(self, items: Items, times: int = 1) -> None:
        """Adds (place, amount) pairs to an account, so many times."""
        mine = self.values
        for place, amount in items:
            mine[place] += amount * times

    def refund(self, items: Items, times: int = 1) -> None:
        """Subtracts (place, amount) pairs from an account, so many times."""
        mine = self.values
        for place, amount in items:
            mine[place] -= amount * times

    def scaled(self, factor: float) -> Resource:
        """A new amount, each multiplied."""
        return Resource([amount * factor for amount in self.values], self.named)

    def beyond(self, other: Resource) -> Resource:
        """A new amount: what is here and not in `other`, never below nothing."""
        pairs = zip(self.values, other.values, strict=True)
        return Resource([mine - theirs if mine > theirs else 0 for mine, theirs in pairs], self.named | other.named)

    def at_most(self, limit: Resource, *, missing_is_zero: bool = False) -> Resource:
        """Lowers in place to `limit`. A resource that the limit does not name stays, or becomes nothing."""
        mine = self.values
        for place, most in enumerate(limit.values):
            if limit.has(place):
                mine[place] = min(mine[place], most)
            elif missing_is_zero:
                mine[place] = 0
        return self

    def at_least(self, floor: Resource) -> Resource:
        """A new amount: the larger of both in each resource."""
        pairs = zip(self.values, floor.values, strict=True)
        return Resource([max(mine, theirs) for mine, theirs in pairs], self.named | floor.named)

    def less_equal(self, other: Resource) -> bool:
        """Whether no resource exceeds `other` by the tolerance or more; only resources named here count."""
        for place, (mine, theirs) in enumerate(zip(self.values, other.values, strict=True)):
            if mine - theirs >= LEAST and self.has(place):
                return False
        return True

    def is_empty(self) -> bool:
        """Nothing of anything; pods do not count, since every pod is one."""
        return all(amount < LEAST for place, amount in enumerate(self.values) if place != PODS)

    def used_places(self) -> list[int]:
        """Places with more than nothing, in order."""
        return [place for place, amount in enumerate(self.values) if amount >= LEAST]

    def exceeding(self, limit: Resource, request: Resource) -> list[int]:
        """Places where this is strictly more than `limit`, of those that `request` asks for; pods never."""
        mine, most = self.values, limit.values
        return [
            place
            for place, asked in enumerate(request.values)
            if asked > 0 and mine[place] > most[place] and place != PODS
        ]

    def equals(self, other: Resource) -> bool:
        """Whether every resource named here is the same within the tolerance."""
        pairs = zip(self.values, other.values, strict=True)
        return all(abs(mine - theirs) < LEAST for place, (mine, theirs) in enumerate(pairs) if self.has(place))


def share(used: float, of: float) -> float:
    """used / of; of nothing it is 1 when something is used, else 0."""
    if of == 0:
        return 0.0 if used == 0 else 1.0
    return used / of


def largest_share(used: Sequence[float], of: Sequence[tuple[int, float]]) -> float:
    """The largest share over these (place, amount); 0 for none."""
    largest = 0.0
    for place, amount in of:
        held = used[place]
        part = held / amount if amount else (1.0 if held else 0.0)
        if part > largest:
            largest = part
    return largest
