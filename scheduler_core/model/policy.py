"""A scheduling policy: actions in order, plugins in tiers, and their arguments; already checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

Arguments = Mapping[str, Any]
_NO_ARGUMENTS: Arguments = {}


class PluginChoice(msgspec.Struct, frozen=True):
    """A plugin in a tier. `enabled` are the flags that are on, in the short form (`jobOrder`, `queueOrder`, …)."""

    name: str
    enabled: frozenset[str] = frozenset()
    arguments: Arguments = msgspec.field(default_factory=dict)


Tiers = tuple[tuple[PluginChoice, ...], ...]


class Policy(msgspec.Struct, frozen=True):
    """`all_abstain` false gives the other reading of a vote in which nobody permits or rejects."""

    name: str
    actions: tuple[str, ...]
    tiers: Tiers
    action_arguments: Mapping[str, Arguments] = msgspec.field(default_factory=dict)
    all_abstain: bool = True

    def arguments_of(self, action: str) -> Arguments:
        return self.action_arguments.get(action, _NO_ARGUMENTS)


FLAGS: Mapping[str, bool] = {
    "jobOrder": True, "hierarchy": False, "clusterOrder": False, "jobReady": True, "jobPipelined": True,
    "jobStarving": True, "jobEnqueued": True, "taskOrder": True, "queueOrder": True, "preemptable": True,
    "reclaimable": True, "preemptive": True, "victim": True, "overused": True, "allocatable": True, "predicate": True,
    "bestNode": True, "nodeOrder": True, "targetJob": True, "reservedNodes": True, "hyperNodeOrder": True,
    "hyperNodeGradient": True, "subJobReady": True, "subJobPipelined": True, "subJobOrder": True,
}  # fmt: skip
"""Every flag with its value where a policy file does not name it."""
