"""Accounts of queues that several quota plugins keep alike: what is held, asked, waiting, and held beyond the minimum.

`inqueue` is what jobs that were let in have not taken yet: of groups in phase Inqueue, and of Running ones that still
have their minimum, whatever of `minResources` the job does not hold; tasks behind a gate do not count. `elastic` is what
jobs hold beyond their `minResources`. A refusal by quota can give way to another job as soon as elastic pods go.
"""

from __future__ import annotations

from pipeline.records import reasons
from scheduler_core.model import status
from scheduler_core.model.jobs import INQUEUE, RUNNING, Job, Queue
from scheduler_core.model.resources import LEAST, MEMORY, PODS, Axis, Items, Resource, largest_share
from scheduler_core.model.snapshot import Snapshot
from scheduler_core.model.why import Bound, Over, Why

Values = tuple[list[float], list[float], list[float], list[float]]
"""What jobs hold and wait for, and an account of a queue sums up: `request`, `allocated`, `elastic` and `inqueue`."""


class Account:
    """What one queue (and in a tree all below it) holds and waits for. `order` is its place among queues while its share stays.

    `room` is what it may have at most but for its own capability, `real_capability` the same with it. `line` is the account
    and all above it, the root last, once the path is settled. `touched` says whether a session has charged it since it was
    opened.
    """

    __slots__ = (
        "_opening", "allocated", "ancestors", "capability", "children", "deserved", "deserved_items", "deserves_nothing",
        "elastic", "guarantee", "in_numbers", "inqueue", "line", "order", "path", "queue", "real_capability", "request",
        "room", "share", "standing", "touched",
    )  # fmt: skip

    def __init__(self, queue: Queue, axis: Axis) -> None:
        self.queue = queue
        self.allocated = axis.account()
        self.request = axis.account()
        self.inqueue = axis.account()
        self.elastic = axis.account()
        self.guarantee = axis.empty() if queue.guarantee is None else queue.guarantee.copy()
        self.deserved = axis.empty() if queue.deserved is None else queue.deserved.copy()
        self.capability: Resource | None = None if queue.capability is None else queue.capability.copy()
        self.room = axis.empty()
        self.real_capability = self.room
        self.share = 0.0
        self.deserved_items: list[tuple[int, float]] = []
        self.deserves_nothing = self.deserved.is_empty()
        self.standing = (0, False)
        self.order: tuple[object, ...] | None = None
        self.in_numbers = False
        self.ancestors: list[Account] = []
        self.path: tuple[Account, ...] = (self,)
        self.line: list[Account] = [self]
        self.children: list[Account] = []
        self.touched = False
        self._opening: tuple[Values, float] | None = None

    def settle_deserved(self) -> None:
        """Takes what is deserved as final; the share follows."""
        values = self.deserved.values
        self.deserved_items = [(place, values[place]) for place in self.deserved.used_places()]
        self.deserves_nothing = self.deserved.is_empty()
        self.share = largest_share(self.allocated.values, self.deserved_items)

    def settle_path(self) -> None:
        """Takes the tree as final: what comes first whatever is held, and the way from below the root down to here."""
        self.standing = (-self.queue.priority, bool(self.children))
        self.path = (*self.ancestors[1:], self)
        self.line = [self, *reversed(self.ancestors)]

    def hold(self, items: Items, times: int) -> None:
        """Adds what tasks ask to what it holds, so many times; below zero takes it off."""
        self.touched = True
        self.allocated.charge(items, times)

    def let_in(self, amount: Resource) -> None:
        """Adds what a job that enters its queue may take."""
        self.touched = True
        self.inqueue.add(amount)

    def remember(self) -> None:
        """Takes what it holds and waits for as what it is when a session opens."""
        self.touched = False
        values = (self.request.values[:], self.allocated.values[:], self.elastic.values[:], self.inqueue.values[:])
        self._opening = (values, self.share)

    def reopen(self) -> None:
        """Forgets what a session has charged."""
        if self.touched and self._opening is not None:
            values, self.share = self._opening
            self.request.values, self.allocated.values = values[0][:], values[1][:]
            self.elastic.values, self.inqueue.values = values[2][:], values[3][:]
            self.order = None
            self.touched = False

    def charge(self, charge: Charge) -> None:
        """Takes what jobs hold and wait for into the account."""
        _add(self.request.values, charge.request, 1)
        _add(self.allocated.values, charge.allocated, 1)
        _add(self.elastic.values, charge.elastic, 1)
        _add(self.inqueue.values, charge.inqueue, 1)

    def change(self, before: Charge, now: Charge) -> None:
        """Takes another charge in place of one that it has taken."""
        _exchange(self.request.values, before.request, now.request)
        _exchange(self.allocated.values, before.allocated, now.allocated)
        _exchange(self.elastic.values, before.elastic, now.elastic)
        _exchange(self.inqueue.values, before.inqueue, now.inqueue)


def _add(to: list[float], amounts: list[float], sign: int) -> None:
    """Adds amounts along the axis, or takes them off again."""
    for place, more in enumerate(amounts):
        if more:
            to[place] += sign * more


def _exchange(at: list[float], before: list[float], now: list[float]) -> None:
    for place, amount in enumerate(now):
        if amount != before[place]:
            at[place] += amount - before[place]


class Charge:
    """What one job, or all jobs of a queue, hold and wait for when a session opens, along the axis.

    `let_in` is what counts where the whole cluster lets in: of groups that were let in all their minimum resources. What
    is the same may be one list, so only one that was made by `copy` may be added to.
    """

    __slots__ = ("allocated", "elastic", "inqueue", "let_in", "queue", "request")

    def __init__(self, queue: str, held: list[float], nothing: list[float]) -> None:
        self.queue = queue
        self.request = self.allocated = self.elastic = held
        self.inqueue = self.let_in = nothing

    def copy(self) -> Charge:
        """The same, sharing nothing."""
        found = Charge(self.queue, self.allocated[:], self.inqueue)
        found.request, found.elastic = self.request[:], self.elastic[:]
        found.inqueue, found.let_in = self.inqueue[:], self.let_in[:]
        return found

    def add(self, other: Charge, sign: int) -> None:
        """Adds, or takes off again."""
        _add(self.request, other.request, sign)
        _add(self.allocated, other.allocated, sign)
        _add(self.elastic, other.elastic, sign)
        _add(self.inqueue, other.inqueue, sign)
        _add(self.let_in, other.let_in, sign)


def charge_of(job: Job, nothing: list[float]) -> Charge:
    """What a job adds to its queue. It asks for what its tasks hold, and what those that wait would."""
    held = job.allocated.values[:]
    found = Charge(job.queue.name, held, nothing)
    pending = job.by_status[status.PENDING]
    if pending:
        found.request = held[:]
        for task in pending.values():
            for place, amount in task.cls.items:
                found.request[place] += amount
    if job.min_resources is not None:
        found.elastic = job.allocated.beyond(job.min_resources).values
        if counts_as_inqueue(job):
            found.inqueue = ungated(job, not_taken(job)).values
            found.let_in = minimum(job).values if job.phase == INQUEUE else found.inqueue
    return found


class Ledger:
    """What the jobs of each queue hold and wait for, kept from session to session and followed job by job.

    `turn` counts changes; who keeps something of it asks which queues have changed since a turn. `nothing` is none of
    anything, not to be changed.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.axis = snapshot.axis
        self.turn = 0
        self.nothing: list[float] = [0] * len(snapshot.axis)
        self._turn_of: dict[str, int] = {}
        self.of_queue: dict[str, Charge] = {}
        self._of_job: dict[str, Charge] = {}
        self._jobs: dict[str, set[str]] = {}
        for job in snapshot.jobs.values():
            self._add(job)

    def follow(self, snapshot: Snapshot) -> None:
        """Takes in the jobs that have changed."""
        for uid in snapshot.fresh:
            self._remove(uid)
            job = snapshot.jobs.get(uid)
            if job is not None:
                self._add(job)
        snapshot.fresh.clear()

    def queues(self) -> list[str]:
        """Queues with a job, in the order of their first jobs."""
        first = {name: min(uids) for name, uids in self._jobs.items() if uids}
        return sorted(first, key=first.__getitem__)

    def let_in(self) -> Resource:
        """What counts where the whole cluster lets in, of all queues."""
        found = self.axis.account()
        for charge in self.of_queue.values():
            _add(found.values, charge.let_in, 1)
        return found

    def changed_since(self, turn: int) -> list[str]:
        """Queues of which a job came, changed or went after this turn."""
        return [name for name, at in self._turn_of.items() if at > turn]

    def has_jobs(self, queue: str) -> bool:
        return bool(self._jobs.get(queue))

    def first_job(self, queue: str) -> str:
        """The first job of a queue that has one."""
        return min(self._jobs[queue])

    def _add(self, job: Job) -> None:
        charge = self._of_job[job.uid] = charge_of(job, self.nothing)
        name = charge.queue
        jobs = self._jobs.get(name)
        if jobs is None:
            self._jobs[name] = {job.uid}
            self.of_queue[name] = charge.copy()
        else:
            jobs.add(job.uid)
            self.of_queue[name].add(charge, 1)
        self._turn(name)

    def _remove(self, uid: str) -> None:
        charge = self._of_job.pop(uid, None)
        if charge is not None:
            self._jobs[charge.queue].discard(uid)
            self.of_queue[charge.queue].add(charge, -1)
            self._turn(charge.queue)

    def _turn(self, name: str) -> None:
        self.turn += 1
        self._turn_of[name] = self.turn


def ledger_of(snapshot: Snapshot) -> Ledger:
    """The ledger of a snapshot that no action has touched yet."""
    found = snapshot.ledger
    if isinstance(found, Ledger):
        found.follow(snapshot)
    else:
        found = snapshot.ledger = Ledger(snapshot)
        snapshot.fresh.clear()
    return found


def not_taken(job: Job) -> Resource:
    """What a job does not hold of its minimum resources, of those that it names."""
    assert job.min_resources is not None
    return _named_only(job.min_resources.beyond(job.allocated), job.min_resources)


def counts_as_inqueue(job: Job) -> bool:
    """Whether what the job may still take is spoken for."""
    return job.phase == INQUEUE or (job.phase == RUNNING and job.count(*status.HOLDING) >= job.min_member)


def _named_only(amount: Resource, named: Resource) -> Resource:
    """Only the resources that `named` names."""
    return Resource([value if named.has(place) else 0 for place, value in enumerate(amount.values)], named.named)


def ungated(job: Job, amount: Resource) -> Resource:
    """An amount without what tasks behind a gate ask."""
    gated = [task for task in job.pending() if task.gated]
    if not gated:
        return amount
    behind = amount.copy()
    for task in gated:
        for place, asked in task.cls.items:
            if amount.has(place):
                behind.values[place] = max(behind.values[place] - asked, 0)
    return behind


def minimum(job: Job) -> Resource:
    """What a job that enters its queue is charged."""
    assert job.min_resources is not None
    return ungated(job, job.min_resources)


def closed(queue: Queue, plugin: str) -> Why | None:
    """The refusal of a queue that is not open."""
    if queue.open:
        return None
    return Why(reasons.NOT_ADMITTED, "queue_closed", message=f"queue {queue.name} is {queue.state}", plugin=plugin)


def times_within(held: Resource, limit: Resource, items: Items, most: int) -> int:
    """How often what is asked can be added before something, pods apart, exceeds the limit; up to `most`."""
    for place, amount in items:
        if place != PODS:
            while most > 0 and held.values[place] + most * amount > limit.values[place]:
                most -= 1
    return most


def over_limit(
    axis: Axis, account: Account, job: Job | None, asked: Resource, future: Resource, limit: Resource, *, plugin: str,
    quota: bool,
) -> Why | None:  # fmt: skip
    """The refusal if `future` is above `limit` in what is asked for, in Volcano's words.

    `quota` says that the limit is a share that moves with what others use; else it is the queue's own ceiling. What is
    above the ceiling by itself can never pass.
    """
    places = future.exceeding(limit, asked)
    if not places:
        return None
    worst = max(places, key=lambda place: (asked.values[place] > limit.values[place], place > MEMORY, -place))
    never = asked.values[worst] > account.real_capability.values[worst]
    names = ", ".join([f"insufficient {axis.names[place]}" for place in places])
    own = None if job is None else job.allocated
    over = tuple([_over(axis, account, place, (asked, future, limit), own, shared=quota) for place in places])
    return Why(
        reasons.QUOTA if quota and not never else reasons.QUEUE_LIMIT,
        "never_fits" if never else "queue_refused" if quota else "",
        axis.names[worst], f"queue resource quota insufficient: {names}", plugin,
        asked=axis.whole(worst, asked.values[worst]),
        used=axis.whole(worst, future.values[worst] - asked.values[worst]),
        limit=axis.whole(worst, limit.values[worst]),
        queue=account.queue.name, over=over,
    )  # fmt: skip


def _over(
    axis: Axis, account: Account, place: int, amounts: tuple[Resource, Resource, Resource], own: Resource | None, *,
    shared: bool,
) -> Over:  # fmt: skip
    """One resource of which (asked, future, limit) leave too little; what the job holds itself is no other's."""
    asked, future, limit = (amount.values[place] for amount in amounts)
    others = future - asked - (0 if own is None else own.values[place])
    over = axis.counted(place, future - limit)
    bound = _bound(account, place, limit, limit + over, shared=shared)
    whole = axis.whole
    return Over(axis.names[place], whole(place, over), whole(place, asked), whole(place, others), bound)


def _bound(account: Account, place: int, limit: float, needed: float, *, shared: bool) -> Bound:
    """What makes a limit of a queue; empty where raising that to what is needed would meet another limit."""
    most, room, capability = account.real_capability.values[place], account.room.values[place], account.capability
    if most - limit >= LEAST:
        return "deserved" if most >= needed else ""
    if room - most >= LEAST:
        return "" if room < needed else "capability, shared" if shared else "capability"
    if account.ancestors:
        return "above"
    capped = capability is not None and capability.has(place) and 0 < capability.values[place] < needed
    return "" if capped else "nodes, shared" if shared else "nodes"
