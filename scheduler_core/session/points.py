"""The extension points: which method of a plugin, which flag of the policy lets it speak (None: always)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from scheduler_core.session.plugin import Plugin

FLAG_OF: Mapping[str, str | None] = {
    "job_order": "jobOrder",
    "queue_order": "queueOrder",
    "task_order": "taskOrder",
    "victim_queue_order": None,
    "job_valid": None,
    "job_enqueueable": "jobEnqueued",
    "job_enqueued": "jobEnqueued",
    "job_ready": "jobReady",
    "job_pipelined": "jobPipelined",
    "job_starving": "jobStarving",
    "overused": "overused",
    "allocatable": "allocatable",
    "preemptive": "preemptive",
    "preemptable": "preemptable",
    "reclaimable": "reclaimable",
    "before_filter": "predicate",
    "fixed_filters": "predicate",
    "row_filters": "predicate",
    "looks_elsewhere": "predicate",
    "table_filters": "predicate",
    "row_scores": "nodeOrder",
    "compares": "nodeOrder",
    "table_score": "nodeOrder",
    "best_node": "bestNode",
    "domain_gradients": "hyperNodeGradient",
    "domain_scores": "hyperNodeOrder",
    "allocated": None,
    "deallocated": None,
    "job_missing": "jobReady",
    "allocatable_together": "allocatable",
    "allocated_together": None,
    "deallocated_together": None,
}
"""`job_enqueueable` and `job_enqueued` share a flag, as upstream."""

TOGETHER: Final = (
    ("job_ready", "job_missing"),
    ("allocatable", "allocatable_together"),
    ("allocated", "allocated_together"),
)
"""Methods asked of one task, with what is asked of equal tasks together; a plugin without the second keeps to the first."""

Asked = tuple[tuple[Callable[..., Any], ...], ...]
"""The functions of one point, by tier; tiers in which nobody is asked stay, empty."""


Kind = tuple[type[Plugin], frozenset[str]]
"""All that decides at which points a plugin is asked: its class, and the flags that are on."""


class Plan:
    """What all sessions of a policy have in common: who is asked at which point, by places in the tiers, and what follows.

    `flat` has the same by places among all plugins. `places_together`: equal tasks may be placed in one step, since every
    plugin that is asked of one can be asked of many; `undoes_together`: their places may be taken back in one step;
    `steady`: whoever orders jobs or speaks of queues is steady.
    """

    __slots__ = ("flat", "places_together", "steady", "tiers", "undoes_together")

    def __init__(self, tiers: tuple[tuple[Kind, ...], ...]) -> None:
        self.tiers = {method: _who(tiers, method, flag) for method, flag in FLAG_OF.items()}
        starts = [sum(len(tier) for tier in tiers[:level]) for level in range(len(tiers))]
        self.flat = {
            method: [starts[level] + at for level, places in enumerate(each) for at in places]
            for method, each in self.tiers.items()
        }
        kinds = [kind for tier in tiers for kind, _ in tier]
        self.places_together = all(
            _overrides(kind, many) or not _overrides(kind, one) for kind in kinds for one, many in TOGETHER
        ) and all(kind.filters_by_class or not _overrides(kind, "before_filter") for kind in kinds)
        self.undoes_together = all(
            _overrides(kind, "deallocated_together") or not _overrides(kind, "deallocated") for kind in kinds
        )
        self.steady = all(
            kind.steady
            for method in ("job_order", "queue_order", "overused", "allocatable")
            for kind in kinds
            if _overrides(kind, method)
        )


def plan(tiers: Sequence[Sequence[Plugin]]) -> Plan:
    """The plan of these plugins, made once for a policy."""
    return _plan(tuple([tuple([(type(plugin), plugin.enabled) for plugin in tier]) for tier in tiers]))


@functools.lru_cache(maxsize=256)
def _plan(tiers: tuple[tuple[Kind, ...], ...]) -> Plan:
    return Plan(tiers)


def _who(tiers: tuple[tuple[Kind, ...], ...], method: str, flag: str | None) -> tuple[tuple[int, ...], ...]:
    """Places in each tier of those who are asked: plugins that override the method and whose flag is on."""
    return tuple(
        tuple(
            at
            for at, (kind, enabled) in enumerate(tier)
            if _overrides(kind, method) and (flag is None or flag in enabled)
        )
        for tier in tiers
    )


def says(plugin: Plugin, method: str) -> bool:
    """Whether the plugin has something to say at a point."""
    return _overrides(type(plugin), method)


def _overrides(kind: type[Plugin], method: str) -> bool:
    return getattr(kind, method) is not getattr(Plugin, method)
