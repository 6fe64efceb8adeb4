"""What the watches told and nobody has taken yet: in order, and bounded by bytes.

A list of a hundred thousand pods comes faster than it can be written, and a full disk stops the writing altogether.
Whoever tells then waits, so that nothing is read and the rest stays with the server.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Final

from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.happenings import Happening

MAX_BYTES: Final = 64 << 20
_LEAST_BYTES: Final = 256
"""About what a happening costs that carries no object."""

Told = tuple[str, Happening]
"""Which watch, and what it told."""


class Inbox:
    """Many threads put, one takes."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._told: deque[tuple[str, Happening, int]] = deque()
        self._closed = False
        self._lock = threading.Lock()
        self._something = threading.Condition(self._lock)
        self._room = threading.Condition(self._lock)
        self.bytes = 0
        """Size of what is in it: at most the limit, and one happening a watch."""

    def put(self, watch: str, happening: Happening) -> bool:
        """Waits while it is full. False, and nothing was put, once it is closed."""
        size = _size_of(happening)
        with self._lock:
            while self.bytes >= self._max_bytes and not self._closed:
                self._room.wait()
            if self._closed:
                return False
            self._told.append((watch, happening, size))
            self.bytes += size
            self._something.notify()
        return True

    def take(self, timeout_s: float = 0.0) -> Told | None:
        """The oldest; None if nothing comes in time."""
        with self._lock:
            if not self._told and timeout_s > 0:
                self._something.wait(timeout_s)
            if not self._told:
                return None
            watch, happening, size = self._told.popleft()
            was_full = self.bytes >= self._max_bytes
            self.bytes -= size
            if was_full and self.bytes < self._max_bytes:
                self._room.notify_all()
        return watch, happening

    def close(self) -> None:
        """Nothing is put any more, and nobody waits to; what is in it can still be taken."""
        with self._lock:
            self._closed = True
            self._room.notify_all()


def _size_of(happening: Happening) -> int:
    if isinstance(happening, tell.Frames):
        return _LEAST_BYTES + sum(len(frame.raw) for frame in happening.frames)
    if isinstance(happening, tell.ListPage):
        return _LEAST_BYTES + sum(memoryview(item).nbytes for item in happening.items)
    if isinstance(happening, tell.BadLines):
        return _LEAST_BYTES + sum(len(line.raw) for line in happening.lines)
    return _LEAST_BYTES
