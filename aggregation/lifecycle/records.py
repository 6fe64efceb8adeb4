"""From a record to what it changed: copies sorted out, then the module of its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from aggregation.lifecycle import admissions, counts, decisions, events, groups, jobs, pods
from aggregation.lifecycle.sight import NOTHING, Noted, Sight
from aggregation.lifecycle.state import JobState
from aggregation.operators import dedup
from pipeline.records.envelope import DecisionRecord, EventRecord, ObjectRecord, Record
from pipeline.records.objects import Facts, ObjectChange

_KINDS: Final[dict[tuple[str, str], Callable[[JobState, ObjectChange, Sight], Noted]]] = {
    ("", "Pod"): pods.take,
    ("scheduling.volcano.sh", "PodGroup"): groups.take,
    ("scheduling.k8s.io", "PodGroup"): groups.take,
    ("kueue.x-k8s.io", "Workload"): admissions.take,
}
_JOBS: Final = (("batch", "Job"), ("batch.volcano.sh", "Job"))
_TOMBSTONES: Final = 64
_AHEAD_MS: Final = 5000


def sight_of(record: Record, now: int) -> Sight:
    """When a record was seen; a collector's clock that is far ahead of the log counts as the log."""
    at_ms = record.observedms if record.observedms <= now + _AHEAD_MS else now
    if isinstance(record, ObjectRecord):
        return Sight(at_ms, record.data.unseen_since, record.data.start_observed)
    return Sight(at_ms)


def take(state: JobState, record: Record, sight: Sight) -> Noted | None:
    """What a record changed; None for a copy."""
    if isinstance(record, ObjectRecord):
        return _take_object(state, record, sight)
    if isinstance(record, EventRecord):
        return events.take(state, record.data, sight)
    if isinstance(record, DecisionRecord):
        return decisions.take(state, record.data)
    return NOTHING


def empty(state: JobState) -> bool:
    """Whether no object of the job is left."""
    return not (state.pods or state.objects or state.groups or state.admissions)


def _take_object(state: JobState, record: ObjectRecord, sight: Sight) -> Noted | None:
    change = record.data
    recent = _recent(state, change.uid)
    if dedup.is_copy(recent, record.id):
        return None
    if change.change == "moved":
        return _forget(state, change.uid)
    told = change.facts is not None and _learn(state, change.facts)
    noted = _of_kind(state, change, sight)
    _remember(state, change, recent)
    return noted._replace(relevant=True) if told else noted


def _of_kind(state: JobState, change: ObjectChange, sight: Sight) -> Noted:
    kind = (change.group, change.kind)
    take_kind = _KINDS.get(kind)
    if take_kind is None:
        if kind not in _JOBS and change.uid != state.job.uid:
            return NOTHING
        take_kind = jobs.take
    return take_kind(state, change, sight)


def _learn(state: JobState, facts: Facts) -> bool:
    """Facts about the whole job: whether they changed."""
    before = state.queue, state.tenant
    state.queue = facts.queue or state.queue
    state.tenant = facts.tenant or state.tenant
    return before != (state.queue, state.tenant)


def _recent(state: JobState, uid: str) -> list[int]:
    for known in (state.pods, state.objects, state.groups, state.admissions):
        found = known.get(uid)
        if found is not None:
            return found.recent
    return state.gone.get(uid, [])


def _remember(state: JobState, change: ObjectChange, recent: list[int]) -> None:
    """The identities go with the object, or into the list of the dead."""
    for known in (state.pods, state.objects, state.groups, state.admissions):
        found = known.get(change.uid)
        if found is not None:
            found.recent = recent
            if change.change != "deleted":
                state.gone.pop(change.uid, None)
                return
    if change.change == "deleted":
        state.gone[change.uid] = recent
        if len(state.gone) > _TOMBSTONES:
            del state.gone[next(iter(state.gone))]


def _forget(state: JobState, uid: str) -> Noted:
    """The object belongs to another job now: that is no loss, and cancels nothing."""
    pod = state.pods.pop(uid, None)
    if pod is not None:
        counts.remove(state, pod)
    state.objects.pop(uid, None)
    state.groups.pop(uid, None)
    state.admissions.pop(uid, None)
    return Noted()
