"""What has changed in a mirror, for those who keep something made of it: a journal that each reads on from where it was.

The journal is short. Who has not looked for so long that its beginning is gone makes all anew, which costs less by then.
"""

from __future__ import annotations

from typing import Final, NamedTuple

MOST: Final = 50_000
"""Entries of a journal; half of them go when there are more."""


class Changed(NamedTuple):
    """What one side has to look at again: pods by uid, groups by namespaced name. `nodes`, `queues` (with classes of
    priority) and `beside` (claims, namespaces) say only that there is another one, or none."""

    pods: set[str]
    groups: set[str]
    nodes: bool
    queues: bool
    beside: bool


class Journal:
    """Entries of one view in order. `end` is where the next one will stand."""

    def __init__(self) -> None:
        self._entries: list[tuple[str, str]] = []
        self._begin = 0

    @property
    def end(self) -> int:
        return self._begin + len(self._entries)

    def note(self, what: str, key: str = "") -> None:
        """Something of this kind (a field of `Changed`) has changed."""
        self._entries.append((what, key))
        if len(self._entries) > MOST:
            self._begin += MOST // 2
            del self._entries[: MOST // 2]

    def since(self, seen: int) -> Changed | None:
        """What has changed since `end` was `seen`; None if that is too long ago to know."""
        if not self._begin <= seen <= self.end:
            return None
        found: dict[str, set[str]] = {name: set() for name in Changed._fields}
        for what, key in self._entries[seen - self._begin :]:
            found[what].add(key)
        return Changed(
            found["pods"], found["groups"], bool(found["nodes"]), bool(found["queues"]), bool(found["beside"])
        )
