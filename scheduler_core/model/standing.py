"""A snapshot that stays from session to session and takes in only what has changed.

Between two sessions most of a cluster is as it was. So the tables stand: what a session did is forgotten (only rows and jobs
that it touched), then changed pods and groups are put in their places. That costs what has happened, not what there is.

When a node comes, goes or changes, the table of nodes is made anew and tasks find their rows in it. A change of anything
else, and a resource not named before, are rare: then all is built anew. Either way a session sees what `snapshot.build` would
have shown it; only the order inside dictionaries may differ, which decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

import msgspec

from scheduler_core.model import amounts, snapshot
from scheduler_core.model.facts import ClusterFacts, GroupFacts, NodeFacts, PodFacts, Quantities
from scheduler_core.model.snapshot import Reader, Snapshot
from scheduler_core.model.tasks import Task

T = TypeVar("T")
_MORE_CLASSES: Final = 5_000
"""Classes are never forgotten one by one; with so many more than there were all is built anew."""


class Standing:
    """Tables over sessions. A session on one snapshot is over when the next is asked for."""

    def __init__(self, facts: ClusterFacts) -> None:
        self.builds = 0
        self._snapshot: Snapshot | None = None
        self._changed_pods: dict[str, PodFacts | None] = {}
        self._changed_groups: dict[str, GroupFacts | None] = {}
        self.replace(facts)

    def replace(self, facts: ClusterFacts) -> None:
        """Takes a whole cluster; the next snapshot is built anew."""
        self._pods = {each.uid: each for each in facts.pods}
        self._groups = {f"{each.namespace}/{each.name}": each for each in facts.groups}
        self._twice = len(self._pods) != len(facts.pods) or len(self._groups) != len(facts.groups)
        self._facts = facts if self._twice else msgspec.structs.replace(facts, pods=(), groups=())
        self._changed_pods.clear()
        self._changed_groups.clear()
        self._stays = self._other_nodes = False

    def put_nodes(self, nodes: Iterable[NodeFacts]) -> None:
        """These are now all nodes; whatever else there is stays as it was."""
        self._facts = msgspec.structs.replace(self._facts, nodes=tuple(nodes))
        self._other_nodes = True

    def put(self, *objects: PodFacts | GroupFacts) -> None:
        """These are now so, or new."""
        for each in objects:
            if isinstance(each, PodFacts):
                self._changed_pods[each.uid] = each
            else:
                self._changed_groups[f"{each.namespace}/{each.name}"] = each

    def drop_pods(self, uids: Iterable[str]) -> None:
        """Pods that are gone."""
        self._changed_pods.update(dict.fromkeys(uids))

    def drop_groups(self, names: Iterable[str]) -> None:
        """Groups that are gone, by `namespace/name`."""
        self._changed_groups.update(dict.fromkeys(names))

    def snapshot(self) -> Snapshot:
        """The cluster as it is now, for one session."""
        if self._snapshot is not None and self._may_stay(self._snapshot):
            _reopen(self._snapshot)
            self._take_in(self._snapshot)
            self._note_changes()
            return self._snapshot
        if self._snapshot is not None:
            _take_apart(self._snapshot)
            self._snapshot = None
        self._note_changes()
        self._snapshot = self._build()
        return self._snapshot

    def _build(self) -> Snapshot:
        self.builds += 1
        self._stays, self._other_nodes = not self._twice, False
        facts = self._facts
        if not self._twice:
            facts = msgspec.structs.replace(facts, pods=tuple(self._pods.values()), groups=tuple(self._groups.values()))
        found = snapshot.build(facts)
        found.nodes.open()
        self._most_classes = len(found.classes.all) + _MORE_CLASSES
        self._loose: dict[str, set[str]] = {}
        for pod in self._pods.values():
            if pod.group and pod.group not in found.jobs:
                self._loose.setdefault(pod.group, set()).add(pod.uid)
        return found

    def _note_changes(self) -> None:
        _overlay(self._pods, self._changed_pods)
        _overlay(self._groups, self._changed_groups)

    # --- small changes -----------------------------------------------------------------------------------------------

    def _may_stay(self, standing: Snapshot) -> bool:
        """Whether the changes can be taken in as they are."""
        if not self._stays or len(standing.classes.all) > self._most_classes:
            return False
        known = standing.axis.index
        if self._other_nodes and not all(_all_named(known, each.allocatable) for each in self._facts.nodes):
            return False
        for pod in self._changed_pods.values():
            if pod is not None and not _named(known, pod):
                return False
        return all(group is None or _all_named(known, group.min_resources) for group in self._changed_groups.values())

    def _take_in(self, standing: Snapshot) -> None:
        """Puts all changes in their places."""
        if self._other_nodes:
            self._renew_nodes(standing)
        if standing.mistakes:
            self._forget_mistakes(standing)
        reader = Reader(standing, self._facts)
        for name, group in self._changed_groups.items():
            self._group(reader, name, group)
        for uid, pod in self._changed_pods.items():
            self._pod(reader, uid, pod)

    def _renew_nodes(self, standing: Snapshot) -> None:
        """What jobs hold in the network, and what plugins have kept, was of other nodes."""
        snapshot.renew_nodes(standing, self._facts, self._pods)
        standing.kept.clear()
        for job in standing.networked.values():
            job.settled_domain = None
        self._other_nodes = False

    def _forget_mistakes(self, standing: Snapshot) -> None:
        """What was wrong with the objects that have changed is told again if it still is."""
        old = (self._pods[uid] for uid in self._changed_pods if uid in self._pods)
        changed = {("Pod", f"{each.namespace}/{each.name}") for each in old}
        changed |= {("PodGroup", name) for name in self._changed_groups}
        standing.mistakes = [each for each in standing.mistakes if (each.kind, each.name) not in changed]

    def _group(self, reader: Reader, name: str, facts: GroupFacts | None) -> None:
        into = reader.into
        old = into.jobs.pop(name, None)
        into.networked.pop(name, None)
        if into.outside:
            into.outside = [each for each in into.outside if f"{each[0].namespace}/{each[0].name}" != name]
        into.fresh.add(name)
        if facts is not None:
            reader.group(facts)
        job = into.jobs.get(name)
        members = list(old.tasks.values()) if old is not None else self._found(into, name)
        for task in members:
            task.job = None
            if job is not None:
                job.add(task)
        if job is None and members:
            self._loose[name] = {task.uid for task in members}

    def _found(self, into: Snapshot, name: str) -> list[Task]:
        """Pods that came before their group."""
        return [into.tasks[uid] for uid in self._loose.pop(name, ())]

    def _pod(self, reader: Reader, uid: str, facts: PodFacts | None) -> None:
        into = reader.into
        old = into.tasks.pop(uid, None)
        if old is not None:
            self._leave(into, old)
        if facts is None:
            return
        task = into.tasks[uid] = reader.task(facts)
        job = into.jobs.get(facts.group)
        if job is not None:
            job.add(task)
            into.fresh.add(job.uid)
        elif facts.group:
            self._loose.setdefault(facts.group, set()).add(uid)
        if task.seated:
            into.nodes.seat_one(task, 1)

    def _leave(self, into: Snapshot, task: Task) -> None:
        if task.seated:
            into.nodes.seat_one(task, -1)
        if task.job is not None:
            into.fresh.add(task.job.uid)
            task.job.drop(task.uid)
            return
        loose = self._loose.get(self._pods[task.uid].group, set())
        loose.discard(task.uid)
        if not loose:
            self._loose.pop(self._pods[task.uid].group, None)


def _named(known: Mapping[str, int], pod: PodFacts) -> bool:
    """Whether all that a pod asks for is known."""
    for each in pod.containers:
        if not _all_named(known, each.requests):
            return False
    for each in pod.init_containers:
        if not _all_named(known, each.requests):
            return False
    return _all_named(known, pod.overhead)


def _all_named(known: Mapping[str, int], quantities: Quantities | None) -> bool:
    if quantities is not None:
        for name in quantities:
            if name not in known and amounts.is_resource(name):
                return False
    return True


def _overlay(known: dict[str, T], changed: dict[str, T | None]) -> None:
    """Takes changes over, and forgets them."""
    for key, each in changed.items():
        if each is None:
            known.pop(key, None)
        else:
            known[key] = each
    changed.clear()


def _end_session(standing: Snapshot) -> None:
    if standing.end is not None:
        standing.end()
        standing.end = None


def _take_apart(standing: Snapshot) -> None:
    """Ends tables for good: jobs and their tasks hold each other no more, nor refusals the session, so all of it goes at
    once, before other tables are made, and not when Python's collector of cycles comes."""
    _end_session(standing)
    for task in standing.tasks.values():
        task.job = None
    for job in standing.jobs.values():
        job.refusals = {}


def _reopen(standing: Snapshot) -> None:
    """Forgets what the last session did."""
    _end_session(standing)
    nodes = standing.nodes
    used = standing.used
    if used is None:
        used = [job for job in standing.jobs.values() if job.was_used()]
    for job in used:
        if job.opening_allocated is not None:
            for task in job.tasks.values():
                nodes.unplace(task)
        job.reopen()
    if nodes.released:  # a pod of no job can only have been told to leave
        for row in nodes.changed_since(0).tolist():
            for task in nodes.tasks[row].values():
                if task.job is None:
                    task.reopen()
    nodes.reopen()
    standing.used = None
    standing.kept.update(standing.left)
    standing.left.clear()
    if standing.classes.any_selects:
        for task in standing.tasks.values():
            task.label_class = -1  # a number of the last session's relations
