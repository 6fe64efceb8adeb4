"""Volcano's pods, decided by a policy of Volcano's: one whole session a time, and a word for those that are in no gang."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pipeline.records import reasons
from pipeline.records.decisions import Decision
from pipeline.records.jobs import JobRef
from scheduler_core import decisions, scheduling
from scheduler_core.cache.following import Following
from scheduler_core.cache.mirror import VOLCANO, Mirror
from scheduler_core.cache.reading import PodSeen
from scheduler_core.model import status
from scheduler_core.model.policy import Policy
from scheduler_core.plugins.sla import Sla
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session

_NS_IN_MS = 1_000_000


class Volcano:
    """A decider for the pods whose scheduler is Volcano. `known` are all plugins there are, by name."""

    def __init__(self, policy: Policy, known: Mapping[str, type[Plugin]]) -> None:
        self.policy = policy
        self._known = known
        self.following = Following(VOLCANO)
        self.due_ms: int | None = None
        """When the next promise of a job that waits is over, which may let it in or keep its places."""

    def __call__(self, mirror: Mirror, session_ms: int) -> list[Decision]:
        """Every decision of a session; none while nothing waits."""
        self.due_ms = None
        if not mirror.waits(VOLCANO):
            return []
        session = scheduling.act(self.opened(mirror, session_ms))
        self.due_ms = _next_promise(session)
        hoping = {
            task.key
            for each in session.evictions
            if each.by is not None and each.by.job is not None
            for task in each.by.job.tasks.values()
        }
        found = [
            each
            for each in decisions.of_session(session, "shadow")
            if not (each.kind == "pipeline" and each.task in hoping)
        ]
        told = {each.job.uid for each in found if each.job is not None}
        found += (each for each in self._alone(mirror, session_ms) if each.job and each.job.uid not in told)
        return found

    def adopt(self, policy: Policy) -> None:
        """Sessions that open from now on are of this policy."""
        self.policy = policy

    def opened(self, mirror: Mirror, session_ms: int) -> Session:
        """A session on what the mirror knows, before anything is decided in it; it is over when the next one opens."""
        taken = self.following.snapshot(mirror)
        return scheduling.on_snapshot(taken, self.policy, session_ms * _NS_IN_MS, self._known)

    def _alone(self, mirror: Mirror, session_ms: int) -> Iterator[Decision]:
        """Jobs of pods that name no group, or one that is not there: Volcano does not look at them."""
        by_job: dict[JobRef, list[PodSeen]] = {}
        for pod in mirror.waiting(VOLCANO):
            if pod.job is not None and not mirror.groups_named(VOLCANO, pod.facts.group):
                by_job.setdefault(pod.job, []).append(pod)
        for job, pods in by_job.items():
            name = pods[0].facts.group
            what = (
                f"PodGroup {name} does not exist" if name else "its pods name no PodGroup, and there is none for them"
            )
            gated = all(pod.facts.gates for pod in pods)
            yield Decision(
                source="shadow",
                policy=self.policy.name,
                session_ms=session_ms,
                kind="attribution",
                job=job,
                reason=reasons.NOT_ADMITTED if gated else reasons.GANG_INCOMPLETE,
                detail="gated" if gated else "group_missing",
                message=f"{len(pods)} pods wait behind a scheduling gate" if gated else what,
            )


def _next_promise(session: Session) -> int | None:
    """The first whole millisecond after this session at which a promise of a job that waits is over."""
    sla = session.plugin(Sla.name)
    if not isinstance(sla, Sla):
        return None
    waiting = (job for job in session.jobs.values() if job.is_pending or job.by_status[status.PENDING])
    deadlines = (sla.deadline_ns(job) for job in waiting)
    return min((-(-at // _NS_IN_MS) for at in deadlines if at is not None and at > session.now_ns), default=None)
