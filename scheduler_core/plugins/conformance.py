"""conformance: pods that the cluster itself needs are never victims.

Those are pods of the two system priority classes and all of the namespace kube-system.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler_core.model.tasks import Task
from scheduler_core.session.plugin import Plugin


class Conformance(Plugin):
    name = "conformance"

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> Iterable[Task]:
        return [task for task in candidates if not task.critical]

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> Iterable[Task]:
        return [task for task in candidates if not task.critical]
