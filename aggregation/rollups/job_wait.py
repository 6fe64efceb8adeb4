"""job_wait: one row an episode."""

from __future__ import annotations

from aggregation.lifecycle import episodes
from aggregation.operators.merge import Made
from aggregation.rollups import identity
from aggregation.rollups.draft import Draft
from aggregation.sla import deadlines

TABLE = "job_wait"
KEY = (TABLE,)
_MOVING = frozenset({
    "as_of", "wait_ms", "leading_reason", "leading_detail", "leading_resource", "leading_share", "estimated_ms", "gap_ms",
})  # fmt: skip
_AS_OF = frozenset({"as_of"})


def made(draft: Draft, at_risk_share: float) -> Made:
    """The row of the episode."""
    state, episode, shared, _, led, now = draft
    asks = identity.asks(state)
    priority_class, priority = identity.priority(state)
    end, running, own = episode.end_ms, episode.running_ms, state.own
    placed = end if episode.phase == episodes.SCHEDULED else None
    values = shared | {
        "priority_class": priority_class or None,
        "priority": priority,
        "owner": identity.owner(state) or None,
        "tasks": identity.tasks(state, episode),
        "minimum": episode.minimum,
        "gpus": asks.gpus,
        "cpus_milli": asks.cpus_milli,
        "memory_bytes": asks.memory_bytes,
        "created_at": state.created_ms if own is None else own.created_ms,
        "started_at": episode.start_ms,
        "first_task_at": episode.first_task_ms,
        "scheduled_at": placed,
        "running_at": running,
        "ended_at": end,
        "wait_ms": max((now if end is None else end) - episode.start_ms, 0),
        "startup_ms": None if running is None or placed is None else running - placed,
        "phase": episode.phase,
        "cause": episode.cause,
        "sla": deadlines.standing(episode, now, at_risk_share),
        "promise_ms": episode.promise_ms,
        "promise_source": episode.promise_source or None,
        "misconfigured": episode.misconfigured or None,
        "deadline_at": episode.deadline_ms,
        "leading_reason": led.reason,
        "leading_detail": led.detail,
        "leading_resource": led.resource,
        "leading_share": led.share,
        "estimated_ms": led.estimated_ms,
        "gap_ms": led.gap_ms,
        "partial": state.partial,
        "as_of": now,
    }
    return Made(KEY, values, _MOVING if end is None else _AS_OF, grows=end is None)
