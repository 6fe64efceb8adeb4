"""All rows of an episode: those that changed, and delete rows for those that are no more."""

from __future__ import annotations

from typing import Any

from aggregation.lifecycle.state import Episode, JobState
from aggregation.operators import merge
from aggregation.operators.merge import Key, Made, Written
from aggregation.rollups import draft, identity, job_wait, sla_violation, wait_reason_hour, wait_segment
from pipeline.records.rows import Row


def changed(state: JobState, episode: Episode, now: int, at_risk_share: float, *, refresh: bool = False) -> list[Row]:
    """The rows that differ from what was written; `refresh`: those that grow with time too."""
    written = state.written.setdefault(episode.number, {})
    named = identity.named(state)
    if episode.named != named:
        episode.named, episode.changed_ms = named, episode.start_ms
    plan = draft.of(state, episode, now)
    made = [job_wait.made(plan, at_risk_share)]
    violation = sla_violation.made(plan)
    if violation is not None:
        made.append(violation)
    lost: list[Key] = []
    since = _since(state, episode, refresh=refresh)
    if since is not None:
        made += wait_segment.made(plan, since)
        made += wait_reason_hour.made(plan, since)
        lost = merge.gone(written, _scope(written, len(plan.stretches), since), made)
    out = merge.changed(written, made, refresh=refresh)
    episode.changed_ms, episode.dirty = None, False
    return _rows(state, episode.number, out, lost, now)


def removed(state: JobState, number: int, now: int) -> list[Row]:
    """Delete rows for all that was written of an episode."""
    written = state.written.pop(number, {})
    return _rows(state, number, [], list(written), now)


def _since(state: JobState, episode: Episode, *, refresh: bool) -> int | None:
    if not refresh:
        return episode.changed_ms
    return state.refreshed_ms if episode.changed_ms is None else min(state.refreshed_ms, episode.changed_ms)


def _scope(written: Written, parts: int, since_ms: int) -> list[Key]:
    """Keys whose rows may be gone: parts beyond the last, hours that were made anew."""
    first_hour = wait_reason_hour.hour_of(since_ms)
    return [
        key
        for key in written
        if (key[0] == wait_segment.TABLE and int(key[1]) > parts)
        or (key[0] == wait_reason_hour.TABLE and int(key[1]) >= first_hour)
    ]


def _rows(state: JobState, number: int, out: list[Made], lost: list[Key], now: int) -> list[Row]:
    if not out and not lost:
        return []
    state.version = merge.next_version(state.version, now)
    rows = [Row(str(one.key[0]), state.version, one.values) for one in out]
    return rows + [Row(str(key[0]), state.version, _key_columns(state, number, key), deleted=True) for key in lost]


def _key_columns(state: JobState, number: int, key: Key) -> dict[str, Any]:
    columns = identity.key(state, number)
    if key[0] == wait_segment.TABLE:
        columns["n"] = key[1]
    elif key[0] == wait_reason_hour.TABLE:
        columns["hour"], columns["reason"], columns["resource"] = key[1:]
    return columns
