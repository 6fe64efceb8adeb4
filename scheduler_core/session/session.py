"""One scheduling session: a snapshot, the plugins of a policy opened on it, and everything that was decided.

Actions ask the questions below; each names its rule of aggregation once. What a session decides is in `binds`,
`evictions`, `kept`, in the phases of jobs, in their refusals and whys. Nothing leaves it: whoever runs it carries the
decisions out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.model import status
from scheduler_core.model.cells import Ints
from scheduler_core.model.jobs import INQUEUE, Job, Queue
from scheduler_core.model.policy import Policy
from scheduler_core.model.resources import Resource
from scheduler_core.model.snapshot import Snapshot
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why
from scheduler_core.session import combine, points, topology
from scheduler_core.session.combine import Ballot
from scheduler_core.session.judging import Judges
from scheduler_core.session.orders import Orders
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.relations import Relations


class Eviction:
    """A pod that must go: the task, why (preempt or reclaim), and for whom."""

    __slots__ = ("by", "reason", "task")

    def __init__(self, task: Task, reason: str, by: Task | None) -> None:
        self.task = task
        self.reason = reason
        self.by = by


class Kept:
    """What a job holds in this session without being bound: promised or allocated places of an unready gang."""

    __slots__ = ("job", "tasks")

    def __init__(self, job: Job, tasks: list[Task]) -> None:
        self.job = job
        self.tasks = tasks


class Session:
    """See above. `now_ns` is the one time of the session, nanoseconds since 1970.

    `ballots` and `tried` remember, by job, the vote on its entry and its place in the order in which allocate took jobs.
    """

    __deletable__ = ("judges", "orders", "ready")  # compiled classes have to say so

    def __init__(self, snapshot: Snapshot, policy: Policy, known: Mapping[str, type[Plugin]], now_ns: int) -> None:
        self.snapshot = snapshot
        self.policy = policy
        self.now_ns = now_ns
        self.axis = snapshot.axis
        self.nodes = snapshot.nodes
        self.domains = snapshot.domains
        self.queues = snapshot.queues
        self.jobs = snapshot.jobs
        self.total: Resource = snapshot.nodes.total
        snapshot.nodes.open()
        self._opening: Ints | None = None
        self.relations = Relations(snapshot)
        self.enqueues = "enqueue" in policy.actions
        self.binds: dict[str, tuple[Task, str]] = {}
        self.evictions: list[Eviction] = []
        self.kept: list[Kept] = []
        self.releases = 0
        self.ballots: dict[str, Ballot] = {}
        self.tried: dict[str, int] = {}
        self.tiers = _plugins_of(policy, known)
        for job in snapshot.networked.values():
            topology.settle_held(self.domains, job)
        self._plugins = [plugin for tier in self.tiers for plugin in tier]
        self._plan = points.plan(self.tiers)
        self._asked: dict[str, points.Asked] = {}
        self._lists: list[list[Callable[..., Any]]] = []
        self.places_together = self._plan.places_together
        self.undoes_together = self._plan.undoes_together
        self.steady = self._plan.steady
        self._on_allocated = self.flat("allocated")
        self._on_deallocated = self.flat("deallocated")
        self._allocatable = self.flat("allocatable")
        self.ready: Callable[[Job], Any] = combine.unanimous(self.flat("job_ready"))
        """Whether enough of a job holds a place for it to be bound."""
        self._valid = self.flat("job_valid")
        self._overused = self.flat("overused")
        self._before_filter = self.flat("before_filter")
        self._enqueueable, self._pipelined = self.asked("job_enqueueable"), self.asked("job_pipelined")
        self._all_abstain = policy.all_abstain
        self._missing = self.flat("job_missing")
        self._allocatable_together = self.flat("allocatable_together")
        self._on_allocated_together = self.flat("allocated_together")
        self._on_deallocated_together = self.flat("deallocated_together")
        self._open()
        self.orders = Orders(self)
        self.judges = Judges(self)
        self.judges.codes.know(check for plugin in self._plugins for check in plugin.checks)
        snapshot.end = self.end

    def _open(self) -> None:
        """Opens the plugins: each again, where it can, from what its like has kept of an earlier session on these tables."""
        kept, left = self.snapshot.kept, self.snapshot.left
        for plugin in self._plugins:
            kind, asked = type(plugin), (plugin.arguments, plugin.enabled)
            before = kept.pop(kind, None)
            if before is None or before[0] != asked or not plugin.open_again(self, before[1]):
                plugin.open(self)
            if plugin.kept is not None:
                left[kind] = (asked, plugin.kept)

    @property
    def opening(self) -> Ints:
        """What was free on all nodes when the session opened: by place, by row."""
        if self._opening is None:
            self._opening = self.nodes.opening.free_columns()
        return self._opening

    def asked(self, method: str) -> points.Asked:
        """Who is asked at a point, by tier; tiers in which nobody is asked stay, empty."""
        found = self._asked.get(method)
        if found is None:
            tiers = zip(self.tiers, self._plan.tiers[method], strict=True)
            found = self._asked[method] = tuple(
                [tuple([getattr(tier[at], method) for at in places]) for tier, places in tiers]
            )
        return found

    def flat(self, method: str) -> list[Callable[..., Any]]:
        """Who is asked at a point, one after the other."""
        found = [getattr(self._plugins[at], method) for at in self._plan.flat[method]]
        self._lists.append(found)
        return found

    def plugin(self, name: str) -> Plugin | None:
        """The plugin of this name, if the policy has it."""
        return next((plugin for plugin in self._plugins if plugin.name == name), None)

    # --- jobs --------------------------------------------------------------------------------------------------------

    def invalid(self, job: Job) -> Why | None:
        """Why the job cannot be scheduled as it is; the first objection."""
        return _objection(self._valid, job)

    def enqueueable(self, job: Job) -> Ballot:
        """The vote on letting a job into its queue. A job without minimum resources is let in unasked."""
        if job.min_resources is None:
            return Ballot(True, ())
        return combine.vote(self._enqueueable, job, all_abstain=self._all_abstain)

    def enqueue(self, job: Job) -> None:
        """Lets a job into its queue; every plugin is told."""
        combine.everyone(self.asked("job_enqueued"), job)
        job.phase = INQUEUE

    def missing(self, job: Job) -> int:
        """How many tasks can be placed without asking in between whether the job is ready; at least one."""
        most = 1
        for ask in self._missing:
            most = max(most, int(ask(job)))
        return most

    def pipelined(self, job: Job) -> Ballot:
        return combine.vote(self._pipelined, job, all_abstain=self._all_abstain)

    def starving(self, job: Job) -> bool:
        return combine.first_tier_true(self.asked("job_starving"), job)

    # --- queues ------------------------------------------------------------------------------------------------------

    def overused(self, queue: Queue) -> Why | None:
        return _objection(self._overused, queue)

    def not_allocatable(self, queue: Queue, task: Task) -> Why | None:
        for ask in self._allocatable:
            why: Why | None = ask(queue, task)
            if why is not None:
                return why
        return None

    def allocatable_together(self, queue: Queue, task: Task, most: int) -> int:
        """How many tasks equal to this one the queue may take, up to `most`."""
        for ask in self._allocatable_together:
            most = int(ask(queue, task, most))
        return most

    def not_preemptive(self, queue: Queue, task: Task) -> Why | None:
        return combine.first_given(self.asked("preemptive"), queue, task)

    def not_filtered(self, task: Task) -> Why | None:
        """Why no node needs to be looked at."""
        return _objection(self._before_filter, task)

    # --- victims -------------------------------------------------------------------------------------------------------

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> list[Task]:
        return combine.victims(self.asked("preemptable"), preemptor, candidates)

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> list[Task]:
        return combine.victims(self.asked("reclaimable"), reclaimer, candidates)

    # --- events --------------------------------------------------------------------------------------------------------

    def tell_allocated(self, task: Task) -> None:
        for tell in self._on_allocated:
            tell(task)

    def tell_allocated_together(self, tasks: Sequence[Task]) -> None:
        for tell in self._on_allocated_together:
            tell(tasks)

    def tell_deallocated(self, task: Task) -> None:
        self.releases += 1
        for tell in self._on_deallocated:
            tell(task)

    def tell_deallocated_together(self, tasks: Sequence[Task]) -> None:
        self.releases += 1
        for tell in self._on_deallocated_together:
            tell(tasks)

    # --- decisions -----------------------------------------------------------------------------------------------------

    def bind(self, tasks: Sequence[Task]) -> None:
        """Sends allocated tasks to their nodes."""
        names, binds = self.nodes.names, self.binds
        job = tasks[0].job if tasks else None
        if job is not None and job.all_hold_on(tasks, status.BINDING):
            for task in tasks:
                binds[task.uid] = (task, names[task.row])
            return
        for task in tasks:
            if task.job is not None:
                task.job.hold_on(task, status.BINDING)
            binds[task.uid] = (task, names[task.row])

    def allocate_alone(self, task: Task, row: int) -> None:
        """A place outside any statement (backfill): nothing is rolled back, and once the job is ready all it holds is bound."""
        job = task.job
        assert job is not None
        job.move(task, status.ALLOCATED)
        task.row = row
        self.nodes.hold(row, task)
        self.tell_allocated(task)
        if self.ready(job):
            self.bind(list(job.by_status[status.ALLOCATED].values()))

    def close(self) -> None:
        for plugin in self._plugins:
            plugin.close(self)

    def end(self) -> None:
        """Lets go of all that leads back to the session, which is over: nothing may be asked of it any more.

        So it goes as soon as nobody holds it, with the arrays of its judges (tens of MB in a large cluster). Python's
        collector of cycles would come for it after many more sessions: it counts objects, not what they weigh.
        """
        for each in self._lists:
            each.clear()
        self._lists, self._plugins, self.tiers = [], [], []
        self._enqueueable = self._pipelined = ()
        self._asked.clear()
        self.judges.end()
        del self.judges, self.orders, self.ready


def _plugins_of(policy: Policy, known: Mapping[str, type[Plugin]]) -> list[list[Plugin]]:
    """The plugins of a policy, by tier."""
    return [
        [known[choice.name](choice.arguments, choice.enabled) for choice in tier if choice.name in known]
        for tier in policy.tiers
    ]


def _objection(asked: list[Callable[[Any], Why | None]], about: Any) -> Why | None:
    """The first that anyone has."""
    for ask in asked:
        why = ask(about)
        if why is not None:
            return why
    return None
