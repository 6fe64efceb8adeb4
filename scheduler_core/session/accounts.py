"""Accounts of queues that several quota plugins keep alike: what is held, asked, waiting, and held beyond the minimum.

`inqueue` is what jobs that were let in have not taken yet: of groups in phase Inqueue, and of Running ones that still
have their minimum, whatever of `minResources` the job does not hold; tasks behind a gate do not count. `elastic` is what
jobs hold beyond their `minResources`. A refusal by quota can give way to another job as soon as elastic pods go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pipeline.records import reasons
from scheduler_core.model import status
from scheduler_core.model.jobs import INQUEUE, RUNNING, Job, Queue
from scheduler_core.model.resources import MEMORY, PODS, Axis, Items, Resource, largest_share
from scheduler_core.model.snapshot import Snapshot
from scheduler_core.model.why import Why

AMOUNTS: Final = ("request", "allocated", "elastic", "inqueue")
"""What jobs hold and wait for, and an account of a queue sums up."""


class Account:
    """What one queue (and in a tree all below it) holds and waits for. `order` is its place among queues while its share stays."""

    __slots__ = (
        "allocated", "ancestors", "capability", "children", "deserved", "deserved_items", "deserves_nothing", "elastic",
        "guarantee", "in_numbers", "inqueue", "order", "path", "queue", "real_capability", "request", "share", "standing",
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
        self.real_capability = axis.empty()
        self.share = 0.0
        self.deserved_items: list[tuple[int, float]] = []
        self.deserves_nothing = self.deserved.is_empty()
        self.standing = (0, False)
        self.order: tuple[object, ...] | None = None
        self.in_numbers = False
        self.ancestors: list[Account] = []
        self.path: tuple[Account, ...] = (self,)
        self.children: list[Account] = []

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

    def reopen(self, values: Sequence[list[float]], share: float) -> None:
        """Takes what it held and waited for when a session opened (by `AMOUNTS`), and forgets its place among queues."""
        for amount, then in zip((self.request, self.allocated, self.elastic, self.inqueue), values, strict=True):
            if amount.values != then:
                amount.values = then[:]
        self.share = share
        self.order = None
        self.in_numbers = False

    def charge(self, charge: Charge) -> None:
        """Takes what jobs hold and wait for into the account."""
        self.request.add(charge.request)
        self.allocated.add(charge.allocated)
        self.elastic.add(charge.elastic)
        self.inqueue.add(charge.inqueue)


class Charge:
    """What one job, or all jobs of a queue, hold and wait for when a session opens.

    `let_in` is what counts where the whole cluster lets in: of groups that were let in all their minimum resources.
    """

    __slots__ = ("allocated", "elastic", "inqueue", "let_in", "request")

    def __init__(self, axis: Axis) -> None:
        self.request = axis.account()
        self.allocated = axis.account()
        self.elastic = axis.account()
        self.inqueue = axis.account()
        self.let_in = axis.account()

    def values(self) -> tuple[list[float], ...]:
        """By `AMOUNTS`, as copies."""
        return self.request.values[:], self.allocated.values[:], self.elastic.values[:], self.inqueue.values[:]

    def add(self, other: Charge, sign: int) -> None:
        """Adds, or takes off again."""
        _add(self.request, other.request, sign)
        _add(self.allocated, other.allocated, sign)
        _add(self.elastic, other.elastic, sign)
        _add(self.inqueue, other.inqueue, sign)
        _add(self.let_in, other.let_in, sign)


def _add(to: Resource, amount: Resource, sign: int) -> None:
    values = to.values
    for place, more in enumerate(amount.values):
        if more:
            values[place] += sign * more


def charge_of(job: Job, axis: Axis) -> Charge:
    """What a job adds to its queue. It asks for what its tasks hold, and what those that wait would."""
    found = Charge(axis)
    held, least = job.allocated.values, job.min_resources
    found.request.values, found.allocated.values = held[:], held[:]
    for task in job.pending():
        found.request.charge(task.cls.items)
    found.elastic.values = held[:] if least is None else job.allocated.beyond(least).values
    if least is not None and counts_as_inqueue(job):
        found.inqueue.add(ungated(job, not_taken(job)))
        found.let_in.add(minimum(job) if job.phase == INQUEUE else found.inqueue)
    return found


class Ledger:
    """What the jobs of each queue hold and wait for, kept from session to session and followed job by job.

    `turn` counts changes; who keeps something of it asks which queues have changed since a turn.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.axis = snapshot.axis
        self.turn = 0
        self._turn_of: dict[str, int] = {}
        self.of_queue: dict[str, Charge] = {}
        self._of_job: dict[str, tuple[str, Charge]] = {}
        self._jobs: dict[str, set[str]] = {}
        for uid in snapshot.jobs:
            self._add(snapshot.jobs[uid])

    def follow(self, snapshot: Snapshot) -> None:
        """Takes in the jobs that have changed."""
        for uid in snapshot.fresh:
            self._remove(uid)
            if uid in snapshot.jobs:
                self._add(snapshot.jobs[uid])
        snapshot.fresh.clear()

    def queues(self) -> list[str]:
        """Queues with a job, in the order of their first jobs."""
        first = {name: min(uids) for name, uids in self._jobs.items() if uids}
        return sorted(first, key=first.__getitem__)

    def let_in(self) -> Resource:
        """What counts where the whole cluster lets in, of all queues."""
        found = self.axis.account()
        for charge in self.of_queue.values():
            found.add(charge.let_in)
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
        charge = charge_of(job, self.axis)
        name = job.queue.name
        self._of_job[job.uid] = (name, charge)
        self._jobs.setdefault(name, set()).add(job.uid)
        if name not in self.of_queue:
            self.of_queue[name] = Charge(self.axis)
        self._charge(name, charge, 1)

    def _remove(self, uid: str) -> None:
        found = self._of_job.pop(uid, None)
        if found is not None:
            name, charge = found
            self._jobs[name].discard(uid)
            self._charge(name, charge, -1)

    def _charge(self, name: str, charge: Charge, sign: int) -> None:
        self.of_queue[name].add(charge, sign)
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
    axis: Axis, account: Account, asked: Resource, future: Resource, limit: Resource, *, plugin: str, quota: bool
) -> Why | None:
    """The refusal if `future` is above `limit` in what is asked for, in Volcano's words.

    `quota` says that the limit is a share that moves with what others use; else it is the queue's own ceiling. What is
    above the ceiling by itself can never pass.
    """
    places = future.exceeding(limit, asked)
    if not places:
        return None
    worst = max(places, key=lambda place: (asked.values[place] > limit.values[place], place > MEMORY, -place))
    never = asked.values[worst] > account.real_capability.values[worst]
    names = ", ".join(f"insufficient {axis.names[place]}" for place in places)
    return Why(
        reasons.QUOTA if quota and not never else reasons.QUEUE_LIMIT,
        "never_fits" if never else "queue_refused" if quota else "",
        axis.names[worst], f"queue resource quota insufficient: {names}", plugin,
        asked=axis.whole(worst, asked.values[worst]),
        used=axis.whole(worst, future.values[worst] - asked.values[worst]),
        limit=axis.whole(worst, limit.values[worst]),
    )  # fmt: skip
