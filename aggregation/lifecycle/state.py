"""What is kept of one job between records. Written as arrays, so that fields have positions: add at the end only.

Times are milliseconds; a moment that the API gives in whole seconds is the arrival held inside that second (rule P4).
"""

from __future__ import annotations

import msgspec

from aggregation.operators.merge import Written
from pipeline.records.jobs import JobRef
from pipeline.records.objects import NodesWanted, QueueFacts

SCHEMA = 1
"""Goes up whenever the meaning or order of fields changes; a state of another number is refused."""


class Asks(msgspec.Struct, array_like=True, frozen=True):
    """What pods ask for: devices, thousandths of CPU, bytes."""

    gpus: int = 0
    cpus_milli: int = 0
    memory_bytes: int = 0

    def __add__(self, other: Asks) -> Asks:
        return Asks(self.gpus + other.gpus, self.cpus_milli + other.cpus_milli, self.memory_bytes + other.memory_bytes)

    def __mul__(self, count: int) -> Asks:
        return Asks(self.gpus * count, self.cpus_milli * count, self.memory_bytes * count)


NO_ASKS = Asks()


class Pod(msgspec.Struct, array_like=True):
    """One pod as it was last seen. `verdict` is what attribution made of its texts."""

    name: str = ""
    recent: list[int] = []
    created_ms: int = 0
    group: str = ""
    phase: str = ""
    placed_ms: int | None = None
    bound: bool = False
    """Its node was read off the pod itself, not off an event."""
    running_ms: int | None = None
    lost_ms: int | None = None
    """Asked to be deleted, or failed; a pod that succeeded is never lost."""
    lost_why: str = ""
    gated: bool = False
    nominated: bool = False
    text: str = ""
    evidence: str = ""
    """Where `text` was read: condition or event."""
    wanted: NodesWanted | None = None
    verdict: str = ""
    asks: Asks = NO_ASKS

    @property
    def alive(self) -> bool:
        """Exists, and is neither failed nor being deleted."""
        return self.lost_ms is None

    @property
    def placed(self) -> bool:
        """Has a node and keeps it (rule P2)."""
        return self.placed_ms is not None and self.lost_ms is None

    @property
    def waits(self) -> bool:
        """Alive without a node."""
        return self.placed_ms is None and self.lost_ms is None


class JobObject(msgspec.Struct, array_like=True):
    """A job object: the job's own, or one of those that the job is made of (the Jobs of a JobSet)."""

    recent: list[int] = []
    created_ms: int = 0
    generation: int | None = None
    """Of the spec that was read last: equal generations have equal specs."""
    minimum: int | None = None
    tasks: int = 0
    suspended: bool = False
    """Its spec says so; its pods may still run."""
    stopped: bool = False
    """Its status says that it is suspended: from here on it waits (rule P12)."""
    stopped_ms: int = 0
    queue: str = ""
    kueue: bool = False
    """Names a Kueue queue, so its suspension is that queue's."""
    done: str = ""
    """completed, failed or deleted; empty while it goes on."""
    done_ms: int = 0
    active: int = 0
    ready: int = 0
    """Pods that its status counts as existing, as running or succeeded; followed only while no pod was seen."""
    notes: dict[str, str] = {}
    """SLA annotations of the object."""
    template_notes: dict[str, str] = {}
    """SLA annotations of its pod templates."""
    priority_class: str = ""
    priority: int | None = None
    owner: str = ""
    asks: Asks = NO_ASKS


class Group(msgspec.Struct, array_like=True):
    """A PodGroup of Volcano or of Kubernetes."""

    name: str = ""
    recent: list[int] = []
    volcano: bool = False
    created_ms: int = 0
    minimum: int | None = None
    phase: str = ""
    refusal: str = ""
    """What the queue last said while the group was not let in."""
    refusal_us: int = 0
    queue: str = ""
    notes: dict[str, str] = {}
    priority_class: str = ""
    priority: int | None = None


class Admission(msgspec.Struct, array_like=True):
    """A Kueue Workload. `reserved` is the status of QuotaReserved, empty if it has no such condition."""

    recent: list[int] = []
    created_ms: int = 0
    reserved: str = ""
    reason: str = ""
    message: str = ""
    admitted: bool = False
    evicted: str = ""
    evicted_ms: int = 0
    finished: bool = False
    queue: str = ""
    priority_class: str = ""
    priority: int | None = None
    asks: Asks = NO_ASKS
    tasks: int = 0


class Counts(msgspec.Struct, array_like=True):
    """Pods by state. A pod that succeeded counts as alive and placed for ever, also after its deletion (rule P2)."""

    alive: int = 0
    placed: int = 0
    gated: int = 0
    leaving: int = 0
    """Being deleted, not gone yet."""
    failed: int = 0
    succeeded: int = 0
    succeeded_gone: int = 0
    """Of those the ones that are deleted."""
    running: int = 0


class Decided(msgspec.Struct, array_like=True):
    """What a scheduler's decision record said last of the job or a task."""

    session_ms: int = 0
    reason: str = ""
    detail: str = ""
    resource: str = ""
    nodes: int | None = None
    total_nodes: int | None = None
    message: str = ""


class Segment(msgspec.Struct, array_like=True):
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


class Episode(msgspec.Struct, array_like=True):
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

    @property
    def open(self) -> bool:
        return self.end_ms is None


class JobState(msgspec.Struct, array_like=True):
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

    @property
    def own(self) -> JobObject | None:
        """The job's own object, if it was seen."""
        return self.objects.get(self.job.uid)

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
