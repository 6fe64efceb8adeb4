"""The columns that all judged tables have: whose wait it is."""

from __future__ import annotations

from typing import Any

from aggregation.lifecycle.state import Asks, Episode, JobState
from pipeline.records import times


def key(state: JobState, number: int) -> dict[str, Any]:
    """The key columns of an episode."""
    return {"day": day_ms(state), "cluster": state.cluster, "job_uid": state.job.uid, "episode": number}


def columns(state: JobState, number: int) -> dict[str, Any]:
    """Key and identity of an episode's rows."""
    job = state.job
    tenant, queue_name = named(state)
    return {
        **key(state, number),
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
    names = [made.queue for made in state.groups.values()]
    names += [made.queue for made in state.objects.values()]
    names += [made.queue for made in state.admissions.values()]
    return next((name for name in names if name), "")


def asks(state: JobState) -> Asks:
    """What all its pods ask for: as its objects say, else the most that was alive together."""
    told = sum((made.asks for made in state.objects.values()), Asks())
    if told == Asks():
        told = sum((made.asks for made in state.admissions.values()), Asks())
    return told if told != Asks() else state.asks


def tasks(state: JobState, episode: Episode) -> int:
    """Pods that the job asks for."""
    told = sum(made.tasks for made in state.objects.values())
    return told or max(state.tasks, episode.minimum or 0)
