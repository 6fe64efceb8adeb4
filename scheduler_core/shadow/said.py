"""What was said last of every job and task, so that only news is written.

A decision stands until the next about the same job or task. So an unchanged one is not written again; one whose reason
is another is written at once; one in which only figures or words moved waits until ten seconds after the last. What
stood and is not said any more is taken back with a `discard`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from pipeline.records.decisions import Decision

FIGURES_MS = 10_000
"""How long new figures of a reason that stands already may wait."""
_STANDING = ("attribution", "enqueue", "pipeline")

Slot = tuple[str, str, str]
"""Job uid, task, and what kind of thing is said of it: two things of different kinds may be true together."""


class Line(msgspec.Struct):
    """A decision that was written, and when."""

    decision: Decision
    written_ms: int


def slot_of(decision: Decision) -> Slot:
    """Where a decision replaces what was said before."""
    job = "" if decision.job is None else decision.job.uid
    kind = decision.kind
    what = kind if kind in ("evict", "diverged", "close") else "entry" if _lets_in(decision) else "stand"
    return job, decision.task or "", what


def stands(decision: Decision) -> bool:
    """Whether it is a reason to wait, which holds until it is replaced or taken back."""
    return decision.kind in _STANDING and not _lets_in(decision)


def _lets_in(decision: Decision) -> bool:
    return decision.kind == "enqueue" and decision.reason is None


class Said:
    """The lines that stand. `due_ms`: when new figures that wait may be written; None if there are none."""

    def __init__(self, lines: Iterable[Line] = (), due_ms: int | None = None) -> None:
        self._lines = {slot_of(line.decision): line for line in lines}
        self.due_ms = due_ms

    def lines(self) -> list[Line]:
        """All that stands, for a snapshot."""
        return list(self._lines.values())

    def of(self, job_uid: str, task: str = "") -> Decision | None:
        """What was said last of a job or task, besides its entry and evictions."""
        line = self._lines.get((job_uid, task, "stand"))
        return None if line is None else line.decision

    def note(self, decision: Decision) -> None:
        """Takes in what the log says was written."""
        if decision.kind == "close":
            return
        slot = slot_of(decision)
        if decision.kind == "diverged":
            self.forget(slot[0])
            return
        if slot[2] == "entry":
            self._lines.pop((slot[0], "", "stand"), None)
        if decision.kind == "discard":
            self._lines.pop(slot, None)
        else:
            self._lines[slot] = Line(decision, decision.session_ms)

    def forget(self, job_uid: str) -> None:
        """Nothing of what was said of a job stands any more."""
        for slot in [slot for slot in self._lines if slot[0] == job_uid]:
            del self._lines[slot]

    def news(self, decisions: Iterable[Decision], session_ms: int) -> list[Decision]:
        """What has to be written of a session's decisions, in their order; first what is taken back."""
        self.due_ms = None
        told: dict[Slot, Decision] = {slot_of(each): each for each in decisions}
        found = list(self._taken_back(told, session_ms))
        for slot, decision in told.items():
            if self._is_news(slot, decision, session_ms):
                self._lines[slot] = Line(decision, session_ms)
                found.append(decision)
                if slot[2] == "entry":  # its readers take a reason of the job back with it
                    self._lines.pop((slot[0], "", "stand"), None)
        return found

    def _is_news(self, slot: Slot, decision: Decision, session_ms: int) -> bool:
        line = self._lines.get(slot)
        if line is None or _reason(line.decision) != _reason(decision):
            return True
        if _figures(line.decision) == _figures(decision) or not stands(decision):
            return False
        due_ms = line.written_ms + FIGURES_MS
        if session_ms >= due_ms:
            return True
        self.due_ms = due_ms if self.due_ms is None else min(self.due_ms, due_ms)
        return False

    def _taken_back(self, told: dict[Slot, Decision], session_ms: int) -> Iterator[Decision]:
        for slot in [slot for slot in self._lines if slot not in told]:
            last = self._lines.pop(slot).decision
            if stands(last):
                yield Decision(
                    source=last.source, policy=last.policy, session_ms=session_ms, kind="discard", job=last.job,
                    task=last.task, message="nothing holds it any more",
                )  # fmt: skip


def _reason(decision: Decision) -> tuple[object, ...]:
    """What is another decision if it is another; which of many nodes a bind takes is no news."""
    node = None if decision.kind == "bind" else decision.node
    return decision.policy, decision.kind, decision.job, node, decision.reason, decision.detail, decision.resource


def _figures(decision: Decision) -> tuple[object, ...]:
    return decision.nodes, decision.total_nodes, decision.message, decision.failure_sets, decision.helps
