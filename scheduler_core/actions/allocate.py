"""allocate: gives waiting tasks their nodes, gang by gang.

Queues take turns by their live order, and a queue gives one job a turn. A job that becomes ready is bound at once; once
ready it gets one task a turn, so jobs grow side by side. A job that does not become ready gives everything back, unless
a plugin wants what was promised to it kept (then it stays taken, and unbound, until the session ends).

A job with a hard topology is placed as a whole in one domain of the network: each domain of a tier is tried and undone,
and the best is done again.
"""

from __future__ import annotations

from typing import Final

from pipeline.records import reasons
from scheduler_core.model import status
from scheduler_core.model.cells import Bools
from scheduler_core.model.domains import ROOT, Domain
from scheduler_core.model.jobs import INQUEUE, Job, Queue
from scheduler_core.model.refusal import Refusal
from scheduler_core.model.tasks import Task, TaskClass
from scheduler_core.model.why import Why
from scheduler_core.session import arguments, combine, placing, refusals
from scheduler_core.session.at_once import AtOnce
from scheduler_core.session.judging import Choice, Judge
from scheduler_core.session.nearby import Nearby
from scheduler_core.session.orders import Heap
from scheduler_core.session.session import Session
from scheduler_core.session.statement import Operation, Statement
from scheduler_core.session.topology import hard_tier, is_soft

NAME: Final = "allocate"


def execute(session: Session) -> None:
    """Runs the action."""
    remembers = arguments.truth(session.policy.arguments_of(NAME), "predicateErrorCacheEnable", default=True)
    tasks: dict[str, list[Task]] = {}
    able: dict[str, list[Job]] = {}
    queues: dict[str, Queue] = {}
    for job in session.jobs.values():
        if not _able(session, job):
            continue
        waiting = session.orders.in_order(
            [task for task in job.by_status[status.PENDING].values() if task.open and not task.cls.best_effort]
        )
        if waiting:
            waiting.reverse()
            tasks[job.uid] = waiting
            name = job.queue.name
            same_queue = able.get(name)
            if same_queue is None:
                able[name], queues[name] = [job], job.queue
            else:
                same_queue.append(job)
    jobs = {name: session.orders.job_heap(waiting) for name, waiting in able.items()}
    order = session.orders.queue_heap(queues.values())
    at_once = AtOnce(session)
    queue = order.take()
    while queue is not None:
        line, why = jobs[queue.name], session.overused(queue)
        if why is not None or not line:
            if why is not None:
                _left_out(line, why)
            queue = order.take()
            continue
        stays = True
        while stays and line:
            job, moment = line.pop(), session.nodes.moment
            session.tried.setdefault(job.uid, len(session.tried) + 1)
            more = at_once.turn(job, tasks[job.uid])
            if _turn(session, job, tasks, remembers) if more is None else more:
                line.push(job)
            stays = session.steady and session.nodes.moment == moment  # nothing was placed, so the queue is next again
        queue = order.next(queue)


def _able(session: Session, job: Job) -> bool:
    """Whether the job is looked at; without an enqueue action waiting ones are let in here."""
    if job.is_pending:
        if session.enqueues:
            return False
        job.phase = INQUEUE
    why = session.invalid(job)
    if why is not None:
        job.why = why
        return False
    if job.topology is not None and not session.domains.ready:
        job.why = Why(reasons.TOPOLOGY, message="the network's domains are not known yet")
        return False
    return True


def _left_out(jobs: Heap[Job], why: Why) -> None:
    """The queue is done for this session: its jobs that were not reached are told so."""
    while jobs:
        job = jobs.pop()
        if job.why is None:
            job.why = why


def _turn(session: Session, job: Job, tasks: dict[str, list[Task]], remembers: bool) -> bool:
    """One turn of a job; True if it was bound and has more to place."""
    if hard_tier(session.domains, job) is not None:
        return _turn_in_domains(session, job, tasks, remembers)
    placer = Placer(session, job, None, remembers)
    statement = placer.place(tasks[job.uid])
    if statement is None:
        return False
    if session.ready(job):
        if is_soft(job):
            job.held_domain = placer.near
        statement.commit()
        return bool(tasks[job.uid])
    statement.keep()
    return False


class Placer:
    """Places tasks of one job, in all nodes or in one domain, into one statement."""

    def __init__(self, session: Session, job: Job, domain: Domain | None, remembers: bool) -> None:
        self.session = session
        self.job = job
        self.within: Bools | None = None if domain is None else domain.nodes
        self.domain = "" if domain is None or domain.name == ROOT else domain.name
        self.statement = Statement(session)
        self.near = job.held_domain
        self._barred: dict[str, Bools] | None = {} if remembers and _mixed_roles(job) else None
        self._never: dict[str, Bools] = {}
        self._together = session.places_together and self.within is None and self._barred is None
        self._nearby: Nearby | None = None
        self._objected: tuple[TaskClass, int, Why] | None = None

    def place(self, waiting: list[Task]) -> Statement | None:
        """Takes tasks off the end of `waiting` until the job is ready; None if nothing of it stands."""
        session, job = self.session, self.job
        while waiting:
            whole = self._equal(waiting)
            if whole is not None and session.ready(job):
                break
            if whole and waiting:
                continue
            if not waiting or not self._one(waiting.pop()):
                break
            if session.ready(job) and len(self.statement):
                break
        if session.ready(job):
            return self.statement
        ballot = session.pipelined(job)
        if ballot.passed:
            return self.statement
        job.why = job.why or ballot.why
        self.statement.discard()
        return None

    def _equal(self, waiting: list[Task]) -> bool | None:
        """Places equal tasks off the end of `waiting` in one step where that is the same as one by one.

        None if it placed none, else whether these were all that can go in one step.
        """
        session, job, task = self.session, self.job, waiting[-1]
        if not self._together or self._objects(task) is not None or session.not_filtered(task) is not None:
            return None
        judge = session.judges.of(task.cls)
        if judge.hopeless or not (job.topology is not None or judge.alone(task)):
            return None
        equal = _run(waiting, min(len(waiting), session.missing(job)), job.failed_roles)
        tasks = equal[: session.allocatable_together(job.queue, task, len(equal))]
        rows = judge.fill(tasks) if job.topology is None else self._fill_near(judge, tasks)
        if not rows:
            return None
        del waiting[-len(rows) :]
        placed = tasks[: len(rows)]
        self.statement.allocate_together(placed, rows)
        if job.refusals:
            for each in placed:
                job.refusals.pop(each.uid, None)
        return len(rows) == len(equal)

    def _fill_near(self, judge: Judge, tasks: list[Task]) -> list[int]:
        """Rows for equal tasks of a job that asks to be together in the network, held at once.

        A row whose rank rose stays the best as long as what the job is near to stays: no other comes nearer by that.
        """
        domains = self.session.domains
        rows: list[int] = []
        row: int | None = None
        stays = False
        self._nearby = None
        for task in tasks:
            before = task.near = self.near
            if not stays:
                row = self._best(judge, task)
            if row is None:
                break
            risen = judge.hold(row, task)
            task.row = row
            self.near = domains.common(domains.leaf_of_row[row], before)
            self._follow(row, before)
            stays = risen > placing.NOISE and before in ("", self.near)
            rows.append(row)
        return rows

    def _best(self, judge: Judge, task: Task) -> int | None:
        """The best row for a task of a job that asks to be together in the network, by rank and nearness."""
        if judge.alone(task):
            return judge.best()
        if self._nearby is None:
            self._nearby = judge.nearby(task)
        return None if self._nearby is None else placing.choose_near(self._nearby, judge)

    def _follow(self, row: int, before: str) -> None:
        """A task was placed on a row when the job was near to `before`."""
        if self._nearby is not None:
            leaves = self.session.domains.leaves_of_row[row]
            if self.near != before:
                self._nearby = None
            elif leaves:
                self._nearby.put(leaves[0])

    def _objects(self, task: Task) -> Why | None:
        """What the queue has said of an equal task, if nothing was placed since."""
        known = self._objected
        if known is None or known[0] is not task.cls or known[1] != len(self.statement):
            return None
        return known[2]

    def _one(self, task: Task) -> bool:
        """Places one task; False if the rest of the job need not be tried."""
        session, job = self.session, self.job
        why = self._objects(task) or session.not_allocatable(job.queue, task)
        if why is not None:
            if self._together:
                self._objected = (task.cls, len(self.statement), why)
            job.refusals.setdefault(task.uid, refusals.by_word(task, why))
            return True
        if task.role and task.role in job.failed_roles:
            self._refuse(task, _same_role(job, task))
            return True
        why = session.not_filtered(task)
        if why is not None:
            self._refuse(task, refusals.by_word(task, why))
            return goes_on(job)
        task.near = self.near if job.topology is not None else ""
        found = self._find(task)
        if isinstance(found, Refusal):
            self._refuse(task, found)
            return goes_on(job)
        if found is not None:
            self._take(task, found)
        return True

    def _find(self, task: Task) -> Choice | Refusal | None:
        session = self.session
        row = session.nodes.rows.get(task.nominated, -1) if task.nominated else -1
        if row >= 0 and session.nodes.usable[row] and placing.code_at(session, task, row) == 0:
            return Choice(row, placing.fits_now(session, task, row))
        barred = None if self._barred is None else self._barred.get(task.role)
        found = placing.choose(session, task, self.within, barred)
        if self._barred is not None and task.role:
            self._remember(task)
            if isinstance(found, Refusal) and found.report is not None:
                found.never = self._never[task.role]
        return found

    def _remember(self, task: Task) -> None:
        """Nodes that refused a task of a role are not asked again for that role, even by a task that asks less.

        Whether evictions would free such a node is what its first refusal said.
        """
        assert self._barred is not None
        codes = placing.codes_of(self.session, task)
        refused, never = codes != 0, self.session.judges.codes.never(codes)
        known = self._barred.get(task.role)
        if known is not None:
            refused, never = known | refused, self._never[task.role] | never & ~known
        self._barred[task.role], self._never[task.role] = refused, never

    def _refuse(self, task: Task, refusal: Refusal) -> None:
        refusal.domain = self.domain
        self.job.refusals[task.uid] = refusal
        self.job.failed_roles.add(task.role)

    def _take(self, task: Task, choice: Choice) -> None:
        self.job.refusals.pop(task.uid, None)
        if choice.now:
            self.statement.allocate(task, choice.row)
        else:
            self.statement.pipeline(task, choice.row, evicted=False)
        if self.job.topology is not None:
            leaf = self.session.domains.leaf_of_row[choice.row]
            self.near = self.session.domains.common(leaf, self.near)


def _run(waiting: list[Task], most: int, failed_roles: set[str]) -> list[Task]:
    """Tasks from the end that ask the same and may be tried, the next first."""
    cls = waiting[-1].cls
    found: list[Task] = []
    for task in reversed(waiting[-most:]):
        if task.cls is not cls or task.nominated or (task.role and task.role in failed_roles):
            break
        found.append(task)
    return found


def _same_role(job: Job, task: Task) -> Refusal:
    """A task of a role of which another was refused is not tried."""
    first = next(
        (each for each in job.refusals.values() if each.task.role == task.role and each.report is not None), None
    )
    text = f"Task {task.name} with role spec {task.role} has already predicated failed, skip"
    if first is None:
        return Refusal(task, Why(reasons.UNKNOWN, message="a task of its role was refused"), text=text)
    return Refusal(task, None, first.report, text=text, alike=first.alike)


def _mixed_roles(job: Job) -> bool:
    """Whether tasks of one role ask different things."""
    seen: dict[str, int] = {}
    for task in job.by_status[status.PENDING].values():
        if task.role and seen.setdefault(task.role, task.cls.number) != task.cls.number:
            return True
    return False


def goes_on(job: Job) -> bool:
    """Whether the job can still become ready after a task was refused."""
    if job.min_member >= len(job.tasks):
        return False
    minimums = job.role_minimums
    if job.min_member < sum(minimums.values()):
        left = sum(1 for task in job.pending() if task.role not in job.failed_roles)
        return job.ready + left >= job.min_member
    return all(
        job.role_has(role, status.READY, best_effort=True) >= minimums[role]
        for role in job.failed_roles
        if minimums.get(role)
    )


# --- jobs with a hard topology ----------------------------------------------------------------------------------------------


def _turn_in_domains(session: Session, job: Job, tasks: dict[str, list[Task]], remembers: bool) -> bool:
    gradients = combine.first_given(session.asked("domain_gradients"), job, session.domains.by_name[ROOT])
    if gradients is None:
        gradients = [[session.domains.by_name[ROOT]]]
    waiting = tasks[job.uid]
    for domains in gradients:
        solutions: dict[str, tuple[list[Operation], list[Task]]] = {}
        for domain in domains:
            left = waiting[:]
            found = _dry_run(session, job, domain, left, remembers)
            if found:
                solutions[domain.name] = (found, left)
        if solutions:
            return _settle(session, job, tasks, [each for each in domains if each.name in solutions], solutions)
    if not gradients:
        job.why = Why(reasons.TOPOLOGY, message=f"what it holds in {job.held_domain} is already above its tier")
    return False


def _dry_run(
    session: Session, job: Job, domain: Domain, waiting: list[Task], remembers: bool
) -> list[Operation] | None:
    """Places the job in a domain and undoes it; the operations, or None if it does not fit."""
    job.refusals.clear()
    job.failed_roles.clear()
    if not domain.nodes.any():
        return None
    statement = Placer(session, job, domain, remembers).place(waiting)
    if statement is None or not len(statement):
        return None
    saved = statement.saved()
    statement.discard()
    return saved


def _settle(
    session: Session, job: Job, tasks: dict[str, list[Task]], domains: list[Domain],
    solutions: dict[str, tuple[list[Operation], list[Task]]],
) -> bool:  # fmt: skip
    """Does the best solution again, and binds or keeps it."""
    scores: dict[str, float] = dict.fromkeys(solutions, 0.0)
    for tier in session.asked("domain_scores"):
        for ask in tier:
            for name, score in ask(job, domains).items():
                scores[name] += score
    best = max(domains, key=lambda each: scores[each.name])
    operations, left = solutions[best.name]
    statement = Statement(session)
    statement.replay(operations)
    tasks[job.uid] = left
    if not session.ready(job):
        statement.keep()
        return False
    statement.commit()
    job.held_domain = session.domains.common(job.held_domain, best.name)
    return bool(left)
