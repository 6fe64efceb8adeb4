"""What is known of a refusal: checks of nodes, a report of a class over all nodes, the refusal of one task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from scheduler_core.model.why import Why

if TYPE_CHECKING:
    from scheduler_core.model.tasks import Task

UNSCHEDULABLE = "Unschedulable"
UNRESOLVABLE = "UnschedulableAndUnresolvable"
"""A node refused with this code is not freed by evicting anybody."""


class Check(msgspec.Struct, frozen=True, gc=False):
    """A filter of nodes: its name and code as Volcano writes them, its text, and the reason it stands for.

    `lifted` says of several nodes, in the past tense, how they would have to be to pass ("were not cordoned").
    """

    name: str
    code: str
    text: str
    reason: str
    lifted: str = ""


class Blocker(msgspec.Struct, frozen=True):
    """A check that alone keeps `nodes` nodes from taking the task.

    For a resource, `place` is its place on the axis, and `short` the least amount that is missing, on row `row`.
    `asked` is the request of it. For other checks place is -1 and `row` the first such node.
    """

    check: Check
    nodes: int
    place: int = -1
    short: int = 0
    asked: int = 0
    row: int = -1

    @property
    def size(self) -> float:
        """How much has to change: the share of the request that is missing; a rule that must go counts as all."""
        return self.short / self.asked if self.place >= 0 and self.asked else 1.0


class Report(msgspec.Struct, frozen=True):
    """What nodes said of a class. `counts` are (code, nodes), most nodes first; `total` nodes were looked at, `usable`
    of them in the session. `blockers` the smallest change first. `unresolvable` masks rows no eviction would free.

    `others` remembers, by (tasks waiting, tasks placed), whether other jobs are the reason.
    """

    counts: tuple[tuple[int, int], ...]
    total: int
    usable: int
    blockers: tuple[Blocker, ...]
    why: Why
    unresolvable: Any
    others: dict[tuple[int, int], str] = msgspec.field(default_factory=dict)


class Refusal(msgspec.Struct):
    """Why a task was not placed. `report` if nodes refused it. `placed` of its gang had a place by then.

    `text` is what Volcano says instead of node counts, `domain` the part of the network that was tried.
    """

    task: Task
    why: Why
    report: Report | None = None
    placed: int = 0
    text: str = ""
    domain: str = ""

    @property
    def unresolvable(self) -> Any:
        """Rows that no eviction would free, as far as nodes were asked for this very task."""
        return None if self.report is None or self.text else self.report.unresolvable
