"""A replay and those who answer in its log, in step: nothing is told of the next second before the last one is answered.

In a live cluster an answer stands in the log wherever it happens to come. A replay may be played at any speed and must
give the same log each time, so its writer asks at each second, and goes on when everyone who answers has read all that is
there and has nothing left to say. Only parts of one process are in step; across processes nobody waits.
"""

from __future__ import annotations

import threading
from pathlib import Path

from pipeline.log.folders import Shared


class Steps:
    """One for each log folder. Questions are numbered; `asked` is the last one, 0 if nobody asks in this process."""

    def __init__(self) -> None:
        self.asked = 0
        self._changed = threading.Condition()
        self._answered: dict[str, int] = {}

    def join(self, name: str) -> None:
        """Somebody will answer from now on."""
        with self._changed:
            self._answered[name] = 0

    def leave(self, name: str) -> None:
        """Nobody waits for it any more."""
        with self._changed:
            self._answered.pop(name, None)
            self._changed.notify_all()

    def ask(self) -> int:
        """Everything that was told so far is readable: who answers, answer. The number of the question."""
        with self._changed:
            self.asked += 1
            return self.asked

    def answer(self, name: str, question: int) -> None:
        """There was nothing to read any more after `question` was asked, and all answers are in the log."""
        with self._changed:
            if self._answered.get(name, question) < question:
                self._answered[name] = question
                self._changed.notify_all()

    def wait(self, question: int, timeout_s: float) -> bool:
        """Waits until all have answered; False when the time ran out first."""
        with self._changed:
            return self._changed.wait_for(lambda: all(at >= question for at in self._answered.values()), timeout_s)


_shared = Shared(Steps)


def of(directory: Path) -> Steps:
    """The steps of a folder; they live as long as somebody holds them."""
    return _shared.of(directory)
