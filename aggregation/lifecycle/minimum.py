"""How many pods must be placed before a wait ends (rule P2).

Of groups the sum of their minima; else of a Volcano Job its minAvailable, of batch Jobs min(parallelism, completions),
of plain pods that Kueue admits together all of them; else 1. Nothing ends before the job's own object was seen, where
objects of its kind are usually watched: they are listed before pods, so it is only a matter of moments. If it does not
come for a minute after a pod was placed, its kind is not watched, or the group that pods name will never exist; then 1
is assumed.
"""

from __future__ import annotations

from aggregation.lifecycle.state import JobState
from pipeline.records import kinds

PATIENCE_MS = 60_000
_WATCHED = (
    kinds.BATCH_JOB,
    kinds.VOLCANO_JOB,
    kinds.VOLCANO_GROUP,
    kinds.NATIVE_GROUP,
)


def look(state: JobState) -> None:
    """Sets the minimum as far as it is known: None while the job's object is still to come."""
    state.least = _of(state)


def _of(state: JobState) -> int | None:
    gangs = [group.minimum for group in state.groups.values() if group.minimum is not None]
    if gangs:
        return sum(gangs)
    own = state.own
    if own is None and _expected(state):
        return None
    if own is not None and own.minimum is not None:
        return own.minimum
    parts = [made.minimum for made in state.objects.values() if made.minimum is not None]
    return sum(parts) or 1


def is_gang(state: JobState) -> bool:
    """Whether a minimum must be placed together."""
    if any(group.minimum is not None for group in state.groups.values()):
        return True
    return state.job.group == kinds.VOLCANO_JOB.group and state.own is not None and state.own.minimum is not None


def _expected(state: JobState) -> bool:
    job = state.job
    return (job.group, job.kind) in _WATCHED
