"""Where promises stand: the SLA annotations of objects, nearest to the job first (rule P18)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aggregation.lifecycle.state import JobState
from pipeline.records import sla


def sla_notes(annotations: Mapping[str, str] | None) -> dict[str, str]:
    """The SLA annotations alone."""
    return {key: annotations[key] for key in sla.KEYS if key in annotations} if annotations else {}


def levels(state: JobState) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Place and annotations: groups, the job, its pod template, its queue."""
    for group in state.groups.values():
        yield "group", group.notes
    own = state.own
    if own is not None:
        yield "job", own.notes
    for made in state.objects.values():
        if made is not own:
            yield "job", made.notes
    for made in state.objects.values():
        yield "template", made.template_notes
    yield "template", state.pod_notes
    if state.queue is not None and state.queue.waiting_time is not None:
        yield "queue", {sla.KEYS[0]: state.queue.waiting_time}
