"""The node table: one row for each node, sorted by pool, spine, rack and name, so that a domain is a slice.

How a row stands is the number of a state (`states`); what belongs to a row alone (its name, labels, the tasks on it) is
here. Who wants all rows as columns of cells asks for them (`settle`): they are brought up to date when asked for.

Every change of a row is noted in `changes`. Who derives something from the table remembers how far it has read (`changed`)
and looks again only at rows noted since. What holds of the table as a whole holds at a `moment`: all that was undone leads
back to the moment of before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from pipeline.records.matching import Traits
from scheduler_core.model import status
from scheduler_core.model.cells import Bools, Columns, Ints, Picked, Row
from scheduler_core.model.labels import LabelColumns, Taints
from scheduler_core.model.resources import Axis, Resource
from scheduler_core.model.states import APPEAR, HOLD, PROMISE, RELEASE, Shift, States
from scheduler_core.model.tasks import Task

_FEW_CHANGES: Final = 64
"""Up to so many changes are forgotten one by one; above, as arrays."""
_SPARE: Final = 256
"""So many states more than at first, and twice as many, are kept from session to session."""


class NodeTable:
    """All nodes of a snapshot. `usable` masks those that are ready; the others (`closed`) are kept only to be counted.

    `state` has the number of each row's state. `track_pods` says whether changes in the session reach `present`, `pods` and
    `scored`: whoever filters by pods switches it on (in Volcano the predicates plugin keeps them). With `forgets` a pod whose
    eviction was undone stays gone for them, as in Volcano.
    """

    def __init__(
        self, axis: Axis, traits: Sequence[Traits], soft: Sequence[Taints], usable: Bools, cordoned: Bools
    ) -> None:
        count = len(traits)
        self.axis = axis
        self.names = [node.name for node in traits]
        self.rows = {name: row for row, name in enumerate(self.names)}
        self.by_label = LabelColumns(traits, soft, usable, cordoned)
        self.usable = usable
        self.closed: Bools = ~usable
        self.usable_count = int(np.count_nonzero(usable))
        self.any_cordoned = bool(cordoned.any())
        self.cordoned = cordoned
        self.tasks: list[dict[str, Task]] = [{} for _ in range(count)]
        self.columns = Columns(np.zeros((5 * len(axis) + 3, count), dtype=np.int64), len(axis))
        self.alloc: Ints = self.columns.alloc
        self.track_pods = False
        self.forgets = False
        self.states = States(self.columns)
        self.state: Ints = np.zeros(0, dtype=np.int64)
        self.changes: Ints = np.zeros(1024, dtype=np.int64)
        self.changed = 0
        self._again = (-1, -1)
        self.last = -1
        self._mark: Bools = np.zeros(count, dtype=np.bool_)
        self._gone: set[str] = set()
        self._may_return: set[str] = set()
        self._opening: Ints | None = None
        self._opened: Columns | None = None
        self._settled = 0
        self._least_states = 0
        self._total: Resource | None = None
        self._seated: list[int] = []
        self.released = False

    def __len__(self) -> int:
        return len(self.names)

    @property
    def total(self) -> Resource:
        """What all usable nodes have."""
        if self._total is None:
            self._total = self._sum_of_all()
        return self._total.copy()

    def _sum_of_all(self) -> Resource:
        sums = self.alloc[:, self.usable].sum(axis=1)
        named = sum(1 << place for place, amount in enumerate(sums) if amount)
        return Resource([int(amount) for amount in sums], named)

    @property
    def used(self) -> Resource:
        """What is held on all usable nodes."""
        sums = (self.alloc - self.settle().idle)[:, self.usable].sum(axis=1)
        return Resource([int(amount) for amount in sums], self.axis.all_named)

    # --- one row ---------------------------------------------------------------------------------------------------

    def row(self, at: int) -> Row:
        """The row as plain integers, as it stands now."""
        return self.states.row(self.state.item(at))

    def settle(self) -> Columns:
        """All rows as columns, brought up to date."""
        self._seat()
        if self._settled != self.changed:
            rows = self.changed_since(self._settled)
            self.columns.block[:, rows] = self.states.block[:, self.state[rows]]
            self._settled = self.changed
        return self.columns

    def some(self, rows: Ints) -> Picked:
        """These rows as arrays, in this order."""
        return Picked(self.columns, self.states.block.take(self.state[rows], axis=1))

    # --- changes in a session ----------------------------------------------------------------------------------------

    def hold(self, at: int, task: Task, sign: int = 1) -> int:
        """A task takes free room of a node (or gives it back, sign -1); the state after that."""
        self._note(at, task, sign)
        return self._shift(at, self.taking(task, sign))

    def taking(self, task: Task, sign: int = 1) -> Shift:
        """What holding a node for a task (or giving it back, sign -1) changes; equal tasks change the same."""
        return self.states.shift(HOLD, task.cls.demand, sign, self.track_pods)

    def take(self, at: int, task: Task, taking: Shift) -> int:
        """`hold` for one of many equal tasks, with what that changes."""
        self.tasks[at][task.uid] = task
        return self._shift(at, taking)

    def take_alike(self, state: int, rows: Ints, tasks: Sequence[Task], taking: Shift) -> Ints:
        """`take` for equal tasks, one on each of these rows, as far as the rows stand in a state; which that are."""
        rows = rows[: len(tasks)]
        if not len(rows):
            return rows
        alike = self.state.take(rows) == state
        first = int(alike.argmin())  # the first that is not, or, if all are, the first
        if not alike.item(first):
            rows = rows[:first]
            if not first:
                return rows
        self.state[rows] = self.states.after(state, taking)
        for row, task in zip(rows.tolist(), tasks, strict=False):
            self.tasks[row][task.uid] = task
        self._note_all(rows)
        return rows

    def _note_all(self, rows: Ints) -> None:
        """Notes that some rows have changed, one after the other."""
        end = self.changed + len(rows)
        if end > len(self.changes):
            self.changes = np.concatenate([self.changes, np.zeros(end, dtype=np.int64)])
        self.changes[self.changed : end] = rows
        self.changed, self.last = end, rows.item(-1)

    def give_back(self, tasks: Sequence[Task]) -> None:
        """Equal tasks, each on its row, give their room back."""
        giving = self.taking(tasks[0], -1)
        for task in tasks:
            del self.tasks[task.row][task.uid]
            self._shift(task.row, giving)

    def promise(self, at: int, task: Task, sign: int = 1) -> None:
        """A task is promised room that is being released (or the promise is withdrawn)."""
        self._note(at, task, sign)
        self._shift(at, self.states.shift(PROMISE, task.cls.demand, sign, self.track_pods))

    def release(self, at: int, task: Task, sign: int = 1) -> None:
        """A task that holds room begins to leave (or stays after all)."""
        self.released = True
        self._shift(at, self.states.shift(RELEASE, task.cls.demand, sign, tracked=False))
        if self.track_pods:
            self._leave(at, task, sign)

    def _leave(self, at: int, task: Task, sign: int) -> None:
        """A pod is gone for checks as soon as it is evicted; it comes back with an undone eviction unless those are forgotten."""
        uid = task.uid
        if sign > 0 and uid not in self._gone:
            self._gone.add(uid)
            if not self.forgets:
                self._may_return.add(uid)
        elif sign < 0 and uid in self._may_return:
            self._may_return.discard(uid)
            self._gone.discard(uid)
        else:
            return
        self._shift(at, self.states.shift(APPEAR, task.cls.demand, -sign, tracked=True))

    def is_gone(self, task: Task) -> bool:
        """Whether checks see the pod as evicted."""
        return task.uid in self._gone

    def _note(self, at: int, task: Task, sign: int) -> None:
        if sign > 0:
            self.tasks[at][task.uid] = task
        else:
            del self.tasks[at][task.uid]

    def _shift(self, at: int, shift: Shift) -> int:
        """Changes the state of a row, and notes it."""
        state = shift.after.get(self.state.item(at))
        if state is None:
            state = self.states.after(self.state.item(at), shift)
        self.state[at] = state
        changed = self.changed
        if changed == len(self.changes):
            self.changes = np.concatenate([self.changes, np.zeros(changed, dtype=np.int64)])
        self.changes[changed] = self.last = at
        self.changed = changed + 1
        return state

    def undone(self, moment: int, changed: int, steps: int) -> None:
        """So many steps were taken since this moment, when `changed` was this, and each of them was taken back: the moment
        has come again if nothing else has changed since."""
        if self.changed == changed + 2 * steps:
            self._again = (self.changed, moment)

    @property
    def moment(self) -> int:
        """Equal whenever all rows stand as they stood."""
        changed, moment = self._again
        return moment if changed == self.changed else self.changed

    def changed_since(self, seen: int) -> Ints:
        """Rows noted since `changed` was `seen`, each once, in order."""
        mark = self._mark
        mark[self.changes[seen : self.changed]] = True
        rows = np.flatnonzero(mark)
        mark[rows] = False
        return rows

    # --- opening -----------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Takes the rows as they stand in the columns for what they are when a session opens."""
        if self._opening is None:
            self.state = self.states.of_all(self.columns.block)
            self._least_states = self.states.count
            self._opening = self.state.copy()

    @property
    def opening_states(self) -> Ints:
        """The state of each row when the session opened."""
        assert self._opening is not None
        return self._opening

    @property
    def opening(self) -> Columns:
        """The columns as they were when the session opened, whatever it has done since."""
        if self._opened is None:
            assert self._opening is not None
            self._opened = Columns(self.states.block.take(self._opening, axis=1), len(self.axis))
        return self._opened

    def reopen(self) -> None:
        """Forgets what a session did with the rows; which tasks are on a node, `unplace` forgets."""
        opening = self._opening
        assert opening is not None
        if self._settled or self.changed > _FEW_CHANGES:
            rows = self.changed_since(0)
            self.state[rows] = opening[rows]
            self.columns.block[:, rows] = self.states.block[:, self.state[rows]]
        else:
            for row in self.changes[: self.changed].tolist():
                self.state[row] = opening.item(row)
        self.released = False
        self._gone.clear()
        self._may_return.clear()
        self.changed = self._settled = 0
        self._again = (-1, -1)
        self.last = -1
        self.track_pods = self.forgets = False
        if self.states.count > 2 * self._least_states + _SPARE:
            self._renumber()

    def _renumber(self) -> None:
        """Forgets states in which no row is."""
        self._seat()
        self.states = States(self.columns)
        self._opening = None
        self.open()

    def unplace(self, task: Task) -> None:
        """Takes a task off the row that a session gave it."""
        if task.row != task.opening_row and task.row >= 0:
            self.tasks[task.row].pop(task.uid, None)

    def seat_one(self, task: Task, sign: int) -> None:
        """Puts a task on its node between sessions (or takes it off, sign -1)."""
        assert self._opening is not None
        row, states, demand = task.opening_row, self.states, task.cls.demand
        state = states.after(self.state.item(row), states.shift(HOLD, demand, sign, tracked=True))
        if task.opening_status == status.RELEASING:
            state = states.after(state, states.shift(RELEASE, demand, sign, tracked=False))
        self.state[row] = self._opening[row] = state
        self._seated.append(row)
        self._opened = None
        self._note(row, task, sign)

    def _seat(self) -> None:
        """Brings the columns up to date with tasks that were put on their nodes one by one before the session."""
        if self._seated:
            rows = np.array(self._seated)
            opening: Ints = self.state if self._opening is None else self._opening
            self.columns.block[:, rows] = self.states.block[:, opening[rows]]
            self._seated.clear()

    def seat(self, tasks: Sequence[Task]) -> None:
        """Puts the tasks that are on nodes when a session opens into the columns, all at once."""
        if not tasks:
            return
        width = len(self.axis)
        rows = np.fromiter((task.row for task in tasks), dtype=np.int64, count=len(tasks))
        asked = np.array([task.cls.request.values for task in tasks], dtype=np.int64).T
        leaving = np.fromiter((task.status == status.RELEASING for task in tasks), dtype=np.bool_, count=len(tasks))
        columns = self.columns
        for place in range(width):
            np.subtract.at(columns.idle[place], rows, asked[place])
            np.add.at(columns.present[place], rows, asked[place])
            np.add.at(columns.releasing[place], rows[leaving], asked[place][leaving])
        np.add.at(columns.pods, rows, 1)
        for place in (0, 1):
            scored = np.fromiter((task.cls.scored[place] for task in tasks), dtype=np.int64, count=len(tasks))
            np.add.at(columns.scored[place], rows, scored)
        for task in tasks:
            self.tasks[task.row][task.uid] = task
