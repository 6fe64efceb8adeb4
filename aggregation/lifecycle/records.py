"""From a record to what it changed: copies sorted out, then the module of its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from aggregation.lifecycle import admissions, counts, decisions, events, groups, jobs, pods
from aggregation.lifecycle.objects import Admission, Group, JobObject, Pod
from aggregation.lifecycle.sight import NOTHING, Noted, Sight
from aggregation.lifecycle.state import JobState
from aggregation.operators import dedup
from pipeline.records import kinds
from pipeline.records.envelope import DecisionRecord, EventRecord, ObjectRecord, Record
from pipeline.records.objects import Facts, ObjectChange

_Taker = Callable[[JobState, ObjectChange, Sight], Noted]
_Kept = Pod | JobObject | Group | Admission
_KINDS: Final[dict[tuple[str, str], _Taker]] = {
    kinds.POD: pods.take,
    kinds.VOLCANO_GROUP: groups.take,
    kinds.NATIVE_GROUP: groups.take,
    kinds.KUEUE_WORKLOAD: admissions.take,
}
_JOBS: Final = (kinds.BATCH_JOB, kinds.VOLCANO_JOB)
_TOMBSTONES: Final = 64
_AHEAD_MS: Final = 5000


def sight_of(record: Record, now: int) -> Sight:
    """When a record was seen; a collector's clock that is far ahead of the log counts as the log."""
    at_ms = record.observedms if record.observedms <= now + _AHEAD_MS else now
    if isinstance(record, ObjectRecord):
        return Sight(at_ms, record.data.unseen_since, record.data.start_observed, record.data.first_seen)
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
    uid = change.uid
    known = _known(state, uid)
    recent = known.recent if known is not None else state.gone.get(uid, [])
    if dedup.is_copy(recent, record.id):
        return None
    if change.change == "moved":
        return _forget(state, uid)
    told = change.facts is not None and _learn(state, change.facts)
    take_kind = _KINDS.get((change.group, change.kind)) or _of_jobs(state, change)
    noted = NOTHING if take_kind is None else take_kind(state, change, sight)
    if known is None or change.change == "deleted":
        _remember(state, uid, recent)
    return msgspec.structs.replace(noted, relevant=True) if told and not noted.relevant else noted


def _known(state: JobState, uid: str) -> _Kept | None:
    return state.pods.get(uid) or state.objects.get(uid) or state.groups.get(uid) or state.admissions.get(uid)


def _of_jobs(state: JobState, change: ObjectChange) -> _Taker | None:
    """Of further kinds only the job's own object is followed."""
    return jobs.take if (change.group, change.kind) in _JOBS or change.uid == state.job.uid else None


def _learn(state: JobState, facts: Facts) -> bool:
    """Facts about the whole job: whether they changed."""
    if facts.queue is None and facts.tenant is None:
        return False
    queue, tenant = facts.queue or state.queue, facts.tenant or state.tenant
    if queue == state.queue and tenant == state.tenant:
        return False
    state.queue, state.tenant = queue, tenant
    state.stale()
    return True


def _remember(state: JobState, uid: str, recent: list[int]) -> None:
    """The identities go with the object, or into the list of the dead."""
    known = _known(state, uid)
    if known is not None:
        known.recent = recent
        state.gone.pop(uid, None)
        return
    state.gone[uid] = recent
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
