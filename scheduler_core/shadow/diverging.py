"""Where the cluster's own scheduler decides otherwise than the shadow.

Two cases, each said once. The shadow had refused a pod, nothing eased since, and the pod got a node all the same. Or the
shadow would bind a pod, session after session, and for ten seconds nobody did. Of a job in the second case the shadow
says no reason until both agree again: what it would say of the rest rests on places that it alone believes in. The
truth is the cluster's in both: the next session works on what is really bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from pipeline.records import reasons
from pipeline.records.decisions import Decision
from pipeline.records.jobs import JobRef
from scheduler_core.cache.reading import PodSeen
from scheduler_core.shadow.said import Said

AFTER_MS = 10_000
"""How long a bind that nobody carries out is no disagreement yet."""
BOUND = "bound"
NOT_BOUND = "not_bound"
"""What the cluster's scheduler did: the detail of a `diverged` decision."""
_NO_VERDICT = (reasons.SCHEDULER_BACKLOG, reasons.WAITING_VICTIMS)
"""Of these the shadow itself expects an end at any time."""


class Disagreement(msgspec.Struct):
    """The shadow would bind tasks of a job: which and since when; `told` once that was written."""

    tasks: dict[str, int]
    told: bool = False


class Diverging:
    """Compares decisions with what became of them. `jobs`: open disagreements by job uid."""

    def __init__(self, jobs: dict[str, Disagreement] | None = None) -> None:
        self.jobs = jobs or {}

    @property
    def due_ms(self) -> int | None:
        """When a bind that nobody carries out becomes a disagreement."""
        waiting = [min(each.tasks.values()) for each in self.jobs.values() if not each.told]
        return min(waiting) + AFTER_MS if waiting else None

    def note(self, decision: Decision) -> None:
        """Takes in what the log says was written."""
        if decision.kind == "diverged" and decision.detail == NOT_BOUND and decision.job is not None:
            self.jobs[decision.job.uid] = Disagreement({}, told=True)

    def silenced(self, decision: Decision) -> bool:
        """Whether it is a reason of a job on which both disagree."""
        job = decision.job
        known = None if job is None else self.jobs.get(job.uid)
        return known is not None and known.told and decision.kind not in ("bind", "evict")

    def bound(self, pods: Iterable[PodSeen], said: Said, session_ms: int) -> Iterator[Decision]:
        """Of pods that got a node since the last session, with nothing eased: those that the shadow had refused."""
        for pod in pods:
            job, task = pod.job, f"{pod.facts.namespace}/{pod.facts.name}"
            if job is None:
                continue
            last = said.of(job.uid, task) or said.of(job.uid)
            if last is not None and last.kind == "attribution" and last.reason not in _NO_VERDICT:
                said.forget(job.uid)
                message = f"the cluster's scheduler bound {task} to {pod.facts.node}, the shadow had said {last.reason}"
                yield _diverged(last, job, session_ms, BOUND, message)

    def binds(self, decisions: Iterable[Decision], said: Said, session_ms: int) -> Iterator[Decision]:
        """Of a session's decisions: binds that nobody carries out."""
        now: dict[str, list[Decision]] = {}
        for each in decisions:
            if each.kind == "bind" and each.job is not None:
                now.setdefault(each.job.uid, []).append(each)
        for uid in [uid for uid in self.jobs if uid not in now]:
            del self.jobs[uid]
        for uid, made in now.items():
            known = self.jobs.setdefault(uid, Disagreement({}))
            known.tasks = {each.task or "": _since(known, each, said) for each in made}
            task, since_ms = min(known.tasks.items(), key=lambda item: (item[1], item[0]))
            if not known.told and session_ms - since_ms >= AFTER_MS:
                known.told = True
                said.forget(uid)
                first = next(each for each in made if (each.task or "") == task)
                message = (
                    f"the shadow would bind {task} to {first.node} since {(session_ms - since_ms) // 1000} s, "
                    "the cluster's scheduler does not"
                )
                assert first.job is not None
                yield _diverged(first, first.job, session_ms, NOT_BOUND, message)


def _since(known: Disagreement, bind: Decision, said: Said) -> int:
    """When the shadow began to bind this task: it was written then, also by an earlier run."""
    assert bind.job is not None
    since_ms = known.tasks.get(bind.task or "")
    if since_ms is not None:
        return since_ms
    last = said.of(bind.job.uid, bind.task or "")
    return last.session_ms if last is not None and last.kind == "bind" else bind.session_ms


def _diverged(like: Decision, job: JobRef, session_ms: int, what: str, message: str) -> Decision:
    """Of the whole job: a reader takes all that was said of it back."""
    return Decision(
        source=like.source, policy=like.policy, session_ms=session_ms, kind="diverged", job=job, detail=what,
        message=message,
    )  # fmt: skip
