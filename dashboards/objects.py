"""The objects of the HTTP API, as they go over the wire; `-o json` of the commands prints the same.

Times are milliseconds since 1970 UTC, lengths milliseconds, and what is not known is null, never left out. Fields may be
added; those that are here keep name and meaning.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Job(msgspec.Struct, frozen=True):
    """Which job: `uid` tells apart two that had the same name one after the other."""

    cluster: str
    namespace: str
    kind: str
    name: str
    uid: str
    tenant: str
    queue: str


class Reason(msgspec.Struct, frozen=True):
    """A reason and how much waiting it held; `share` 0 to 1 of the whole."""

    reason: str
    detail: str | None
    resource: str | None
    ms: int
    share: float
    title: str


class CountedReason(msgspec.Struct, frozen=True):
    """A reason summed over jobs. `resource` is the one that is short in most of it, `resources` are all, the most first; `ms`
    counts GPU time if asked in GPUs."""

    reason: str
    detail: str | None
    resource: str | None
    ms: int
    share: float
    title: str
    jobs: int
    resources: list[str] = []


class Now(msgspec.Struct, frozen=True):
    """What holds a job at the moment, on so many of the nodes that were looked at."""

    reason: str
    detail: str | None
    resource: str | None
    nodes: int | None
    total_nodes: int | None
    title: str
    message: str | None = None
    """What the scheduler said, unchanged; null in lists, and of a moment before it was said (then `nodes` and `total_nodes`
    are those that a scheduler's decision of before has, or null)."""
    since_ms: int | None = None
    """When this reason began to hold. The message was said then or later, in other words perhaps by another scheduler than
    the one of `scheduler`, and about another moment."""


class NodeSet(msgspec.Struct, frozen=True):
    """Nodes that fail exactly the same checks. `filters` are none for nodes that have room; `text` says what they have in
    common, `reason` is the code of the first check, null if it is none of the closed list."""

    nodes: int
    filters: list[str]
    reason: str | None
    text: str


class Scheduler(msgspec.Struct, kw_only=True):
    """What a scheduler sees of a waiting job: its last decision at or before the moment."""

    sentence: str
    source: str
    """`shadow`: it decides beside the cluster's scheduler and changes nothing. `live`: it is the scheduler."""
    policy: str
    session_ms: int
    """Log time of the session that decided so; it has stood since."""
    rebuilt: bool
    """The decision was not stored, but made anew for this question from the log."""
    kind: str
    task: str | None
    reason: str | None
    detail: str | None
    resource: str | None
    title: str | None
    nodes: int | None
    """Nodes for which the reason holds."""
    total_nodes: int | None
    node_sets: list[NodeSet]
    """Every node that was looked at is in one of them; most nodes first. Empty where nodes were not the reason."""
    helps: list[str]
    """Smallest change first."""
    ahead: str | None
    """How many jobs of the queue went before it, and by what the last of them did."""
    more: str
    """What it said beside the nodes and who goes first."""
    diverged: str | None
    """Where the cluster's own scheduler decided otherwise."""
    message: str
    """What the scheduler said, unchanged."""


class Fresh(msgspec.Struct, kw_only=True):
    """What every answer says about its data."""

    now_ms: int | None
    """Log time up to which waits are judged: the moment that open waits reach to. Null while nothing was loaded."""
    data_until_ms: int | None
    """Log time up to which everything is loaded."""
    lag_ms: int | None
    """Clock minus the last load: how stale the warehouse is. Null of a replay that is over."""
    replay: bool
    """The cluster is a recording, so that its data may be as old as it likes."""
    replay_over: bool | None = None
    """The recording was played to its end, or nobody plays it any more. Null where that is not known, and of a live cluster."""


class JobRow(msgspec.Struct, kw_only=True):
    """A job in one line, by its latest wait (or by the wait that a list names)."""

    job: Job
    episode: int
    episodes: int
    phase: str
    cause: str | None
    created_ms: int | None
    started_ms: int
    scheduled_ms: int | None
    ended_ms: int | None
    wait_ms: int
    """Of an open wait up to the log time of its cluster."""
    promise_ms: int | None
    deadline_ms: int | None
    sla: str
    """`met`: placed before the deadline, `met_late`: placed at it or later; `violated`: the deadline has passed and the job
    waits, or was cancelled only then; `cancelled`: that was before it, so nothing was kept or broken."""
    overrun_ms: int | None
    leading: Reason | None
    """The reason that held most of the wait; of an open wait at most a minute old."""
    now: Now | None
    tasks: int | None
    minimum: int | None
    gpus: int | None
    cpus_milli: int | None
    memory_bytes: int | None
    priority_class: str | None
    partial: bool


class Segment(msgspec.Struct, kw_only=True):
    """A part of a wait with one reason; the parts tile the wait."""

    n: int
    reason: str
    detail: str | None
    resource: str | None
    title: str
    from_ms: int
    to_ms: int | None
    ms: int
    nodes: int | None
    total_nodes: int | None
    message: str | None
    also: list[str]
    """Codes of reasons that were true at the same time."""
    evidence: str | None
    estimated: bool


class Episode(JobRow, kw_only=True):
    """A wait of a job with its parts."""

    segments: list[Segment]
    promise_source: str | None
    misconfigured: str | None
    first_task_ms: int | None
    running_ms: int | None
    startup_ms: int | None
    estimated_ms: int | None
    gap_ms: int | None


class SeenEvent(msgspec.Struct, frozen=True):
    """A Kubernetes Event about the job or one of its objects; `count` so far."""

    at_ms: int
    reason: str
    message: str
    component: str
    count: int
    regarding: str


class Unknown(msgspec.Struct, frozen=True):
    """A value of a filter that no stored job has: a slip, or something that has not come yet. `near` is what it may be a slip
    of, `known` are up to 20 values that jobs have."""

    filter: str
    value: str
    near: str | None
    known: list[str]


class Narrowed(Fresh, kw_only=True):
    """What every answer says about its filters."""

    unknown: list[Unknown] = []


class Jobs(Narrowed, kw_only=True):
    """A page of the list of jobs; `next` is the cursor of the page behind it."""

    items: list[JobRow]
    next: str | None
    total: int


class Life(msgspec.Struct, frozen=True):
    """One of the jobs of a name: phase and promise as its latest wait has them."""

    uid: str
    created_ms: int | None
    started_ms: int
    phase: str
    sla: str


class JobDetail(Fresh, kw_only=True):
    """A job with all its waits, latest first, and the newest of its events."""

    job: Job
    api_group: str | None
    """Of the job's own object, such as `batch.volcano.sh`; null if the object was not seen."""
    episodes: list[Episode]
    events: list[SeenEvent]
    lives: list[Life]
    """Every job that has or had this name, newest first, this one too; mostly it is the only one."""
    scheduler: Scheduler | None
    """What a scheduler sees now of a job that waits; null if none said anything."""


class Why(msgspec.Struct, kw_only=True):
    """Why a job waits or waited, as of `at_ms`."""

    sentence: str
    job: Job
    episode: int
    phase: str
    at_ms: int
    wait_ms: int
    promise_ms: int | None
    deadline_ms: int | None
    deadline_at: str | None
    sla: str
    overrun_ms: int | None
    leading: Reason | None
    reasons: list[Reason]
    now: Now | None
    helps: list[str]
    scheduler: Scheduler | None
    """What a scheduler saw at the moment; null if none said anything, or if nothing waited."""
    scheduler_note: str | None
    """Why a question about the past cannot be told what a scheduler saw; null where it can, or nobody asked for it."""
    now_ms: int | None
    data_until_ms: int | None
    lag_ms: int | None
    replay: bool
    replay_over: bool | None = None
    others: list[str] = []
    """Uids of the other jobs that have or had this name, newest first; none where one was asked for by its uid."""


class Violation(msgspec.Struct, kw_only=True):
    """A promise that was broken; `state` open, resolved or withdrawn."""

    job: Job
    episode: int
    promise_ms: int | None
    deadline_ms: int | None
    violated_ms: int | None
    resolved_ms: int | None
    overrun_ms: int
    reason: str
    resource: str | None
    title: str
    fingerprint: str
    state: str


class Violations(Narrowed, kw_only=True):
    """A page of the broken promises, latest first."""

    items: list[Violation]
    next: str | None
    total: int


class Queue(msgspec.Struct, kw_only=True):
    """A queue and its jobs. `waiting`, `longest_wait_ms`, `waiting_ms`, `gpus_waiting` and `leading` are of open waits;
    `violated` counts every promise that was broken, open or not."""

    queue: str
    tenant: str
    jobs: int
    waiting: int
    violated: int
    longest_wait_ms: int
    waiting_ms: int
    gpus_waiting: int
    leading: Reason | None


class Queues(Narrowed, kw_only=True):
    """All queues, the one with the most waiting first."""

    items: list[Queue]


class Series(msgspec.Struct, frozen=True):
    """Waiting because of one reason, in each bucket."""

    reason: str
    title: str
    values: list[int]


class Reasons(Narrowed, kw_only=True):
    """Waiting time by reason over time: `values` and `ms` are job milliseconds, or GPU milliseconds for `unit` gpus."""

    from_ms: int
    to_ms: int
    bucket_ms: int
    unit: str
    buckets: list[int]
    series: list[Series]
    totals: list[CountedReason]


class Kept(msgspec.Struct, frozen=True):
    """Promises: how many waits had one, how many kept it, broke it, or are about to.

    These are the promises that are decided: `kept` once its job is placed in time, also before the deadline has come. Those
    that are due are counted by the view `v_sla_budget_day`, a promise on the day of its deadline, none before it. What became
    of a promise, kept or broken, is `sla` of its wait in both."""

    promised: int
    kept: int
    violated_open: int
    violated_total: int
    at_risk: int


class Waiting(msgspec.Struct, frozen=True):
    """Open waits: jobs, the GPUs that they ask for, and their waiting so far."""

    jobs: int
    gpus: int
    wait_ms: int


class Overview(Narrowed, kw_only=True):
    """The first look."""

    kept: Kept
    waiting: Waiting
    longest: list[JobRow]
    at_risk: list[JobRow]
    recent_violations: list[Violation]
    top_reasons: list[CountedReason]


class StageProgress(msgspec.Struct, frozen=True):
    """How far a stage has come; `lag_ms` behind the stage that is furthest."""

    cluster: str
    stage: str
    log_ms: int | None
    loaded_ms: int | None
    lag_ms: int | None


class DeadLetter(msgspec.Struct, frozen=True):
    """Input that could not be understood."""

    stage: str | None
    kind: str | None
    error: str | None
    observed_ms: int | None


class DeadLetters(msgspec.Struct, frozen=True):
    """How many there are, and the newest."""

    count: int
    latest: list[DeadLetter]


class Pipeline(Fresh, kw_only=True):
    """The pipeline itself. Parts that cannot be told are null: the first and third need the warehouse, `watches` and
    `process` the process that collects."""

    stages: list[StageProgress] | None
    watches: list[dict[str, Any]] | None
    dead_letters: DeadLetters | None
    counters: dict[str, float] | None
    process: dict[str, Any] | None
    """What each stage of this process shows of itself."""
    warehouse: str | None
    """Why the warehouse cannot be asked; null while it can."""


class ReasonCode(msgspec.Struct, frozen=True):
    """A reason of the closed list; `color_index` is its place, so that it has one colour everywhere."""

    code: str
    title: str
    color_index: int


class Meta(Fresh, kw_only=True):
    """What there is to choose from."""

    version: str
    clusters: list[str]
    namespaces: list[str]
    queues: list[str]
    tenants: list[str]
    reasons: list[ReasonCode]
    languages: list[str]
    lag_alarm_ms: int


class Problem(msgspec.Struct, kw_only=True):
    """An error, as RFC 9457 has it; `hint` says what to do about it."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    hint: str | None = None
