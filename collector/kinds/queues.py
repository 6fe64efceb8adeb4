"""Queues and tenants: what a job's queue says of itself, which the job's own objects do not.

One vocabulary for two systems. `state` is Volcano's word (Open, Closed, Closing, Unknown); a Kueue queue that is
stopped, or says that it is not active, is Closed. A LocalQueue exists only together with the ClusterQueue it leads to.

The tenant is the topmost of the queue's parents. Volcano hangs every queue below a built-in `root`, which is nobody's:
a queue directly below it has no parents. Without parents, the namespace's label names the tenant, else the namespace
is the tenant. (Cohorts of Kueue are shared by design and name no tenant.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec

from collector.kinds.base import QueueName
from pipeline.records import sla
from pipeline.records.objects import QueueFacts
from pipeline.records.shapes import queue as shapes
from pipeline.records.shapes.base import Condition, Shape

ROOT: Final = "root"
_OPEN: Final = "Open"
_CLOSED: Final = "Closed"
K = TypeVar("K")
V = TypeVar("V")


class VolcanoQueue(msgspec.Struct, frozen=True):
    state: str | None
    capability: dict[str, str] | None
    parent: str
    waiting_time: str | None


class LocalQueue(msgspec.Struct, frozen=True):
    cluster_queue: str
    stopped: bool
    waiting_time: str | None


class ClusterQueue(msgspec.Struct, frozen=True):
    stopped: bool
    waiting_time: str | None


def volcano_queue(queue: shapes.Queue) -> VolcanoQueue:
    """What is learned of a Volcano queue; what is allocated in it moves all the time and is left out."""
    spec = queue.spec
    capability = {name: str(amount) for name, amount in spec.capability.items()} if spec.capability else None
    return VolcanoQueue(queue.status.state, capability, spec.parent or "", _waiting_time(queue))


def local_queue(queue: shapes.LocalQueue) -> LocalQueue:
    stopped = _stopped(queue.spec.stop_policy, queue.status.conditions)
    return LocalQueue(queue.spec.cluster_queue or "", stopped, _waiting_time(queue))


def cluster_queue(queue: shapes.ClusterQueue) -> ClusterQueue:
    return ClusterQueue(_stopped(queue.spec.stop_policy, queue.status.conditions), _waiting_time(queue))


def _waiting_time(queue: Shape) -> str | None:
    """The text of the first readable promise among the queue's annotations."""
    notes = queue.metadata.annotations
    promise, _ = sla.find((("queue", notes),))
    return notes[promise.source] if promise is not None and notes else None


def _stopped(policy: str | None, conditions: list[Condition] | None) -> bool:
    if policy not in (None, "", "None"):
        return True
    return any(each.type == "Active" and each.status == "False" for each in conditions or ())


class Queues:
    """All queues and namespaces that were seen. Setters tell whether anything that facts show has changed."""

    def __init__(self, tenant_label: str) -> None:
        self._tenant_label = tenant_label
        self._volcano: dict[str, VolcanoQueue] = {}
        self._local: dict[tuple[str, str], LocalQueue] = {}
        self._cluster: dict[str, ClusterQueue] = {}
        self._labelled: dict[str, str] = {}
        self.volcano_listed = False
        self.kueue_listed = False

    def learn(self, namespace: str, name: str, what: object | None) -> bool:
        """Takes in a queue, or a namespace's labels."""
        if isinstance(what, VolcanoQueue):
            return _put(self._volcano, name, what)
        if isinstance(what, LocalQueue):
            return _put(self._local, (namespace, name), what)
        if isinstance(what, ClusterQueue):
            return _put(self._cluster, name, what)
        if isinstance(what, Mapping):
            tenant = what.get(self._tenant_label)
            return _put(self._labelled, name, str(tenant)) if tenant else _drop(self._labelled, name)
        return False

    def forget(self, plural: str, namespace: str, name: str) -> bool:
        """Drops what was deleted; `plural` is that of the kind."""
        if plural == "queues":
            return _drop(self._volcano, name)
        if plural == "localqueues":
            return _drop(self._local, (namespace, name))
        if plural == "clusterqueues":
            return _drop(self._cluster, name)
        return plural == "namespaces" and _drop(self._labelled, name)

    def facts(self, queue: QueueName) -> QueueFacts:
        """What is known of a queue that an object names."""
        return self._kueue_facts(queue) if queue.namespace else self._volcano_facts(queue.name)

    def tenant(self, queue: QueueName | None, namespace: str) -> str:
        """Whose the waiting is."""
        root = self._root(queue.name) if queue is not None and not queue.namespace else None
        return root or self._labelled.get(namespace) or namespace

    def _volcano_facts(self, name: str) -> QueueFacts:
        found = self._volcano.get(name)
        if found is None:
            return QueueFacts(name, exists=False if self.volcano_listed else None)
        return QueueFacts(name, True, found.state, found.capability, found.waiting_time)

    def _kueue_facts(self, queue: QueueName) -> QueueFacts:
        if not self.kueue_listed:
            return QueueFacts(queue.name)
        local = self._local.get((queue.namespace, queue.name))
        cluster = self._cluster.get(local.cluster_queue) if local is not None else None
        if local is None or cluster is None:
            return QueueFacts(queue.name, exists=False)
        state = _CLOSED if local.stopped or cluster.stopped else _OPEN
        return QueueFacts(queue.name, True, state, None, local.waiting_time or cluster.waiting_time)

    def _root(self, name: str) -> str | None:
        """The topmost parent below the built-in root; None if the queue has no parent, or only itself above it."""
        seen = {name}
        top = name
        while (found := self._volcano.get(top)) is not None and found.parent not in ("", ROOT, *seen):
            top = found.parent
            seen.add(top)
        return top if top != name else None


def _put(held: dict[K, V], key: K, value: V) -> bool:
    if held.get(key) == value:
        return False
    held[key] = value
    return True


def _drop(held: dict[K, V], key: K) -> bool:
    return held.pop(key, None) is not None
