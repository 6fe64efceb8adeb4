"""The order in which a job's record goes through the rooms, in one page.

    record ─▶ lifecycle.records   what it changed; copies end here
           ─▶ lifecycle.episodes  which wait begins, ends, or was none
           ─▶ attribution         the pod's verdict, the leading reason, a change point
           ─▶ sla                 what is promised
           ─▶ rollups             rows that differ from what was written
           ─▶ timers              when to look again

All that concerns one job is one state, so the whole stage is one operator over it. A timer only looks again: what it
may find is decided by the state, never by the timer.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from aggregation.attribution import leading, segments, verdict
from aggregation.lifecycle import episodes, minimum, records
from aggregation.lifecycle.sight import Noted, Sight
from aggregation.lifecycle.state import SCHEMA, Episode, JobState, Segment
from aggregation.operators.step import Step
from aggregation.rollups import episode_rows
from aggregation.sla import deadlines
from pipeline.errors import Terminal
from pipeline.records import reasons
from pipeline.records.envelope import DecisionRecord, EventRecord, ObjectRecord, Record
from pipeline.records.jobs import JobRef
from pipeline.records.rows import Row
from pipeline.records.times import HOUR_MS, MINUTE_MS

FOLD = "fold"
REFRESH = "refresh"
ASSUME = "assume"
DROP = "drop"

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(JobState)


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What can be set: the promise of jobs that have none, when a wait is at risk, how long ended jobs are kept."""

    default_waiting_ms: int | None = None
    at_risk_share: float = 0.8
    drop_after_ms: int = 6 * HOUR_MS


def job_of(record: Record) -> JobRef | None:
    """The job whose state a record concerns; None for what is of no job (nodes, queues, gaps, ticks)."""
    if isinstance(record, ObjectRecord | EventRecord | DecisionRecord):
        return record.data.job
    return None


class JobOperator:
    """Records and log time of one job in, rows and timers out. Pure: no clock, no randomness, no I/O."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def zero(self, cluster: str, job: JobRef, now: int) -> JobState:
        """The state of a job of which nothing was seen yet."""
        return JobState(SCHEMA, cluster, job, started_ms=now, refreshed_ms=now)

    def encode(self, state: JobState) -> bytes:
        """The state as it is stored."""
        return _encoder.encode(state)

    def decode(self, data: bytes) -> JobState:
        """The stored state. Raises Terminal when another version of this code wrote it."""
        try:
            state = _decoder.decode(data)
        except msgspec.DecodeError as error:
            raise Terminal(f"the stored state of a job cannot be read: {error}") from error
        if state.schema != SCHEMA:
            raise Terminal(f"the stored state of a job has schema {state.schema}, this version reads {SCHEMA}")
        return state

    def on_record(self, state: JobState, record: Record, now: int) -> Step[JobState]:
        """Takes in one record at log time `now`."""
        sight = records.sight_of(record, now)
        noted = records.take(state, record, sight)
        if noted is None:
            return Step(state, [], {})
        state.touched_ms, state.seen_ms = now, sight.at_ms
        if isinstance(record, ObjectRecord):
            if record.data.change == "moved" and records.empty(state):
                return Step(None, self._all_removed(state, now), {})
            state.partial = state.partial or not (record.data.start_observed or state.episodes)
        if not noted.relevant and sight.unseen_since is None:
            return Step(state, [], {})
        return self._judge(state, noted, sight, now)

    def on_timer(self, state: JobState, name: str, now: int) -> Step[JobState]:
        """Looks again. What is not due, or was done already, changes nothing."""
        if name == DROP and self._idle_since(state) is not None and now >= self._drop_ms(state):
            return Step(None, [], {})
        if name == ASSUME and now >= self._assume_ms(state) and episodes.assume(state, now):
            return self._judge(state, Noted(), Sight(now), now)
        episode = state.episode
        if episode is None or not episode.open:
            return Step(state, [], self._timers(state, now))
        refresh = name == REFRESH and now >= self._refresh_ms(state)
        if name == FOLD and episode.segments:
            episode.changed_ms = episode.segments[-1].from_ms
        rows = episode_rows.changed(state, episode, now, self._options.at_risk_share, refresh=refresh)
        if refresh:
            state.refreshed_ms = now
        return Step(state, rows, self._timers(state, now))

    def _judge(self, state: JobState, noted: Noted, sight: Sight, now: int) -> Step[JobState]:
        last = state.episode
        was = None if last is None else _standing(last)
        if noted.pod:
            verdict.assess(state, noted.pod)
        turned = episodes.follow(state, noted, sight)
        rows = [] if turned.removed is None else episode_rows.removed(state, turned.removed, now)
        for episode in state.episodes[0 if last is None else last.number - 1 :]:
            if episode.open or episode is not last or _standing(episode) != was:
                attribute(state, episode, noted, sight)
                if episode.open or (was is not None and was.open) or episode is not last:
                    deadlines.arm(state, episode, self._options.default_waiting_ms)
                rows += episode_rows.changed(state, episode, now, self._options.at_risk_share)
        return Step(state, rows, self._timers(state, now))

    def _timers(self, state: JobState, now: int) -> dict[str, int | None]:
        episode = state.episode
        timers = deadlines.timers(episode, now, self._options.at_risk_share)
        timers[FOLD] = timers[REFRESH] = timers[ASSUME] = timers[DROP] = None
        if episode is not None and episode.open:
            undecided = segments.undecided_until(episode)
            timers[FOLD] = undecided if undecided is not None and undecided > now else None
            timers[REFRESH] = self._refresh_ms(state)
            if minimum.of(state) is None and state.counts.placed:
                timers[ASSUME] = self._assume_ms(state)
        elif self._idle_since(state) is not None:
            timers[DROP] = self._drop_ms(state)
        return timers

    def _refresh_ms(self, state: JobState) -> int:
        """A minute after the last time, or at the end of the hour."""
        last = state.refreshed_ms
        return min(last + MINUTE_MS, last - last % HOUR_MS + HOUR_MS)

    def _assume_ms(self, state: JobState) -> int:
        episode = state.episode
        return (state.started_ms if episode is None else episode.seen_ms) + minimum.PATIENCE_MS

    def _idle_since(self, state: JobState) -> int | None:
        """When the last record came, of a job that has ended and waits no more."""
        if state.waiting or (episodes.finished(state) is None and not records.empty(state)):
            return None
        return state.touched_ms

    def _drop_ms(self, state: JobState) -> int:
        return state.touched_ms + self._options.drop_after_ms

    def _all_removed(self, state: JobState, now: int) -> list[Row]:
        rows: list[Row] = []
        for number in list(state.written):
            rows += episode_rows.removed(state, number, now)
        return rows


class _Standing(NamedTuple):
    """What of an episode shows in its rows besides segments."""

    open: bool
    start_ms: int
    end_ms: int | None
    running_ms: int | None
    first_task_ms: int | None


def _standing(episode: Episode) -> _Standing:
    return _Standing(episode.open, episode.start_ms, episode.end_ms, episode.running_ms, episode.first_task_ms)


def attribute(state: JobState, episode: Episode, noted: Noted, sight: Sight) -> None:
    """Notes the reason that leads an episode from now on, or that nobody saw it."""
    if sight.unseen_since is not None:
        segments.blind(episode, sight.unseen_since)
    if episode.open:
        segments.point(episode, leading.of(state, sight.at_ms, noted.pod))
    elif not episode.segments or (episode.end_ms or 0) <= episode.seen_ms:
        segments.unseen(episode)
    if episode.segments and episode.start_ms < episode.segments[0].from_ms:
        segments.precede(episode, _before_group(state, episode))


def _before_group(state: JobState, episode: Episode) -> Segment | None:
    """Pods that are older than their group waited for it (rules P3, P13)."""
    created = [group.created_ms for group in state.groups.values()]
    if not created or not state.names_group or min(created) <= episode.start_ms:
        return None
    return Segment(min(created), reasons.GANG_INCOMPLETE, "group_missing", evidence="count")
