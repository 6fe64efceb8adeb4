"""Kueue's Workloads: whether a job has its quota, and whether it was taken away again."""

from __future__ import annotations

from msgspec import UnsetType

from aggregation.lifecycle import asks
from aggregation.lifecycle.objects import Admission, Asks, JobObject
from aggregation.lifecycle.sight import NOTHING, Noted, Sight
from aggregation.lifecycle.state import JobState
from pipeline.records import shapes
from pipeline.records.objects import ObjectChange
from pipeline.records.shapes.base import Condition
from pipeline.records.shapes.queue import Workload


def take(state: JobState, change: ObjectChange, sight: Sight) -> Noted:
    """A Workload's record, after copies were sorted out."""
    known = state.admissions.get(change.uid)
    if change.change == "deleted":
        return _gone(state, change, sight) if known is not None else NOTHING
    if isinstance(change.object, UnsetType):
        return NOTHING
    shape = shapes.decode(change.group, change.kind, change.object)
    assert isinstance(shape, Workload)
    made = known or Admission(created_ms=sight.created(shape.metadata.creation_timestamp))
    before = _signature(made)
    _update(made, shape, sight)
    state.admissions[change.uid] = made
    if change.uid == state.job.uid:
        _be_the_job(state, made, shape, sight)
    if known is not None and _signature(made) == before:
        return NOTHING
    state.stale()
    if made.evicted and made.evicted_ms != before[-1]:
        return Noted(lost_ms=made.evicted_ms, lost_why=made.evicted)
    return Noted()


def _gone(state: JobState, change: ObjectChange, sight: Sight) -> Noted:
    del state.admissions[change.uid]
    state.own_gone(change.uid, sight.at_ms)
    return Noted()


def _signature(made: Admission) -> tuple[object, ...]:
    return (
        made.reserved, made.reason, made.message, made.admitted, made.finished, made.queue, made.priority_class,
        made.priority, made.asks, made.active, made.partly, made.evicted_ms,
    )  # fmt: skip


def _update(made: Admission, shape: Workload, sight: Sight) -> None:
    found = {condition.type: condition for condition in shape.status.conditions or ()}
    reserved = found.get("QuotaReserved")
    made.reserved = reserved.status if reserved is not None else ""
    made.reason = (reserved.reason or "") if reserved is not None else ""
    made.message = (reserved.message or "") if reserved is not None else ""
    made.admitted = _true(found.get("Admitted"))
    made.finished = _true(found.get("Finished"))
    evicted = found.get("Evicted")
    if evicted is not None and evicted.status == "True":
        made.evicted = evicted.reason or "Evicted"
        made.evicted_ms = _since(made, evicted, sight)
    else:
        made.evicted = ""
    made.active = shape.spec.active is not False
    made.queue = shape.spec.queue_name or ""
    made.priority_class = shape.spec.priority_class_name or ""
    made.priority = shape.spec.priority
    sets = shape.spec.pod_sets or ()
    made.tasks = sum(one.count or 0 for one in sets)
    made.partly = any(one.min_count is not None and one.min_count < (one.count or 0) for one in sets)
    made.asks = sum((asks.of_template(one.template, one.count or 0) for one in sets), Asks())


def _since(made: Admission, evicted: Condition, sight: Sight) -> int:
    """The eviction's moment; a condition that only goes on standing keeps the moment it was first seen with."""
    held = sight.held(evicted.last_transition_time)
    return made.evicted_ms if held - held % 1000 == made.evicted_ms - made.evicted_ms % 1000 else held


def _true(condition: Condition | None) -> bool:
    return condition is not None and condition.status == "True"


def _be_the_job(state: JobState, made: Admission, shape: Workload, sight: Sight) -> None:
    own = state.objects.get(state.job.uid)
    if own is None:
        own = state.objects[state.job.uid] = JobObject(created_ms=made.created_ms)
        state.was_created(made.created_ms)
    own.queue, own.kueue, own.tasks, own.asks = made.queue, True, made.tasks, made.asks
    counts = [one.count if one.min_count is None else one.min_count for one in shape.spec.pod_sets or ()]
    own.minimum = sum(count or 0 for count in counts) or None
    if shape.metadata.deletion_timestamp:
        own.end("deleted", sight.held_ms(shape.metadata.deleted_ms))
    elif made.finished:
        own.end("completed", sight.at_ms)
