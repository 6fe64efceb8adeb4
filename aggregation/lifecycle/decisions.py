"""Decision records: what a scheduler said last of a job or of one of its tasks."""

from __future__ import annotations

from aggregation.lifecycle.objects import Decided
from aggregation.lifecycle.sight import NOTHING, Noted
from aggregation.lifecycle.state import JobState
from pipeline.records import reasons
from pipeline.records.decisions import Decision

_STANDS = ("attribution", "enqueue", "pipeline")
_LIFTS = ("bind", "discard", "diverged")
_UNNAMED = "queue_refused"
"""A queue's refusal is one reason, whether a scheduler's text says it, which names no resource (rule P9), or a decision."""


def take(state: JobState, decision: Decision) -> Noted:
    """A reason stands until the next decision about the same task, or until the scheduler was wrong or has bound it."""
    task = decision.task or ""
    known = state.decided.get(task)
    if known is not None and decision.session_ms < known.session_ms:
        return NOTHING
    reason = reasons.WAITING_VICTIMS if decision.kind == "pipeline" else decision.reason
    if decision.kind in _LIFTS or (decision.kind in _STANDS and reason is None):
        return _lift(state, task, everything=decision.kind == "diverged")
    if decision.kind not in _STANDS or reason is None:
        return NOTHING
    detail = decision.detail or ""
    resource = "" if detail == _UNNAMED else decision.resource or ""
    made = Decided(
        decision.session_ms, reason, detail, resource, decision.nodes, decision.total_nodes, decision.message,
        decision.kind == "enqueue",
    )  # fmt: skip
    state.decided[task] = made
    return Noted(pod=_pod_of(state, task)) if known is None or _differs(known, made) else NOTHING


def _lift(state: JobState, task: str, *, everything: bool) -> Noted:
    if everything and not task:
        state.decided.clear()
        return Noted(everyone=True)
    return Noted(pod=_pod_of(state, task)) if state.decided.pop(task, None) is not None else NOTHING


def _differs(one: Decided, other: Decided) -> bool:
    return (one.reason, one.detail, one.resource, one.nodes) != (
        other.reason,
        other.detail,
        other.resource,
        other.nodes,
    )


def _pod_of(state: JobState, task: str) -> str:
    name = task.rpartition("/")[2]
    return next((uid for uid, pod in state.pods.items() if name and pod.name == name and pod.waits), "")
