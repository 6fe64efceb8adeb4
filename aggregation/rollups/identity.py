"""The columns that all judged tables have: whose wait it is."""

from __future__ import annotations

from typing import Any

from aggregation.lifecycle.objects import NO_ASKS, Asks
from aggregation.lifecycle.state import Episode, JobState
from pipeline.records import times


def key(state: JobState, number: int) -> dict[str, Any]:
    """The key columns of an episode."""
    return {"day": day_ms(state), "cluster": state.cluster, "job_uid": state.job.uid, "episode": number}


def columns(state: JobState, number: int) -> dict[str, Any]:
    """Key and identity of an episode's rows."""
    job = state.job
    tenant, queue_name = named(state)
    return {
        "day": day_ms(state),
        "cluster": state.cluster,
        "job_uid": job.uid,
        "episode": number,
        "namespace": job.namespace,
        "job_kind": job.kind,
        "job_name": job.name,
        "tenant": tenant,
        "queue": queue_name,
    }


def named(state: JobState) -> tuple[str, str]:
    """Tenant and queue."""
    return state.tenant or state.job.namespace, queue(state)


def day_ms(state: JobState) -> int:
    """The UTC day of the job's creation, fixed with its first row."""
    if state.day_ms is None:
        state.day_ms = times.day_ms(state.started_ms if state.created_ms is None else state.created_ms)
    return state.day_ms


def queue(state: JobState) -> str:
    """The queue that the job names; empty if none."""
    if state.queue is not None:
        return state.queue.name
    for known in (state.groups, state.objects, state.admissions):
        for made in known.values():
            if made.queue:
                return made.queue
    return ""


def asks(state: JobState) -> Asks:
    """What all its pods ask for: as its objects say, else the most that was alive together."""
    for known in (state.objects, state.admissions):
        if known:
            told = [made.asks for made in known.values() if made.asks != NO_ASKS]
            if told:
                return told[0] if len(told) == 1 else sum(told, NO_ASKS)
    return state.asks


def tasks(state: JobState, episode: Episode) -> int:
    """Pods that the job asks for."""
    told = 0
    for made in state.objects.values():
        told += made.tasks
    return told or max(state.tasks, episode.minimum or 0)


def priority(state: JobState) -> tuple[str, int | None]:
    """Class and number; the job's own word first, then its groups' and its admission's."""
    own = state.own
    name, number = ("", None) if own is None else (own.priority_class, own.priority)
    for known in (state.groups, state.admissions, state.objects):
        if name and number is not None:
            break
        for made in known.values() if known else ():
            name = name or made.priority_class
            number = made.priority if number is None else number
    return name, number


def owner(state: JobState) -> str:
    """Who submitted it, if an object says so."""
    for made in state.objects.values():
        if made.owner:
            return made.owner
    return ""
