"""capacity: what each queue deserves, is guaranteed and may have at most is written on the queue.

The other way beside `proportion`, and not both. With the flag `hierarchy` queues form a tree below the queue `root`: only
leaves take jobs, a limit is a limit of all above it, and room is first asked back from near relatives. The argument
`ancestorReclaimLevel` lets that many levels above a leaf have a say in what may be reclaimed.

A tree that cannot be read (a parent that does not exist, a cycle, no root, a job in a queue that has children) stops all
votes of the plugin, each with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from pipeline.records import reasons
from scheduler_core.model.jobs import Job, Queue
from scheduler_core.model.resources import CPU, LEAST, MEMORY, PODS, UNLIMITED, Resource, largest_share
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why
from scheduler_core.session import accounts, arguments, queue_keys
from scheduler_core.session.accounts import Account
from scheduler_core.session.books import Book
from scheduler_core.session.combine import PERMIT, Vote, reject
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.queue_tree import ROOT, Tree, grow
from scheduler_core.session.session import Session

LEVEL: Final = "ancestorReclaimLevel"


def share_of(deserved: Resource, allocated: Resource) -> float:
    """The largest part of what it deserves that a queue holds; a queue that deserves nothing has a share of 1."""
    if deserved.is_empty():
        return 1.0
    return largest_share(allocated.values, [(place, deserved.values[place]) for place in deserved.used_places()])


class Capacity(Plugin):
    name = "capacity"
    steady = True
    arguments_known = (LEVEL, "capacity.DynamicResourceAllocationEnable", "capacity.DRAConsumableCapacityEnable")

    def open(self, session: Session) -> None:
        self._begin(session)
        self.accounts: dict[str, Account] = {name: Account(queue, self.axis) for name, queue in session.queues.items()}
        if self.in_tree:
            self._grow(session)
        else:
            self._stand_alone(session)
        for account in self.accounts.values():
            account.settle_deserved()
            account.settle_path()
            self._share(account)
        self._settle_keys()
        if self.broken is None:
            self.kept = Book(self.accounts, accounts.ledger_of(session.snapshot))

    def _begin(self, session: Session) -> None:
        self.session = session
        self.axis = session.axis
        self.level = max(arguments.whole(self.arguments, LEVEL, 0), 0)
        self.in_tree = "hierarchy" in self.enabled
        self.broken: Why | None = None
        self._root: Account | None = None

    def open_again(self, session: Session, kept: Any) -> bool:
        """Queues and what they deserve are as they were; only what their jobs hold and wait for may have changed."""
        book: Book = kept
        ledger = accounts.ledger_of(session.snapshot)
        changed = book.reopen(ledger)
        if any(account.children and ledger.has_jobs(account.queue.name) for account in changed):
            return False
        self._begin(session)
        self.accounts = book.accounts
        for account in changed:
            self._share(account)
        book.settle(changed)
        if self.in_tree:
            self._root = self.accounts[ROOT]
        if changed:
            self._settle_keys()
        self.kept = book
        return True

    def _stand_alone(self, session: Session) -> None:
        guaranteed = self.axis.empty()
        for account in self.accounts.values():
            guaranteed.add(account.guarantee)
        for name, charge in accounts.ledger_of(session.snapshot).of_queue.items():
            self.accounts[name].charge(charge)
        for account in self.accounts.values():
            account.room = session.total.beyond(guaranteed).add(account.guarantee)
            most = account.room.copy()
            if account.capability is not None:
                most.at_most(_unlimited_where_unset(account.capability))
            account.real_capability = most
            account.deserved = account.deserved.at_most(most).at_least(account.guarantee)

    def _grow(self, session: Session) -> None:
        tree: Tree = grow(self.accounts, session.total)
        broken, self._root = tree.broken, tree.root
        ledger = accounts.ledger_of(session.snapshot)
        for name in ledger.queues():
            account = self.accounts[name]
            if account.children:
                broken = broken or f"queue {name} has children and a job ({ledger.first_job(name)})"
            for each in (account, *account.ancestors):
                each.charge(ledger.of_queue[name])
        if broken:
            self.broken = Why(
                reasons.NOT_ADMITTED, message=f"the tree of queues cannot be used: {broken}", plugin=self.name
            )

    def _settle_keys(self) -> None:
        if self._root is not None and self.broken is None:
            queue_keys.settle(self._root)

    def _share(self, account: Account) -> None:
        account.order = None
        if account.deserves_nothing:
            account.share = 1.0
        else:
            account.share = largest_share(account.allocated.values, account.deserved_items)

    # --- orders ------------------------------------------------------------------------------------------------------

    def queue_order(self, queue: Queue) -> Any:
        account = self.accounts[queue.name]
        if account.order is None:
            flat = (-queue.priority, account.share, account.deserves_nothing)
            account.order = queue_keys.key_of(account) if self.in_tree else flat
        return account.order

    def victim_queue_order(self, one: Queue, other: Queue, preemptor: Queue) -> int:
        """In a tree the nearer relative loses first."""
        if not self.in_tree:
            return 0
        mine = self.accounts[preemptor.name]
        near = _common_level(self.accounts[one.name], mine)
        far = _common_level(self.accounts[other.name], mine)
        return (far > near) - (near > far)

    # --- limits ------------------------------------------------------------------------------------------------------

    def _shut(self, queue: Queue) -> Why | None:
        if self.broken is not None:
            return self.broken
        shut = accounts.closed(queue, self.name)
        if shut is None and self.in_tree and self.accounts[queue.name].children:
            what = f"queue {queue.name} has children; only leaves take jobs"
            return Why(reasons.NOT_ADMITTED, "queue_closed", message=what, plugin=self.name)
        return shut

    def _over(self, account: Account, job: Job | None, asked: Resource, future: Resource) -> Why | None:
        return accounts.over_limit(
            self.axis, account, job, asked, future, account.real_capability, plugin=self.name, quota=False
        )

    def allocatable(self, queue: Queue, task: Task) -> Why | None:
        shut = self._shut(queue)
        if shut is not None:
            return shut
        account = self.accounts[queue.name]
        for each in account.line:
            held, most = each.allocated.values, each.real_capability.values
            for place, amount in task.cls.items:
                if held[place] + amount > most[place] and place != PODS:
                    return self._over(each, task.job, task.cls.request, each.allocated.copy().add(task.cls.request))
        return None

    def allocatable_together(self, queue: Queue, task: Task, most: int) -> int:
        if self._shut(queue) is not None:
            return 0
        account = self.accounts[queue.name]
        for each in account.line:
            most = accounts.times_within(each.allocated, each.real_capability, task.cls.items, most)
        return most

    def preemptive(self, queue: Queue, task: Task) -> Why | None:
        if self.broken is not None:
            return self.broken
        shut = accounts.closed(queue, self.name)
        if shut is not None:
            return shut
        account = self.accounts[queue.name]
        request = task.cls.request
        future = account.allocated.copy().add(request)
        over = self._over(account, task.job, request, future)
        if over is not None:
            return over
        if any(_below_deserved(each, request) for each in (account, *self._counting_ancestors(account))):
            return None
        what = f"queue {queue.name} holds all that it deserves of what is asked"
        return Why(reasons.QUOTA, "queue_refused", message=what, plugin=self.name)

    def _counting_ancestors(self, account: Account) -> list[Account]:
        if not self.in_tree or not self.level:
            return []
        near = account.ancestors[::-1][: self.level]
        return [each for each in near if each.ancestors]

    def job_enqueueable(self, job: Job) -> Vote:
        shut = self._shut(job.queue)
        if shut is not None:
            return reject(shut)
        if job.min_resources is None:
            return PERMIT
        account = self.accounts[job.queue.name]
        for each in account.line:
            future = job.min_resources.copy().add(each.allocated).add(each.inqueue).take(each.elastic)
            over = self._over(each, job, job.min_resources, future)
            if over is not None:
                return reject(over)
        return PERMIT

    def job_enqueued(self, job: Job) -> None:
        if job.min_resources is not None:
            account = self.accounts[job.queue.name]
            for each in account.line:
                each.let_in(accounts.minimum(job))

    # --- victims -------------------------------------------------------------------------------------------------------

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> Iterable[Task]:
        if self.broken is not None or reclaimer.job is None:
            return []
        mine = self.accounts[reclaimer.job.queue.name]
        left: dict[str, Resource] = {}
        found = []
        for task in self.session.orders.sorted_victims(candidates, reclaimer):
            if task.job is None or not _meet(task.cls.request, reclaimer.cls.request, pods=False):
                continue
            account = self.accounts[task.job.queue.name]
            charged = [account, *self._unshared(mine, account)]
            holds = [left.setdefault(each.queue.name, each.allocated.copy()) for each in charged]
            if self._may_lose(task, reclaimer, charged, holds, mine):
                for held in holds:
                    held.take(task.cls.request)
                found.append(task)
        return found

    def _may_lose(
        self, task: Task, reclaimer: Task, charged: list[Account], holds: list[Resource], mine: Account
    ) -> bool:
        account, held = charged[0], holds[0]
        request = task.cls.request
        if not account.guarantee.less_equal(held.copy().take(request)):
            return False
        if not _meet(request, account.deserved, pods=True):
            if self._relatives(mine, account) and not _meet(reclaimer.cls.request, mine.deserved, pods=True):
                return False
        elif not _above_deserved(account, held, request):
            return False
        return all(
            not _meet(request, each.deserved, pods=True) or _above_deserved(each, theirs, request)
            for each, theirs in zip(charged[1:], holds[1:], strict=True)
        )

    def _relatives(self, mine: Account, theirs: Account) -> bool:
        """Whether both share an ancestor other than the root within the configured levels."""
        own = {each.queue.name for each in self._counting_ancestors(mine)}
        return any(each.queue.name in own for each in self._counting_ancestors(theirs))

    def _unshared(self, mine: Account, theirs: Account) -> list[Account]:
        """Ancestors of the victim, level by level, that are not the reclaimer's at that level; the root never."""
        if not self.in_tree or not self.level:
            return []
        found = []
        own = mine.ancestors[::-1]
        for level, each in enumerate(theirs.ancestors[::-1][: self.level]):
            same = level < len(own) and own[level] is each
            if each.ancestors and not same:
                found.append(each)
        return found

    # --- events --------------------------------------------------------------------------------------------------------

    def allocated(self, task: Task) -> None:
        if task.job is not None:
            account = self.accounts[task.job.queue.name]
            for each in account.line:
                each.hold(task.cls.items, 1)
            self._share(account)

    def allocated_together(self, tasks: Sequence[Task]) -> None:
        self._charge(tasks, 1)

    def deallocated_together(self, tasks: Sequence[Task]) -> None:
        self._charge(tasks, -1)

    def _charge(self, tasks: Sequence[Task], sign: int) -> None:
        job = tasks[0].job
        if job is not None:
            account = self.accounts[job.queue.name]
            items, times = tasks[0].cls.items, sign * len(tasks)
            for each in account.line:
                each.hold(items, times)
            self._share(account)

    def deallocated(self, task: Task) -> None:
        if task.job is not None:
            account = self.accounts[task.job.queue.name]
            for each in account.line:
                each.hold(task.cls.items, -1)
            self._share(account)


def _unlimited_where_unset(capability: Resource) -> Resource:
    limit = capability.copy()
    for place in (CPU, MEMORY):
        if limit.values[place] <= 0:
            limit.values[place] = UNLIMITED
    return limit


def _meet(one: Resource, other: Resource, *, pods: bool) -> bool:
    """Whether both have something of one resource."""
    return any(
        mine >= LEAST and theirs >= LEAST and (pods or place != PODS)
        for place, (mine, theirs) in enumerate(zip(one.values, other.values, strict=True))
    )


def _above_deserved(account: Account, held: Resource, request: Resource) -> bool:
    """Whether the queue holds more than it deserves of something that the task asks and the queue deserves."""
    deserved = account.deserved
    for place, asked in enumerate(request.values):
        if asked <= 0 or place == PODS:
            continue
        counts = deserved.values[place] >= LEAST if place <= MEMORY else deserved.has(place)
        if counts and held.values[place] > deserved.values[place]:
            return True
    return False


def _below_deserved(account: Account, request: Resource) -> bool:
    """Whether, with the request, the queue stays within what it deserves of anything asked that either has."""
    for place, asked in enumerate(request.values):
        if asked <= 0 or place == PODS:
            continue
        future, deserved = account.allocated.values[place] + asked, account.deserved.values[place]
        if (future >= LEAST or deserved >= LEAST) and future - deserved < LEAST:
            return True
    return False


def _common_level(one: Account, other: Account) -> int:
    """How many levels below the root the paths of two queues agree."""
    mine, theirs = one.ancestors, other.ancestors
    level = 0
    for at in range(1, min(len(mine), len(theirs))):
        if mine[at] is not theirs[at]:
            break
        level = at
    return level


def _below(account: Account, level: int) -> Account:
    """The ancestor one below a level, or the queue itself."""
    return account.ancestors[level + 1] if level + 1 < len(account.ancestors) else account
