"""What is kept of one job between records. Written as arrays, so that fields have positions: add at the end only.

Times are milliseconds; a moment that the API gives in whole seconds is the arrival held inside that second (rule P4).
"""

from __future__ import annotations

import msgspec

from aggregation.lifecycle.objects import NO_ASKS, Admission, Asks, Counts, Decided, Group, JobObject, Pod
from aggregation.operators.merge import Written
from pipeline.records import kinds
from pipeline.records.jobs import JobRef
from pipeline.records.objects import QueueFacts

SCHEMA = 1
"""Goes up whenever the meaning or order of fields changes; a state of another number is refused."""


class Segment(msgspec.Struct, array_like=True, gc=False):
    """A stretch of an episode with one reason; it ends where the next begins."""

    from_ms: int
    reason: str
    detail: str = ""
    resource: str = ""
    nodes: int | None = None
    total_nodes: int | None = None
    message: str = ""
    also: list[str] = []
    evidence: str = ""
    estimated: bool = False


class Episode(msgspec.Struct, array_like=True, gc=False):
    """One wait. `segments` has its reasons so far, the last one still open; it is empty for a wait of length 0."""

    number: int
    start_ms: int
    seen_ms: int
    """First look at it: what was before was told by objects, not seen."""
    cause: str = ""
    phase: str = "waiting"
    end_ms: int | None = None
    first_task_ms: int | None = None
    running_ms: int | None = None
    renewed: bool = False
    """A pod was created since it began."""
    vanished_ms: int | None = None
    """It began with a pod that vanished unseen after this moment: its replacement's creation may still correct it."""
    assumed: bool = False
    """Ended although the job's object had not been seen."""
    told_until_ms: int | None = None
    """Ended on the word of a status, of pods that nobody saw: by then they were placed, and may still tell when."""
    segments: list[Segment] = []
    dirty: bool = True
    """It is newer than its rows."""
    changed_ms: int | None = None
    """So are its segments, from here on; None: they are not."""
    unarmed: bool = True
    """What is promised is to be looked up again."""
    promise_ms: int | None = None
    promise_source: str = ""
    misconfigured: str = ""
    deadline_ms: int | None = None
    minimum: int | None = None
    named: tuple[str, str] = ("", "")
    """Tenant and queue in the rows written."""
    lowered_ms: int = 0
    """When fewer pods became enough while it lasted; until then it waited for more."""

    @property
    def open(self) -> bool:
        return self.end_ms is None


class JobState(msgspec.Struct, array_like=True, gc=False):
    """All that is kept of a job."""

    schema: int
    cluster: str
    job: JobRef
    version: int = 0
    least: int | None = None
    """Its minimum as far as it is known (rule P2)."""
    day_ms: int | None = None
    created_ms: int | None = None
    """The earliest creation among its objects (rule P3)."""
    partial: bool = False
    """The job's beginning was not seen."""
    started_ms: int = 0
    """Arrival of its first record."""
    touched_ms: int = 0
    """Log time of its last record."""
    seen_ms: int = 0
    """Arrival of its last record."""
    objects: dict[str, JobObject] = {}
    groups: dict[str, Group] = {}
    admissions: dict[str, Admission] = {}
    pods: dict[str, Pod] = {}
    gone: dict[str, list[int]] = {}
    """Identities of the last records of objects that were deleted lately, so that their copies are known."""
    counts: Counts = msgspec.field(default_factory=Counts)
    verdicts: dict[str, int] = {}
    """Pods that wait, by verdict."""
    decided: dict[str, Decided] = {}
    """By task; the empty name is the job."""
    create_failed: str = ""
    """Why its controller could not make a pod, until the next pod is there."""
    queue: QueueFacts | None = None
    tenant: str = ""
    asks_now: Asks = NO_ASKS
    """Of the pods that are alive."""
    asks: Asks = NO_ASKS
    """The most that its pods asked for together, for jobs whose object does not tell."""
    tasks: int = 0
    """The most pods that were alive together."""
    episodes: list[Episode] = []
    written: dict[int, Written] = {}
    """Rows written, by episode."""
    pod_notes: dict[str, str] = {}
    """SLA annotations of the first pod that had any, for jobs whose template nobody sees."""
    names_group: bool = False
    """A pod of it names a group."""
    loss_ms: int = 0
    loss_why: str = ""
    """The last loss that took it below its minimum."""
    last_failed_ms: int | None = None
    refreshed_ms: int = 0
    """Log time at which rows that grow were last written."""
    due: dict[str, int] = {}
    """Timers that are set."""

    def was_created(self, at_ms: int) -> None:
        """An object of the job is seen for the first time."""
        self.created_ms = at_ms if self.created_ms is None else min(self.created_ms, at_ms)

    def own_gone(self, uid: str, at_ms: int) -> None:
        """An object is deleted; if it is the job's own, so is the job."""
        own = self.own
        if own is not None and uid == self.job.uid:
            own.end("deleted", at_ms)

    @property
    def own(self) -> JobObject | None:
        """The job's own object, if it was seen."""
        return self.objects.get(self.job.uid)

    @property
    def of_plain_pods(self) -> bool:
        """Whether it is a group of plain pods that Kueue holds: its Workload, made when all of them exist, is the job."""
        return (self.job.group, self.job.kind) == kinds.KUEUE_WORKLOAD

    @property
    def episode(self) -> Episode | None:
        """The episode that began last."""
        return self.episodes[-1] if self.episodes else None

    def stale(self) -> None:
        """Columns of the last episode's row have changed."""
        if self.episodes:
            self.episodes[-1].dirty = True

    @property
    def waiting(self) -> bool:
        """Whether an episode is open."""
        return bool(self.episodes) and self.episodes[-1].end_ms is None
