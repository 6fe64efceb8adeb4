"""What is kept of each object of a job: what its waiting depends on, no more. Written as arrays (see `state`)."""

from __future__ import annotations

import msgspec

from pipeline.records.objects import NodesWanted


class Asks(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """What pods ask for: devices, thousandths of CPU, bytes."""

    gpus: int = 0
    cpus_milli: int = 0
    memory_bytes: int = 0

    def __add__(self, other: Asks) -> Asks:
        return Asks(self.gpus + other.gpus, self.cpus_milli + other.cpus_milli, self.memory_bytes + other.memory_bytes)

    def __mul__(self, count: int) -> Asks:
        return Asks(self.gpus * count, self.cpus_milli * count, self.memory_bytes * count)


NO_ASKS = Asks()


class Pod(msgspec.Struct, array_like=True, gc=False):
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
    claim_missing: bool = False
    """A device claim that it names does not exist, so nobody tries it."""

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


class JobObject(msgspec.Struct, array_like=True, gc=False):
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

    def end(self, how: str, at_ms: int) -> None:
        """It has come to its end; how it ended first stands."""
        if not self.done:
            self.done, self.done_ms = how, at_ms


class Group(msgspec.Struct, array_like=True, gc=False):
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


class Admission(msgspec.Struct, array_like=True, gc=False):
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
    active: bool = True
    """Nobody has deactivated it. Of one that waited, its condition goes on to say what it waited for."""
    partly: bool = False
    """It is content with fewer pods than it asks for."""


class Counts(msgspec.Struct, array_like=True, gc=False):
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


class Decided(msgspec.Struct, array_like=True, gc=False):
    """What a scheduler's decision record said last of the job or a task. `entry`: that it was not let into its queue."""

    session_ms: int = 0
    reason: str = ""
    detail: str = ""
    resource: str = ""
    nodes: int | None = None
    total_nodes: int | None = None
    message: str = ""
    entry: bool = False
