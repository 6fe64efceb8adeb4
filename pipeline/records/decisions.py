"""The body of `decision.v1`: what a scheduler decided about a job or task, with exact counts."""

from __future__ import annotations

from typing import Literal

import msgspec

from pipeline.records.jobs import JobRef


class FailureSet(msgspec.Struct, frozen=True, gc=False):
    """Nodes that failed exactly this set of filters."""

    filters: tuple[str, ...]
    nodes: int


class Decision(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    """`task` is None for what is said of the whole job. `helps`: sentences' data, smallest change first."""

    source: Literal["shadow", "live", "simulate"]
    policy: str
    session_ms: int
    kind: Literal["attribution", "enqueue", "bind", "pipeline", "evict", "discard", "diverged", "close"]
    job: JobRef | None = None
    task: str | None = None
    node: str | None = None
    reason: str | None = None
    detail: str | None = None
    resource: str | None = None
    nodes: int | None = None
    total_nodes: int | None = None
    message: str = ""
    failure_sets: tuple[FailureSet, ...] = ()
    helps: tuple[str, ...] = ()
