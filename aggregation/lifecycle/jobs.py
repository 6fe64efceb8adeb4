"""Job objects: how many pods they ask for, whether they are held back, and how they end.

A batch Job whose minimum nobody names waits for min(parallelism, completions) pods (rule P2). A Volcano Job that is
aborted can be resumed: it is held back, not ended. Of any other kind of owner only its life is known.
"""

from __future__ import annotations

from msgspec import UnsetType

from aggregation.lifecycle import asks
from aggregation.lifecycle.objects import Asks, JobObject
from aggregation.lifecycle.promises import sla_notes
from aggregation.lifecycle.sight import NOTHING, Noted, Sight
from aggregation.lifecycle.state import JobState
from pipeline.records import keys, shapes
from pipeline.records.objects import ObjectChange
from pipeline.records.shapes.base import Shape
from pipeline.records.shapes.job import Job, VolcanoJob
from pipeline.records.shapes.pod import PodTemplate

_BATCH_ENDS = {"Complete": "completed", "Failed": "failed"}
_VOLCANO_ENDS = {
    "Completing": "completed", "Completed": "completed", "Terminating": "failed", "Terminated": "failed",
    "Failed": "failed",
}  # fmt: skip
_VOLCANO_HELD = ("Aborting", "Aborted")


def take(state: JobState, change: ObjectChange, sight: Sight) -> Noted:
    """The record of a job object, after copies were sorted out."""
    known = state.objects.get(change.uid)
    if isinstance(change.object, UnsetType):
        return _gone(state, change, known, sight) if change.change == "deleted" else NOTHING
    shape = shapes.decode(change.group, change.kind, change.object)
    made = known or JobObject(created_ms=sight.created(shape.metadata.creation_timestamp))
    state.was_created(made.created_ms)
    before, columns = _signature(made), _columns(made)
    was_stopped = made.stopped
    _common(made, shape)
    if isinstance(shape, Job):
        _batch(state, made, shape, sight)
    elif isinstance(shape, VolcanoJob):
        _volcano(state, made, shape, sight)
    if shape.metadata.deletion_timestamp:
        made.end("deleted", max(sight.held_ms(shape.metadata.deleted_ms), made.created_ms))
    state.objects[change.uid] = made
    if known is None or _columns(made) != columns:
        state.stale()
    if change.change == "deleted":
        return _gone(state, change, made, sight)
    if known is not None and _signature(made) == before and _columns(made) == columns:
        return NOTHING
    if made.stopped and not was_stopped and known is not None:
        return Noted(lost_ms=made.stopped_ms, lost_why="suspended")
    return Noted()


def _gone(state: JobState, change: ObjectChange, known: JobObject | None, sight: Sight) -> Noted:
    if known is None:
        return NOTHING
    if change.uid != state.job.uid:
        del state.objects[change.uid]
    else:
        known.end("deleted", sight.at_ms)
    return Noted()


def _signature(made: JobObject) -> tuple[object, ...]:
    return (
        made.minimum,
        made.suspended,
        made.stopped,
        made.kueue,
        made.done,
        made.active,
        made.ready,
        made.notes,
        made.template_notes,
    )


def _columns(made: JobObject) -> tuple[object, ...]:
    """What shows in the columns of rows."""
    return made.tasks, made.queue, made.priority_class, made.priority, made.owner, made.asks


def _common(made: JobObject, shape: Shape) -> None:
    meta = shape.metadata
    notes = meta.annotations or {}
    made.notes = sla_notes(notes)
    made.owner = notes.get(keys.OWNER, "")
    queue = keys.kueue_queue(meta.labels, notes)
    made.kueue = bool(queue)
    made.queue = queue or made.queue


def _batch(state: JobState, made: JobObject, job: Job, sight: Sight) -> None:
    if _is_new(made, job):
        spec = job.spec
        parallelism = 1 if spec.parallelism is None else spec.parallelism
        completions = parallelism if spec.completions is None else spec.completions
        made.minimum = made.tasks = max(min(parallelism, completions), 1)
        made.suspended = bool(spec.suspend) or parallelism == 0
        _of_templates(made, [(spec.template, made.tasks)])
    status = job.status
    if not state.tasks:
        made.active, made.ready = status.active or 0, (status.ready or 0) + (status.succeeded or 0)
    made.stopped = False
    for condition in status.conditions or ():
        if condition.status != "True":
            continue
        if condition.type == "Suspended":
            made.stopped, made.stopped_ms = True, sight.held(condition.last_transition_time)
        elif condition.type in _BATCH_ENDS:
            made.end(_BATCH_ENDS[condition.type], sight.held(condition.last_transition_time))


def _volcano(state: JobState, made: JobObject, job: VolcanoJob, sight: Sight) -> None:
    if _is_new(made, job):
        spec = job.spec
        counted = [(task.template, 1 if task.replicas is None else task.replicas) for task in spec.tasks or ()]
        made.minimum = spec.min_available
        made.tasks = sum(count for _, count in counted)
        made.queue = spec.queue or made.queue
        made.priority_class = spec.priority_class_name or ""
        _of_templates(made, counted)
    status = job.status
    if not state.tasks:
        made.active = (status.pending or 0) + (status.running or 0)
        made.ready = (status.running or 0) + (status.succeeded or 0)
    if status.state is None:
        return
    phase, transition = status.state.phase or "", status.state.last_transition_time
    made.suspended = made.stopped = phase in _VOLCANO_HELD
    made.stopped_ms = sight.held(transition)
    if phase in _VOLCANO_ENDS:
        made.end(_VOLCANO_ENDS[phase], sight.held(transition))


def _is_new(made: JobObject, shape: Shape) -> bool:
    """Whether the spec is another than the one read before."""
    generation = shape.metadata.generation
    if generation is not None and generation == made.generation:
        return False
    made.generation = generation
    return True


def _of_templates(made: JobObject, templates: list[tuple[PodTemplate | None, int]]) -> None:
    total = Asks()
    notes: dict[str, str] = {}
    for template, count in templates:
        total = total + asks.of_template(template, count)
        if template is None:
            continue
        if template.metadata is not None:
            notes = {**sla_notes(template.metadata.annotations), **notes}
        if template.spec is not None and template.spec.priority_class_name and not made.priority_class:
            made.priority_class = template.spec.priority_class_name
    made.asks = total
    made.template_notes = notes
