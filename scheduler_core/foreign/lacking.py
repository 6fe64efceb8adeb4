"""What would help a pod that no node takes, the smallest change first.

What alone keeps a node shut is told in the sentences of all schedulers here. Where a resource is short, a sentence before
them counts places: how many the job needs, how many there are, and on how many nodes something is free that is not enough.
"""

from __future__ import annotations

from pipeline.records import reasons
from scheduler_core.foreign.cluster import Cluster
from scheduler_core.foreign.filters import Filters
from scheduler_core.foreign.judged import Judged
from scheduler_core.foreign.reasons import Reasons
from scheduler_core.model.checks import Blocker
from scheduler_core.model.refusal import Report
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why
from scheduler_core.session import helps as helps_
from scheduler_core.session.codes import FITS

_LACKS = (reasons.INSUFFICIENT_RESOURCE, reasons.FRAGMENTATION)


def helps(cluster: Cluster, filters: Filters, task: Task, judged: Judged, why: Why) -> tuple[str, ...]:
    """At most three changes, each of which makes at least one node fit."""
    report = Report(
        counts=tuple(judged.joints),
        total=judged.total,
        usable=judged.total,
        blockers=tuple(_blockers(cluster, filters, task, judged)),
        why=why,
        unresolvable=None,
    )
    if why.detail == "never_fits" and not report.blockers:
        return ()
    return helps_.of_report(report, cluster.session.axis, filters.codes, cluster.names)


def room(cluster: Cluster, reasons_: Reasons, task: Task, why: Why, alike: int) -> tuple[str, ...]:
    """What is missing of a resource, on the open nodes: the places for so many tasks alike, or one that is large enough.

    Nothing where there are as many places: those nodes lack something else.
    """
    if why.reason not in _LACKS:
        return ()
    axis = cluster.session.axis
    place = axis.index[why.resource]
    asked = int(task.cls.request.values[place])
    there = reasons_.room(task, place)
    if why.detail == "never_fits":
        most = helps_.amount(axis, place, there.most)
        much = helps_.amount(axis, place, asked)
        return (f"no node that it may use has more than {most} {why.resource}; it asks for {much}",)
    if there.places >= alike:
        return ()
    amount = helps_.amount(axis, place, asked)
    places = f"{alike} places with {amount} free {why.resource} each"
    needed = places if alike > 1 else f"1 place with {amount} free {why.resource}"
    partly = f"; {there.partly} nodes have some free, but too little" if there.partly else ""
    return (f"it needs {needed}; {there.places} exist{partly}",)


def _blockers(cluster: Cluster, filters: Filters, task: Task, judged: Judged) -> list[Blocker]:
    """Every check that alone keeps nodes shut, the smallest change first."""
    found = []
    idle = cluster.table.settle().idle
    for code, nodes in judged.joints:
        failed = filters.failed(code) if code != FITS else ()
        if len(failed) != 1:
            continue
        rows = judged.rows_of(code)
        places = filters.codes.places(code)
        if not places:
            named = helps_.named(failed[0], task.cls, cluster.table.by_label.hard_taints(rows))
            found.append(Blocker(failed[0], nodes, row=int(rows[0]), named=named))
            continue
        place = places[0]
        asked = int(task.cls.request.values[place])
        able = rows[cluster.table.alloc[place][rows] >= asked]  # the others would not have enough, whatever went away
        small = not len(able)
        rows = rows if small else able
        row = int(rows[idle[place][rows].argmax()])
        short = asked - int(idle[place][row])
        found.append(Blocker(failed[0], len(rows), place, short, asked, row, small=small))
    return sorted(found, key=lambda each: (each.size, -each.nodes, each.check.name))
