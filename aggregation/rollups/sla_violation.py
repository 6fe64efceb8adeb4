"""sla_violation: one row for each episode that broke its promise, or was thought to have.

A violation is never deleted silently: evidence that the wait ended in time, however late it comes, withdraws it. Only
an episode that turns out to be none takes its row along.
"""

from __future__ import annotations

from hashlib import blake2b

from aggregation.lifecycle.state import Episode, JobState
from aggregation.operators.merge import Made
from aggregation.rollups import identity
from aggregation.rollups.draft import Draft
from pipeline.records import reasons, sla

TABLE = "sla_violation"
KEY = (TABLE,)
_MOVING = frozenset({"as_of", "overrun_ms", "reason", "resource", "fingerprint"})
_AS_OF = frozenset({"as_of"})


def made(draft: Draft) -> Made | None:
    """The row, if there is a violation or one was written before."""
    state, episode, shared, _, led, now = draft
    deadline = episode.deadline_ms
    broken = deadline is not None and sla.violated(deadline, now if episode.end_ms is None else episode.end_ms)
    if not broken and KEY not in state.written.get(episode.number, ()):
        return None
    open_ = broken and episode.open
    reason = led.reason or reasons.UNKNOWN
    values = {
        **shared,
        "promise_ms": episode.promise_ms,
        "deadline_at": deadline,
        "violated_at": deadline,
        "resolved_at": episode.end_ms,
        "overrun_ms": _overrun(episode, now) if broken else 0,
        "reason": reason,
        "resource": led.resource,
        "fingerprint": _fingerprint(state, reason),
        "state": "open" if open_ else "resolved" if broken else "withdrawn",
        "as_of": now,
    }
    return Made(KEY, values, _MOVING if open_ else _AS_OF, grows=open_)


def _overrun(episode: Episode, now: int) -> int:
    until = now if episode.end_ms is None else episode.end_ms
    return max(until - (episode.deadline_ms or until), 0)


def _fingerprint(state: JobState, reason: str) -> str:
    """Violations of one cause group together: the same queue of the same cluster short of the same thing."""
    text = "\0".join((state.cluster, identity.queue(state) or state.job.namespace, reason))
    return f"v1:{blake2b(text.encode(), digest_size=8).hexdigest()}"
