"""Why a job waits, worked out from its stored waits and their parts as of a moment. Pure.

The parts of a wait tile it, so a question about the past needs no other data: what lies behind the moment is cut off, and
sums, shares, promise and sentence are made of the rest. Of a part only its last words and figures are stored: `as_known`
takes away those that came after the moment. The moment is log time; there is no clock here.

Which wait is meant: the one that covers the moment, else the latest before it (between two waits, or after the last).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from dashboards import waits
from dashboards.objects import Fresh, JobRow, Now, Reason, Scheduler, Segment, Why
from pipeline.records import reasons, sla, times, words
from pipeline.records.words import Told

WAITING = "waiting"
_DECIDED = "decision"
"""The evidence of a part that a scheduler's decisions tell of."""
AT_RISK_SHARE = 0.8
"""Of the promise, from which a past moment counts as at risk. What holds now is judged by the aggregation's own setting."""


def choose(stored: Sequence[JobRow], at_ms: int) -> JobRow | None:
    """The wait that a question about this moment means; None when no job of the name existed yet."""
    begun = [wait for wait in stored if wait.started_ms <= at_ms]
    if begun:
        return max(begun, key=lambda wait: (wait.started_ms, wait.episode))
    existing = [wait for wait in stored if wait.created_ms is not None and wait.created_ms <= at_ms]
    return min(existing, key=lambda wait: wait.started_ms, default=None)


def why(
    wait: JobRow,
    parts: Sequence[Segment],
    at_ms: int,
    lang: str,
    fresh: Fresh,
    sees: Scheduler | None = None,
    note: str | None = None,
) -> Why:
    """The answer about one wait. `sees`: what a scheduler saw of it at the moment; `note`: why that cannot be told."""
    ended = wait.ended_ms is not None and wait.ended_ms <= at_ms
    end_ms = wait.ended_ms if ended and wait.ended_ms is not None else at_ms
    wait_ms = max(0, end_ms - wait.started_ms)
    phase = wait.phase if ended else WAITING
    held = shares(parts, wait.started_ms, end_ms)
    now = None if ended else waits.now_of(part_at(parts, at_ms))
    overrun_ms = None if wait.deadline_ms is None else max(0, end_ms - wait.deadline_ms)
    leading = held[0] if held else None
    told = _told(wait, phase, wait_ms, end_ms, leading, now)
    return Why(
        sentence=words.sentence(lang, told),
        job=wait.job,
        episode=wait.episode,
        phase=phase,
        at_ms=at_ms,
        wait_ms=wait_ms,
        promise_ms=wait.promise_ms,
        deadline_ms=wait.deadline_ms,
        deadline_at=None if wait.deadline_ms is None else times.format_ms(wait.deadline_ms),
        sla=_sla(wait, ended, at_ms),
        overrun_ms=overrun_ms,
        leading=leading,
        reasons=held,
        now=now,
        helps=_helps(lang, now, wait.job.queue, sees),
        scheduler=sees,
        scheduler_note=note,
        now_ms=fresh.now_ms,
        data_until_ms=fresh.data_until_ms,
        lag_ms=fresh.lag_ms,
        replay=fresh.replay,
        replay_over=fresh.replay_over,
    )


def as_known(part: Segment, sees: Scheduler | None, *, is_said: bool) -> Segment:
    """A part at a moment: without its words unless they `is_said` by then. Where its figures came with words that are not,
    or with a scheduler's decisions, which are many, they are those that a scheduler saw then for the same reason."""
    if is_said and part.evidence != _DECIDED:
        return part
    message = part.message if is_said else None
    if _of_the_pod(part) or sees is None or (sees.reason, sees.resource) != (part.reason, part.resource):
        return structs.replace(part, message=message, nodes=None, total_nodes=None)
    return structs.replace(part, message=message, nodes=sees.nodes, total_nodes=sees.total_nodes)


def _of_the_pod(part: Segment | Now) -> bool:
    """Whether a claim that is missing or unbound refused the pod before any node was looked at."""
    return part.reason in (reasons.VOLUME, reasons.DRA) and part.nodes is None


def part_at(parts: Sequence[Segment], at_ms: int) -> Segment | None:
    """The part that holds at the moment; at a change, the one that begins."""
    holding = [part for part in parts if part.from_ms <= at_ms and (part.to_ms is None or at_ms <= part.to_ms)]
    return holding[-1] if holding else None


def shares(parts: Sequence[Segment], from_ms: int, to_ms: int) -> list[Reason]:
    """The time that each reason held between two moments, longest first, of equal ones the first to hold."""
    held: dict[tuple[str, str | None, str | None], int] = {}
    titles: dict[str, str] = {}
    for part in parts:
        begin, end = max(part.from_ms, from_ms), to_ms if part.to_ms is None else min(part.to_ms, to_ms)
        if end < begin or (end == begin and to_ms > from_ms):
            continue
        name = part.reason, part.detail, part.resource
        held[name] = held.get(name, 0) + end - begin
        titles[part.reason] = part.title
    total = sum(held.values())
    found = [
        Reason(*name, ms=length, share=round(length / total, 4) if total else float(place == 0), title=titles[name[0]])
        for place, (name, length) in enumerate(held.items())
    ]
    return sorted(found, key=lambda reason: -reason.ms)


def _sla(wait: JobRow, ended: bool, at_ms: int) -> str:
    if ended or wait.deadline_ms is None or wait.promise_ms is None:
        return wait.sla if ended else "none"
    if sla.violated(wait.deadline_ms, at_ms):
        return "violated"
    if wait.phase == WAITING and wait.started_ms + wait.wait_ms == at_ms:
        return wait.sla  # the moment of the row itself: judged
    return "at_risk" if at_ms >= sla.at_risk_ms(wait.started_ms, wait.promise_ms, AT_RISK_SHARE) else "on_track"


def _told(wait: JobRow, phase: str, wait_ms: int, end_ms: int, leading: Reason | None, now: Now | None) -> Told:
    deadline_ms = wait.deadline_ms
    return Told(
        phase=phase,
        wait_ms=wait_ms,
        promise_ms=wait.promise_ms,
        overrun_ms=0 if deadline_ms is None else max(0, end_ms - deadline_ms),
        left_ms=None if deadline_ms is None else max(0, deadline_ms - end_ms),
        reason=leading.reason if leading else None,
        detail=leading.detail if leading else None,
        resource=leading.resource if leading else None,
        reason_ms=leading.ms if leading else 0,
        share=leading.share if leading else 0.0,
        queue=wait.job.queue or None,
        now_reason=now.reason if now else None,
        now_detail=now.detail if now else None,
        now_resource=now.resource if now else None,
        nodes=now.nodes if now else None,
        total_nodes=now.total_nodes if now else None,
    )


def _helps(lang: str, now: Now | None, queue: str, sees: Scheduler | None) -> list[str]:
    """What would end the wait: the scheduler's own words where it speaks of the same reason, else the reason's.

    Words about nodes are no help where a claim keeps the pod from all of them.
    """
    if now is None:
        return []
    if sees is not None and sees.reason == now.reason and sees.helps and not _of_the_pod(now):
        return sees.helps
    text = words.helps(lang, now.reason, now.detail, now.resource, queue or None)
    return [text] if text else []
