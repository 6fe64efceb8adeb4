"""The transaction of an action: placements and evictions that are applied to the session at once and can all be undone.

`discard` undoes in reverse order and leaves the session exactly as it was, except that a bound task whose eviction is
undone counts as running, and that each task remembers where it was to be (`Task.last`), for the messages. `commit` makes
binds and evictions final. A statement that is neither committed nor discarded is kept: its places stay taken until the
session ends, and nothing is bound. The owner of a kept statement says so with `keep`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scheduler_core.model import status
from scheduler_core.model.tasks import NOWHERE, LastPlace, Task
from scheduler_core.session.session import Eviction, Kept, Session

EVICT: Final = "evict"
PIPELINE: Final = "pipeline"
ALLOCATE: Final = "allocate"


class Operation:
    """One step. `before` is the task's state before it, `text` the reason of an eviction, `by` for whom it was."""

    __slots__ = ("before", "by", "evicted", "kind", "row", "task", "text")

    def __init__(
        self,
        kind: str,
        task: Task,
        row: int,
        before: int,
        evicted: bool = False,
        text: str = "",
        by: Task | None = None,
    ) -> None:
        self.kind = kind
        self.task = task
        self.row = row
        self.before = before
        self.evicted = evicted
        self.text = text
        self.by = by


class Statement:
    """See above. A `dry` one is only tried out: undone, it leaves no trace at all."""

    def __init__(self, session: Session, *, dry: bool = False) -> None:
        self.session = session
        self.dry = dry
        self.operations: list[Operation] = []
        self._began = session.nodes.moment, session.nodes.changed

    def __len__(self) -> int:
        return len(self.operations)

    def evict(self, task: Task, text: str, by: Task | None = None) -> None:
        """A task begins to leave its node."""
        before = task.status
        self._move(task, status.RELEASING)
        self.session.nodes.release(task.row, task)
        self.session.tell_deallocated(task)
        self.operations.append(Operation(EVICT, task, task.row, before, text=text, by=by))

    def pipeline(self, task: Task, row: int, *, evicted: bool) -> None:
        """A task is promised a place where others are leaving."""
        self._move(task, status.PIPELINED)
        task.row = row
        self.session.nodes.promise(row, task)
        self.session.tell_allocated(task)
        self.operations.append(Operation(PIPELINE, task, row, status.PENDING, evicted))

    def allocate(self, task: Task, row: int) -> None:
        """A task gets free room."""
        self._move(task, status.ALLOCATED)
        task.row = row
        self.session.nodes.hold(row, task)
        self.session.tell_allocated(task)
        self.operations.append(Operation(ALLOCATE, task, row, status.PENDING))

    def allocate_together(self, tasks: Sequence[Task], rows: Sequence[int]) -> None:
        """Equal tasks of one job that the table holds already, each on its row, get free room."""
        job = tasks[0].job
        assert job is not None
        job.move_together(tasks, status.ALLOCATED)
        operations = self.operations
        for task, row in zip(tasks, rows, strict=True):
            task.row = row
            operations.append(Operation(ALLOCATE, task, row, status.PENDING))
        self.session.tell_allocated_together(tasks)

    def discard(self) -> None:
        """Undoes everything, last first. All is then as it was, so for orders nothing was released."""
        releases, steps = self.session.releases, len(self.operations)
        evicted = any(each.kind == EVICT for each in self.operations)
        together = self.session.undoes_together
        while self.operations:
            equal = self._last_equal() if together else 1
            if equal > 1:
                self._undo_allocated(self.operations[: -equal - 1 : -1])
                del self.operations[-equal:]
            else:
                operation = self.operations.pop()
                _UNDO[operation.kind](self, operation)
        self.session.releases = releases
        if steps and not evicted:
            self.session.nodes.undone(*self._began, steps)

    def _last_equal(self) -> int:
        """How many of the last operations gave equal tasks of one job free room."""
        last, found = self.operations[-1], 0
        if last.kind != ALLOCATE or last.task.job is None:
            return 0
        for each in reversed(self.operations):
            if each.kind != ALLOCATE or each.task.cls is not last.task.cls or each.task.job is not last.task.job:
                break
            found += 1
        return found

    def _undo_allocated(self, operations: Sequence[Operation]) -> None:
        """The same as `_undo_allocate` for each of some that gave equal tasks of one job free room."""
        tasks = [each.task for each in operations]
        job = tasks[0].job
        assert job is not None
        job.move_together(tasks, status.PENDING)
        self.session.nodes.give_back(tasks)
        self.session.tell_deallocated_together(tasks)
        for each in operations:
            self._forget_place(each, status.ALLOCATED)

    def commit(self) -> None:
        """Makes binds and evictions final."""
        bound: list[Task] = []
        for operation in self.operations:
            operation.task.last = None
            if operation.kind == EVICT:
                self.session.evictions.append(Eviction(operation.task, operation.text, operation.by))
            elif operation.kind == ALLOCATE:
                bound.append(operation.task)
        self.session.bind(bound)
        self.operations.clear()

    def keep(self) -> None:
        """Leaves everything applied and unbound until the session ends."""
        placed = [each.task for each in self.operations if each.kind != EVICT]
        if placed:
            job = placed[0].job
            assert job is not None
            self.session.kept.append(Kept(job, placed))

    def merge(self, other: Statement) -> None:
        """Takes over the operations of another statement."""
        self.operations += other.operations
        other.operations = []

    def saved(self) -> list[Operation]:
        """The operations, to be replayed after a discard."""
        return self.operations[:]

    def replay(self, saved: list[Operation]) -> None:
        """Applies saved operations again."""
        for operation in saved:
            if operation.kind == EVICT:
                self.evict(operation.task, operation.text, operation.by)
            elif operation.kind == PIPELINE:
                self.pipeline(operation.task, operation.row, evicted=operation.evicted)
            else:
                self.allocate(operation.task, operation.row)

    def _move(self, task: Task, state: int) -> None:
        if task.job is not None:
            task.job.move(task, state)
        else:
            task.status = state

    def _undo_evict(self, operation: Operation) -> None:
        """The task runs again, be it that it was only bound before: so upstream."""
        task = operation.task
        self._move(task, operation.before if self.dry else status.RUNNING)
        self.session.nodes.release(operation.row, task, -1)
        self.session.tell_allocated(task)
        if not self.dry:
            task.last = LastPlace(status.RELEASING, operation.row, False)

    def _undo_pipeline(self, operation: Operation) -> None:
        task = operation.task
        self._move(task, status.PENDING)
        self.session.nodes.promise(operation.row, task, -1)
        self.session.tell_deallocated(task)
        self._forget_place(operation, status.PIPELINED)

    def _undo_allocate(self, operation: Operation) -> None:
        task = operation.task
        self._move(task, status.PENDING)
        self.session.nodes.hold(operation.row, task, -1)
        self.session.tell_deallocated(task)
        self._forget_place(operation, status.ALLOCATED)

    def _forget_place(self, operation: Operation, state: int) -> None:
        operation.task.row = NOWHERE
        operation.task.last = LastPlace(state, operation.row, operation.evicted)


_UNDO: Final = {
    EVICT: Statement._undo_evict,
    PIPELINE: Statement._undo_pipeline,
    ALLOCATE: Statement._undo_allocate,
}
