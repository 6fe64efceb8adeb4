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

import msgspec

from aggregation.attribution import history, segments, verdict
from aggregation.lifecycle import episodes, minimum, records
from aggregation.lifecycle.events import TELLING
from aggregation.lifecycle.sight import Noted, Sight
from aggregation.lifecycle.state import SCHEMA, JobState
from aggregation.operators.step import Step
from aggregation.rollups import episode_rows
from aggregation.sla import deadlines
from pipeline.records import stored
from pipeline.records.envelope import DecisionRecord, EventRecord, ObjectRecord, Record
from pipeline.records.jobs import JobRef
from pipeline.records.rows import Row
from pipeline.records.times import HOUR_MS, MINUTE_MS

SECOND_MS = 1000
ROWS = "rows"
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
    """The job whose state a record concerns; None for what is of no job (nodes, queues, gaps, ticks).

    Most events say nothing of a wait: they only let time pass, and no state is opened for them.
    """
    if isinstance(record, EventRecord):
        return record.data.job if record.data.reason in TELLING else None
    return record.data.job if isinstance(record, ObjectRecord | DecisionRecord) else None


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
        return stored.read(_decoder.decode, data, SCHEMA, "state of a job")

    def on_record(self, state: JobState, record: Record, now: int) -> Step[JobState]:
        """Takes in one record at log time `now`. Its rows come at the end of the second, all changes of it in one."""
        sight = records.sight_of(record, now)
        noted = records.take(state, record, sight)
        if noted is None:
            return _as_it_was(state)
        state.touched_ms, state.seen_ms = now, sight.at_ms
        if isinstance(record, ObjectRecord):
            if record.data.change == "moved" and records.empty(state):
                return Step(None, _all_removed(state, now), {})
            state.partial = state.partial or not (record.data.start_observed or state.episodes)
        if not noted.relevant and sight.unseen_since is None:
            return _as_it_was(state)
        rows = self._judge(state, noted, sight, now)
        return Step(state, rows, self._timers(state, now))

    def on_timer(self, state: JobState, name: str, now: int) -> Step[JobState]:
        """Looks again. What is not due, or was done already, changes nothing."""
        state.due.pop(name, None)
        if name == DROP and self._idle(state) and now >= self._drop_ms(state):
            return Step(None, [], {})
        rows: list[Row] = []
        if name == ASSUME and now >= self._assume_ms(state) and episodes.assume(state, now):
            rows += self._judge(state, Noted(), Sight(now), now)
        refresh = name == REFRESH and state.waiting and now >= self._refresh_ms(state)
        if state.waiting and name == FOLD:
            segments.decided(state.episodes[-1])
        elif state.waiting and name in (deadlines.AT_RISK, deadlines.DEADLINE):
            state.stale()
        rows += self._flush(state, now, refresh=refresh)
        if refresh:
            state.refreshed_ms = now
        return Step(state, rows, self._timers(state, now))

    def _judge(self, state: JobState, noted: Noted, sight: Sight, now: int) -> list[Row]:
        """Rows to be removed at once."""
        if noted.pod:
            verdict.assess(state, noted.pod)
        if noted.everyone:
            for uid in state.pods:
                verdict.assess(state, uid)
        last = state.episode
        waited = last is not None and last.end_ms is None
        removed = episodes.follow(state, noted, sight)
        if not waited and last is state.episode and sight.unseen_since is None:
            return []  # no wait was touched, as with most records of a job that has its nodes
        for episode in state.episodes[0 if last is None else last.number - 1 :]:
            if episode is not last:
                state.refreshed_ms = now
            if episode is not last or waited:
                if episode.unarmed or not noted.pod:
                    deadlines.arm(state, episode, self._options.default_waiting_ms)
                history.note(state, episode, noted, sight)
            elif sight.unseen_since is not None:
                history.note(state, episode, noted, sight)
        return [] if removed is None else episode_rows.removed(state, removed, now)

    def _flush(self, state: JobState, now: int, *, refresh: bool = False) -> list[Row]:
        """The rows of all that is newer than its rows."""
        rows: list[Row] = []
        for episode in state.episodes[-2:]:
            if episode.dirty or (refresh and episode.open):
                rows += episode_rows.changed(state, episode, now, self._options.at_risk_share, refresh=refresh)
        return rows

    def _timers(self, state: JobState, now: int) -> dict[str, int | None]:
        """The timers that are other than before."""
        known, waiting, dirty = state.due, state.waiting, _has_news(state)
        if not dirty and waiting and REFRESH in known:
            return {}  # nothing they depend on has changed
        wanted: dict[str, int] = {}
        if dirty:
            wanted[ROWS] = known.get(ROWS) or now - now % SECOND_MS + SECOND_MS
        if waiting:
            self._while_it_waits(state, wanted, now)
        elif self._idle(state):
            wanted[DROP] = known.get(DROP) or self._drop_ms(state)  # if too early, it is set again when it fires
        if wanted == known:
            return {}
        state.due = wanted
        changed: dict[str, int | None] = {name: due for name, due in wanted.items() if known.get(name) != due}
        changed.update({name: None for name in known if name not in wanted})
        return changed

    def _while_it_waits(self, state: JobState, wanted: dict[str, int], now: int) -> None:
        episode = state.episodes[-1]
        wanted.update(deadlines.timers(episode, now, self._options.at_risk_share))
        undecided = segments.undecided_until(episode)
        if undecided is not None and undecided > now:
            wanted[FOLD] = undecided
        wanted[REFRESH] = self._refresh_ms(state)
        if state.least is None and state.counts.placed:
            wanted[ASSUME] = self._assume_ms(state)

    def _refresh_ms(self, state: JobState) -> int:
        """A minute after the last time, or at the end of the hour."""
        last = state.refreshed_ms
        return min(last + MINUTE_MS, last - last % HOUR_MS + HOUR_MS)

    def _assume_ms(self, state: JobState) -> int:
        episode = state.episode
        return (state.started_ms if episode is None else episode.seen_ms) + minimum.PATIENCE_MS

    def _idle(self, state: JobState) -> bool:
        """Whether the job has ended, or nothing of it is left, and no wait is open."""
        return not state.waiting and (episodes.finished(state) is not None or records.empty(state))

    def _drop_ms(self, state: JobState) -> int:
        return state.touched_ms + self._options.drop_after_ms


def _as_it_was(state: JobState) -> Step[JobState]:
    """Nothing has changed; a state of which nothing is known is not worth keeping."""
    nothing = not state.episodes and not state.decided and records.empty(state)
    return Step(None if nothing else state, [], {})


def _has_news(state: JobState) -> bool:
    """Whether something is newer than its rows; only the last two episodes can be."""
    made = state.episodes
    return bool(made) and (made[-1].dirty or (len(made) > 1 and made[-2].dirty))


def _all_removed(state: JobState, now: int) -> list[Row]:
    rows: list[Row] = []
    for number in list(state.written):
        rows += episode_rows.removed(state, number, now)
    return rows
