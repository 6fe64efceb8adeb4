"""Switches that make the server misbehave as a real cluster sometimes does, for tests; off unless started with --faults.

Each is armed for a number of uses, optionally for one table only. What the switches do is written where they are asked
for; this is only the list of them and the counting.
"""

from __future__ import annotations

import threading

import msgspec

NAMES = (
    "lost_reply",  # the load commits, then the connection is cut instead of an answer
    "lost_request",  # the body is read, then the connection is cut and nothing is loaded
    "publish_timeout",  # the load commits; the answer is Publish Timeout
    "too_many_versions",  # the load fails with -235
    "dead_backend",  # the frontend redirects to a port where nobody listens
    "forgotten_label",  # the label is forgotten, as after its expiry, when it is asked for or used again
    "server_busy",  # a query fails: the cluster has no backend at the moment
)


class Armed(msgspec.Struct):
    """`left`: uses left, each one taken by `Faults.hit`. `table`: only loads of this table; None for all."""

    name: str
    left: int = 1
    table: str | None = None


class Faults:
    """The armed switches, thread-safe."""

    def __init__(self, enabled: bool = False) -> None:
        self.enabled = enabled
        self._lock = threading.Lock()
        self._armed: list[Armed] = []

    def arm(self, armed: Armed) -> None:
        """Raises ValueError for a name that is none."""
        if armed.name not in NAMES:
            raise ValueError(f"no fault is called {armed.name!r}; there are {', '.join(NAMES)}")
        with self._lock:
            self._armed.append(armed)

    def clear(self) -> None:
        with self._lock:
            self._armed.clear()

    def armed(self) -> list[Armed]:
        with self._lock:
            return [a for a in self._armed if a.left > 0]

    def hit(self, name: str, table: str | None = None) -> bool:
        """Whether the fault happens now; takes one use of it."""
        if not self.enabled:
            return False
        with self._lock:
            for armed in self._armed:
                if armed.name == name and armed.left > 0 and armed.table in (None, table):
                    armed.left -= 1
                    return True
            return False
