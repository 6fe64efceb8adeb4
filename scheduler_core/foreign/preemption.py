"""What kube-scheduler's preemption would say of a pod that no node takes.

A node is of use only if the filter that refuses it is about pods that could go (`never` is false there). From such a node
every pod of lower priority is taken away; if the pod still does not fit, nothing helps, else as many as possible are put
back, the most important first, and the rest are the victims. Of several nodes the one whose victims hurt least is taken.

Disruption budgets are not known here, so none counts as violated.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

import numpy as np

from scheduler_core.foreign.cluster import Cluster
from scheduler_core.foreign.filters import Filters
from scheduler_core.foreign.judged import Judged
from scheduler_core.model import status
from scheduler_core.model.tasks import Task
from scheduler_core.session.codes import FITS

NO_VICTIMS: Final = "No preemption victims found for incoming pod"
NOT_HELPFUL: Final = "Preemption is not helpful for scheduling"


class Found(NamedTuple):
    """A node on which these pods would have to go."""

    node: str
    victims: tuple[Task, ...]


class Nowhere(NamedTuple):
    """Why it helps nowhere: nodes by what was said of them."""

    counts: Counter[str]


def barred(cluster: Cluster, task: Task, judged: Judged) -> str:
    """Why a pod may not preempt at all; empty if it may."""
    if not task.preempts:
        return "not eligible due to preemptionPolicy=Never."
    row = cluster.table.rows.get(task.nominated, -1)
    if row >= 0 and not judged.never[row] and leaving(cluster, task, row):
        return "not eligible due to a terminating pod on the nominated node."
    return ""


def leaving(cluster: Cluster, task: Task, row: int) -> list[Task]:
    """Pods of lower priority on a node that are going because a scheduler preempted them."""
    return [
        each
        for each in cluster.on(row)
        if each.status == status.RELEASING and each.victim and each.pod_priority < task.pod_priority
    ]


def attempt(cluster: Cluster, filters: Filters, task: Task, judged: Judged) -> Found | Nowhere:
    """Looks for the node whose victims hurt least."""
    counts: Counter[str] = Counter()
    found = []
    helpless = int(np.count_nonzero(judged.never))
    if helpless:
        counts[NOT_HELPFUL] = helpless
    for row in np.flatnonzero(~judged.never & ~judged.fits).tolist():
        lower = [each for each in cluster.on(row) if each.pod_priority < task.pod_priority]
        if not lower:
            counts[NO_VICTIMS] += 1
            continue
        with cluster.without(lower):
            code = int(filters.judge(task).first[row])
        if code != FITS:
            counts.update(check.text for check in filters.failed(code))
        else:
            found.append(Found(cluster.names[row], tuple(_victims(cluster, filters, task, row, lower))))
    return min(found, key=_hurt) if found else Nowhere(counts)


def _victims(cluster: Cluster, filters: Filters, task: Task, row: int, lower: list[Task]) -> list[Task]:
    """Those of the lower pods that cannot stay, the most important first."""
    gone = sorted(lower, key=lambda each: (-each.pod_priority, each.created_ns, each.uid))
    victims: list[Task] = []
    for place, each in enumerate(gone):
        with cluster.without([*victims, *gone[place + 1 :]]):
            if int(filters.judge(task).first[row]) != FITS:
                victims.append(each)
    return victims


def _hurt(found: Found) -> tuple[int, int, int, int, str]:
    """Smaller is better: the highest priority among the victims, the sum of priorities, their number, the age of the
    most important one (the youngest is best)."""
    priorities = [each.pod_priority for each in found.victims]
    highest = max(priorities, default=-(2**31))
    oldest = min((each.created_ns for each in found.victims if each.pod_priority == highest), default=0)
    return highest, sum(each + 2**31 for each in priorities), len(priorities), -oldest, found.node
