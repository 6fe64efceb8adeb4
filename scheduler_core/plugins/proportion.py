"""proportion: the cluster is divided between queues by weight, and what a queue does not ask for goes to the others.

Each queue with a job deserves an amount, found by filling in rounds (`deserve`). Its share orders queues and stops them;
what it deserves is also the limit of what it may allocate and reclaim. What it may let in is limited by its real
capability: the cluster without what others are guaranteed, and its own capability.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pipeline.records import reasons
from scheduler_core.model.jobs import Job, Queue
from scheduler_core.model.resources import CPU, LEAST, MEMORY, PODS, UNLIMITED, Axis, Resource, largest_share
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why
from scheduler_core.session import accounts
from scheduler_core.session.accounts import Account
from scheduler_core.session.combine import PERMIT, Vote, reject
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session


def real_capability(account: Account, total: Resource, guaranteed: Resource) -> Resource:
    """What the queue can have at most: the cluster without foreign guarantees, and its capability.

    Cpu and memory of a capability that are not above zero are without limit. What it is but for the capability becomes the
    account's room.
    """
    account.room = total.beyond(guaranteed).add(account.guarantee)
    most = account.room.copy()
    if account.capability is not None:
        limit = account.capability.copy()
        for place in (CPU, MEMORY):
            if limit.values[place] <= 0:
                limit.values[place] = UNLIMITED
        most.at_most(limit)
    return most


def deserve(accounts_: Sequence[Account], total: Resource) -> None:
    """Fills what each queue deserves, in place.

    In a round what remains is divided by weight among queues that are not met; nobody gets more than it asks or may
    have, nor less than it is guaranteed. A queue is met when all it asks is covered, or when a round gave it nothing.
    What a round left over is divided in the next, until nothing is left or nothing moves.
    """
    remaining = total.copy()
    for account in accounts_:
        account.deserved = Resource([0.0] * len(total.values), 0)
    met: set[str] = set()
    while True:
        weights = sum(account.queue.weight for account in accounts_ if account.queue.name not in met)
        if weights == 0:
            return
        more, less = [0.0] * len(total.values), [0.0] * len(total.values)
        for account in accounts_:
            if account.queue.name not in met:
                _raise(account, remaining, account.queue.weight / weights, (more, less), met)
        before = remaining.values[:]
        remaining.values = [
            max(0.0, amount + back - gone) for amount, back, gone in zip(before, less, more, strict=True)
        ]
        if remaining.is_empty() or remaining.values == before:
            return


def _raise(
    account: Account, remaining: Resource, part: float, moved: tuple[list[float], list[float]], met: set[str]
) -> None:
    before = account.deserved.copy()
    raised = account.deserved.copy().add(remaining.scaled(part))
    raised.at_most(account.real_capability)
    raised.at_most(account.request, missing_is_zero=True)
    account.deserved = raised.at_least(account.guarantee)
    if account.request.less_equal(account.deserved) or before.equals(account.deserved):
        met.add(account.queue.name)
    more, less = moved
    for place, (was, now) in enumerate(zip(before.values, account.deserved.values, strict=True)):
        if now > was:
            more[place] += now - was
        else:
            less[place] += was - now


def share_of(account: Account) -> float:
    """The largest part of what it deserves that the queue holds, over what it deserves anything of."""
    return largest_share(account.allocated.values, account.deserved_items)


def is_overused(deserved: Resource, allocated: Resource) -> bool:
    """Whether nothing that is deserved is left of any resource."""
    return deserved.less_equal(allocated)


class Proportion(Plugin):
    name = "proportion"
    steady = True

    def open(self, session: Session) -> None:
        self.session = session
        self.axis: Axis = session.axis
        guaranteed = self.axis.empty()
        for queue in session.queues.values():
            if queue.guarantee is not None:
                guaranteed.add(queue.guarantee)
        self.accounts: dict[str, Account] = {}
        ledger = accounts.ledger_of(session.snapshot)
        for name in ledger.queues():
            account = self.accounts[name] = Account(session.queues[name], self.axis)
            account.real_capability = real_capability(account, session.total, guaranteed)
            account.charge(ledger.of_queue[name])
        deserve(list(self.accounts.values()), session.total)
        for account in self.accounts.values():
            account.settle_deserved()

    def queue_order(self, queue: Queue) -> Any:
        account = self.accounts.get(queue.name)
        return (-queue.priority, 0.0 if account is None else account.share)

    def overused(self, queue: Queue) -> Why | None:
        account = self.accounts.get(queue.name)
        if account is None or not is_overused(account.deserved, account.allocated):
            return None
        return self._uses_up(account)

    def _uses_up(self, account: Account) -> Why:
        place = max(range(len(self.axis)), key=lambda at: (account.deserved.values[at] >= LEAST, at > PODS, -at))
        return Why(
            reasons.QUOTA, "queue_refused", self.axis.names[place], f"queue {account.queue.name} uses all it deserves",
            self.name, used=self.axis.whole(place, account.allocated.values[place]),
            limit=self.axis.whole(place, account.deserved.values[place]),
        )  # fmt: skip

    def allocatable(self, queue: Queue, task: Task) -> Why | None:
        return accounts.closed(queue, self.name) or self._beyond_deserved(queue, task)

    def allocatable_together(self, queue: Queue, task: Task, most: int) -> int:
        if not queue.open:
            return 0
        account = self.accounts[queue.name]
        return accounts.times_within(account.allocated, account.deserved, task.cls.items, most)

    def preemptive(self, queue: Queue, task: Task) -> Why | None:
        return accounts.closed(queue, self.name) or self._beyond_deserved(queue, task)

    def _beyond_deserved(self, queue: Queue, task: Task) -> Why | None:
        account = self.accounts[queue.name]
        deserved, allocated = account.deserved.values, account.allocated.values
        for place, amount in task.cls.items:
            if allocated[place] + amount > deserved[place] and place != PODS:
                future = account.allocated.copy().add(task.cls.request)
                return accounts.over_limit(
                    self.axis,
                    account,
                    task.job,
                    task.cls.request,
                    future,
                    account.deserved,
                    plugin=self.name,
                    quota=True,
                )
        return None

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> Iterable[Task]:
        left: dict[str, Resource] = {}
        found = []
        for task in candidates:
            account = None if task.job is None else self.accounts.get(task.job.queue.name)
            if account is None:
                continue
            holds = left.setdefault(account.queue.name, account.allocated.copy())
            if not holds.less_equal(account.deserved):
                holds.take(task.cls.request)
                found.append(task)
        return found

    def job_enqueueable(self, job: Job) -> Vote:
        shut = accounts.closed(job.queue, self.name)
        if shut is not None:
            return reject(shut)
        if job.min_resources is None:
            return PERMIT
        account = self.accounts[job.queue.name]
        asked = job.min_resources
        future = asked.copy().add(account.allocated).add(account.inqueue).take(account.elastic)
        why = accounts.over_limit(
            self.axis, account, job, asked, future, account.real_capability, plugin=self.name, quota=False
        )
        return PERMIT if why is None else reject(why)

    def job_enqueued(self, job: Job) -> None:
        if job.min_resources is not None:
            self.accounts[job.queue.name].inqueue.add(accounts.minimum(job))

    def allocated(self, task: Task) -> None:
        account = self._account(task)
        if account is not None:
            account.allocated.charge(task.cls.items)
            account.share = share_of(account)

    def allocated_together(self, tasks: Sequence[Task]) -> None:
        self._charge(tasks, 1)

    def deallocated_together(self, tasks: Sequence[Task]) -> None:
        self._charge(tasks, -1)

    def _charge(self, tasks: Sequence[Task], sign: int) -> None:
        account = self._account(tasks[0])
        if account is not None:
            account.allocated.charge(tasks[0].cls.items, sign * len(tasks))
            account.share = share_of(account)

    def deallocated(self, task: Task) -> None:
        account = self._account(task)
        if account is not None:
            account.allocated.refund(task.cls.items)
            account.share = share_of(account)

    def _account(self, task: Task) -> Account | None:
        return None if task.job is None else self.accounts.get(task.job.queue.name)
