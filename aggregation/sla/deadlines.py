"""The deadline of an episode and the moments at which its standing changes.

The first wait is promised from the whole second of the job's creation, as the scheduler counts; a later one from its
own start. A wait that ends exactly at the deadline has broken its promise.
"""

from __future__ import annotations

from aggregation.lifecycle import promises
from aggregation.lifecycle.state import Episode, JobState
from pipeline.records import sla

AT_RISK = "at_risk"
DEADLINE = "deadline"


def arm(state: JobState, episode: Episode, default_ms: int | None) -> None:
    """Sets what is promised to an open episode, as its objects say now."""
    promise, bad = sla.find(promises.levels(state), default_ms)
    before = episode.promise_ms, episode.deadline_ms, episode.promise_source, episode.misconfigured
    episode.unarmed = False
    episode.misconfigured = ", ".join(str(one) for one in bad)
    if promise is None:
        episode.promise_ms, episode.promise_source, episode.deadline_ms = None, "", None
    else:
        episode.promise_ms, episode.promise_source = promise.waiting_ms, _place(promise)
        episode.deadline_ms = sla.deadline_ms(_counted_from(episode), promise.waiting_ms)
    if before != (episode.promise_ms, episode.deadline_ms, episode.promise_source, episode.misconfigured):
        episode.dirty = True


def standing(episode: Episode, now: int, at_risk_share: float) -> str:
    """none, on_track, at_risk, violated, met, met_late or cancelled, at log time `now`.

    It says how a wait ended: one that is cancelled past its deadline is cancelled too, and that its promise was broken
    before is told by its violation. The view of waits joins the two.
    """
    if episode.deadline_ms is None or episode.promise_ms is None:
        return "none"
    if episode.end_ms is None:
        if sla.violated(episode.deadline_ms, now):
            return "violated"
        return "at_risk" if now >= _at_risk_ms(episode, episode.promise_ms, at_risk_share) else "on_track"
    if episode.phase == "cancelled":
        return "cancelled"
    return "met_late" if sla.violated(episode.deadline_ms, episode.end_ms) else "met"


def timers(episode: Episode, now: int, at_risk_share: float) -> dict[str, int]:
    """When to look at an open episode again."""
    if episode.deadline_ms is None or episode.promise_ms is None or episode.deadline_ms <= now:
        return {}
    at_risk = _at_risk_ms(episode, episode.promise_ms, at_risk_share)
    if at_risk <= now:
        return {DEADLINE: episode.deadline_ms}
    return {AT_RISK: at_risk, DEADLINE: episode.deadline_ms}


def _place(promise: sla.Promise) -> str:
    return promise.level if promise.level in ("default", "queue") else f"{promise.level} {promise.source}"


def _counted_from(episode: Episode) -> int:
    start = episode.start_ms
    return start - start % 1000 if episode.number == 1 else start


def _at_risk_ms(episode: Episode, promise_ms: int, share: float) -> int:
    return sla.at_risk_ms(_counted_from(episode), promise_ms, share)
