"""Adding up pods as they change, so that no judgement needs to look at all of them."""

from __future__ import annotations

from aggregation.lifecycle.objects import Pod
from aggregation.lifecycle.state import JobState


def add(state: JobState, pod: Pod) -> None:
    """Counts a pod in its present state."""
    _shift(state, pod, 1)


def remove(state: JobState, pod: Pod) -> None:
    """Takes a pod out, before it changes."""
    _shift(state, pod, -1)


def bury(state: JobState, pod: Pod) -> None:
    """A pod is gone. One that succeeded goes on to count."""
    if pod.phase == "Succeeded" and pod.alive:
        state.counts.succeeded_gone += 1
    else:
        _shift(state, pod, -1)


def _shift(state: JobState, pod: Pod, by: int) -> None:
    counts = state.counts
    if pod.lost_ms is not None:
        if pod.phase == "Failed":
            counts.failed += by
        else:
            counts.leaving += by
        return
    counts.alive += by
    if pod.phase == "Succeeded":
        counts.succeeded += by
    if pod.running_ms is not None:
        counts.running += by
    if pod.placed_ms is not None:
        counts.placed += by
        return
    if pod.gated:
        counts.gated += by
    if pod.verdict:
        tally(state, pod.verdict, by)


def tally(state: JobState, verdict: str, by: int) -> None:
    """Counts a waiting pod's verdict."""
    count = state.verdicts.get(verdict, 0) + by
    if count:
        state.verdicts[verdict] = count
    else:
        state.verdicts.pop(verdict, None)


def placed_times(state: JobState) -> list[int]:
    """When each pod that counts as placed was placed, in order; those that succeeded and are gone are left out."""
    return sorted(pod.placed_ms for pod in state.pods.values() if pod.placed_ms is not None and pod.alive)


def running_times(state: JobState) -> list[int]:
    """When each pod that counts as running began to run, in order, with the same omission."""
    return sorted(pod.running_ms for pod in state.pods.values() if pod.running_ms is not None and pod.alive)
