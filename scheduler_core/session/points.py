"""The extension points: which method of a plugin, which flag of the policy lets it speak (None: always)."""

from __future__ import annotations

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
}
"""`job_enqueueable` and `job_enqueued` share a flag, as upstream."""

TOGETHER = (("job_ready", "job_missing"), ("allocatable", "allocatable_together"), ("allocated", "allocated_together"))
"""Methods asked of one task, with what is asked of equal tasks together; a plugin without the second keeps to the first."""

Asked = tuple[tuple[Callable[..., Any], ...], ...]
"""The functions of one point, by tier; tiers in which nobody is asked stay, empty."""


def asked(tiers: Sequence[Sequence[Plugin]], method: str) -> Asked:
    """Who is asked at a point: plugins that override its method and whose flag is on."""
    flag = FLAG_OF[method]
    return tuple(
        tuple(
            getattr(plugin, method)
            for plugin in tier
            if says(plugin, method) and (flag is None or flag in plugin.enabled)
        )
        for tier in tiers
    )


def places_together(tiers: Sequence[Sequence[Plugin]]) -> bool:
    """Whether equal tasks may be placed in one step: every plugin that is asked of one can be asked of many."""
    return not any(any(tier) for tier in asked(tiers, "before_filter")) and all(
        says(plugin, many) or not says(plugin, one) for tier in tiers for plugin in tier for one, many in TOGETHER
    )


def says(plugin: Plugin, method: str) -> bool:
    """Whether the plugin has something to say at a point."""
    return getattr(type(plugin), method) is not getattr(Plugin, method)
