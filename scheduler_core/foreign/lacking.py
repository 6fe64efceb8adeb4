"""What would help a pod that no node takes, the smallest change first.

What alone keeps a node shut is told in the sentences of all schedulers here. Where a resource is short, the first sentence
counts places: how many the job needs, how many there are, and on how many nodes something is free that is not enough.
"""

from __future__ import annotations

import numpy as np

from pipeline.records import reasons as reasons_
from scheduler_core.foreign.cluster import Cluster
from scheduler_core.foreign.filters import Filters, Judged
from scheduler_core.foreign.reasons import Reasons
from scheduler_core.model.refusal import Blocker, Report
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why
from scheduler_core.session import helps as helps_
from scheduler_core.session.codes import FITS

_LACKS = (reasons_.INSUFFICIENT_RESOURCE, reasons_.FRAGMENTATION)


def helps(
    cluster: Cluster, filters: Filters, reasons: Reasons, task: Task, judged: Judged, why: Why, alike: int
) -> tuple[str, ...]:
    """At most three sentences, after the one that counts places."""
    report = Report(
        counts=tuple(_pairs(judged.joint)),
        total=len(judged.joint),
        usable=len(judged.joint),
        blockers=tuple(_blockers(cluster, filters, task, judged)),
        why=why,
        unresolvable=judged.never,
    )
    said = helps_.of_report(report, cluster.session.axis, filters.codes, cluster.names)
    if why.reason in _LACKS and why.detail != "never_fits":
        return (_places(cluster, reasons, task, why.resource, alike), *said)
    return said


def _places(cluster: Cluster, reasons: Reasons, task: Task, resource: str, alike: int) -> str:
    axis = cluster.session.axis
    place = axis.index[resource]
    asked = int(task.cls.request.values[place])
    free = np.maximum(cluster.table.settle().idle[place][reasons.opened(task)], 0)
    exist = int((free // asked).sum())
    partly = int(np.count_nonzero((free > 0) & (free < asked)))
    amount = helps_.amount(axis, place, asked)
    many = "place" if alike == 1 else "places"
    verb = "is" if alike == 1 else "are"
    return f"{alike} {many} with {amount} free {resource} {verb} needed; {exist} exist; {partly} nodes are partly free"


def _pairs(codes: np.ndarray) -> list[tuple[int, int]]:
    values, counts = np.unique(codes, return_counts=True)
    return sorted(zip(values.tolist(), counts.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))


def _blockers(cluster: Cluster, filters: Filters, task: Task, judged: Judged) -> list[Blocker]:
    """Every check that alone keeps nodes shut, the smallest change first."""
    found = []
    idle = cluster.table.settle().idle
    for code, nodes in _pairs(judged.joint):
        failed = filters.failed(code) if code != FITS else ()
        if len(failed) != 1:
            continue
        rows = np.flatnonzero(judged.joint == np.uint64(code))
        places = filters.codes.places(code)
        if not places:
            found.append(Blocker(failed[0], nodes, row=int(rows[0])))
            continue
        asked = int(task.cls.request.values[places[0]])
        at = int(idle[places[0]][rows].argmax())
        short = asked - int(idle[places[0]][rows[at]])
        found.append(Blocker(failed[0], nodes, places[0], short, asked, int(rows[at])))
    return sorted(found, key=lambda each: (each.size, -each.nodes, each.check.name))
