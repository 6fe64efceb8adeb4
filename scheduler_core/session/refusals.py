"""Why a task got no node: counted over all nodes, exactly, before anything is rolled back.

A report is of a class at one moment: how many nodes fail which set of checks, which single check alone keeps how many
nodes shut (sole blockers: those nodes would take the task if only that were lifted), and by how little. A refusal is of a
task: a report, or what else kept it from being tried. While the table does not move, equal tasks share a report.

Nodes are counted at once. What is told of the counts (the reason that leads, sole blockers) is worked out when somebody
asks, from a tally of nodes that nothing changes any more: of most refusals of a session nobody does. What the counts
say by themselves is found once for all refusals that count alike (`readings`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from pipeline.records import reasons
from scheduler_core.model import status
from scheduler_core.model.cells import Bools, Codes, Ints
from scheduler_core.model.checks import Blocker
from scheduler_core.model.refusal import Refusal, Report
from scheduler_core.model.resources import MEMORY
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why
from scheduler_core.session import codes as codes_
from scheduler_core.session import helps
from scheduler_core.session.readings import Alone, Reading
from scheduler_core.session.tallies import Counts, Tally

if TYPE_CHECKING:
    from scheduler_core.session.judging import Judge, Within
    from scheduler_core.session.session import Session


def _by_all(session: Session, task: Task, judge: Judge) -> Refusal | None:
    """The refusal of a task that no node takes, now or when what is leaving has gone; None if one does.

    Only for a task of which all is said by looking at each node alone (`Judge.alone`).
    """
    if judge.hopeless:
        return again(task, judge)
    report = _of_all(session, judge)
    return None if report is None else _of(task, judge, report)


def again(task: Task, judge: Judge) -> Refusal:
    """The refusal of a task like one that all nodes have refused, as the table stands."""
    assert judge.report is not None
    return _of(task, judge, judge.report)


def _by_nodes(session: Session, task: Task, judge: Judge, codes: Codes, within: Within) -> Refusal:
    """The refusal of a task that no node takes; the rows have these codes for it."""
    tally = judge.meaning.tallies.of(judge, codes, within)
    report = Counted(judge, tally.histogram(), tally, within)
    if session.judges.evicts:
        report.unresolvable = judge.meaning.never(codes)
    return _of(task, judge, report)


by_all: Callable[[Session, Task, Judge], Refusal | None] = _by_all
by_nodes: Callable[[Session, Task, Judge, Codes, Within], Refusal] = _by_nodes
"""Variables, which compiled code looks up at each call: so who measures can put a clock before them there too."""


def _of_all(session: Session, judge: Judge) -> Report | None:
    tally, counts = judge.meaning.tallies.of_all(judge)
    for code, _ in counts:
        if code == codes_.FITS:
            return None
    report = Counted(judge, counts, tally)
    if session.judges.evicts:
        report.unresolvable = judge.meaning.never(judge.codes)
    judge.report, judge.reported = report, judge.table.moment
    return report


def _of(task: Task, judge: Judge, report: Report) -> Refusal:
    job = task.job
    if job is None:
        return Refusal(task, None, report)
    if len(job.tasks) == 1 and task.status == status.PENDING and task.open:
        return Refusal(task, None, report, job.ready, alike=_ALONE)
    cls, states = judge.cls, job.by_status
    waiting, placed = 0, 0
    for each in states[status.PENDING].values():
        if each.cls is cls and not each.gated and not each.fault:
            waiting += 1
    allocated, promised = states[status.ALLOCATED], states[status.PIPELINED]
    if allocated or promised:
        placed = sum([1 for given in (allocated, promised) for each in given.values() if each.cls is cls])
    return Refusal(task, None, report, job.ready + len(promised), alike=(waiting, placed))


_ALONE: Final = (1, 0)
"""Of a job of one task, that task waits."""


def by_word(task: Task, why: Why, text: str = "") -> Refusal:
    """The refusal of a task for which no node was looked at."""
    return Refusal(task, why, text=text)


class Counted(Report):
    """A report of a session, told from the tally that it was counted on."""

    __slots__ = ("_judge", "_others", "_pieces", "_place", "_tally", "_within")

    def __init__(self, judge: Judge, counts: Counts, tally: Tally, within: Within = None) -> None:
        table, judges = judge.table, judge.session.judges
        usable = judges.usable if within is None else int(np.count_nonzero(table.usable & within))
        super().__init__(counts, tally.total, usable, None, None, None)
        self._judge = judge
        self._within = within
        self._tally: Tally | None = tally
        self._pieces: Pieces | None = None
        self._place = _NOT_ASKED
        self._others: dict[str, Why] = {}
        if len(tally.nodes) > _MANY_LINES:
            self._let_go(tally)

    def _let_go(self, tally: Tally) -> None:
        """Tells everything, and keeps no line."""
        self._why, self._blockers = self.why, self.blockers
        place = self._short_of()
        self._pieces = None if place < 0 else _pieces(self._judge, tally, place, self._within)
        self._tally = None

    @property
    def blockers(self) -> tuple[Blocker, ...]:
        if self._blockers is None:
            assert self._tally is not None
            self._blockers = _blockers(self._judge, self._tally, self._judge.meaning.reading(self.counts).alone)
        return self._blockers

    @property
    def why(self) -> Why:
        if self._why is None:
            assert self._tally is not None
            self._why = self._leading()
        return self._why

    def why_of(self, alike: tuple[int, int]) -> Why:
        """A shortage may be of more than this class: room that jobs before it took in this session, or room in pieces."""
        place = self._short_of()
        known = "" if place < 0 else self._other_reason(place, alike[0], alike[1])
        if not known:
            return self.why
        found = self._others.get(known)
        if found is None:
            found = self._others[known] = _by_others(self.why, known)
        return found

    def _leading(self) -> Why:
        judge, tally = self._judge, self._tally
        assert tally is not None
        if not self.counts:
            return Why(reasons.INSUFFICIENT_RESOURCE, message="there is no node to look at")
        return _leading(judge, tally, judge.meaning.reading(self.counts), self._within)

    def _short_of(self) -> int:
        """The place of the resource of which nodes could have enough, if want of one leads; else -1."""
        if self._place == _NOT_ASKED:
            why = self.why
            short = why.reason == reasons.INSUFFICIENT_RESOURCE and not why.detail
            self._place = self._judge.table.axis.index.get(why.resource, -1) if short else -1
        return self._place

    def _other_reason(self, place: int, waiting: int, placed: int) -> str:
        judge, within = self._judge, self._within
        if within is None:
            had_places = judge.had_places(waiting + placed)
        else:
            had_places = judge.places(judge.session.opening, within) >= waiting + placed
        if had_places:
            return reasons.OUTRANKED
        if self._pieces is None:
            assert self._tally is not None
            self._pieces = _pieces(judge, self._tally, place, within)
        asked, pieces = int(judge.cls.request.values[place]), self._pieces
        in_pieces = asked and pieces.free >= asked * waiting and pieces.when_empty >= waiting
        return reasons.FRAGMENTATION if in_pieces and pieces.there < waiting else ""


_MANY_LINES: Final = 1024
"""A report on more lines is told at once: where hardly two nodes are alike, keeping lines until somebody asks takes more
memory than it saves time."""
_NOT_ASKED: Final = -2
_BY_OTHERS: Final = {
    reasons.OUTRANKED: "it would have fitted when the session opened; jobs before it took the room",
    reasons.FRAGMENTATION: "enough {resource} is free together, but in pieces that are too small",
}


def _by_others(why: Why, known: str) -> Why:
    text = _BY_OTHERS[known].format(resource=why.resource)
    return msgspec.structs.replace(why, reason=known, message=f"{text}; {why.message}")


class Pieces:
    """What the open nodes have of one resource: all that is `free`, and how often there is as much as a task asks."""

    __slots__ = ("free", "there", "when_empty")

    def __init__(self, free: int, there: int, when_empty: int) -> None:
        self.free = free
        self.there = there
        self.when_empty = when_empty


def _pieces(judge: Judge, tally: Tally, place: int, within: Within) -> Pieces:
    whole, opened = judge.room.states.whole, tally.open
    states, nodes = tally.states.take(opened), tally.nodes.take(opened)
    asked = int(judge.cls.request.values[place]) or 1
    free = np.maximum(whole.free[place].take(states), 0)
    if within is None:
        when_empty = judge.wishes.when_empty(judge.table, place, asked)
    else:
        when_empty = int((whole.cells.alloc[place].take(states) // asked).dot(nodes))
    return Pieces(int(free.dot(nodes)), int((free // asked).dot(nodes)), when_empty)


def _blockers(judge: Judge, tally: Tally, alone: Sequence[Alone]) -> tuple[Blocker, ...]:
    """Every check that is alone on some node, the smallest change first."""
    found: list[tuple[float, int, str, int, Blocker]] = []
    for each in alone:
        at = _with(tally, each.codes)
        blocker = _rule(judge, tally, each, at) if each.place < 0 else _shortage(judge, tally, each, at)
        found.append((blocker.size, -each.nodes, each.check.name, len(found), blocker))
    if len(found) > 1:
        found.sort()
    return tuple([blocker for _, _, _, _, blocker in found])


def _with(tally: Tally, codes: Sequence[int]) -> Ints:
    """The lines that have one of these codes."""
    found: Bools = tally.codes == np.uint64(codes[0])
    for code in codes[1:]:
        found |= tally.codes == np.uint64(code)
    return found.nonzero()[0]


def _rule(judge: Judge, tally: Tally, alone: Alone, at: Ints) -> Blocker:
    """A rule that must go, on these lines."""
    row: int = min(tally.first.take(at).tolist())
    # A tally knows the first row of each line only: what several nodes have is not told from one of them.
    tainted = alone.nodes == 1 and alone.check.reason == reasons.UNTOLERATED_TAINT
    taints = judge.table.by_label.hard_taints(np.array([row])) if tainted else ()
    return Blocker(alone.check, alone.nodes, row=row, named=helps.named(alone.check, judge.cls, taints))


def _shortage(judge: Judge, tally: Tally, alone: Alone, at: Ints) -> Blocker:
    """A resource of which there must be more, on those of these lines that have enough in all; or less asked for, if none has."""
    place, asked = alone.place, int(judge.cls.request.values[alone.place])
    whole, states, nodes = judge.room.states.whole, tally.states.take(at), alone.nodes
    small = False
    if judge.wishes.least(judge.table, place) < asked:
        able: Bools = whole.cells.alloc[place].take(states) >= asked
        small = not able.any()
        if not small:
            at, states = at.compress(able), states.compress(able)
            nodes = int(tally.nodes.take(at).sum())
    free: Ints = whole.free[place].take(states)
    most: int = free.item(free.argmax())
    rows: Ints = tally.first.take(at).compress(free == most)
    row: int = rows.item(rows.argmin())
    return Blocker(alone.check, nodes, place, asked - most, asked, row, small=small)


# --- which reason leads ---------------------------------------------------------------------------------------------------


_COULD_HOLD: Final = -2
_TOGETHER: Final = -1
"""What `_too_large` says instead of a place."""


def _leading(judge: Judge, tally: Tally, reading: Reading, within: Within) -> Why:
    if reading.why is not None:
        return reading.why
    place, axis = reading.place, judge.table.axis
    large = _too_large(judge, tally, within)
    name = axis.names[large if large >= 0 else place]
    detail = "" if large == _COULD_HOLD else "never_fits"
    asked = axis.whole(place, judge.cls.request.values[place])
    return Why(reasons.INSUFFICIENT_RESOURCE, detail, name, message=reading.message, asked=asked)


def _too_large(judge: Judge, tally: Tally, within: Within) -> int:
    """Whether some open node could hold the task if it were empty; if not, the place of the resource of which none has
    enough, extended ones first, or that they only have not enough together. Of all nodes it is the same for a session."""
    whole = judge.room.states.whole
    if within is not None:
        opened = tally.states.take(tally.open)
        return _largest(judge, {place: whole.cells.alloc[place].take(opened) for place, _ in judge.needs}, len(opened))
    if judge.large is None:
        wishes, table = judge.wishes, judge.table
        alloc = {place: wishes.alloc(table, place) for place, _ in judge.needs}
        at = wishes.most_alike(table)
        if at >= 0 and all(alloc[place].item(at) >= amount for place, amount in judge.needs):
            judge.large = _COULD_HOLD
        else:
            judge.large = _largest(judge, alloc, len(wishes.opening(table)[0]))
    return judge.large


def _largest(judge: Judge, alloc: Mapping[int, Ints], count: int) -> int:
    """The same of so many states, of which the nodes have so much, by place."""
    able: Bools | None = None
    for place, amount in judge.needs:
        enough = alloc[place] >= amount
        able = enough if able is None else able & enough
    if count if able is None else np.count_nonzero(able):
        return _COULD_HOLD
    for place, amount in sorted(judge.needs, key=lambda need: (need[0] <= MEMORY, need[0])):
        if count and int(alloc[place].max()) < amount:
            return place
    return _TOGETHER
