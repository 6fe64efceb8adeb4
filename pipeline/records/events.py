"""The body of `event.v1`: one sight of a Kubernetes Event, with absolute values.

What a sight adds to an earlier one (occurrences) is worked out by its reader, so a collector's restart or a second
collector adds nothing.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from pipeline.records.jobs import JobRef


class Regarding(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The object an Event is about, as the Event gives it; a node's uid is often its name."""

    kind: str = ""
    name: str = ""
    namespace: str | None = None
    uid: str = ""
    api_version: str = ""


class EventSeen(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    """Times in microseconds. `at_us` is the time of the newest occurrence, from the source that `time_source` names."""

    uid: str
    version: str
    name: str
    at_us: int
    namespace: str = ""
    regarding: Regarding | None = None
    related: Regarding | None = None
    job: JobRef | None = None
    reason: str = ""
    message: str = ""
    type: str = ""
    action: str = ""
    count: int = 1
    """Occurrences so far as the Event says (series included); at least 1."""
    first_us: int | None = None
    last_us: int | None = None
    component: str = ""
    time_source: Literal["event", "series", "last", "first", "created", "received"] = "event"
    time_anomaly: bool = False
    """The last time lies before the first: two recorders, two clocks."""
    aggregated: bool = False
    """The recorder merged events that differ by message."""
    lossy: bool = False
    truncated: bool = False
    surrogate: bool = False


def occurrences(before: EventSeen | None, seen: EventSeen) -> int:
    """How many occurrences a sight adds to the sight of the same Event before it; never negative.

    A count that went down was begun anew by its recorder, so all of it is new. The same in SQL: view `v_event`.
    """
    if before is None or seen.count < before.count:
        return seen.count
    return seen.count - before.count
