"""Checks that nodes are put to, and what a check alone keeps shut."""

from __future__ import annotations

from typing import Final

import msgspec

UNSCHEDULABLE: Final = "Unschedulable"
UNRESOLVABLE: Final = "UnschedulableAndUnresolvable"
"""A node refused with this code is not freed by evicting anybody."""


class Check(msgspec.Struct, frozen=True, gc=False):
    """A filter of nodes: its name and code as Volcano writes them, its text, and the reason it stands for.

    `lifted` says of several nodes, in the past tense, how they would have to be to pass ("were not cordoned"). `again` names
    the check of a resource that says nothing else than this one where both fail.
    """

    name: str
    code: str
    text: str
    reason: str
    lifted: str = ""
    again: str = ""


class Blocker(msgspec.Struct, frozen=True):
    """A check that alone keeps `nodes` nodes from taking the task.

    For a resource, `place` is its place on the axis, and `short` the least amount that is missing, on row `row`.
    `asked` is the request of it; `small` says that none of these nodes has so much in all. For other checks place is -1 and `row` the first such node; `named` are the labels, taints
    or ports that it is about, where they are known and the same on all these nodes.
    """

    check: Check
    nodes: int
    place: int = -1
    short: int = 0
    asked: int = 0
    row: int = -1
    named: str = ""
    small: bool = False

    @property
    def size(self) -> float:
        """How much has to change: the share of the request that is missing; a rule that must go counts as all."""
        return self.short / self.asked if self.place >= 0 and self.asked else 1.0
