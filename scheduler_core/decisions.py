"""The decisions of a session as records: what was bound, promised, evicted, let in and refused, and why, with exact counts.

A pure function of a closed session. For every task that has no place there is one record with the nodes by the set of
checks they fail; for every job that waits one with the reason that speaks for it. Tasks of a job that were refused alike
share one attribution, told of the first of them. A record with a kind that gives a reason stands until the next about the
same task, so a reader needs only the latest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from pipeline.records import reasons
from pipeline.records.decisions import Decision, FailureSet
from pipeline.records.jobs import JobRef
from scheduler_core.model import status
from scheduler_core.model.facts import GroupFacts
from scheduler_core.model.jobs import Job
from scheduler_core.model.refusal import Refusal, Report
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why
from scheduler_core.session import helps, verdicts
from scheduler_core.session.combine import Ballot
from scheduler_core.session.session import Session

Source = Literal["shadow", "live", "simulate"]
_MS_IN_NS = 1_000_000


def of_session(session: Session, source: Source) -> list[Decision]:
    """Every decision of a session, jobs in order of their names; the last says that the session has closed."""
    made = Records(session, source)
    found = list(made.outside())
    loud = [uid for uid, job in session.jobs.items() if not made.quiet(job)]
    loud.sort()
    for uid in loud:
        made.of_job(session.jobs[uid], found)
    found += made.evictions()
    found.append(made.record("close"))
    return found


def ref_of(namespace: str, name: str, ref: JobRef | None) -> JobRef:
    """Who waits: what is known of the job, else its group."""
    return ref or JobRef("PodGroup", namespace, name, f"name:{namespace}/{name}")


class Counted(NamedTuple):
    """A report in words, made once however many tasks share it; `nodes` by the reason and resource that lead."""

    report: Report
    sets: tuple[FailureSet, ...]
    helps: tuple[str, ...]
    nodes: dict[tuple[str, str], int]


Kind = Literal["attribution", "enqueue", "bind", "pipeline", "evict", "discard", "diverged", "close"]


class Records:
    """Makes the records of one session."""

    def __init__(self, session: Session, source: Source) -> None:
        self.session = session
        self.source = source
        self.session_ms = session.now_ns // _MS_IN_NS
        self.codes = session.judges.codes
        self._counted: dict[int, Counted] = {}
        self._turns = verdicts.Turns(session)

    def record(
        self,
        kind: Kind,
        job: JobRef | None = None,
        task: Task | None = None,
        why: Why | None = None,
        node: str | None = None,
    ) -> Decision:
        """A record without counts."""
        return Decision(
            source=self.source,
            policy=self.session.policy.name,
            session_ms=self.session_ms,
            kind=kind,
            job=job,
            task=None if task is None else task.key,
            node=node,
            reason=None if why is None else why.reason,
            detail=None if why is None else why.detail or None,
            resource=None if why is None else why.resource or None,
            message="" if why is None else why.message,
        )

    def outside(self) -> Iterator[Decision]:
        """Groups that are not in the session at all."""
        for group, why in sorted(self.session.snapshot.outside, key=_name_of):
            yield self.record("attribution", ref_of(group.namespace, group.name, group.job), why=why)

    def quiet(self, job: Job) -> bool:
        """Whether nothing was decided about a job, as of most that run."""
        states = job.by_status
        return not (
            states[status.PENDING]
            or states[status.BINDING]
            or states[status.PIPELINED]
            or job.refusals
            or job.why is not None
            or job.uid in self.session.ballots
        )

    def of_job(self, job: Job, into: list[Decision]) -> None:
        """What was decided about a job and its tasks."""
        ref = ref_of(job.namespace, job.name, job.ref)
        ballot = self.session.ballots.get(job.uid)
        if ballot is not None:
            into.append(self._vote(ref, job, ballot))
        if job.by_status[status.BINDING]:
            self._bound(ref, job, into)
        if job.by_status[status.PIPELINED]:
            for task in self.session.orders.sorted_tasks(job.by_status[status.PIPELINED].values()):
                into.append(self._promised(ref, task))
        if job.by_status[status.PENDING] or job.why is not None:
            why = verdicts.of_job(self.session, job)
            if why is not None and (ballot is None or ballot.passed):
                into.append(self._waits(ref, job, why))
        if job.refusals:
            self._refused(ref, job, into)

    def _vote(self, ref: JobRef, job: Job, ballot: Ballot) -> Decision:
        if ballot.passed:
            return self.record("enqueue", ref)
        why = ballot.why
        found = self.record("enqueue", ref, why=why)
        if why is not None:
            found.helps = helps.of_quota(why)
        return found

    def _bound(self, ref: JobRef, job: Job, into: list[Decision]) -> None:
        """Most of all records: made with nothing but what they say."""
        binds, policy, source, session_ms = self.session.binds, self.session.policy.name, self.source, self.session_ms
        names = self.session.nodes.names
        into += [
            Decision(
                source=source, policy=policy, session_ms=session_ms, kind="bind",
                job=ref, task=task.key, node=names[task.row],
            )
            for task in self.session.orders.sorted_tasks(job.by_status[status.BINDING].values())
            if task.uid in binds
        ]  # fmt: skip

    def _promised(self, ref: JobRef, task: Task) -> Decision:
        node = self.session.nodes.names[task.row]
        found = self.record("pipeline", ref, task, node=node)
        found.message = f"it gets {node} when what is being released there has gone"
        return found

    def _waits(self, ref: JobRef, job: Job, why: Why) -> Decision:
        """The job's own record, with the counts of the refusal that speaks for it."""
        found = self.record("attribution", ref, why=why)
        refusal = next(
            (each for each in job.refusals.values() if each.report is not None and each.why.reason == why.reason), None
        )
        if refusal is not None and refusal.report is not None:
            self._count(found, refusal.report, why)
        else:
            found.helps = helps.of_quota(why)
        held = sum(len(kept.tasks) for kept in self.session.kept if kept.job is job) if self.session.kept else 0
        if held:
            found.message += f"; {held} places are held for it, unbound, until the session ends"
        before, last = self._turns.ahead(job)
        if last is not None:
            decided = verdicts.order(self.session, job, last)
            found.message += f"; {before} jobs of the queue went before it, {last.uid} by {decided.plugin}"
        return found

    def _refused(self, ref: JobRef, job: Job, into: list[Decision]) -> None:
        """Refused tasks; those of a role that were refused alike, and those of one quota refusal, are told once."""
        told: set[object] = set()
        waiting = [task for task in job.by_status[status.PENDING].values() if task.uid in job.refusals]
        for task in self.session.orders.sorted_tasks(waiting):
            refusal = job.refusals[task.uid]
            key = _alike(task, refusal)
            if key not in told:
                told.add(key)
                into.append(self._refusal(ref, job, task, refusal))

    def _refusal(self, ref: JobRef, job: Job, task: Task, refusal: Refusal) -> Decision:
        found = self.record("attribution", ref, task, why=verdicts.of_refusal(job, refusal))
        if refusal.report is not None:
            self._count(found, refusal.report, refusal.why)
        else:
            found.helps = helps.of_quota(refusal.why)
        return found

    def _count(self, found: Decision, report: Report, why: Why) -> None:
        counted = self._counted.get(id(report))
        if counted is None:
            counted = self._counted[id(report)] = self._decode(report)
        found.total_nodes = report.total
        found.failure_sets, found.helps = counted.sets, counted.helps
        nodes = counted.nodes.get((why.reason, why.resource))
        if nodes is None:
            nodes = counted.nodes[why.reason, why.resource] = self._nodes_of(report, why)
        found.nodes = nodes

    def _decode(self, report: Report) -> Counted:
        sets = tuple(
            FailureSet(tuple(check.name for check in self.codes.failed(code)), nodes) for code, nodes in report.counts
        )
        return Counted(
            report, sets, helps.of_report(report, self.session.axis, self.codes, self.session.nodes.names), {}
        )

    def _nodes_of(self, report: Report, why: Why) -> int:
        """Nodes for which the leading reason holds."""
        shortage = why.reason in (reasons.INSUFFICIENT_RESOURCE, reasons.FRAGMENTATION, reasons.OUTRANKED)
        place = self.session.axis.index.get(why.resource, -1) if shortage else -1
        if place >= 0:
            bit = self.codes.resource_bit(place)
            return sum(nodes for code, nodes in report.counts if code & bit)
        return sum(
            nodes for code, nodes in report.counts if any(each.reason == why.reason for each in self.codes.failed(code))
        )

    def evictions(self) -> Iterator[Decision]:
        """Pods that must go, in the order in which it was decided."""
        for each in self.session.evictions:
            job = each.task.job
            ref = None if job is None else ref_of(job.namespace, job.name, job.ref)
            found = self.record("evict", ref, each.task, node=self.session.nodes.names[each.task.row])
            found.message = each.reason if each.by is None else f"{each.reason} for {each.by.key}"
            yield found


def _name_of(outside: tuple[GroupFacts, Why]) -> tuple[str, str]:
    return outside[0].namespace, outside[0].name


def _alike(task: Task, refusal: Refusal) -> object:
    """Equal for tasks that one record speaks for. By what was found: whether it was found once or twice says nothing."""
    report = refusal.report
    if report is None:
        return refusal.why
    return task.role, report.counts, report.total, report.blockers, refusal.why
