"""Where the cluster's own scheduler decides otherwise than the shadow.

Two cases, each said once. The shadow had refused a pod, nothing eased, and the pod got a node all the same. Or the shadow
would place a pod, session after session, and for a while nobody did. Of a job in the second case the shadow says no
reason until both agree again: what it would say of the rest rests on places that it alone believes in. The truth is the
cluster's in both: the next session works on what is really bound.

Watches of different kinds are not in step with each other, so a node may be told to be ready after a pod was told to be
on it. What eases within a second after the bind counts as before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from pipeline.records import reasons
from pipeline.records.decisions import Decision
from pipeline.records.jobs import JobRef
from scheduler_core.cache.reading import PodSeen
from scheduler_core.shadow.said import Said

AFTER_MS = 15_000
"""How long a place that nobody takes is no disagreement yet: schedulers back off up to ten seconds."""
SURE_MS = 1000
"""How long a contradiction waits for what may explain it."""
BOUND = "bound"
NOT_BOUND = "not_bound"
"""What the cluster's scheduler did: the detail of a `diverged` decision."""
_HANG_ON_PODS = (
    reasons.SCHEDULER_BACKLOG, reasons.WAITING_VICTIMS, reasons.GANG_INCOMPLETE, reasons.NOT_ADMITTED,
    reasons.POD_AFFINITY, reasons.TOPOLOGY_SPREAD,
)  # fmt: skip
"""Reasons that end when other pods come or are placed, so that a bind contradicts nothing."""


class Disagreement(msgspec.Struct):
    """The shadow would place tasks of a job: which and since when; `told` once that was written."""

    tasks: dict[str, int]
    told: bool = False


class Suspect(msgspec.Struct):
    """A pod that was bound although the shadow had refused it, by what it had said last."""

    at_ms: int
    job: JobRef
    task: str
    node: str
    said: Decision


class Open(msgspec.Struct):
    """All that is not settled: disagreements by job uid, and contradictions that are not sure yet."""

    jobs: dict[str, Disagreement] = {}
    suspects: list[Suspect] = []


class Diverging:
    """Compares decisions with what became of them."""

    def __init__(self, open_: Open | None = None) -> None:
        self.open = open_ or Open()

    @property
    def due_ms(self) -> int | None:
        """When a disagreement or a contradiction becomes one; None while there is none."""
        waiting = [min(each.tasks.values()) + AFTER_MS for each in self.open.jobs.values() if not each.told]
        return min([*waiting, *(each.at_ms + SURE_MS for each in self.open.suspects)], default=None)

    def note(self, decision: Decision) -> None:
        """Takes in what the log says was written."""
        if decision.kind == "diverged" and decision.detail == NOT_BOUND and decision.job is not None:
            self.open.jobs[decision.job.uid] = Disagreement({}, told=True)

    def silenced(self, decision: Decision) -> bool:
        """Whether it is a reason of a job on which both disagree."""
        known = None if decision.job is None else self.open.jobs.get(decision.job.uid)
        return known is not None and known.told and decision.kind not in ("bind", "evict")

    # --- refused, and bound -----------------------------------------------------------------------------------------------

    def bound(self, pod: PodSeen, said: Said, at_ms: int) -> None:
        """A pod got a node, with nothing eased since the last session."""
        if pod.job is None:
            return
        task = f"{pod.facts.namespace}/{pod.facts.name}"
        last = said.of(pod.job.uid, task) or said.of(pod.job.uid)
        if last is not None and last.kind == "attribution" and last.reason not in _HANG_ON_PODS:
            self.open.suspects.append(Suspect(at_ms, pod.job, task, pod.facts.node, last))

    def eased(self, at_ms: int) -> None:
        """Something changed that explains binds of the last second."""
        self.open.suspects = [each for each in self.open.suspects if each.at_ms + SURE_MS < at_ms]

    def contradicted(self, said: Said, session_ms: int) -> Iterator[Decision]:
        """Binds against what the shadow had said, of each job the first."""
        sure = [each for each in self.open.suspects if each.at_ms + SURE_MS <= session_ms]
        self.open.suspects = [each for each in self.open.suspects if each.at_ms + SURE_MS > session_ms]
        for each in {suspect.job.uid: suspect for suspect in reversed(sure)}.values():
            said.forget(each.job.uid)
            message = (
                f"the cluster's scheduler bound {each.task} to {each.node}, the shadow had said {each.said.reason}"
            )
            yield _diverged(each.said, each.job, session_ms, BOUND, message)

    # --- placed here, and not there ---------------------------------------------------------------------------------------

    def binds(self, decisions: Iterable[Decision], said: Said, session_ms: int) -> Iterator[Decision]:
        """Of a session's decisions: places that nobody takes."""
        now: dict[str, list[Decision]] = {}
        for each in decisions:
            if each.kind == "bind" and each.job is not None:
                now.setdefault(each.job.uid, []).append(each)
        for uid in [uid for uid in self.open.jobs if uid not in now]:
            del self.open.jobs[uid]
        for uid, made in now.items():
            known = self.open.jobs.setdefault(uid, Disagreement({}))
            known.tasks = {each.task or "": _since(known, each, said) for each in made}
            task, since_ms = min(known.tasks.items(), key=lambda item: (item[1], item[0]))
            if not known.told and session_ms - since_ms >= AFTER_MS:
                known.told = True
                said.forget(uid)
                yield _not_bound(next(each for each in made if (each.task or "") == task), since_ms, session_ms)


def _since(known: Disagreement, bind: Decision, said: Said) -> int:
    """When the shadow began to place this task: it was written then, also by an earlier run."""
    assert bind.job is not None
    since_ms = known.tasks.get(bind.task or "")
    if since_ms is not None:
        return since_ms
    last = said.of(bind.job.uid, bind.task or "")
    return last.session_ms if last is not None and last.kind == "bind" else bind.session_ms


def _not_bound(bind: Decision, since_ms: int, session_ms: int) -> Decision:
    assert bind.job is not None
    where = f" to {bind.node}" if bind.node else ""
    seconds = (session_ms - since_ms) // 1000
    message = f"the shadow would bind {bind.task}{where} since {seconds} s, the cluster's scheduler does not"
    return _diverged(bind, bind.job, session_ms, NOT_BOUND, message)


def _diverged(like: Decision, job: JobRef, session_ms: int, what: str, message: str) -> Decision:
    """Of the whole job: a reader takes all that was said of it back."""
    return Decision(
        source=like.source, policy=like.policy, session_ms=session_ms, kind="diverged", job=job, detail=what,
        message=message,
    )  # fmt: skip
