"""Quantities of an object made into amounts, and every quantity that cannot be meant, said and made harmless.

A quantity that cannot be read or is below zero counts as zero, one above `MOST` as `MOST` (no node is that large, so it
fits nowhere). Both are reported. `count/…`, `requests.…` and `limits.…` are names of quotas, which Volcano's controllers
write into a group's minimum beside the resources themselves; they are no resources. A bare name that Kubernetes does not
know as a resource is ignored, as Volcano ignores it, and reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from typing import Final

from pipeline.records import quantity
from pipeline.records.quantity import Quantity
from scheduler_core.model.resources import Axis, Resource

MOST: Final = 2**53
"""The largest amount of one resource: 8 PiB, or as many thousandths. Sums of a thousand still fit 64 bits."""

_WHOLE: Final = frozenset({"memory", "pods"})
_OF_QUOTAS: Final = ("count/", "requests.", "limits.")
_KNOWN: Final = frozenset({"cpu", "memory", "pods", "ephemeral-storage"})


class Amounts:
    """Reads quantities onto an axis. `mistakes` collects what was wrong, as (resource, what)."""

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        self.mistakes: list[tuple[str, str]] = []

    def read(self, quantities: Mapping[str, Quantity] | None) -> Resource:
        """The amount; resources that are no resources left out."""
        amount = self.axis.empty()
        for name, value in (quantities or {}).items():
            place = self.axis.index.get(name)
            if place is not None:
                amount.set(place, self._one(name, value))
            elif not name.startswith(_OF_QUOTAS) and not is_resource(name):
                self.mistakes.append((name, "no resource of this name; ignored"))
        return amount

    def _one(self, name: str, value: Quantity) -> int:
        found, problem = _scaled(value, name in _WHOLE)
        if problem:
            self.mistakes.append((name, problem))
        return found


@lru_cache(maxsize=8192)
def _scaled(value: Quantity, whole: bool) -> tuple[int, str]:
    """(amount, what is wrong or nothing): whole units or thousandths, rounded up as the API server rounds."""
    try:
        exact = quantity.parse(value) * (1 if whole else 1000)
    except (ValueError, ArithmeticError):
        return 0, f"{str(value)[:40]!r} is no quantity; counted as 0"
    if exact < 0:
        return 0, f"{str(value)[:40]} is below zero; counted as 0"
    if exact > Decimal(MOST):
        return MOST, f"{str(value)[:40]} is more than any node can have"
    return int(exact.to_integral_value(rounding=ROUND_CEILING)), ""


def is_resource(name: str) -> bool:
    """Whether the scheduler counts this: the known ones, hugepages, volumes' limits, and names with a domain."""
    if name.startswith(_OF_QUOTAS):
        return False
    return name in _KNOWN or name.startswith(("hugepages-", "attachable-volumes-")) or "/" in name


def names_in(lists: Iterable[Mapping[str, Quantity] | None]) -> set[str]:
    """Every resource that these lists name."""
    return {name for each in lists for name in each or () if is_resource(name)}
