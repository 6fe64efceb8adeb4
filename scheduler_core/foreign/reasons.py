"""Which reason follows from what the nodes said.

Wanted are the nodes that match selector and affinity, open those of them that no taint, cordon or lost kubelet closes
(rule P1). Without a wanted node it is node affinity; without an open one the easiest obstacle that is the hardest of some
node. Of open nodes the deepest filter that refuses one leads: that node had passed all before it. Lack of a resource is
told more exactly from all pods and nodes:

- `never_fits`: no open node could hold the pod if it were empty.
- `outranked`: a node would take it, were it not promised to a pod of its priority or above.
- `fragmentation` (rule P15): on the open nodes together enough is free for all pods of the job that ask alike, and empty
  they would hold them, but it lies in pieces that are too small.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from pipeline.records import reasons
from scheduler_core.foreign.cluster import Cluster
from scheduler_core.foreign.filters import Filters
from scheduler_core.foreign.judged import Judged
from scheduler_core.model.cells import Bools
from scheduler_core.model.resources import MEMORY, PODS
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why

_DEEPEST: Final = (
    reasons.POD_AFFINITY, reasons.POD_ANTI_AFFINITY, reasons.TOPOLOGY_SPREAD, reasons.VOLUME, reasons.DRA,
    reasons.PORT_CONFLICT, reasons.INSUFFICIENT_RESOURCE,
)  # fmt: skip


class Leading(NamedTuple):
    """A reason and the number of nodes for which it holds."""

    why: Why
    nodes: int


class Room(NamedTuple):
    """What the open nodes have of a resource: what is `free` in all, `places` there for so much, places `when_empty`, nodes
    `partly` free but not enough, and the `most` that one of them has."""

    free: int
    places: int
    when_empty: int
    partly: int
    most: int


class Reasons:
    """Picks reasons on one cluster."""

    def __init__(self, cluster: Cluster, filters: Filters) -> None:
        self.cluster = cluster
        self.filters = filters
        self.table = cluster.table
        self._large: dict[tuple[bytes, int], int] = {}
        self._rooms: dict[tuple[bytes, int, int], Room] = {}
        self._counted = -1

    def of(self, task: Task, judged: Judged, alike: int) -> Leading | None:
        """The reason of a task; None if a node takes it. `alike`: unplaced pods of its job that ask the same, with it."""
        if judged.early:
            return Leading(Why(reasons.VOLUME, message=judged.early), len(self.table))
        if judged.any_fits:
            return None
        if not len(self.table):
            return Leading(Why(reasons.NODE_AFFINITY, message="there is no node"), 0)  # of none, none matches
        wished = self.filters.wished(task.cls)
        if not any(kind.opened for kind in wished.kinds):
            reason, nodes = wished.closed
            return Leading(Why(reason), nodes)
        return self._of_open(task, judged, alike)

    def _of_open(self, task: Task, judged: Judged, alike: int) -> Leading:
        nodes: dict[str, int] = {}
        short: dict[str, int] = {}
        for code, number in judged.open_firsts:
            checks = self.filters.failed(code)
            for reason in {check.reason for check in checks}:
                nodes[reason] = nodes.get(reason, 0) + number
            for check in checks:
                if check.reason == reasons.INSUFFICIENT_RESOURCE:
                    resource = check.name.partition("/")[2]
                    short[resource] = short.get(resource, 0) + number
        reason = next((each for each in _DEEPEST if each in nodes), "")
        if not reason:  # refused by a taint or cordon that the node has no more trace of here
            return Leading(Why(reasons.UNKNOWN), 0)
        if reason != reasons.INSUFFICIENT_RESOURCE:
            return Leading(Why(reason), nodes[reason])
        place = self._worst(short)
        name = self.cluster.session.axis.names[place]
        return Leading(self._of_lack(task, place, alike), short[name])

    def _worst(self, short: dict[str, int]) -> int:
        """The place of the resource that most nodes lack, extended ones before cpu and memory."""
        places = {self.cluster.session.axis.index[name]: nodes for name, nodes in short.items()}
        return max(places, key=lambda place: (places[place], place > PODS, -place))

    def _of_lack(self, task: Task, place: int, alike: int) -> Why:
        axis = self.cluster.session.axis
        never = self._too_large(task)
        if never >= 0:
            asked = axis.whole(never, task.cls.request.values[never])
            return Why(reasons.INSUFFICIENT_RESOURCE, "never_fits", axis.names[never], asked=asked)
        asked = int(task.cls.request.values[place])
        others = self.cluster.promised(task)
        if others and self.filters.judge(task, promises=False).any_fits:
            names = ", ".join(each.key for each, _ in others[:3])
            return Why(reasons.OUTRANKED, resource=axis.names[place], message=f"its place is promised to {names}")
        room = self.room(task, place)
        if room.free >= asked * alike and room.when_empty >= alike and room.places < alike:
            return Why(reasons.FRAGMENTATION, resource=axis.names[place], asked=axis.whole(place, asked))
        return Why(reasons.INSUFFICIENT_RESOURCE, resource=axis.names[place], asked=axis.whole(place, asked))

    def room(self, task: Task, place: int) -> Room:
        """What the open nodes have of a resource for tasks that ask as much of it as this one."""
        asked = int(task.cls.request.values[place])
        if self._counted != self.table.changed:
            self._rooms.clear()
            self._counted = self.table.changed
        key = (task.cls.wants.key, place, asked)
        found = self._rooms.get(key)
        if found is None:
            opened = self.filters.wished(task.cls).opened
            free = np.maximum(self.table.settle().idle[place][opened], 0)
            whole = self.table.alloc[place][opened]
            found = self._rooms[key] = Room(
                int(free.sum()), int((free // asked).sum()), int((whole // asked).sum()),
                int(np.count_nonzero((free > 0) & (free < asked))), int(whole.max()),
            )  # fmt: skip
        return found

    def _too_large(self, task: Task) -> int:
        """The place of a resource of which no open node has enough even when empty, if so no open node can hold the task
        when empty; extended ones first. -1: one could."""
        key = (task.cls.wants.key, task.cls.demand.number)
        found = self._large.get(key)
        if found is None:
            found = self._large[key] = self._largest(task, self.filters.wished(task.cls).opened)
        return found

    def _largest(self, task: Task, opened: Bools) -> int:
        needs = [(place, amount) for place, amount in task.cls.needs if amount > 0]
        able = opened.copy()
        for place, amount in needs:
            able &= self.table.alloc[place] >= amount
        if able.any():
            return -1
        first = sorted(needs, key=lambda need: (need[0] <= MEMORY, need[0]))
        lacking = [place for place, amount in first if int(self.table.alloc[place][opened].max()) < amount]
        return lacking[0] if lacking else first[0][0]
