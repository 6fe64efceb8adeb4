"""What is known of a refusal: a report of a class over all nodes, the refusal of one task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler_core.model.checks import Blocker
from scheduler_core.model.why import Why

if TYPE_CHECKING:
    from scheduler_core.model.tasks import Task


class Report:
    """What nodes said of a class. `counts` are (code, nodes), most nodes first; `total` nodes were looked at, `usable`
    of them in the session. `blockers` the smallest change first. `unresolvable` masks rows no eviction would free; None
    where nobody may ask, since no action of the policy evicts.

    One that is made in a session is counted at once and told from its counts when it is first asked for
    (`session.refusals.Counted`).
    """

    __slots__ = ("_blockers", "_why", "counts", "total", "unresolvable", "usable")

    def __init__(
        self, counts: tuple[tuple[int, int], ...], total: int, usable: int, blockers: tuple[Blocker, ...] | None,
        why: Why | None, unresolvable: Any,
    ) -> None:  # fmt: skip
        self.counts = counts
        self.total = total
        self.usable = usable
        self._blockers = blockers
        self._why = why
        self.unresolvable = unresolvable

    @property
    def blockers(self) -> tuple[Blocker, ...]:
        """What alone keeps nodes shut."""
        assert self._blockers is not None
        return self._blockers

    @property
    def why(self) -> Why:
        """The reason that leads."""
        assert self._why is not None
        return self._why

    def why_of(self, alike: tuple[int, int]) -> Why:
        """The reason of a task, of whose job so many tasks like it wait, and so many had a place by then."""
        return self.why


class Refusal:
    """Why a task was not placed. `report` if nodes refused it. `placed` of its gang had a place by then, and of tasks like
    it `alike` waited and had one.

    `text` is what Volcano says instead of node counts, `domain` the part of the network that was tried. `never` masks rows
    no eviction would free, where tasks of its role have said more of them than its report.
    """

    __slots__ = ("_why", "alike", "domain", "never", "placed", "report", "task", "text")

    def __init__(
        self, task: Task, why: Why | None, report: Report | None = None, placed: int = 0, text: str = "",
        alike: tuple[int, int] | None = None,
    ) -> None:  # fmt: skip
        self.task = task
        self._why = why
        self.report = report
        self.placed = placed
        self.text = text
        self.alike = alike
        self.domain = ""
        self.never: Any = None

    @property
    def why(self) -> Why:
        """What was given, else what the report says."""
        why = self._why
        if why is None:
            assert self.report is not None
            why = self._why = self.report.why if self.alike is None else self.report.why_of(self.alike)
        return why

    @property
    def unresolvable(self) -> Any:
        """Rows that no eviction would free, as far as nodes were asked for this very task."""
        if self.report is None or self.text:
            return None
        return self.report.unresolvable if self.never is None else self.never
