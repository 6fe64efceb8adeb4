"""How nodes are judged for a class of tasks, and how that stays cheap.

Judged are three things apart. What a demand asks of the room on nodes: a code of failing checks (against what will be free)
and a rank, the score where everything fits now, minus infinity elsewhere. Both follow from how a node stands alone, so a
`Room` works them out once a state (`model.states`), and then only for states that are new. What a class asks of labels does
not change in a session: `Fixed` has a code a row. A `Judge` lays one over the other, a rank and a code for each row, and then
takes over only rows that have changed since (the table notes them). The best node is the largest rank; "no node fits, and
why" is a count of equal codes.

Checks and scores that compare nodes with each other, or look at pods elsewhere, cannot be kept that way. A class to which
one applies is judged anew for each task.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from scheduler_core.model.cells import Bools, Cells, Codes, Columns, Filter, Floats, Ints, Row, Score, Spelled
from scheduler_core.model.nodes import NodeTable
from scheduler_core.model.refusal import Report
from scheduler_core.model.tasks import Demand, Task, TaskClass
from scheduler_core.session import codes as codes_
from scheduler_core.session.fixed import Fixed
from scheduler_core.session.nearby import NO_RANK, Nearby

if TYPE_CHECKING:
    from types import MethodType

    from scheduler_core.session.plugin import Plugin
    from scheduler_core.session.session import Session

_FEW_STATES: Final = 24 if __file__.endswith(".py") else 500
"""Up to so many new states are judged one by one; above, as arrays. Compiled, one by one is quicker for many more."""
_AHEAD: Final = 1024
"""Equally good rows are looked for among so many more."""
_MANY_CHANGES: Final = 8
"""With more changes than one in so many rows, a judge takes over all rows."""

_SPARING: Final = frozenset(("enqueue", "allocate", "backfill"))
"""Actions that evict nobody."""

_NO_ROWS: Ints = np.zeros(0, dtype=np.int64)
LEAST_SCORE: Final = -1.0
"""A node is chosen only with more than this: Volcano starts its search here."""


_NO_RANKS: Floats = np.zeros(0)
_NO_CODES: Codes = np.zeros(0, dtype=np.uint64)
"""Of no states."""


class Judges:
    """The judges of a session, made when first asked for. `usable` nodes are ready; `evicts` says whether an action may."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.codes = codes_.Codes(session.axis)
        self.usable = session.nodes.usable_count
        self.evicts = not _SPARING.issuperset(session.policy.actions)
        self._by_class: dict[int, Judge] = {}
        self._rooms: dict[int, Room] = {}
        self.looking = list(zip(session.flat("looks_elsewhere"), session.flat("table_filters"), strict=True))
        self.comparing = list(zip(session.flat("compares"), session.flat("table_score"), strict=True))
        self.all_scores = session.flat("table_score")
        self.plain = not any(session.flat("best_node"))
        self.row_filters = session.flat("row_filters")
        self.row_scores = session.flat("row_scores")
        self._fixed_filters = session.flat("fixed_filters")
        self._closed = session.nodes.closed
        self._fixed: dict[tuple[tuple[int, int], ...], Fixed] = {}
        self._masks: dict[int, Bools] = {}
        self.nowhere = _nowhere(len(session.nodes))

    def of(self, cls: TaskClass) -> Judge:
        """The judge of a class, up to date with the table."""
        found = self._by_class.get(cls.number)
        if found is None:
            found = self._by_class[cls.number] = Judge(self.session, self.codes, cls, self._room(cls.demand))
        return found.look()

    def end(self) -> None:
        """Lets go of reports, which hold the judges that hold them."""
        for judge in self._by_class.values():
            judge.report = None

    def fixed(self, cls: TaskClass) -> Fixed:
        """What does not change in a session; classes for which plugins name the same masks share it."""
        named = [(self.codes.bit(codes_.NOT_READY), self._closed)]
        for ask in self._fixed_filters:
            named += [(self.codes.bit(check), fails) for check, fails in ask(cls)]
        key = tuple([(bit, id(mask)) for bit, mask in named])
        found = self._fixed.get(key)
        if found is None:
            self._masks.update((id(mask), mask) for _, mask in named)
            found = self._fixed[key] = Fixed(named)
        return found

    def _room(self, demand: Demand) -> Room:
        found = self._rooms.get(demand.number)
        if found is None:
            found = self._rooms[demand.number] = Room(self.session, self.codes, demand)
        return found


@functools.lru_cache(maxsize=4)
def _nowhere(count: int) -> Floats:
    """No rank on any row; not to be changed."""
    found: Floats = np.full(count, NO_RANK)
    found.flags.writeable = False
    return found


class Room:
    """All states judged for one demand, by number. `rank` is right after `look`; `codes` are worked out when asked for."""

    def __init__(self, session: Session, codes: codes_.Codes, demand: Demand) -> None:
        self.session = session
        self.table: NodeTable = session.nodes
        self.states = self.table.states
        self.demand = demand
        needs = self._needs = demand.needs
        self._places: list[int] | slice = [place for place, _ in needs]
        if self._places == list(range(len(needs))):
            self._places = slice(0, len(needs))
        self._amounts = np.array([[amount] for _, amount in needs])
        filters = [each for ask in session.judges.row_filters for each in ask(demand)]
        self._filters: list[Filter] = [fails for _, fails in filters]
        self.bits = (
            *[codes.resource_bit(place) for place, _ in needs], *[codes.bit(check) for check, _ in filters]
        )  # fmt: skip
        self._scores: list[Score] = []
        self._row_scores: list[Callable[[Row], float]] = []
        self._spelled: list[Spelled] | None = None
        self._scored = False
        self.known = 0
        self.fits = False
        self.rank: Floats = _NO_RANKS
        self._sets = codes_.no_sets(self.bits, 0)
        self._counted = 0
        self._codes: Codes = _NO_CODES
        self.look()

    def _know_scores(self) -> None:
        """Finds who scores for the demand: when first asked, since for many demands no node has the room."""
        self._scores = [score for ask in self.session.judges.row_scores for score in ask(self.demand)]
        self._row_scores = [getattr(score, "on_row", score) for score in self._scores]
        spelled = [score for score in self._scores if isinstance(score, Spelled)]
        self._spelled = spelled if len(spelled) == len(self._scores) else None
        self._scored = True

    # --- ranks -------------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Ranks the states that are new. `fits` says whether any state has the room."""
        states = self.states
        if self.known == states.count:
            return
        if not self.known and self._too_large():
            self.known = states.count
            return
        if len(self.rank) < states.count:
            self.rank = _longer(self.rank, states.block.shape[1])
        if states.count - self.known <= _FEW_STATES:
            ranks = [self._rank_one(states.row(number)) for number in range(self.known, states.count)]
            self.rank[self.known : states.count] = ranks
            self.fits = self.fits or max(ranks) != NO_RANK
        else:
            self.rank[self.known : states.count] = self._ranked(states.since(self.known))
        self.known = states.count

    def rank_of(self, state: int) -> float:
        """The rank of one state."""
        if state >= self.known:
            self.look()
        return self.rank.item(state)

    def _rank_one(self, row: Row) -> float:
        sure: list[int] = row.sure
        for place, amount in self._needs:
            if amount > sure[place]:
                return NO_RANK
        for fails in self._filters:
            if fails(row):
                return NO_RANK
        if not self._scored:
            self._know_scores()
        total = 0.0
        if self._spelled is not None:
            for score in self._spelled:
                total += score.on_row(row)
            return total
        for on_row in self._row_scores:
            total += on_row(row)
        return total

    def _too_large(self) -> bool:
        """Whether more is asked of something than any state has idle."""
        most = self.states.whole.most
        return any(amount > most[place] for place, amount in self._needs)

    def _ranked(self, cells: Columns) -> Floats | float:
        least, places = cells.idle[self._places], self._places
        if self.states.moves:
            least = np.minimum(least, least + cells.releasing[places] - cells.pipelined[places])
        full: Bools = np.logical_or.reduce(least < self._amounts, axis=0)
        for fails in self._filters:
            full |= fails(cells)
        if np.logical_and.reduce(full):
            return NO_RANK
        self.fits = True
        rank: Floats = np.where(full, NO_RANK, self.score(cells))
        return rank

    def score(self, cells: Cells) -> float | Floats:
        """The sum of scores of what is on a node: a number for a row, an array for columns."""
        if not self._scored:
            self._know_scores()
        total: float | Floats = 0.0
        if isinstance(cells, Row):
            for on_row in self._row_scores:
                total += on_row(cells)
            return total
        for score in self._scores:
            total = total + score(cells)
        return total

    # --- codes -------------------------------------------------------------------------------------------------------

    @property
    def sets(self) -> npt.NDArray[Any]:
        """Which checks fail in every state, one number a state (`codes.sets`)."""
        known, count = self._counted, self.states.count
        if known != count:
            if not known:
                self._sets = codes_.sets(self.bits, self._failed_since(0))
            elif len(self._sets) < count:
                longer = codes_.no_sets(self.bits, self.states.block.shape[1])
                longer[:known] = self._sets[:known]
                self._sets = longer
            if known and count - known <= _FEW_STATES:
                for number in range(known, count):
                    self._sets[number] = self._set_of(self.states.row(number))
            elif known:
                self._sets[known:count] = codes_.sets(self.bits, self._failed_since(known))
            self._counted = count
        return self._sets[:count]

    def _set_of(self, row: Row) -> int:
        """The same of one state."""
        found = at = 0
        in_a_byte = codes_.in_a_byte(self.bits)
        for place, amount in self._needs:
            if amount > row.free(place):
                found |= 1 << at if in_a_byte else self.bits[at]
            at += 1
        for fails in self._filters:
            if fails(row):
                found |= 1 << at if in_a_byte else self.bits[at]
            at += 1
        return found

    def _failed_since(self, known: int) -> Bools:
        whole = None if known else self.states.whole
        cells = self.states.since(known) if whole is None else whole.cells
        free = cells.free_columns() if whole is None else whole.free
        found = np.empty((len(self.bits), free.shape[1]), dtype=np.bool_)
        np.less(free[self._places], self._amounts, out=found[: len(self._needs)])
        for at, fails in enumerate(self._filters, len(self._needs)):
            found[at] = fails(cells)
        return found

    @property
    def kinds(self) -> codes_.Kinds:
        """Which sets of checks the states fail."""
        return codes_.kinds(self.bits, self.sets)

    @property
    def codes(self) -> Codes:
        """The code of every state."""
        if len(self._codes) != self.states.count:
            kinds = self.kinds
            self._codes = kinds.codes.take(kinds.of)
        return self._codes

    def code_at(self, at: int) -> int:
        """The code of one row."""
        row = self.table.row(at)
        failed = [amount > row.free(place) for place, amount in self._needs]
        failed += [fails(row) for fails in self._filters]
        code = 0
        for bit, fails_ in zip(self.bits, failed, strict=True):
            if fails_:
                code |= bit
        return code


class Judge:
    """All nodes judged for one class. Read `codes` and `rank` after `look`.

    `report` is the last one of all nodes, of the moment `reported`; `large` is what `refusals` has found out once: which
    resource no open node has enough of even when empty.
    """

    def __init__(self, session: Session, codes: codes_.Codes, cls: TaskClass, room: Room) -> None:
        self.session = session
        self.table: NodeTable = session.nodes
        self.cls = cls
        self.meaning = codes
        self.needs = cls.needs
        self.room = room
        judges = session.judges
        self._elsewhere = [ask for looks, ask in judges.looking if looks(cls)]
        self._compared = [ask for compares, ask in judges.comparing if compares(cls)]
        self._all_scores = judges.all_scores
        self._concerns: list[Callable[[Task], Any]] = [
            _owner(ask).concerns for ask in (*self._elsewhere, *self._compared)
        ]
        self._plain = judges.plain
        fixed = judges.fixed(cls)
        self.wishes = fixed
        self.fixed = fixed.codes
        self.closed = fixed.closed
        self._shut = fixed.shut
        self.report: Report | None = None
        self.reported = -1
        self.large: int | None = None
        self._least_places = self._places_at_first = -1
        room.look()
        self._seen = self.table.changed
        self._codes: Codes | None = None
        self._top: int | None = None
        self.rank: Floats = self._all_ranks() if room.fits else judges.nowhere

    def _all_ranks(self) -> Floats:
        rank: Floats = self.room.rank.take(self.table.state)
        rank += self._shut
        return rank

    def places(self, free: Ints, within: Bools | None = None) -> int:
        """How many tasks of the class fit on open nodes with so much free (columns by place)."""
        opened = ~self.closed if within is None else within & ~self.closed
        fits: Ints | None = None
        for place, amount in self.needs:
            if amount:
                each = np.maximum(free[place][opened], 0) // amount
                fits = each if fits is None else np.minimum(fits, each)
        return int(opened.sum()) if fits is None else int(fits.sum())

    def had_places(self, number: int) -> bool:
        """Whether the open nodes could have held so many tasks of the class when the session opened."""
        if self._least_places < 0:
            self._least_places = self._places_alike()
        if self._least_places >= number:
            return True
        if self._places_at_first < 0:
            self._places_at_first = self._places_by_state()
        return self._places_at_first >= number

    def _places_alike(self) -> int:
        """How many those nodes could that most were like, which is found without looking at the others."""
        wishes, table = self.wishes, self.table
        at = wishes.most_alike(table)
        if at < 0:
            return 0
        nodes: int = wishes.opening(table)[1].item(at)
        each = [wishes.free(table, place).item(at) // amount for place, amount in self.needs if amount]
        return nodes * min(each, default=1)

    def _places_by_state(self) -> int:
        nodes = self.wishes.opening(self.table)[1]
        fits: Ints | None = None
        for place, amount in self.needs:
            if amount:
                each = self.wishes.free(self.table, place) // amount
                fits = each if fits is None else np.minimum(fits, each)
        return int(nodes.sum()) if fits is None else int(fits.dot(nodes))

    def places_when_empty(self) -> int:
        """How many tasks of the class the open nodes could hold if they were empty."""
        return self.places(self.table.alloc)

    def look(self) -> Judge:
        """Takes over what has changed in the table."""
        table = self.table
        changed, seen = table.changed, self._seen
        if seen == changed:
            return self
        room, rank = self.room, self.rank
        room.look()
        if changed - seen == 1 and rank.flags.writeable:
            at = table.last
            rank[at] = room.rank.item(table.state.item(at)) + self._shut.item(at)
        elif room.fits and not rank.flags.writeable:
            self.rank = self._all_ranks()
        elif room.fits and (changed - seen) * _MANY_CHANGES > len(rank):
            room.rank.take(table.state, out=rank, mode="clip")
            rank += self._shut
        elif room.fits:
            rows = table.changes[seen:changed]
            ranks: Floats = room.rank.take(table.state.take(rows))
            ranks += self._shut.take(rows)
            rank[rows] = ranks
        self._codes = self._top = None
        self._seen = changed
        return self

    @property
    def codes(self) -> Codes:
        """The codes of all rows; the same array as long as the table does not move."""
        if self._codes is None:
            self._codes = self.room.codes.take(self.table.state)
            self._codes |= self.fixed
        return self._codes

    def code_at(self, row: int) -> int:
        """The code of one row, pods elsewhere apart."""
        return self.room.code_at(row) | int(self.fixed[row])

    def fill(self, tasks: Sequence[Task]) -> list[int]:
        """Rows for equal tasks, the best for each in turn, and held at once; fewer where no node is best by its rank.

        What comes out is what choosing and placing them one by one gives. A node whose rank did not fall below what it
        was chosen for is still the first of the best, so it is taken again without a search; after one whose rank fell
        comes the next that is as good as it was; those that stand like it are taken with it.
        """
        table, room, rank = self.table, self.room, self.rank
        rows: list[int] = []
        if not tasks or not room.fits:
            return rows
        equals = _NO_ROWS
        at, best, now = -1, 0.0, 0.0
        taking = table.taking(tasks[0])
        while len(rows) < len(tasks):
            if at >= 0 and now >= best:
                if now > best:
                    best, equals = now, _NO_ROWS
            elif len(equals):
                at, equals = equals.item(0), equals[1:]
            else:
                at = int(rank.argmax())
                best = rank.item(at)
                if best <= LEAST_SCORE:
                    break
                equals = _NO_ROWS
                if len(tasks) - len(rows) > 2:
                    equals = (rank[at + 1 : at + 1 + _AHEAD] == best).nonzero()[0]
                    equals += at + 1
            before = table.state.item(at)
            rank[at] = now = room.rank_of(table.take(at, tasks[len(rows)], taking))
            rows.append(at)
            if now < best and len(equals) > 1:
                taken = table.take_alike(before, equals, tasks[len(rows) :], taking)
                rank[taken] = now
                rows += taken.tolist()
                equals = equals[len(taken) :]
        self._seen = table.changed
        self._codes = self._top = None
        return rows

    def best(self) -> int | None:
        """The row with the largest rank, the first of equal ones; None if none has one that can be chosen."""
        if not len(self.rank):
            return None
        at = self.top()
        return at if self.rank.item(at) > LEAST_SCORE else None

    def top(self) -> int:
        """The first row of those with the largest rank; there is no row to name in a table without nodes."""
        if self._top is None:
            self._top = int(self.rank.argmax())
        return self._top

    def hold(self, at: int, task: Task) -> float:
        """Holds a row for a task; rank and version follow. By how much the rank rose."""
        rank, top = self.rank, self._top
        before = rank.item(at)
        rank[at] = now = self.room.rank_of(self.table.hold(at, task))
        if top is not None:
            self._top = self._top_after(at, top, now, before)
        self._seen = self.table.changed
        self._codes = None
        return now - before

    def _top_after(self, at: int, top: int, now: float, before: float) -> int | None:
        """The first of the largest ranks after that of one row went from `before` to `now`; None where it takes a search."""
        if at == top:
            return top if now >= before else None
        most = self.rank.item(top)
        return at if now > most or (now == most and at < top) else top

    @property
    def hopeless(self) -> bool:
        """Whether a task of the class was refused by all nodes, and the table stands as it stood then."""
        return self.report is not None and self.reported == self.table.moment

    def alone(self, task: Task) -> bool:
        """Whether everything about a node can be said for the task by looking at it alone."""
        for concerns in self._concerns:
            if concerns(task):
                return False
        return self._plain

    def nearby(self, task: Task) -> Nearby | None:
        """Rows outside of which only the best by rank can be the best for the task; None: any row."""
        if not self._plain or self._elsewhere or len(self._compared) != 1:
            return None
        return _owner(self._compared[0]).nearby(task)

    def elsewhere(self, task: Task) -> Codes | None:
        """Codes of checks that look beyond one node, or None if none applies to the task."""
        found: Codes | None = None
        for ask in self._elsewhere:
            for check, fails in ask(task) or ():
                if found is None:
                    found = np.zeros(len(self.table), dtype=np.uint64)
                found[fails] |= np.uint64(self.meaning.bit(check))
        return found

    def compared(self, task: Task, rows: Ints, *, all_scores: bool = False) -> Floats | None:
        """The sum of scores that compare these rows with each other, or None if none applies.

        `all_scores` also asks those that are the same on every node for this class.
        """
        found: Floats | None = None
        for ask in self._all_scores if all_scores else self._compared:
            scores = ask(task, rows)
            if scores is not None:
                found = scores if found is None else found + scores
        return found

    def scores(self, rows: Ints) -> Floats:
        """Scores of what is on these rows, whether the class fits or not."""
        score = self.room.score(self.table.some(rows))
        return np.broadcast_to(np.asarray(score, dtype=np.float64), (len(rows),)).copy()


def _longer(ranks: Floats, size: int) -> Floats:
    """The same with room for more; states without the room have no rank, so neither have those that were not ranked."""
    found = np.full(size, NO_RANK)
    found[: len(ranks)] = ranks
    return found


def _owner(ask: Callable[..., Any]) -> Plugin:
    """The plugin that a method was taken from."""
    return cast("Plugin", cast("MethodType", ask).__self__)


class Choice(NamedTuple):
    """A node for a task: its row, and whether it has the room now (else when what is leaving has gone)."""

    row: int
    now: bool


Within = Bools | None
"""Rows that may be looked at; None: all."""
