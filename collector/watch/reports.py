"""What the watches say about themselves: metrics, readiness, rows of the pipeline page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.watch.follower import Follower
from pipeline.kubeapi.progress import Progress, State
from pipeline.process.stage import Check
from pipeline.telemetry import catalogue


def checks(progress: Mapping[str, Progress], now_ms: int, silent_after_s: float) -> list[Check]:
    """One check a watch: forbidden and not served are told, only silence and endless retries make it not ready."""
    return [Check(f"watch {name}", *_verdict(each, now_ms, silent_after_s)) for name, each in sorted(progress.items())]


def rows(progress: Mapping[str, Progress], now_ms: int) -> list[dict[str, Any]]:
    """One row a watch, as plain data."""
    return [
        {
            "watch": name,
            "state": str(each.state),
            "version": each.version,
            "last_frame_ms": each.last_frame_ms,
            "last_bookmark_ms": each.last_bookmark_ms,
            "last_list_ms": each.last_list_ms,
            "silent_ms": each.silent_ms(now_ms),
            "frames": each.frames,
            "error": each.error,
        }
        for name, each in sorted(progress.items())
    ]


def measure(follower: Follower, progress: Mapping[str, Progress], now_ms: int) -> None:
    """Moves the metrics to what the watches have come to."""
    counts, follower.counts = follower.counts, type(follower.counts)()
    for (watch, what), count in counts.items():
        if what == "expired":
            catalogue.watch_relists.labels(watch, what).inc(count)
        elif what == "resumed":
            catalogue.watch_resumes.labels(watch).inc(count)
        else:
            catalogue.watch_events.labels(watch, what).inc(count)
    for name, each in progress.items():
        catalogue.watch_forbidden.labels(name).set(each.state is State.FORBIDDEN)
        silent_ms = each.silent_ms(now_ms)
        if silent_ms is not None:
            catalogue.watch_last_event_age.labels(name).set(silent_ms / 1000)


def _verdict(progress: Progress, now_ms: int, silent_after_s: float) -> tuple[bool, str]:
    if progress.state in (State.FORBIDDEN, State.NOT_SERVED):
        return progress.state is State.NOT_SERVED, f"{progress.state}: {progress.error}"
    silent_ms = progress.silent_ms(now_ms)
    if silent_ms is None:
        return False, progress.error or "its first list is not complete"
    if silent_ms > 2000 * silent_after_s:
        return False, f"silent for {silent_ms // 1000} s: {progress.error}"
    return True, progress.error or f"up to version {progress.version}"
