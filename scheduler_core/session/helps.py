"""What would help, the smallest change first: sentences made of what alone keeps nodes shut, or a queue.

A node that fails one check only would take the task if that were lifted. For a resource the change is as large as the part
of the request that is missing on the node that comes nearest; a rule that must go counts as a whole. When no single
change opens any node, the set of checks that most nodes with the fewest failures have is named.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from pipeline.records import matching, reasons
from scheduler_core.model.checks import Blocker, Check
from scheduler_core.model.labels import Taints
from scheduler_core.model.refusal import Report
from scheduler_core.model.resources import Axis
from scheduler_core.model.tasks import TaskClass
from scheduler_core.model.why import Bound, Why
from scheduler_core.session.codes import FITS, Codes

_MOST: Final = 3
_IN_BYTES: Final = ("memory", "ephemeral-storage")
_NOISE: Final = 1e-6
"""What shares that were divided may be off."""


def of_report(report: Report, axis: Axis, codes: Codes, names: list[str]) -> tuple[str, ...]:
    """At most three changes, each of which makes at least one node fit."""
    if report.blockers:
        return tuple([_lift(each, axis, names) for each in report.blockers[:_MOST]])
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
    short, resource = amount(axis, blocker.place, blocker.short), axis.names[blocker.place]
    others = f"; {blocker.nodes} nodes lack nothing else" if blocker.nodes > 1 else ""
    some_is_there = blocker.short < blocker.asked  # else nothing would be left to ask for
    if blocker.small and some_is_there:
        less = f"if it asked for {short} {resource} less, or on one like it that had that much more"
        return f"it would fit on node {node} {less}{others}"
    if blocker.small:
        return f"it would fit on a node like {node} that had {short} more {resource}{others}"
    less = ", or if it asked for that much less" if some_is_there else ""
    return f"it would fit on node {node} if {short} more {resource} were free there{less}{others}"


def _number(what: str, nodes: int) -> str:
    return what if nodes > 1 or not what.startswith("were ") else "was " + what[len("were ") :]


def _together(report: Report, codes: Codes) -> tuple[str, ...]:
    refused = [(code, nodes) for code, nodes in report.counts if code != FITS]
    if not refused:
        return ()
    code, nodes = min(refused, key=lambda pair: (len(codes.obstacles(pair[0])), -pair[1]))
    checks = " and ".join(check.text for check in codes.obstacles(code))
    return (f"no single change makes it fit; {nodes} of {report.total} nodes come nearest and fail only: {checks}",)


def of_quota(why: Why) -> tuple[str, ...]:
    """What would lift a refusal by quota: each sentence by itself is enough.

    Room is freed by others than the job; a limit is raised where one and the same makes it for all that is short.
    """
    if not why.over:
        return ()
    much = " and ".join([f"{_in_words(each.resource, each.over)} {each.resource}" for each in why.over])
    found = []
    if all(each.others >= each.over for each in why.over):
        found.append(f"it would be let in if {much} were freed in {why.queue or 'the cluster'}")
    if all(each.asked > each.over for each in why.over):
        found.append(f"it would be let in if it asked for {much} less")
    bounds = {each.bound for each in why.over}
    if len(bounds) == 1:
        raised = _RAISED[bounds.pop()]
        found += [raised.format(queue=why.queue, much=much)] if raised else []
    return tuple(found)


_RAISED: Final[dict[Bound, str]] = {
    "capability": "it would be let in if the capability of {queue} were raised by {much}",
    "capability, shared": "it would be let in if the capability of {queue} were raised by {much} and other queues left it that",
    "above": "it would be let in if the queues above {queue} left it {much} more",
    "nodes": "it would be let in if the nodes that are ready had {much} more",
    "nodes, shared": "it would be let in if the nodes that are ready had {much} more and other queues left it that",
    "deserved": "it would be let in if {queue} deserved {much} more",
    "": "",
}


def amount(axis: Axis, place: int, value: float) -> str:
    """An amount as people write it, in three digits and rounded up: so much less would not do."""
    return _in_words(axis.names[place], axis.whole(place, value))


def _in_words(resource: str, whole: float) -> str:
    return _bytes(whole) if resource in _IN_BYTES or resource.startswith("hugepages-") else _plain(whole)


def _plain(value: float) -> str:
    return _thousandths(math.ceil(value * 1000 - _NOISE))


def _bytes(value: float) -> str:
    whole = math.ceil(value - _NOISE)
    for unit, size in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if whole >= size:
            return f"{_thousandths(-(-whole * 1000 // size))}{unit}"
    return f"{whole} bytes"


def _thousandths(number: int) -> str:
    return f"{number / 1000:.3f}".rstrip("0").rstrip(".")
