"""A cluster as kube-scheduler sees it, opened once and then kept: pods come and go, and everything else stands.

It differs from what a session of Volcano's works on in three things. A node that is not ready is as good as any: only its
taints keep pods away. Room that is being given back is not free before it is. And a pod that was promised a node (its
`nominatedNodeName`, or a place in its gang) holds it against pods that do not go before it, so pods can be put on nodes
for a while (`held`), and taken off (`without`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import msgspec
import numpy as np

from pipeline.records import matching
from pipeline.records.matching import Obstacle, Traits
from pipeline.records.shapes.pod import Toleration
from scheduler_core.cache.reading import PodSeen
from scheduler_core.foreign.world import World
from scheduler_core.model import amounts, snapshot, status
from scheduler_core.model.cells import Bools
from scheduler_core.model.facts import ClusterFacts, NodeFacts, PodFacts
from scheduler_core.model.policy import PluginChoice, Policy
from scheduler_core.model.tasks import NOWHERE, Task
from scheduler_core.plugins.predicates import UNDONE, Predicates
from scheduler_core.session.session import Session

NAME = "kube-scheduler"
"""The policy that decisions of this room name."""
_FILTERS = PluginChoice(Predicates.name, frozenset({"predicate"}), {UNDONE: "back"})
_POLICY = Policy(NAME, (), ((_FILTERS,),))
OBSTACLES: Final[tuple[Obstacle, ...]] = ("not_ready", "unschedulable", "tainted")
"""What closes a node that is wanted, the easiest to mend first."""
_MOST_CHANGES: Final = 50_000
_MOST_NOTES: Final = 500_000
"""Changes of pods, and of rows, after which all is made anew: labels and classes are never forgotten one by one."""
Place = tuple[Task, int]
"""A task, and the row on which it counts."""


class Cluster:
    """`seen` are the pods that wait, `tasks` the same in the session, by uid. `names` are the nodes, by row; `closed` is
    what closes them."""

    def __init__(self, world: World) -> None:
        facts = world.facts
        nodes = tuple(each if each.ready else msgspec.structs.replace(each, ready=True) for each in facts.nodes)
        shown = ClusterFacts(nodes=nodes, pods=facts.pods)
        self.session = Session(snapshot.build(shown), _POLICY, {Predicates.name: Predicates}, 0)
        self._reader = snapshot.Reader(self.session.snapshot, shown)
        self.tasks = self.session.snapshot.tasks
        self.table = self.session.nodes
        self.names = self.table.names
        self.version = 0
        """Moves when something on a node has changed for good."""
        self._taken_in = 0
        self._keeps_ports = any(cls.ports for cls in self.session.snapshot.classes.all)
        by_name = {node.name: node for node in facts.nodes}
        self.closed = _Closed([_traits(by_name[name]) for name in self.names])
        self._look(world)

    def _look(self, world: World) -> None:
        """Takes over who waits, and what is beside nodes and pods."""
        self.world = world
        self.seen: dict[str, PodSeen] = {each.facts.uid: each for each in world.waiting}
        nominated = sorted(uid for uid, each in self.seen.items() if each.facts.nominated_node in self.table.rows)
        self._promised = [(self.tasks[uid], self.table.rows[self.seen[uid].facts.nominated_node]) for uid in nominated]

    # --- pods come and go --------------------------------------------------------------------------------------------

    def follow(self, world: World, changed: Mapping[str, PodFacts | None]) -> bool:
        """Takes in that these pods are now so, or gone (None); nodes are as before. False if that cannot be done with
        what stands, so that all must be made anew."""
        self._taken_in += len(changed)
        if self._taken_in > _MOST_CHANGES or self.table.changed > _MOST_NOTES:
            return False
        pods = [each for each in changed.values() if each is not None]
        lists = (container.requests for pod in pods for container in (*pod.containers, *pod.init_containers))
        named = amounts.names_in(lists) | amounts.names_in(pod.overhead for pod in pods)
        if not named <= self.session.axis.index.keys():
            return False
        if not all(self._follow_one(uid, facts) for uid, facts in changed.items()):
            return False
        self.session.snapshot.mistakes.clear()  # Volcano's side tells them
        self._look(world)
        return True

    def _follow_one(self, uid: str, facts: PodFacts | None) -> bool:
        before = self.tasks.pop(uid, None)
        if before is not None and _seated(before):
            self.session.tell_deallocated(before)
            self.table.hold(before.row, before, -1)
            self.version += 1
        if facts is None:
            return True
        task = self.tasks[uid] = self._reader.task(facts)
        if (task.cls.selects and not self.session.relations.active) or (task.cls.ports and not self._keeps_ports):
            return False  # nobody had asked for this before, so nobody kept count of it
        if _seated(task):
            self.table.hold(task.row, task)
            self.session.tell_allocated(task)
            self.version += 1
        return True

    # --- for a while -------------------------------------------------------------------------------------------------

    def promised(self, task: Task) -> list[Place]:
        """The places that this task has to leave free: those promised to others of its priority and above."""
        if not self._promised:
            return []
        return [
            (each, row)
            for each, row in self._promised
            if each is not task and each.row == NOWHERE and each.pod_priority >= task.pod_priority
        ]

    @property
    def promises(self) -> tuple[tuple[str, int], ...]:
        """Who was promised which row."""
        return tuple((task.uid, row) for task, row in self._promised)

    def on(self, row: int) -> list[Task]:
        """The pods on a node, as they are now."""
        return list(self.table.tasks[row].values())

    @contextmanager
    def held(self, places: Iterable[Place]) -> Iterator[None]:
        """While this lasts, these tasks are on these rows."""
        taken: list[Task] = []
        try:
            for task, row in places:
                self.put(task, row)
                taken.append(task)
            yield
        finally:
            for task in reversed(taken):
                self.take(task)

    @contextmanager
    def without(self, tasks: Iterable[Task]) -> Iterator[None]:
        """While this lasts, these pods are on no node."""
        left = [(task, task.row, task.status) for task in tasks]
        try:
            for task, _, _ in left:
                self.take(task)
            yield
        finally:
            for task, row, state in left:
                self.put(task, row, state)

    def put(self, task: Task, row: int, state: int = status.ALLOCATED) -> None:
        """A task counts as on a node from now on."""
        task.row, task.status = row, state
        self.table.hold(row, task)
        self.session.tell_allocated(task)

    def take(self, task: Task) -> None:
        """A task is on no node any more."""
        self.session.tell_deallocated(task)
        self.table.hold(task.row, task, -1)
        task.row, task.status = NOWHERE, status.PENDING


def _seated(task: Task) -> bool:
    return task.row != NOWHERE and task.status in status.ON_NODE


class _Closed:
    """What keeps pods away from nodes, whatever they ask: the taints, worked out once for each set of them."""

    def __init__(self, nodes: list[Traits]) -> None:
        known: dict[tuple[tuple[str, str, str], ...], int] = {}
        self._of_row = np.array([known.setdefault(node.taints, len(known)) for node in nodes], dtype=np.int64)
        self._sets = [Traits("", {}, taints) for taints in known]
        self._single = [[Traits("", {}, (taint,)) for taint in taints] for taints in known]

    def hardest(self, tolerations: Sequence[Toleration]) -> dict[Obstacle, Bools]:
        """Rows by their hardest obstacle (rule P1); open ones are in none."""
        found = [matching.obstacle(each, tolerations) for each in self._sets]
        return {kind: self._rows([each == kind for each in found]) for kind in OBSTACLES}

    def each(self, tolerations: Sequence[Toleration]) -> dict[Obstacle, Bools]:
        """Rows by every obstacle they have."""
        found = [{matching.obstacle(one, tolerations) for one in taints} for taints in self._single]
        return {kind: self._rows([kind in each for each in found]) for kind in OBSTACLES}

    def _rows(self, of_set: list[bool]) -> Bools:
        found: Bools = np.array(of_set, dtype=np.bool_)[self._of_row]
        return found


def _traits(node: NodeFacts) -> Traits:
    """A node with the taints it has, and those it will get: what a cordon and a lost kubelet stand for."""
    taints = list(node.taints)
    if node.unschedulable:
        taints.append((matching.UNSCHEDULABLE, "", "NoSchedule"))
    if not node.ready:
        taints.append((matching.NOT_READY, "", "NoSchedule"))
    hard = tuple(dict.fromkeys(taint for taint in taints if taint[2] in ("NoSchedule", "NoExecute")))
    return Traits(node.name, node.labels, hard)
