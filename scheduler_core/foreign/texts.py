"""What kube-scheduler 1.37 writes into the condition and the event FailedScheduling of a pod.

Parts are sorted as text, so `10 ...` comes before `2 ...`. A PreFilter that ended the attempt stands without a count and
is followed by a stray ` not found`. After it, or after the counts, comes what preemption said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from scheduler_core.foreign import preemption
from scheduler_core.foreign.cluster import Cluster
from scheduler_core.foreign.filters import Filters
from scheduler_core.foreign.judged import Judged
from scheduler_core.model.tasks import Task
from scheduler_core.session.codes import FITS


def counts(filters: Filters, judged: Judged) -> Counter[str]:
    """Nodes by the words of the filter that refuses them; those that are short of two resources count in both."""
    found: Counter[str] = Counter()
    for code, nodes in judged.firsts:
        if code != FITS:
            for check in filters.failed(code):
                found[check.text] += nodes
    return found


def of_filters(filters: Filters, judged: Judged) -> str:
    """The part about the nodes."""
    if judged.early:
        return f"0/{judged.total} nodes are available: {judged.early}."
    return _available(judged.total, counts(filters, judged))


def of_pod(cluster: Cluster, filters: Filters, task: Task, judged: Judged) -> str:
    """The whole message of a pod that no node takes."""
    said = of_filters(filters, judged)
    if judged.early:
        return f"{said} not found"
    barred = preemption.barred(cluster, task, judged)
    if barred:
        return f"{said} preemption: {barred}"
    found = preemption.attempt(cluster, filters, task, judged)
    if isinstance(found, preemption.Found):
        victims = len(found.victims)
        return (
            f"{said} preemption: found a potential placement for pod on node {found.node}, preempting {victims} victims"
        )
    return f"{said} preemption: {_available(judged.total, found.counts)}"


def of_member(minimum: int, scheduled: int, remaining: int, *, fits: bool) -> str:
    """The message of a member that would fit while others do not, or that was not tried any more. (What preemption for
    the whole group found is not told.)"""
    said = f"minCount ({minimum}) cannot be satisfied: {scheduled} scheduled, {remaining} remaining"
    return f"pod group is unschedulable, {said}" if fits else said


def _available(total: int, found: Mapping[str, int]) -> str:
    parts = sorted(f"{nodes} {text}" for text, nodes in found.items())
    return f"0/{total} nodes are available: {', '.join(parts)}." if parts else f"0/{total} nodes are available:"
