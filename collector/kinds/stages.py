"""The order in which kinds are taken in, and what waits for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from collector.kinds.base import Kind, Stage
from collector.kinds.projection import Sight

Step = Callable[[], None]


class Watch:
    """How far one kind has come. `listing`: uids that the list under way has shown; None between lists."""

    __slots__ = ("again", "began_ms", "changes", "kind", "listing", "settled", "waiting")

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.settled = False
        """It was listed, or is not to be had: later stages need not wait for it."""
        self.again = False
        """It was listed before: a list is compared with what is known."""
        self.listing: set[str] | None = None
        self.changes: dict[str, Sight] = {}
        """What the list under way showed new or changed, by uid."""
        self.began_ms = 0
        self.waiting: deque[Step] = deque()


class Stages:
    """All watches. A step of a watch whose stage is not open yet is done when it is."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self._watches = {kind.name: Watch(kind) for kind in kinds}
        self._stage = Stage.NODES
        self._advance()

    def watch(self, key: str) -> Watch:
        """Raises KeyError for a kind that is not wanted."""
        return self._watches[key]

    def restored(self) -> None:
        """Something is known from before a restart: all first lists are compared with it."""
        for watch in self._watches.values():
            watch.again = True

    def open(self, watch: Watch) -> bool:
        """Whether nothing of an earlier stage, and nothing earlier of its own, is waited for."""
        return watch.kind.stage <= self._stage and not watch.waiting

    def do(self, watch: Watch, step: Step) -> None:
        """Does a step, now or in its turn."""
        if self.open(watch):
            step()
        else:
            watch.waiting.append(step)

    def settle(self, watch: Watch) -> None:
        """The watch is not waited for any more."""
        if not watch.settled:
            watch.settled = True
            self._advance()

    def _advance(self) -> None:
        """Opens stages, one at a time. A step that is done may settle its watch and so come back here."""
        while True:
            unsettled = [watch.kind.stage for watch in self._watches.values() if not watch.settled]
            next_stage = min(unsettled, default=Stage.EVENTS)
            if next_stage <= self._stage:
                return
            self._stage = Stage(self._stage + 1)
            for watch in self._watches.values():
                while watch.waiting and watch.kind.stage <= self._stage:
                    watch.waiting.popleft()()
