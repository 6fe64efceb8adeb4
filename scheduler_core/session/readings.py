"""What counted nodes say by themselves, whichever class they refused: the reason that leads, in words, and what stands alone.

Which reason leads: nodes that the task does not want at all say nothing as long as there are others. If it wants none:
node affinity. If all it wants are closed: the easiest obstacle (not ready, then cordoned, then tainted). Else what most of
the open nodes fail; of resources that fail on equally many, extended ones before cpu and memory.

In a session a hundred refusals count the same, so what counts say is found once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipeline.records import reasons
from scheduler_core.model.checks import Check
from scheduler_core.model.resources import MEMORY
from scheduler_core.model.why import Why

if TYPE_CHECKING:
    from scheduler_core.session.codes import Codes
    from scheduler_core.session.tallies import Counts

_SHUT: Final = "each was refused to another task of the role, or its score is below zero"
_OBSTACLES: Final = (reasons.NODE_NOT_READY, reasons.NODE_UNSCHEDULABLE, reasons.UNTOLERATED_TAINT)
"""What closes a node that is wanted, easiest to mend first."""
_BLOCKING: Final = frozenset(_OBSTACLES)


class Alone:
    """A check that alone keeps so many nodes shut: the codes that say so, and the place of the resource, or -1."""

    __slots__ = ("check", "codes", "nodes", "place")

    def __init__(self, codes: list[int], nodes: int, check: Check, place: int) -> None:
        self.codes = codes
        self.nodes = nodes
        self.check = check
        self.place = place


class Reading:
    """What counts say. `why` is the reason that leads; None where it is want of a resource, the one at `place`, of which the
    `message` says the rest. `alone` are the checks that are alone on some node."""

    __slots__ = ("alone", "message", "place", "why")

    def __init__(self, message: str, alone: list[Alone]) -> None:
        self.message = message
        self.alone = alone
        self.place = -1
        self.why: Why | None = None


def read(meaning: Codes, counts: Counts) -> Reading:
    """What these counts say. They are not empty, and add up to all nodes that were looked at."""
    found = Reading(_says(meaning, counts), _alone(meaning, counts))
    wanted = [pair for pair in counts if reasons.NODE_AFFINITY not in meaning.reasons(pair[0])]
    opened = [pair for pair in wanted if meaning.reasons(pair[0]).isdisjoint(_BLOCKING)]
    if not wanted:
        found.why = Why(reasons.NODE_AFFINITY, message=found.message)
    elif not opened:
        found.why = Why(_easiest(meaning, wanted), message=found.message)
    elif len(opened) == 1 and not opened[0][0]:
        nodes = sum([nodes for _, nodes in opened])
        pass_ = "1 node passes" if nodes == 1 else f"{nodes} nodes pass"
        found.why = Why(reasons.UNKNOWN, message=f"{pass_} every check, but {_SHUT}")
    else:
        found.place, check = _most(meaning, opened)
        if found.place < 0:
            found.why = Why(check.reason, message=found.message)
    return found


def _alone(meaning: Codes, counts: Counts) -> list[Alone]:
    found: dict[Check, Alone] = {}
    for code, nodes in counts:
        obstacles = meaning.obstacles(code)
        if len(obstacles) == 1:
            check = obstacles[0]
            known = found.get(check)
            if known is None:
                places = meaning.places(code) if check is meaning.failed(code)[0] else ()
                found[check] = Alone([code], nodes, check, places[0] if places else -1)
            else:  # once by itself, and once with what says it again
                known.codes.append(code)
                known.nodes += nodes
    return list(found.values())


def _easiest(meaning: Codes, wanted: list[tuple[int, int]]) -> str:
    """Each wanted node counts by its hardest obstacle; the easiest that is the hardest of some node is named."""
    hardest = set()
    for code, _ in wanted:
        present = meaning.reasons(code)
        hardest.add(next(reason for reason in reversed(_OBSTACLES) if reason in present))
    return next(reason for reason in _OBSTACLES if reason in hardest)


def _most(meaning: Codes, opened: list[tuple[int, int]]) -> tuple[int, Check]:
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


def _says(meaning: Codes, pairs: Counts) -> str:
    """Every failing check with its number of nodes; one node may count in several."""
    counts: dict[str, int] = {}
    total = 0
    for code, nodes in pairs:
        total += nodes
        for check in meaning.failed(code):
            counts[check.text] = counts.get(check.text, 0) + nodes
    parts = sorted([(-nodes, text) for text, nodes in counts.items()])
    return f"0/{total} nodes take it: " + ", ".join([f"{-nodes} {text}" for nodes, text in parts])
