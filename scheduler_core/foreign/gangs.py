"""Native groups (`scheduling.k8s.io` PodGroup): who is in them, and how many members have a place.

kube-scheduler says nothing on pods whose group does not exist or has too few members. Where enough exist it tries them
one after the other, each beside those before it, until the minimum is out of reach; then those that fit, and those that
were not tried any more, carry a text that points to the others (`minCount (4) cannot be satisfied: 2 scheduled, 1
remaining`). Why a gang waits is therefore told by the members that do not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import numpy as np

from scheduler_core.foreign.cluster import Cluster
from scheduler_core.foreign.filters import Filters
from scheduler_core.foreign.judged import Judged
from scheduler_core.model.facts import GroupFacts
from scheduler_core.model.resources import PODS
from scheduler_core.model.tasks import Task

_ENDED = ("Succeeded", "Failed")


class Gang(msgspec.Struct):
    """A group as it is. `facts` None: it does not exist. `alive` members of `minimum`, `bound` of them on nodes."""

    name: str
    facts: GroupFacts | None
    waiting: list[Task]
    alive: int = 0
    bound: int = 0

    @property
    def minimum(self) -> int:
        return 0 if self.facts is None else self.facts.min_member

    @property
    def incomplete(self) -> bool:
        return self.alive < self.minimum


class Tried(msgspec.Struct):
    """One attempt at a gang. `refused` are the members that no node takes, with what nodes said of each; `left` were not
    tried, since the minimum was out of reach. `scheduled` counts members that have a place or would have."""

    fitting: list[Task]
    refused: list[tuple[Task, Judged]]
    left: list[Task]
    scheduled: int


def of_cluster(cluster: Cluster) -> dict[str, Gang]:
    """All groups that waiting pods name, by namespaced name. Members that are being deleted do not count."""
    facts = {f"{each.namespace}/{each.name}": each for each in cluster.world.facts.groups}
    found: dict[str, Gang] = {}
    for uid, seen in cluster.seen.items():
        if seen.native_group:
            gang = found.setdefault(seen.native_group, Gang(seen.native_group, facts.get(seen.native_group), []))
            if not seen.facts.gates:
                gang.waiting.append(cluster.tasks[uid])
    for pod in cluster.world.facts.pods if found else ():
        gang_of = found.get(pod.group)
        if gang_of is not None and not pod.deleting and pod.phase not in _ENDED:
            gang_of.alive += 1
            gang_of.bound += bool(pod.node)
    for gang in found.values():
        gang.waiting.sort(key=lambda task: (-task.pod_priority, task.created_ns, task.name))
    return found


@contextmanager
def tried(cluster: Cluster, filters: Filters, gang: Gang) -> Iterator[Tried]:
    """Tries the members one after the other; while this lasts those that fit hold the places they found.

    Which node a member takes is up to scores that are not known here: the one with most left.
    """
    found = Tried([], [], list(gang.waiting), gang.bound)
    try:
        while found.left and found.scheduled + len(found.left) >= gang.minimum:
            _next(cluster, filters, found)
        yield found
    finally:
        for task in reversed(found.fitting):
            cluster.take(task)


def _next(cluster: Cluster, filters: Filters, found: Tried) -> None:
    """Tries the next member."""
    task = found.left.pop(0)
    judged = filters.judge(task)
    if judged.any_fits:
        cluster.put(task, _roomiest(cluster, task, judged))
        found.fitting.append(task)
        found.scheduled += 1
    else:
        found.refused.append((task, judged))


def _roomiest(cluster: Cluster, task: Task, judged: Judged) -> int:
    """Of the rows that take it the one with the largest share left of what it asks for, extended resources first."""
    cells = cluster.table.settle()
    places = [place for place, amount in task.cls.needs if amount > 0]
    place = max(places, key=lambda each: (each > PODS, -each), default=PODS)
    share = cells.idle[place] / np.maximum(cells.alloc[place], 1)
    return int(np.where(judged.fits, share, -np.inf).argmax())
