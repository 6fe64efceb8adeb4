"""The extension points: which method of a plugin, which flag of the policy lets it speak (None: always)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

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

TOGETHER = (("job_ready", "job_missing"), ("allocatable", "allocatable_together"), ("allocated", "allocated_together"))
"""Methods asked of one task, with what is asked of equal tasks together; a plugin without the second keeps to the first."""

Asked = tuple[tuple[Callable[..., Any], ...], ...]
"""The functions of one point, by tier; tiers in which nobody is asked stay, empty."""


Kind = tuple[type[Plugin], frozenset[str]]
"""All that decides at which points a plugin is asked: its class, and the flags that are on."""


def asked(tiers: Sequence[Sequence[Plugin]]) -> dict[str, Asked]:
    """Who is asked at each point: plugins that override its method and whose flag is on."""
    who = _who(tuple([tuple([(type(plugin), plugin.enabled) for plugin in tier]) for tier in tiers]))
    return {
        method: tuple(
            [tuple([getattr(tiers[level][at], method) for at in places]) for level, places in enumerate(each)]
        )
        for method, each in who.items()
    }


@functools.lru_cache(maxsize=256)
def _who(tiers: tuple[tuple[Kind, ...], ...]) -> Mapping[str, tuple[tuple[int, ...], ...]]:
    """For each point the places in each tier of those who are asked: the same for all sessions of a policy."""
    return {
        method: tuple(
            tuple(
                at
                for at, (kind, enabled) in enumerate(tier)
                if _overrides(kind, method) and (flag is None or flag in enabled)
            )
            for tier in tiers
        )
        for method, flag in FLAG_OF.items()
    }


def places_together(tiers: Sequence[Sequence[Plugin]], before_filter: Asked) -> bool:
    """Whether equal tasks may be placed in one step: every plugin that is asked of one can be asked of many."""
    return not any(before_filter) and all(
        says(plugin, many) or not says(plugin, one) for tier in tiers for plugin in tier for one, many in TOGETHER
    )


def undoes_together(tiers: Sequence[Sequence[Plugin]]) -> bool:
    """Whether places of equal tasks may be taken back in one step: who is told of one can be told of many."""
    return all(
        says(plugin, "deallocated_together") or not says(plugin, "deallocated") for tier in tiers for plugin in tier
    )


def steady(tiers: Sequence[Sequence[Plugin]]) -> bool:
    """Whether whoever orders jobs or speaks of queues is steady."""
    return all(
        plugin.steady
        for method in ("job_order", "queue_order", "overused", "allocatable")
        for tier in tiers
        for plugin in tier
        if says(plugin, method)
    )


def says(plugin: Plugin, method: str) -> bool:
    """Whether the plugin has something to say at a point."""
    return _overrides(type(plugin), method)


def _overrides(kind: type[Plugin], method: str) -> bool:
    return getattr(kind, method) is not getattr(Plugin, method)
