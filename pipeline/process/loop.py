"""A thread of a stage that is not allowed to end or hang unnoticed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pipeline import clock
from pipeline.process.stage import Check


class Loop:
    """Runs `body(loop)` on a thread of its own.

        def body(loop: Loop) -> None:
            while not loop.stopping.wait(0.1):
                loop.beat()
                turn()

    A body that raises, or returns before it was told to, ends the process (the supervisor sees uncaught exceptions of every
    thread). A body that has not called `beat` for `stale_after_s` seconds fails its live check.
    """

    def __init__(self, name: str, body: Callable[[Loop], None], *, stale_after_s: float = 60.0) -> None:
        self.name = name
        self.stopping = threading.Event()
        self._body = body
        self._stale_after_s = stale_after_s
        self._beat_s = clock.monotonic_s()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self.beat()
        self._thread.start()

    def beat(self) -> None:
        """Says that the loop has turned."""
        self._beat_s = clock.monotonic_s()

    def stop(self, deadline_s: float) -> bool:
        """Tells the body to end and waits for it; whether it did."""
        self.stopping.set()
        if self._thread.ident is not None:
            self._thread.join(max(0.0, deadline_s))
        return not self._thread.is_alive()

    def check(self) -> Check:
        """Alive and turning, a live check."""
        if not self._thread.is_alive():
            return Check(self.name, self.stopping.is_set(), "ended", live=True)
        silent_s = clock.monotonic_s() - self._beat_s
        return Check(self.name, silent_s <= self._stale_after_s, f"last turn {silent_s:.0f} s ago", live=True)

    def _run(self) -> None:
        self._body(self)
        if not self.stopping.is_set():
            raise RuntimeError(f"{self.name} ended before it was told to")
