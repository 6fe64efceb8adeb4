"""The texts that Volcano would write: of a task's nodes, of its group, and on the pod's condition.

A node may have several reasons, so counts can add up to more than the number of nodes. Items are sorted as text ("10 x"
comes before "2 y"), as upstream sorts them; a reader that parses Volcano's messages finds the same words here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from scheduler_core.model import status
from scheduler_core.model.jobs import Job
from scheduler_core.model.refusal import Refusal
from scheduler_core.model.tasks import Task
from scheduler_core.session.codes import NOT_READY, Codes

ALL_UNAVAILABLE: Final = "all nodes are unavailable"
SCHEDULABLE: Final = "Schedulable"
UNSCHEDULABLE: Final = "Unschedulable"


def fit_errors(nodes: Iterable[Sequence[str]], custom: str = "", domain: str = "") -> str:
    """The text of a task that no node takes: its nodes, each with its reasons, or a text instead of the number of nodes."""
    listed = list(nodes)
    counts = Counter(reason for reasons in listed for reason in reasons)
    return _fit_errors(len(listed), counts, custom, domain)


def _fit_errors(nodes: int, counts: Mapping[str, int], custom: str, domain: str) -> str:
    base = custom or (f"0/{nodes} nodes are unavailable" if nodes or counts else ALL_UNAVAILABLE)
    text = f"In hyperNode {domain}: {base}" if domain else base
    if not counts:
        return text
    return f"{text}: " + ", ".join(sorted(f"{number} {reason}" for reason, number in counts.items())) + "."


def of_refusal(refusal: Refusal, codes: Codes) -> str:
    """The text of a refused task."""
    if refusal.text or refusal.report is None:
        return _fit_errors(0, {}, refusal.text or refusal.why.message, refusal.domain)
    counts: Counter[str] = Counter()
    nodes = 0
    for code, number in refusal.report.counts:
        failed = [check for check in codes.as_volcano(code) if check is not NOT_READY]
        if failed:
            nodes += number
            for check in failed:
                counts[check.text] += number
    return _fit_errors(nodes, counts, "", refusal.domain)


class TaskWords(NamedTuple):
    """What the condition PodScheduled says of a task: its reason and its message."""

    reason: str
    message: str


class Words:
    """The words about one job. `errors` are the texts of its refused tasks by uid; `nodes` the names of rows."""

    def __init__(self, job: Job, nodes: Sequence[str], errors: Mapping[str, str], job_text: str = "") -> None:
        self.job = job
        self.nodes = nodes
        self.errors = errors
        self.job_text = job_text

    def group(self) -> str:
        """The group's fit error."""
        job = self.job
        ready = job.ready + job.pending_best_effort >= job.min_member
        counts = [f"{len(tasks)} {status.NAMES[state]}" for state, tasks in enumerate(job.by_status) if tasks]
        counts.append(f"{job.min_member} minAvailable")
        text = f"pod group is {'ready' if ready else 'not ready'}, " + ", ".join(sorted(counts))
        waiting = Counter(self._chance(task) for task in job.pending())
        if waiting:
            text += "; Pending: " + ", ".join(sorted(f"{number} {name}" for name, number in waiting.items()))
        return text + self._origin()

    def _chance(self, task: Task) -> str:
        last = task.last
        return SCHEDULABLE if last is not None and last.status == status.ALLOCATED else UNSCHEDULABLE

    def _origin(self) -> str:
        """The reason of one refused task; always the first in order of uid, where upstream takes any."""
        if self.job_text:
            return f". Origin reason is: {self.job_text}"
        for uid in sorted(self.errors):
            task = self.job.tasks.get(uid)
            if task is not None:
                return f". Origin reason is {task.name}: {self.errors[uid]}"
        return ""

    def task(self, task: Task) -> TaskWords:
        """What is said of a task that is allocated, promised a place, or waiting."""
        state, row = task.status, task.row
        if state == status.PENDING and task.last is not None:
            state, row = task.last.status, task.last.row
        where = f"Pod {task.key} can possibly be assigned to "
        if state == status.ALLOCATED:
            return TaskWords(SCHEDULABLE, f"{where}{self.nodes[row]}, once minAvailable is satisfied")
        if state == status.PIPELINED:
            text = f"{where}{self.nodes[row]}, once resource is released and minAvailable is satisfied"
            return TaskWords(UNSCHEDULABLE, text)
        return TaskWords(UNSCHEDULABLE, self.errors.get(task.uid) or self.group() or ALL_UNAVAILABLE)

    def unschedulable(self) -> int:
        """How many of the minimum are missing, not counting tasks that a rolled back gang had placed."""
        job = self.job
        chances = sum(self._chance(task) == SCHEDULABLE for task in job.pending())
        return job.min_member - (job.ready + chances)
