"""Pods: created, gated, tried, placed, running, lost.

A pod is lost when it is asked to go or fails, not when it is gone, which comes seconds later (rule P12). One that
succeeded is never lost. A pod that vanished while nobody looked was lost when its replacement was created (rule P5).
"""

from __future__ import annotations

from msgspec import UNSET, Raw

from aggregation.lifecycle import asks, counts, course
from aggregation.lifecycle.course import Beginning, Course
from aggregation.lifecycle.objects import JobObject, Pod
from aggregation.lifecycle.promises import sla_notes
from aggregation.lifecycle.sight import NOTHING, Noted, Sight
from aggregation.lifecycle.state import JobState
from pipeline.records import keys
from pipeline.records.objects import ObjectChange
from pipeline.records.shapes.base import Condition

_ENDS = (("DisruptionTarget", "True"), ("Ready", "False"), ("ContainersReady", "False"))
"""Conditions that tell when a pod stopped."""
Sighted = Beginning | Course


def take(state: JobState, change: ObjectChange, sight: Sight) -> Noted:
    """A pod's record, after copies were sorted out."""
    pod = state.pods.get(change.uid)
    if change.object is UNSET:
        return _take_bare(state, pod, change, sight)
    if pod is None:
        return _take_first(state, change, change.object, sight)
    shape = course.course(change.object)
    if _as_before(pod, shape) and change.change != "deleted":
        return NOTHING
    before = _Before(pod)
    counts.remove(state, pod)
    return _take_in(state, pod, shape, change, sight, before)


def _take_first(state: JobState, change: ObjectChange, data: Raw, sight: Sight) -> Noted:
    """The first sight of a pod, the only time that what never changes of it is read."""
    shape = course.beginning(data)
    if change.truncated and shape.status.phase is None:
        return NOTHING  # its job has moved, and only that it exists is known: it counts when it is seen again
    pod = _first_sight(state, shape, change, sight)
    if change.uid == state.job.uid:
        _be_the_job(state, pod, shape)
    return _take_in(state, pod, shape, change, sight, None)


def _take_in(
    state: JobState, pod: Pod, shape: Sighted, change: ObjectChange, sight: Sight, before: _Before | None
) -> Noted:
    _update(state, pod, shape, sight)
    facts = change.facts
    if facts is not None and facts.nodes_wanted is not None:
        pod.wanted = facts.nodes_wanted
    pod.claim_missing = facts is not None and facts.claim_missing
    if change.uid == state.job.uid:
        _end_the_job(state, pod, sight)
    if change.change == "deleted":
        return _deleted(state, change, sight, before)
    counts.add(state, pod)
    return _noted(state, change.uid, pod, before, sight)


def _as_before(pod: Pod, shape: Sighted) -> bool:
    """Most records of pods that have their node tell nothing of a wait: probes, addresses, containers."""
    if not pod.bound or pod.phase != (shape.status.phase or "Pending"):
        return False
    return pod.lost_ms is not None or shape.metadata.deletion_timestamp is None


class _Before:
    """What is compared with the pod after its record."""

    __slots__ = ("alive", "event_ms", "placed", "signature")

    def __init__(self, pod: Pod) -> None:
        placed_ms = pod.placed_ms
        self.alive = pod.lost_ms is None
        self.placed = placed_ms is not None and self.alive
        self.event_ms = None if pod.bound else placed_ms
        self.signature = _signature(pod)


def _signature(pod: Pod) -> tuple[object, ...]:
    return (
        pod.phase, pod.placed_ms, pod.running_ms, pod.lost_ms, pod.gated, pod.nominated, pod.text, pod.wanted,
        pod.claim_missing,
    )  # fmt: skip


def _noted(state: JobState, uid: str, pod: Pod, before: _Before | None, sight: Sight) -> Noted:
    if before is None:
        if pod.alive:
            _sum_up(state, pod)
        return Noted(True, uid)
    if before.alive and not pod.alive:
        state.asks_now = state.asks_now + pod.asks * -1
    if before.placed and not pod.placed:
        vanished = sight.unseen_since if pod.lost_ms == sight.at_ms else None
        return Noted(True, uid, lost_ms=pod.lost_ms, lost_why=pod.lost_why, vanished_since=vanished)
    if _signature(pod) == before.signature:
        return NOTHING
    return Noted(True, uid, corrected_ms=before.event_ms if pod.bound else None)


def _sum_up(state: JobState, pod: Pod) -> None:
    state.asks_now = state.asks_now + pod.asks
    state.asks = asks.larger(state.asks, state.asks_now)
    if state.counts.alive > state.tasks:
        state.tasks = state.counts.alive
        state.stale()


def _take_bare(state: JobState, pod: Pod | None, change: ObjectChange, sight: Sight) -> Noted:
    """A record without the object: facts about it changed, or a list no longer has it."""
    if pod is None:
        return NOTHING
    if change.change == "deleted":
        before = _Before(pod)
        counts.remove(state, pod)
        return _deleted(state, change, sight, before)
    if change.facts is None:
        return NOTHING
    wanted, missing = change.facts.nodes_wanted or pod.wanted, change.facts.claim_missing
    if (wanted, missing) == (pod.wanted, pod.claim_missing):
        return NOTHING
    pod.wanted, pod.claim_missing = wanted, missing
    return Noted(True, change.uid) if pod.waits else NOTHING


def _first_sight(state: JobState, shape: Beginning, change: ObjectChange, sight: Sight) -> Pod:
    meta = shape.metadata
    pod = Pod(name=change.name, created_ms=sight.created(meta.creation_timestamp), asks=asks.of_pod(shape.spec))
    pod.group = _group_name(shape)
    state.was_created(pod.created_ms)
    state.names_group = state.names_group or (bool(pod.group) and not change.group_unseen)
    if not state.pod_notes:
        state.pod_notes = sla_notes(meta.annotations)
    state.pods[change.uid] = pod
    state.create_failed = ""
    episode = state.episode
    if episode is not None and episode.open and pod.created_ms >= episode.start_ms:
        episode.renewed = True
    return pod


def _group_name(shape: Beginning) -> str:
    spec = shape.spec
    if spec.scheduling_group is not None and spec.scheduling_group.pod_group_name:
        return spec.scheduling_group.pod_group_name
    return keys.volcano_group(shape.metadata.annotations)


def _update(state: JobState, pod: Pod, shape: Sighted, sight: Sight) -> None:
    spec, status = shape.spec, shape.status
    pod.phase = status.phase or "Pending"
    pod.gated = bool(spec.scheduling_gates)
    pod.nominated = bool(status.nominated_node_name)
    disrupted = ""
    for condition in status.conditions or ():
        if condition.type == "PodScheduled":
            _scheduled(pod, condition, shape, sight)
        elif condition.type == "DisruptionTarget" and condition.status == "True":
            disrupted = condition.reason or ""
    if spec.node_name and not pod.bound:
        pod.bound = True
        if pod.placed_ms is None:
            pod.placed_ms = sight.at_ms
    if pod.placed_ms is not None:
        pod.text, pod.evidence, pod.nominated, pod.gated = "", "", False, False
    if pod.running_ms is None and pod.phase in ("Running", "Succeeded"):
        pod.running_ms = sight.at_ms
    if pod.lost_ms is None:
        _lose(state, pod, shape, disrupted, sight)


def _scheduled(pod: Pod, condition: Condition, shape: Sighted, sight: Sight) -> None:
    if condition.status == "True" or shape.spec.node_name:
        if shape.spec.node_name and not pod.bound:
            pod.bound = True
            pod.placed_ms = _placed_at(pod, condition, sight)
    elif condition.reason == "SchedulingGated":
        if pod.evidence == "condition":
            pod.text, pod.evidence = "", ""
    else:
        pod.text, pod.evidence = condition.message or condition.reason or "", "condition"


def _placed_at(pod: Pod, condition: Condition, sight: Sight) -> int:
    """An event that was seen before told it better than a condition that was seen late."""
    transition = condition.last_transition_time if condition.status == "True" else None
    held = sight.held(transition)
    if pod.placed_ms is not None and sight.late_for(transition) and 0 <= held - pod.placed_ms <= 999:
        return pod.placed_ms
    return held


def _lose(state: JobState, pod: Pod, shape: Sighted, disrupted: str, sight: Sight) -> None:
    meta = shape.metadata
    if pod.phase == "Succeeded":
        return
    if meta.deletion_timestamp:
        pod.lost_ms = max(sight.held_ms(meta.deleted_ms), pod.created_ms)
    elif pod.phase == "Failed":
        pod.lost_ms = _failed_at(state, shape, sight)
    else:
        return
    own = state.own
    suspended = own is not None and own.stopped
    pod.lost_why = disrupted or ("Failed" if pod.phase == "Failed" else "suspended" if suspended else "deleted")
    if pod.phase == "Failed":
        state.last_failed_ms = pod.lost_ms


def _failed_at(state: JobState, shape: Sighted, sight: Sight) -> int:
    """The arrival; after a gap what conditions tell of a moment inside it, else the creation of its replacement."""
    since = sight.unseen_since
    if since is None:
        return sight.at_ms
    for condition in shape.status.conditions or ():
        if (condition.type, condition.status) in _ENDS:
            ended = sight.held(condition.last_transition_time)
            if ended >= since:
                return ended
    return _replaced_at(state, since, sight.at_ms)


def _deleted(state: JobState, change: ObjectChange, sight: Sight, before: _Before | None) -> Noted:
    pod = state.pods.pop(change.uid)
    if pod.lost_ms is None and pod.phase != "Succeeded":
        since = sight.unseen_since
        pod.lost_ms = sight.at_ms if since is None else _replaced_at(state, since, sight.at_ms)
        pod.lost_why = "deleted"
    counts.add(state, pod)
    counts.bury(state, pod)
    if change.uid == state.job.uid and state.own is not None:
        state.own.end("deleted", sight.at_ms if pod.lost_ms is None else pod.lost_ms)
    noted = _noted(state, change.uid, pod, before, sight)
    return noted if noted.relevant else Noted()


def _replaced_at(state: JobState, since_ms: int, until_ms: int) -> int:
    """When the first pod after `since_ms` was created; `until_ms` if there was none."""
    later = [pod.created_ms for pod in state.pods.values() if since_ms < pod.created_ms <= until_ms]
    return min(later, default=until_ms)


def _be_the_job(state: JobState, pod: Pod, shape: Beginning) -> None:
    """A pod of no other job is a job: its object and its only task."""
    own = state.objects.get(state.job.uid)
    if own is None:
        own = JobObject(created_ms=pod.created_ms, minimum=1, tasks=1)
        own.notes = sla_notes(shape.metadata.annotations)
        own.priority_class = shape.spec.priority_class_name or ""
        own.priority = shape.spec.priority
        own.asks = pod.asks
        state.objects[state.job.uid] = own


def _end_the_job(state: JobState, pod: Pod, sight: Sight) -> None:
    own = state.own
    if own is None:
        return
    if pod.phase == "Succeeded":
        own.end("completed", sight.at_ms)
    elif pod.lost_ms is not None:
        own.end("failed" if pod.phase == "Failed" else "deleted", pod.lost_ms)
