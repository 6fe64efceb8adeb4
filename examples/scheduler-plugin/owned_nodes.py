"""owned-nodes: a node whose label names a queue takes tasks of that queue only; nodes without the label take everyone's.

The label is the argument `owned-nodes.label`, `example.com/queue` if it is not given. Labels do not change in a session,
so the rows of each queue are found once, when the session opens.
"""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.records import reasons
from scheduler_core.model.cells import Bools
from scheduler_core.model.checks import UNRESOLVABLE, Check
from scheduler_core.model.tasks import Task, TaskClass
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session

FOREIGN = Check(
    "OwnedNodes",
    UNRESOLVABLE,
    "node(s) belonged to another queue",
    reasons.NODE_AFFINITY,
    "were its queue's or nobody's",
)
"""Evicting somebody does not change a label, so the code is the unresolvable one."""


class OwnedNodes(Plugin):
    name = "owned-nodes"
    arguments_known = ("owned-nodes.label",)

    def open(self, session: Session) -> None:
        label = self.arguments.get("owned-nodes.label") or "example.com/queue"
        owner, queues = session.nodes.by_label.column(label)
        self.owned: Bools = owner >= 0
        self.of_queue: dict[str, Bools] = {queue: owner == number for number, queue in enumerate(queues)}

    def looks_elsewhere(self, cls: TaskClass) -> bool:
        return bool(self.owned.any())

    def table_filters(self, task: Task) -> Iterable[tuple[Check, Bools]] | None:
        if task.job is None:
            return None
        own = self.of_queue.get(task.job.queue.name)
        return [(FOREIGN, self.owned if own is None else self.owned & ~own)]
