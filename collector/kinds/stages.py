"""The order in which kinds are taken in, and what waits for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from collector.kinds.base import Kind, Stage
from collector.kinds.projection import Sight

Step = Callable[[], None]


class Watch:
    """How far one kind has come, or its part in one namespace."""

    __slots__ = (
        "again",
        "began_ms",
        "changes",
        "key",
        "kind",
        "listed",
        "listing",
        "namespace",
        "news",
        "open",
        "settled",
        "waiting",
    )

    def __init__(self, kind: Kind, namespace: str) -> None:
        self.kind = kind
        self.namespace = namespace
        """Empty: all namespaces."""
        self.key = key_of(kind, namespace)
        self.open = False
        """Nothing of an earlier stage, and nothing earlier of its own, is waited for."""
        self.settled = False
        """It was listed, or is not to be had: later stages need not wait for it."""
        self.listed = False
        self.again = False
        """It was listed before: a list is compared with what is known."""
        self.listing: set[str] | None = None
        """Uids that the list under way has shown; None between lists."""
        self.changes: dict[str, Sight] = {}
        """What the list under way showed new or changed, by uid."""
        self.news = 0
        """How many events the list under way showed that were not seen before."""
        self.began_ms = 0
        self.waiting: deque[Step] = deque()


def key_of(kind: Kind, namespace: str) -> str:
    """The key of a watch: the kind's name, and the namespace if only that is watched."""
    return f"{kind.name}/{namespace}" if namespace else kind.name


class Stages:
    """All watches. A step of a watch whose stage is not open yet is done when it is."""

    def __init__(self, kinds: Iterable[Kind], namespaces: Sequence[str]) -> None:
        self._namespaces = frozenset(namespaces)
        watches = [Watch(kind, part) for kind in kinds for part in (namespaces if kind.namespaced else ()) or ("",)]
        self._watches = {watch.key: watch for watch in watches}
        self._stage = Stage.NODES
        self._open()
        self.advance()

    def watch(self, key: str) -> Watch:
        """Raises KeyError for a watch that is not wanted."""
        return self._watches[key]

    def wants(self, key: str) -> bool:
        return key in self._watches

    def key(self, kind: Kind, namespace: str) -> str:
        """The key of the watch that shows an object of this kind and namespace."""
        return key_of(kind, namespace if self._namespaces else "")

    def restored(self) -> None:
        """Something is known from before a restart: all first lists are compared with it."""
        for watch in self._watches.values():
            watch.again = True

    def do(self, watch: Watch, step: Step) -> None:
        """Does a step, now or in its turn."""
        if watch.open:
            step()
        else:
            watch.waiting.append(step)

    def settle(self, watch: Watch, listed: bool) -> None:
        """A watch was listed, or is known to be absent: nothing waits for it any more, once `advance` is called."""
        watch.settled = True
        watch.listed = listed

    def of_kind(self, kind: Kind) -> list[Watch]:
        """The watches of a kind: one, or one a namespace."""
        return [watch for watch in self._watches.values() if watch.kind is kind]

    def advance(self) -> None:
        """Opens stages, one at a time. A step that is done may settle its watch and so come back here."""
        while True:
            unsettled = [watch.kind.stage for watch in self._watches.values() if not watch.settled]
            next_stage = min(unsettled, default=Stage.EVENTS)
            if next_stage <= self._stage:
                return
            self._stage = Stage(self._stage + 1)
            self._open()

    def _open(self) -> None:
        for watch in self._watches.values():
            if watch.kind.stage <= self._stage and not watch.open:
                while watch.waiting:
                    watch.waiting.popleft()()
                watch.open = True
