"""The seam for plugins: every extension point as a method of one class.

A plugin overrides the methods it has something to say on; the session asks only those, and only if their flag is on in
the policy. A new instance is made for every session, so no state survives one but what it leaves in `kept`. Answers that
refuse carry a `Why`.

A plugin of a third party is a subclass of `Plugin` named in the entry point group `kube_collector.scheduler_plugins`
under the name that policies use. `examples/scheduler-plugin` is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from mypy_extensions import mypyc_attr

from scheduler_core.model.cells import Bools, Filter, Floats, Ints, Score
from scheduler_core.model.checks import Check
from scheduler_core.model.jobs import Job, Queue
from scheduler_core.model.tasks import Demand, Task, TaskClass
from scheduler_core.model.why import Why
from scheduler_core.session.combine import Vote
from scheduler_core.session.nearby import Nearby

if TYPE_CHECKING:
    from scheduler_core.model.domains import Domain
    from scheduler_core.session.session import Session


@mypyc_attr(allow_interpreted_subclasses=True)
class Plugin:
    """Base of all plugins. `name` is what policies call it."""

    name: ClassVar[str] = ""
    arguments_known: ClassVar[tuple[str, ...]] = ()
    """Names of arguments; one that ends in `*` stands for all that begin so."""
    steady: ClassVar[bool] = False
    """Whether what it says of a job's order moves only with the job's own tasks, and what it says of queues (their order,
    whether they are overused or may take a task) only with tasks that are given or lose a place. Then it is not asked again
    in between. Only for speed."""
    filters_by_class: ClassVar[bool] = False
    """Whether `before_filter` says the same of all tasks of a class. Only for speed: else tasks are placed one by one."""
    checks: ClassVar[Sequence[Check]] = ()
    """The checks of its filters in the order in which a node is asked; up to the first that evictions do not cure a node's
    failures are what Volcano tells. One that is not listed comes after all that are."""

    kept: object = None
    """What `open` or `open_again` may leave for the next session; it must not hold this one."""

    def __init__(self, arguments: Mapping[str, Any], enabled: frozenset[str]) -> None:
        self.arguments = arguments
        self.enabled = enabled

    def open(self, session: Session) -> None:
        """Called once before the actions; the place to read the session and to keep accounts."""

    def open_again(self, session: Session, kept: Any) -> bool:
        """Called before `open` where tables stand (`model.standing`) and a plugin of this class, with the same arguments and
        flags, left something in `kept` when it last opened on them. Nodes and queues are as they were then, jobs may have
        come, changed and gone (`accounts.Ledger.changed_since` says in which queues), and whatever was kept is as that
        session left it. True: the plugin is open, as `open` would have left it. False: `open` is called. Only for speed."""
        return False

    # --- orders: smaller keys come first ---------------------------------------------------------------------------

    def job_order(self, job: Job) -> Any:
        """A key; jobs with a smaller one go first."""
        raise NotImplementedError

    def queue_order(self, queue: Queue) -> Any:
        """A key; queues with a smaller one go first."""
        raise NotImplementedError

    def task_order(self, task: Task) -> Any:
        """A key; tasks with a smaller one go first."""
        raise NotImplementedError

    def victim_queue_order(self, one: Queue, other: Queue, preemptor: Queue) -> int:
        """Below zero: `one` loses its pods first."""
        raise NotImplementedError

    # --- jobs --------------------------------------------------------------------------------------------------------

    def job_valid(self, job: Job) -> Why | None:
        """What makes a job impossible to schedule as it is."""
        raise NotImplementedError

    def job_enqueueable(self, job: Job) -> Vote:
        """Whether a job with minimum resources may enter its queue."""
        raise NotImplementedError

    def job_enqueued(self, job: Job) -> None:
        """Told of each job that entered its queue, whoever voted."""
        raise NotImplementedError

    def job_ready(self, job: Job) -> bool:
        """Whether enough tasks hold a place for the job to be bound."""
        raise NotImplementedError

    def job_pipelined(self, job: Job) -> Vote:
        """Whether what was promised to the job should stand although it is not ready."""
        raise NotImplementedError

    def job_starving(self, job: Job) -> bool:
        """Whether the job may take from others."""
        raise NotImplementedError

    # --- queues ------------------------------------------------------------------------------------------------------

    def overused(self, queue: Queue) -> Why | None:
        """Why nothing more of the queue is looked at."""
        raise NotImplementedError

    def allocatable(self, queue: Queue, task: Task) -> Why | None:
        """Why the queue may not take this task."""
        raise NotImplementedError

    def preemptive(self, queue: Queue, task: Task) -> Why | None:
        """Why the queue may not reclaim from others for this task."""
        raise NotImplementedError

    # --- victims -------------------------------------------------------------------------------------------------------

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> Iterable[Task] | None:
        """Who of the candidates may be evicted for a task of the same queue; None abstains."""
        raise NotImplementedError

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> Iterable[Task] | None:
        """Who of the candidates may be evicted for a task of another queue; None abstains."""
        raise NotImplementedError

    # --- nodes ---------------------------------------------------------------------------------------------------------

    def before_filter(self, task: Task) -> Why | None:
        """Why no node needs to be looked at for this task."""
        raise NotImplementedError

    def fixed_filters(self, cls: TaskClass) -> Iterable[tuple[Check, Bools]]:
        """Checks that do not change in a session: True for each row that fails."""
        raise NotImplementedError

    def row_filters(self, demand: Demand) -> Iterable[tuple[Check, Filter]]:
        """Checks of what is on one node for a demand: functions of `Cells`, True where they fail."""
        raise NotImplementedError

    def looks_elsewhere(self, cls: TaskClass) -> bool:
        """Whether `table_filters` may have anything to say for tasks of a class. Override both or none."""
        raise NotImplementedError

    def table_filters(self, task: Task) -> Iterable[tuple[Check, Bools]] | None:
        """Checks that look at many nodes at once: True for each row that fails; None if none applies. Slow: asked for each task."""
        raise NotImplementedError

    def row_scores(self, demand: Demand) -> Iterable[Score]:
        """Scores of what is on one node for a demand: functions of `Cells`, weighted."""
        raise NotImplementedError

    def compares(self, cls: TaskClass) -> bool:
        """Whether `table_score` may have anything to say for tasks of a class. Override both or none."""
        raise NotImplementedError

    def table_score(self, task: Task, rows: Ints) -> Floats | None:
        """A score that compares the candidates (rows) with each other, weighted; None if it does not apply. Asked for each task."""
        raise NotImplementedError

    def nearby(self, task: Task) -> Nearby | None:
        """Rows outside of which `table_score` is nothing, whichever rows are candidates, and in which it is not below nothing,
        with what it is there: of all others only the best by itself can be chosen. It follows the job of the task as long as
        `near` stays. None: any row may count. Only for speed, next to `table_score`."""
        return None

    def best_node(self, task: Task, rows: Ints, scores: Floats) -> int | None:
        """The chosen row, if the plugin overrules the scores."""
        raise NotImplementedError

    # --- network domains -----------------------------------------------------------------------------------------------

    def domain_gradients(self, job: Job, root: Domain) -> list[list[Domain]] | None:
        """Domains to try for a whole job, those of one list alike, the first list with a solution wins."""
        raise NotImplementedError

    def domain_scores(self, job: Job, domains: Sequence[Domain]) -> dict[str, float]:
        """Scores of domains in which the job fits, weighted."""
        raise NotImplementedError

    # --- events --------------------------------------------------------------------------------------------------------

    def allocated(self, task: Task) -> None:
        """A task was given or promised a place (its row is set), or an eviction was undone."""
        raise NotImplementedError

    def deallocated(self, task: Task) -> None:
        """A place was taken back, or a task is evicted (its row is still set)."""
        raise NotImplementedError

    # --- equal tasks together: only for speed, and only next to the method that is asked for one ----------------------

    def job_missing(self, job: Job) -> int:
        """How many more tasks need a place at least before `job_ready` can become true. Override with `job_ready`."""
        raise NotImplementedError

    def allocatable_together(self, queue: Queue, task: Task, most: int) -> int:
        """How many tasks equal to this one the queue may take one after the other, up to `most`. Override with `allocatable`."""
        raise NotImplementedError

    def allocated_together(self, tasks: Sequence[Task]) -> None:
        """Equal tasks of one job were each given a place. Override with `allocated`."""
        raise NotImplementedError

    def deallocated_together(self, tasks: Sequence[Task]) -> None:
        """The places of equal tasks of one job, not promised ones, were taken back (their rows are still set). Override with
        `deallocated`."""
        raise NotImplementedError

    def concerns(self, task: Task) -> bool:
        """Whether `table_filters` and `table_score` may have anything to say for this very task, given that they may for
        its class. Asked for each task, and quick."""
        return True

    def close(self, session: Session) -> None:
        """Called once after the actions."""
