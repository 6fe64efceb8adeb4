"""The nodes that waiting pods want, counted once for all pods that ask for the same.

Pods with equal selector, required affinity, node name and tolerations form a class. A class holds its counts; a node
that changes moves at most one node from one count to another in each class, however many pods wait. Classes that ask
for nodes by name (pods of a DaemonSet: one class a node) are looked at only when that node changes. The counts of a
class that nobody waits in are kept for a while, since jobs are made of pods that come and go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pipeline.records import matching
from pipeline.records.objects import NodesWanted

_IDLE_CLASSES: Final = 256
_OPEN: Final = "open"


class PlacementClass:
    """Pods that ask for the same nodes: the counts, and the uids of those that wait."""

    __slots__ = ("_counts", "counted", "members", "names", "wants")

    def __init__(self, wants: matching.Wants, nodes: Iterable[matching.Traits]) -> None:
        self.wants = wants
        self.names = matching.names_wanted(wants)
        self.members: dict[str, None] = {}
        self._counts = {_OPEN: 0, "not_ready": 0, "unschedulable": 0, "tainted": 0}
        for node in nodes:
            self._add(self.verdict(node), 1)
        self.counted = self._sum()

    def verdict(self, node: matching.Traits | None) -> str | None:
        """`open` or the node's hardest obstacle; None if the node is not wanted."""
        if node is None or not matching.wanted(self.wants, node):
            return None
        return matching.obstacle(node, self.wants.tolerations) or _OPEN

    def shift(self, old: matching.Traits | None, new: matching.Traits | None) -> bool:
        """A node changed, came or went; whether that changed the counts."""
        before, after = self.verdict(old), self.verdict(new)
        if before == after:
            return False
        self._add(before, -1)
        self._add(after, 1)
        self.counted = self._sum()
        return True

    def _add(self, verdict: str | None, by: int) -> None:
        if verdict is not None:
            self._counts[verdict] += by

    def _sum(self) -> NodesWanted:
        return NodesWanted(sum(self._counts.values()), **self._counts)


class Placement:
    """All nodes and all classes. Until the nodes were listed there is nothing to say (`listed`)."""

    def __init__(self) -> None:
        self.listed = False
        self._nodes: dict[str, matching.Traits] = {}
        self._classes: dict[bytes, PlacementClass] = {}
        self._anywhere: dict[bytes, PlacementClass] = {}
        self._by_name: dict[str, dict[bytes, PlacementClass]] = {}
        self._idle: dict[bytes, None] = {}

    def join(self, wants: matching.Wants, uid: str) -> PlacementClass:
        """A pod begins to wait."""
        found = self._classes.get(wants.key)
        if found is None:
            found = self._add_class(wants)
        self._idle.pop(wants.key, None)
        found.members[uid] = None
        return found

    def leave(self, of: PlacementClass, uid: str) -> None:
        """A pod waits no longer, or asks for something else now."""
        of.members.pop(uid, None)
        if of.members:
            return
        self._idle[of.wants.key] = None
        if len(self._idle) > _IDLE_CLASSES:
            self._remove_class(next(iter(self._idle)))

    def learn(self, name: str, node: matching.Traits | None) -> list[PlacementClass]:
        """A node as it is now (None: deleted); the classes whose counts changed."""
        old = self._nodes.get(name)
        if node is None:
            self._nodes.pop(name, None)
        else:
            self._nodes[name] = node
        if old == node:
            return []
        asked = (*self._anywhere.values(), *self._by_name.get(name, {}).values())
        return [each for each in asked if each.shift(old, node)]

    def _add_class(self, wants: matching.Wants) -> PlacementClass:
        names = matching.names_wanted(wants)
        if names is None:
            made = PlacementClass(wants, self._nodes.values())
            self._anywhere[wants.key] = made
        else:
            made = PlacementClass(wants, [self._nodes[name] for name in names if name in self._nodes])
            for name in names:
                self._by_name.setdefault(name, {})[wants.key] = made
        self._classes[wants.key] = made
        return made

    def _remove_class(self, key: bytes) -> None:
        del self._idle[key]
        names = self._classes.pop(key).names
        if names is None:
            del self._anywhere[key]
            return
        for name in names:
            of_name = self._by_name[name]
            del of_name[key]
            if not of_name:
                del self._by_name[name]
