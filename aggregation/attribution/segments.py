"""From judgements to stretches of time that tile a wait.

A judgement with another reason than the one before is a change point. What held for less than a second is folded into
the next stretch, in order, so that the time it gives may make the next one long enough; at the end it is folded into
the one before (rule P17). So only the last stretch is ever undecided, and what was decided never changes again, except
where a list shows that nobody saw it (rule P5).
"""

from __future__ import annotations

from typing import NamedTuple

from aggregation.lifecycle.state import Episode, Segment
from pipeline.records import reasons

SHORT_MS = 1000


class Stretch(NamedTuple):
    """A segment with its end; None while it lasts."""

    segment: Segment
    from_ms: int
    to_ms: int | None


def point(episode: Episode, judged: Segment) -> None:
    """A judgement; nothing happens if the reason is the one that leads already."""
    segments = episode.segments
    if not segments:
        judged.from_ms = max(min(judged.from_ms, episode.seen_ms), episode.start_ms)
        segments.append(judged)
        _mark(episode, episode.start_ms)
        return
    last = segments[-1]
    if _same(last, judged):
        _refresh(last, judged)
        return
    at_ms = max(judged.from_ms, last.from_ms)
    if at_ms - _held_since(episode, last) >= SHORT_MS:
        judged.from_ms = at_ms
        segments.append(judged)
    else:
        judged.from_ms = last.from_ms
        segments[-1] = judged
        if len(segments) > 1 and _same(segments[-2], judged):
            segments.pop()
            _refresh(segments[-1], judged)
    _mark(episode, judged.from_ms)


def precede(episode: Episode, earlier: Segment | None) -> None:
    """The episode began before its first segment: `earlier` held until the moment it carries, else the first did."""
    first = episode.segments[0]
    if earlier is None or min(earlier.from_ms, first.from_ms) - episode.start_ms < SHORT_MS:
        first.from_ms = episode.start_ms
    else:
        first.from_ms = min(earlier.from_ms, first.from_ms)
        earlier.from_ms = episode.start_ms
        episode.segments.insert(0, earlier)
    _mark(episode, episode.start_ms)


def blind(episode: Episode, since_ms: int) -> None:
    """A list shows that something of the job changed unseen after `since_ms`: from there on nobody knows the reason."""
    start = max(since_ms, episode.start_ms)
    if episode.end_ms is not None and start >= episode.end_ms:
        return
    episode.segments = [one for one in episode.segments if one.from_ms < start]
    point(episode, Segment(start, reasons.GAP, evidence="gap"))
    _mark(episode, start)


def unseen(episode: Episode, earlier: Segment | None) -> None:
    """It was over before anybody looked: no reason is known, but for what objects tell of its beginning."""
    episode.segments = [Segment(episode.start_ms, reasons.GAP, evidence="gap")]
    if earlier is not None and earlier.from_ms > episode.start_ms:
        episode.segments[0].from_ms = earlier.from_ms
        precede(episode, earlier)
    _mark(episode, episode.start_ms)


def stretches(episode: Episode, now: int) -> list[Stretch]:
    """The segments as far as they are decided; they tile the wait from its start to its end, or are open."""
    end, parts = episode.end_ms, episode.segments
    if end == episode.start_ms or not parts:
        return []
    if end is not None and parts[-1].from_ms >= end:
        parts = [one for one in parts if one.from_ms < end] or parts[:1]
    until = now if end is None else end
    if len(parts) > 1 and until - _held_since(episode, parts[-1]) < SHORT_MS:
        parts = parts[:-1]
    made = []
    segment, start = parts[0], episode.start_ms
    for later in parts[1:]:
        made.append(Stretch(segment, start, later.from_ms))
        segment, start = later, later.from_ms
    made.append(Stretch(segment, start, end))
    return made


def undecided_until(episode: Episode) -> int | None:
    """When the last stretch will have lasted long enough to stand; None if it does not follow another."""
    if len(episode.segments) < 2:
        return None
    return _held_since(episode, episode.segments[-1]) + SHORT_MS


def decided(episode: Episode) -> None:
    """Time has passed: the last stretch may stand by now."""
    if episode.segments:
        _mark(episode, episode.segments[-1].from_ms)


def _held_since(episode: Episode, segment: Segment) -> int:
    """How long something held is measured from the first look at it; that nobody looked, from its beginning."""
    return segment.from_ms if segment.reason == reasons.GAP else max(segment.from_ms, episode.seen_ms)


def _same(one: Segment, other: Segment) -> bool:
    return one.reason == other.reason and one.resource == other.resource and one.detail == other.detail


def _refresh(last: Segment, judged: Segment) -> None:
    """The newest words and counts stand; they begin no new stretch."""
    last.nodes, last.total_nodes, last.message = judged.nodes, judged.total_nodes, judged.message
    last.also, last.evidence = judged.also, judged.evidence


def _mark(episode: Episode, from_ms: int) -> None:
    known = episode.changed_ms
    episode.changed_ms = from_ms if known is None else min(known, from_ms)
    episode.dirty = True
