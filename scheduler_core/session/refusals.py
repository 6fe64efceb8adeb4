"""Why a task got no node: counted over all nodes, exactly, before anything is rolled back.

A report is of a class at one moment: how many nodes fail which set of checks, which single check alone keeps how many
nodes shut (sole blockers: those nodes would take the task if only that were lifted), and by how little. A refusal is of a
task: a report, or what else kept it from being tried. While the table does not move, equal tasks share a report.

Nodes are counted at once. What is told of the counts (the reason that leads, sole blockers) is worked out when somebody
asks, from a tally of nodes that nothing changes any more: of most refusals of a session nobody does.

Which reason leads: nodes that the task does not want at all say nothing as long as there are others. If it wants none:
node affinity. If all it wants are closed: the easiest obstacle (not ready, then cordoned, then tainted). Else what most of
the open nodes fail; of resources that fail on equally many, extended ones before cpu and memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import numpy as np

from pipeline.records import reasons
from scheduler_core.model import status
from scheduler_core.model.cells import Bools, Codes
from scheduler_core.model.checks import Blocker, Check
from scheduler_core.model.refusal import Refusal, Report
from scheduler_core.model.resources import MEMORY
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why
from scheduler_core.session import codes as codes_
from scheduler_core.session import helps
from scheduler_core.session.tallies import Counts, Tally

if TYPE_CHECKING:
    from scheduler_core.session.judging import Judge, Within
    from scheduler_core.session.session import Session

_SHUT: Final = "each was refused to another task of the role, or its score is below zero"
_OBSTACLES: Final = (reasons.NODE_NOT_READY, reasons.NODE_UNSCHEDULABLE, reasons.UNTOLERATED_TAINT)
"""What closes a node that is wanted, easiest to mend first."""


def by_all(session: Session, task: Task, judge: Judge) -> Refusal | None:
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


def by_nodes(session: Session, task: Task, judge: Judge, codes: Codes, within: Within) -> Refusal:
    """The refusal of a task that no node takes; the rows have these codes for it."""
    tally = judge.meaning.tallies.of(judge, codes, within)
    report = Counted(judge, tally.histogram(), tally, within)
    if session.judges.evicts:
        report.unresolvable = judge.meaning.never(codes)
    return _of(task, judge, report)


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
    cls, states = judge.cls, job.by_status
    waiting, placed = 0, 0
    for each in states[status.PENDING].values():
        if each.cls is cls and not each.gated and not each.fault:
            waiting += 1
    allocated, promised = states[status.ALLOCATED], states[status.PIPELINED]
    if allocated or promised:
        placed = sum([1 for given in (allocated, promised) for each in given.values() if each.cls is cls])
    return Refusal(task, None, report, job.ready + len(promised), alike=(waiting, placed))


def by_word(task: Task, why: Why, text: str = "") -> Refusal:
    """The refusal of a task for which no node was looked at."""
    return Refusal(task, why, text=text)


class Counted(Report):
    """A report of a session, told from the tally that it was counted on."""

    __slots__ = ("_judge", "_others", "_pieces", "_tally", "_within")

    def __init__(self, judge: Judge, counts: Counts, tally: Tally, within: Within = None) -> None:
        table, judges = judge.table, judge.session.judges
        usable = judges.usable if within is None else int(np.count_nonzero(table.usable & within))
        super().__init__(counts, tally.total, usable, None, None, None)
        self._judge = judge
        self._within = within
        self._tally: Tally | None = tally
        self._pieces: Pieces | None = None
        self._others: dict[tuple[int, int], Why] = {}
        if len(tally.nodes) > _MANY_LINES:
            self._let_go(tally)

    def _let_go(self, tally: Tally) -> None:
        """Tells everything, and keeps no line."""
        self._why, self._blockers = self.why, self.blockers
        place = self._short_of()
        self._pieces = None if place is None else _pieces(self._judge, tally, place)
        self._tally = None

    @property
    def blockers(self) -> tuple[Blocker, ...]:
        if self._blockers is None:
            assert self._tally is not None
            self._blockers = tuple(_blockers(self._judge, self._tally, self.counts))
        return self._blockers

    @property
    def why(self) -> Why:
        if self._why is None:
            assert self._tally is not None
            self._why = _leading(self._judge, self._tally, self.counts, self._within)
        return self._why

    def why_of(self, alike: tuple[int, int]) -> Why:
        """A shortage may be of more than this class: room that jobs before it took in this session, or room in pieces."""
        found = self._others.get(alike)
        if found is None:
            found = self._others[alike] = self._by_others(*alike)
        return found

    def _short_of(self) -> int | None:
        """The place of the resource of which nodes could have enough, if want of one leads."""
        why = self.why
        if why.reason != reasons.INSUFFICIENT_RESOURCE or why.detail:
            return None
        return self._judge.table.axis.index.get(why.resource)

    def _by_others(self, waiting: int, placed: int) -> Why:
        why, place = self.why, self._short_of()
        known = "" if place is None else self._other_reason(place, waiting, placed)
        if not known:
            return why
        text = _BY_OTHERS[known].format(resource=why.resource)
        return msgspec.structs.replace(why, reason=known, message=f"{text}; {why.message}")

    def _other_reason(self, place: int, waiting: int, placed: int) -> str:
        judge, within = self._judge, self._within
        first = judge.places_at_first() if within is None else judge.places(judge.session.opening, within)
        if first >= waiting + placed:
            return reasons.OUTRANKED
        if self._pieces is None:
            assert self._tally is not None
            self._pieces = _pieces(judge, self._tally, place)
        asked, pieces = int(judge.cls.request.values[place]), self._pieces
        in_pieces = asked and pieces.free >= asked * waiting and pieces.when_empty >= waiting
        return reasons.FRAGMENTATION if in_pieces and pieces.there < waiting else ""


_MANY_LINES: Final = 1024
"""A report on more lines is told at once: where hardly two nodes are alike, keeping lines until somebody asks takes more
memory than it saves time."""
_BY_OTHERS: Final = {
    reasons.OUTRANKED: "it would have fitted when the session opened; jobs before it took the room",
    reasons.FRAGMENTATION: "enough {resource} is free together, but in pieces that are too small",
}


class Pieces(NamedTuple):
    """What the open nodes have of one resource: all that is `free`, and how often there is as much as a task asks."""

    free: int
    there: int
    when_empty: int


def _pieces(judge: Judge, tally: Tally, place: int) -> Pieces:
    whole, states, nodes = judge.room.states.whole, tally.states[tally.open], tally.nodes[tally.open]
    asked = int(judge.cls.request.values[place]) or 1
    free = np.maximum(whole.free[place][states], 0)
    return Pieces(
        int((free * nodes).sum()), int((free // asked * nodes).sum()),
        int((whole.cells.alloc[place][states] // asked * nodes).sum()),
    )  # fmt: skip


def _blockers(judge: Judge, tally: Tally, pairs: Counts) -> list[Blocker]:
    """Every check that is alone on some node."""
    found = []
    free_of = judge.room.states.whole.free
    for code, nodes in pairs:
        failed = judge.meaning.failed(code)
        if len(failed) != 1:
            continue
        alone = tally.codes == np.uint64(code)
        first = tally.first[alone]
        places = judge.meaning.places(code)
        if not places:
            row = int(first.min())
            # A tally knows the first row of each line only: what several nodes have is not told from one of them.
            taints = judge.table.by_label.hard_taints(np.array([row])) if nodes == 1 else ()
            found.append(Blocker(failed[0], nodes, row=row, named=helps.named(failed[0], judge.cls, taints)))
            continue
        free = free_of[places[0]][tally.states[alone]]
        asked, most = int(judge.cls.request.values[places[0]]), int(free.max())
        row = int(first[free == most].min())
        found.append(Blocker(failed[0], nodes, places[0], asked - most, asked, row))
    return sorted(found, key=lambda each: (each.size, -each.nodes, each.check.name))


# --- which reason leads ---------------------------------------------------------------------------------------------------


_COULD_HOLD: Final = -2
_TOGETHER: Final = -1
"""What `_too_large` says instead of a place."""


def _leading(judge: Judge, tally: Tally, pairs: Counts, within: Within) -> Why:
    meaning, total, axis = judge.meaning, tally.total, judge.table.axis
    wanted, opened = _wanted(meaning, pairs)
    if not total:
        return Why(reasons.INSUFFICIENT_RESOURCE, message="there is no node to look at")
    if not wanted:
        return Why(reasons.NODE_AFFINITY, message=_says(meaning, pairs, total))
    if not opened:
        return Why(_easiest(meaning, wanted), message=_says(meaning, pairs, total))
    if not any(code for code, _ in opened):
        return Why(reasons.UNKNOWN, message=f"{sum(nodes for _, nodes in opened)} nodes pass every check, but {_SHUT}")
    place, check = _most(meaning, opened)
    if place < 0:
        return Why(check.reason, message=_says(meaning, pairs, total))
    large = _too_large(judge, tally, within)
    name = axis.names[large if large >= 0 else place]
    detail = "" if large == _COULD_HOLD else "never_fits"
    asked = axis.whole(place, judge.cls.request.values[place])
    return Why(reasons.INSUFFICIENT_RESOURCE, detail, name, message=_says(meaning, pairs, total), asked=asked)


def _wanted(meaning: codes_.Codes, pairs: Counts) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Of the counted nodes those that the task wants, and of these the open ones."""
    wanted = [pair for pair in pairs if reasons.NODE_AFFINITY not in meaning.reasons(pair[0])]
    return wanted, [pair for pair in wanted if meaning.reasons(pair[0]).isdisjoint(_OBSTACLES)]


def _easiest(meaning: codes_.Codes, wanted: list[tuple[int, int]]) -> str:
    """Each wanted node counts by its hardest obstacle; the easiest that is the hardest of some node is named."""
    hardest = set()
    for code, _ in wanted:
        present = {check.reason for check in meaning.failed(code)}
        hardest.add(next(reason for reason in reversed(_OBSTACLES) if reason in present))
    return next(reason for reason in _OBSTACLES if reason in hardest)


def _most(meaning: codes_.Codes, opened: list[tuple[int, int]]) -> tuple[int, Check]:
    """The check that most open nodes fail: (place of the resource or -1, check)."""
    counts: dict[Check, int] = {}
    places: dict[Check, int] = {}
    for code, nodes in opened:
        failed = meaning.failed(code)
        for place, check in zip(meaning.places(code), failed, strict=False):
            places[check] = place
        for check in failed:
            counts[check] = counts.get(check, 0) + nodes
    check = max(counts, key=lambda each: (counts[each], each in places, places.get(each, -1) > MEMORY, each.name))
    return places.get(check, -1), check


def _too_large(judge: Judge, tally: Tally, within: Within) -> int:
    """Whether some open node could hold the task if it were empty; if not, the place of the resource of which none has
    enough, extended ones first, or that they only have not enough together. Of all nodes it is the same for a session."""
    if within is not None:
        return _largest(judge, tally)
    if judge.large is None:
        judge.large = _largest(judge, tally)
    return judge.large


def _largest(judge: Judge, tally: Tally) -> int:
    alloc, opened = judge.room.states.whole.cells.alloc, tally.states[tally.open]
    able: Bools = np.ones(len(opened), dtype=np.bool_)
    for place, amount in judge.needs:
        able &= alloc[place][opened] >= amount
    if able.any():
        return _COULD_HOLD
    for place, amount in sorted(judge.needs, key=lambda need: (need[0] <= MEMORY, need[0])):
        if len(opened) and int(alloc[place][opened].max()) < amount:
            return place
    return _TOGETHER


# --- in words ---------------------------------------------------------------------------------------------------------------


def _says(meaning: codes_.Codes, pairs: Counts, total: int) -> str:
    """Every failing check with its number of nodes; one node may count in several."""
    counts: dict[str, int] = {}
    for code, nodes in pairs:
        for check in meaning.failed(code):
            counts[check.text] = counts.get(check.text, 0) + nodes
    parts = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return f"0/{total} nodes take it: " + ", ".join(f"{nodes} {text}" for text, nodes in parts)
