"""What would help, the smallest change first: sentences made of what alone keeps nodes shut, or a queue.

A node that fails one check only would take the task if that were lifted. For a resource the change is as large as the part
of the request that is missing on the node that comes nearest; a rule that must go counts as a whole. When no single
change opens any node, the set of checks that most nodes with the fewest failures have is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pipeline.records import matching, reasons
from scheduler_core.model.checks import Blocker, Check
from scheduler_core.model.labels import Taints
from scheduler_core.model.refusal import Report
from scheduler_core.model.resources import MEMORY, Axis
from scheduler_core.model.tasks import TaskClass
from scheduler_core.model.why import Why
from scheduler_core.session.codes import FITS, Codes

_MOST: Final = 3


def of_report(report: Report, axis: Axis, codes: Codes, names: list[str]) -> tuple[str, ...]:
    """At most three changes, each of which makes at least one node fit."""
    if report.blockers:
        return tuple(_lift(each, axis, names) for each in report.blockers[:_MOST])
    return _together(report, codes)


def named(check: Check, cls: TaskClass, taints: Sequence[Taints]) -> str:
    """The labels, taints or port that a check of a class is about: `pool=b`; empty where they are many or not known.

    `taints` are the different sets of them on the nodes that fail it.
    """
    wants = cls.wants
    if check.reason == reasons.NODE_AFFINITY and wants.terms is None:
        return ", ".join(f"{key}={value}" for key, value in wants.node_selector.items())
    if check.reason == reasons.UNTOLERATED_TAINT and len(taints) == 1:
        tolerated = [any(matching.tolerates(each, *taint) for each in wants.tolerations) for taint in taints[0]]
        return ", ".join(
            _taint(*taint) for taint, is_tolerated in zip(taints[0], tolerated, strict=True) if not is_tolerated
        )
    if check.reason == reasons.PORT_CONFLICT and len(cls.ports) == 1:
        protocol, port, _ = cls.ports[0]
        return f"{port}/{protocol}"
    return ""


def _taint(key: str, value: str, effect: str) -> str:
    """As `kubectl taint` takes it."""
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"


def _lift(blocker: Blocker, axis: Axis, names: list[str]) -> str:
    node = names[blocker.row]
    if blocker.place < 0:
        what = _number(blocker.check.lifted or f"passed {blocker.check.name}", blocker.nodes)
        about = f" ({blocker.named})" if blocker.named else ""
        where = f"{blocker.nodes} nodes if they" if blocker.nodes > 1 else f"node {node} if the node"
        return f"it would fit on {where} {what}{about}"
    short = amount(axis, blocker.place, blocker.short)
    more = f"{short} more {axis.names[blocker.place]}"
    others = f"; {blocker.nodes} nodes lack nothing else" if blocker.nodes > 1 else ""
    # Of a request that is missing whole nothing would be left to ask for.
    less = ", or if it asked for that much less" if blocker.short < blocker.asked else ""
    return f"it would fit on node {node} if {more} were free there{less}{others}"


def _number(what: str, nodes: int) -> str:
    return what if nodes > 1 or not what.startswith("were ") else "was " + what[len("were ") :]


def _together(report: Report, codes: Codes) -> tuple[str, ...]:
    refused = [(code, nodes) for code, nodes in report.counts if code != FITS]
    if not refused:
        return ()
    code, nodes = min(refused, key=lambda pair: (len(codes.failed(pair[0])), -pair[1]))
    checks = " and ".join(check.text for check in codes.failed(code))
    return (f"no single change makes it fit; {nodes} of {report.total} nodes come nearest and fail only: {checks}",)


def of_quota(why: Why, queue: str) -> tuple[str, ...]:
    """What would lift a refusal by quota, where its numbers are known."""
    if why.asked is None or why.used is None or why.limit is None:
        return ()
    over = why.used + why.asked - why.limit
    if over <= 0:
        return ()
    if why.detail == "never_fits":
        return (f"ask for {_plain(why.asked - why.limit)} {why.resource} less, or raise the limit of {queue}",)
    freed = f"{_plain(over)} {why.resource} were freed in {queue}"
    return (f"it would be let in if {freed}, or if the limit were raised by that much",)


def amount(axis: Axis, place: int, value: float) -> str:
    """An amount as people write it."""
    if place == MEMORY:
        return _bytes(value)
    return _plain(axis.whole(place, value))


def _plain(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _bytes(value: float) -> str:
    for unit, size in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if value >= size:
            return f"{_plain(value / size)}{unit}"
    return f"{_plain(value)} bytes"
