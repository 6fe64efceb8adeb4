"""Events: witnesses of what objects do not say, or of objects that nobody saw.

Recorders drop, merge and delay; so an event never overrides what the object itself says. Three are worth having: that
a pod was scheduled (often the only witness when pods were not watched), what a scheduler said of a pod that has no
condition yet, and why a queue or a controller refused, which no object says.
"""

from __future__ import annotations

from aggregation.lifecycle import counts
from aggregation.lifecycle.groups import OUTSIDE
from aggregation.lifecycle.objects import Pod
from aggregation.lifecycle.sight import NOTHING, Noted, Sight
from aggregation.lifecycle.state import JobState
from aggregation.messages import parse
from pipeline.records import reasons, times
from pipeline.records.events import EventSeen

_REFUSALS = (reasons.QUOTA, reasons.QUEUE_LIMIT, reasons.NOT_ADMITTED)
_CREATE_FAILED = ("FailedCreate", "FailedCreatePod", "PodCreateFailed")
TELLING = frozenset(("Scheduled", "FailedScheduling", "Unschedulable", *_CREATE_FAILED))
"""Reasons of events that are looked at."""


def take(state: JobState, event: EventSeen, sight: Sight) -> Noted:
    """One sight of an event about an object of the job."""
    about = event.regarding
    if about is None:
        return NOTHING
    if about.kind == "Pod":
        pod = state.pods.get(about.uid)
        if pod is None or not pod.waits:
            return NOTHING
        return _of_pod(state, pod, event, sight)
    if about.kind == "PodGroup" and event.reason == "Unschedulable":
        return _of_group(state, event, about.uid)
    if event.reason in _CREATE_FAILED and event.message != state.create_failed:
        state.create_failed = event.message
        return Noted()
    return NOTHING


def _of_pod(state: JobState, pod: Pod, event: EventSeen, sight: Sight) -> Noted:
    uid = event.regarding.uid if event.regarding is not None else ""
    if event.reason == "Scheduled":
        counts.remove(state, pod)
        pod.placed_ms = max(_moment(event, sight), pod.created_ms)
        counts.add(state, pod)
        return Noted(True, uid)
    if event.reason == "FailedScheduling" and pod.evidence != "condition" and event.message != pod.text:
        pod.text, pod.evidence = event.message, "event"
        return Noted(True, uid)
    return NOTHING


def _moment(event: EventSeen, sight: Sight) -> int:
    """Events of the new recorder carry microseconds, those of the old one whole seconds."""
    at_ms = event.at_us // 1000
    return at_ms if event.at_us % 1_000_000 else times.held_in_second(at_ms, sight.at_ms)


def _of_group(state: JobState, event: EventSeen, uid: str) -> Noted:
    group = state.groups.get(uid)
    if group is None or not group.volcano or group.phase not in OUTSIDE or event.at_us < group.refusal_us:
        return NOTHING
    if not _refuses(event.message):
        return NOTHING
    group.refusal_us = event.at_us
    if event.message == group.refusal:
        return NOTHING
    group.refusal = event.message
    return Noted()


def _refuses(text: str) -> bool:
    """Whether a queue's refusal is what the text says; `0/0 tasks in gang unschedulable` is about nothing."""
    message = parse(text)
    return not message.no_evidence and any(one.reason in _REFUSALS for one in message.reasons)
