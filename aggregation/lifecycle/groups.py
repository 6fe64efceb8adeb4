"""PodGroups, of Volcano and of Kubernetes: the gang's minimum, and what its queue said last.

While Volcano has not let a group in (its phase is empty or Pending), the last refusal stands, however old: the recorder
falls silent after 25 events (rule P8). A group of Kubernetes without `gang` never waits for its members. A group that
no other object owns is the job itself.
"""

from __future__ import annotations

from msgspec import UnsetType

from aggregation.lifecycle.objects import Group, JobObject
from aggregation.lifecycle.promises import sla_notes
from aggregation.lifecycle.sight import NOTHING, Noted, Sight
from aggregation.lifecycle.state import JobState
from pipeline.records import shapes
from pipeline.records.objects import ObjectChange
from pipeline.records.shapes.base import Shape
from pipeline.records.shapes.group import NativeGroup, VolcanoGroup

OUTSIDE = ("", "Pending")
"""Phases of a Volcano group that its queue has not let in."""
_ENDED = ("Completed", "Finished")


def take(state: JobState, change: ObjectChange, sight: Sight) -> Noted:
    """A group's record, after copies were sorted out."""
    known = state.groups.get(change.uid)
    if isinstance(change.object, UnsetType):
        return _gone(state, change, sight) if change.change == "deleted" and known is not None else NOTHING
    shape = shapes.decode(change.group, change.kind, change.object)
    made = known or Group(name=change.name, created_ms=sight.created(shape.metadata.creation_timestamp))
    state.was_created(made.created_ms)
    before = _signature(made)
    made.notes = sla_notes(shape.metadata.annotations)
    if isinstance(shape, VolcanoGroup):
        _volcano(made, shape)
    elif isinstance(shape, NativeGroup):
        _native(made, shape)
    state.groups[change.uid] = made
    if change.uid == state.job.uid:
        _be_the_job(state, made, shape, sight)
    if change.change == "deleted":
        return _gone(state, change, sight)
    if known is not None and _signature(made) == before:
        return NOTHING
    state.stale()
    return Noted()


def _gone(state: JobState, change: ObjectChange, sight: Sight) -> Noted:
    del state.groups[change.uid]
    state.own_gone(change.uid, sight.at_ms)
    return Noted()


def _signature(made: Group) -> tuple[object, ...]:
    return (made.minimum, made.phase, made.queue, made.notes, made.priority_class, made.priority)


def _volcano(made: Group, shape: VolcanoGroup) -> None:
    made.volcano = True
    made.minimum = shape.spec.min_member
    made.phase = shape.status.phase or ""
    made.queue = shape.spec.queue or ""
    made.priority_class = shape.spec.priority_class_name or ""
    if made.phase not in OUTSIDE:
        made.refusal = ""


def _native(made: Group, shape: NativeGroup) -> None:
    policy = shape.spec.scheduling_policy
    gang = policy.gang if policy is not None else None
    made.minimum = gang.min_count if gang is not None else None
    made.priority_class = shape.spec.priority_class_name or ""
    made.priority = shape.spec.priority


def _be_the_job(state: JobState, made: Group, shape: Shape, sight: Sight) -> None:
    own = state.objects.get(state.job.uid)
    if own is None:
        own = state.objects[state.job.uid] = JobObject(created_ms=made.created_ms)
    own.queue = made.queue
    if shape.metadata.deletion_timestamp:
        own.end("deleted", max(sight.held_ms(shape.metadata.deleted_ms), own.created_ms))
    elif made.phase in _ENDED:
        own.end("completed", sight.at_ms)
