"""Answers kept for a moment, so that ten viewers of one page are one question.

Whoever asks while the same question is under way waits for that answer. Errors are not kept.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from pipeline import clock

T = TypeVar("T")
MAX_KEPT = 512


class _Slot(Generic[T]):
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.until_s = -1.0
        self.value: T | None = None


class Cache(Generic[T]):
    """Keeps values for `keep_s` seconds, at most `MAX_KEPT` of them. From several threads."""

    def __init__(self, keep_s: float) -> None:
        self._keep_s = keep_s
        self._slots: OrderedDict[Hashable, _Slot[T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value kept under the key, else the one that `make` gives, which is kept. Raises what `make` raises."""
        if self._keep_s <= 0:
            return make()
        slot = self._slot(key)
        with slot.lock:
            if slot.value is None or clock.monotonic_s() >= slot.until_s:
                slot.value = make()
                slot.until_s = clock.monotonic_s() + self._keep_s
            return slot.value

    def _slot(self, key: Hashable) -> _Slot[T]:
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            self._forget_old()
            return slot

    def _forget_old(self) -> None:
        """Lets go of what is too old or too much, but for the newest; values may be large."""
        now_s = clock.monotonic_s()
        while len(self._slots) > 1:
            oldest = next(iter(self._slots.values()))
            if len(self._slots) <= MAX_KEPT and not 0 <= oldest.until_s <= now_s:
                return
            self._slots.popitem(last=False)
