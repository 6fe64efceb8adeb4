"""Why a task got no node: counted over all nodes, exactly, before anything is rolled back.

A report is of a class at one moment: how many nodes fail which set of checks, which single check alone keeps how many
nodes shut (sole blockers: those nodes would take the task if only that were lifted), and by how little. A refusal is of a
task: a report, or what else kept it from being tried. While the table does not move, equal tasks share a report.

Which reason leads: nodes that the task does not want at all say nothing as long as there are others. If it wants none:
node affinity. If all it wants are closed: the easiest obstacle (not ready, then cordoned, then tainted). Else what most of
the open nodes fail; of resources that fail on equally many, extended ones before cpu and memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from pipeline.records import reasons
from scheduler_core.model import status
from scheduler_core.model.cells import Codes
from scheduler_core.model.refusal import Blocker, Check, Refusal, Report
from scheduler_core.model.resources import MEMORY
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why
from scheduler_core.session import codes as codes_

if TYPE_CHECKING:
    from scheduler_core.session.judging import Judge, Within
    from scheduler_core.session.session import Session
    from scheduler_core.session.tallies import Tally

_SHUT: Final = "each was refused to another task of the role, or its score is below zero"
_OBSTACLES: Final = (reasons.NODE_NOT_READY, reasons.NODE_UNSCHEDULABLE, reasons.UNTOLERATED_TAINT)
"""What closes a node that is wanted, easiest to mend first."""


def by_nodes(session: Session, task: Task, judge: Judge, codes: Codes, within: Within) -> Refusal:
    """The refusal of a task that no node takes."""
    plain = within is None and codes is judge.codes
    report = judge.report if plain and judge.reported == judge.version else None
    if report is None:
        report = _report(session, judge, codes, within)
        if plain:
            judge.report, judge.reported = report, judge.version
    return _of(session, task, judge, within, report)


def again(session: Session, task: Task, judge: Judge) -> Refusal:
    """The refusal of a task like one that all nodes have just refused."""
    assert judge.report is not None
    return _of(session, task, judge, None, judge.report)


def _of(session: Session, task: Task, judge: Judge, within: Within, report: Report) -> Refusal:
    why = _by_others(session, task, judge, within, report) or report.why
    job = task.job
    return Refusal(task, why, report, placed=0 if job is None else job.ready + job.waiting)


def by_word(task: Task, why: Why, text: str = "") -> Refusal:
    """The refusal of a task for which no node was looked at."""
    return Refusal(task, why, text=text)


def _report(session: Session, judge: Judge, codes: Codes, within: Within) -> Report:
    tally = judge.meaning.tallies.of(judge, codes, within)
    pairs = tally.histogram()
    usable = int(np.count_nonzero(session.nodes.usable if within is None else session.nodes.usable & within))
    return Report(
        counts=tuple(pairs),
        total=tally.total,
        usable=usable,
        blockers=tuple(_blockers(judge, tally, pairs)),
        why=_leading(session, judge, tally, pairs),
        unresolvable=judge.meaning.never(codes),
    )


def _blockers(judge: Judge, tally: Tally, pairs: Iterable[tuple[int, int]]) -> list[Blocker]:
    """Every check that is alone on some node."""
    found = []
    cells = judge.table.states.since(0)
    for code, nodes in pairs:
        failed = judge.meaning.failed(code)
        if len(failed) != 1:
            continue
        alone = tally.codes == np.uint64(code)
        first = tally.first[alone]
        places = judge.meaning.places(code)
        if not places:
            found.append(Blocker(failed[0], nodes, row=int(first.min())))
            continue
        free = cells.free(places[0])[tally.states[alone]]
        asked, most = int(judge.cls.request.values[places[0]]), int(free.max())
        row = int(first[free == most].min())
        found.append(Blocker(failed[0], nodes, places[0], asked - most, asked, row))
    return sorted(found, key=lambda each: (each.size, -each.nodes, each.check.name))


# --- which reason leads ---------------------------------------------------------------------------------------------------


def _leading(session: Session, judge: Judge, tally: Tally, pairs: list[tuple[int, int]]) -> Why:
    meaning, total = judge.meaning, tally.total
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
    name = session.axis.names[place]
    detail = "" if _could_hold(judge, tally) else "never_fits"
    asked = session.axis.whole(place, judge.cls.request.values[place])
    return Why(
        reasons.INSUFFICIENT_RESOURCE, detail, name if not detail else _too_large(judge, tally, name),
        message=_says(meaning, pairs, total), asked=asked,
    )  # fmt: skip


def _wanted(meaning: codes_.Codes, pairs: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
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


def _could_hold(judge: Judge, tally: Tally) -> bool:
    """Whether some open node could hold the task if it were empty."""
    alloc, able = judge.table.states.since(0).alloc, tally.open
    for place, amount in judge.needs:
        able = able & (alloc[place][tally.states] >= amount)
    return bool(able.any())


def _too_large(judge: Judge, tally: Tally, otherwise: str) -> str:
    """The resource of which no open node has enough even when empty, extended ones first."""
    alloc, opened = judge.table.states.since(0).alloc, tally.states[tally.open]
    for place, amount in sorted(judge.needs, key=lambda need: (need[0] <= MEMORY, need[0])):
        if len(opened) and int(alloc[place][opened].max()) < amount:
            return judge.table.axis.names[place]
    return otherwise


def _by_others(session: Session, task: Task, judge: Judge, within: Within, report: Report) -> Why | None:
    """A shortage that is not of this class alone: room that jobs before it took in this session, or room in pieces."""
    why, job = report.why, task.job
    place = session.axis.index.get(why.resource)
    if why.reason != reasons.INSUFFICIENT_RESOURCE or why.detail or job is None or place is None:
        return None
    waiting = sum([1 for each in job.pending() if each.cls is judge.cls and each.open])
    placed = sum([1 for state in _GIVEN for each in job.by_status[state].values() if each.cls is judge.cls])
    known = report.others.get((waiting, placed))
    if known is None:
        known = report.others[waiting, placed] = _other_reason(session, judge, within, place, waiting, placed)
    if not known:
        return None
    text = _BY_OTHERS[known].format(resource=why.resource)
    return msgspec.structs.replace(why, reason=known, message=f"{text}; {why.message}")


_GIVEN: Final = (status.ALLOCATED, status.PIPELINED)
_BY_OTHERS: Final = {
    reasons.OUTRANKED: "it would have fitted when the session opened; jobs before it took the room",
    reasons.FRAGMENTATION: "enough {resource} is free together, but in pieces that are too small",
}


def _other_reason(session: Session, judge: Judge, within: Within, place: int, waiting: int, placed: int) -> str:
    opened = judge.fixed == 0 if within is None else (judge.fixed == 0) & within
    if judge.places(session.opening, within) >= waiting + placed:
        return reasons.OUTRANKED
    asked = int(judge.cls.request.values[place])
    free = np.maximum(session.nodes.settle().free(place)[opened], 0)
    alloc = session.nodes.alloc[place][opened]
    in_pieces = asked and free.sum() >= asked * waiting and (alloc // asked).sum() >= waiting
    return reasons.FRAGMENTATION if in_pieces and (free // asked).sum() < waiting else ""


# --- in words ---------------------------------------------------------------------------------------------------------------


def _says(meaning: codes_.Codes, pairs: list[tuple[int, int]], total: int) -> str:
    """Every failing check with its number of nodes; one node may count in several."""
    counts: dict[str, int] = {}
    for code, nodes in pairs:
        for check in meaning.failed(code):
            counts[check.text] = counts.get(check.text, 0) + nodes
    parts = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return f"0/{total} nodes take it: " + ", ".join(f"{nodes} {text}" for text, nodes in parts)
