"""How long to wait before the next try. Pure: the caller brings the dice and does the waiting.

`pipeline.retry` repeats one call; a reflector's tries are spread over different calls (list, watch, probe) and what
resets them is not a call that returned but a stream that lived, so it keeps its own count.
"""

from __future__ import annotations

from collections.abc import Callable


class Backoff:
    """Waits of `first_s`, doubling to `cap_s`, each shortened by up to a half so that many watches do not return at once."""

    def __init__(self, first_s: float, cap_s: float, dice: Callable[[], float]) -> None:
        self._first_s = first_s
        self._cap_s = cap_s
        self._dice = dice
        self.attempts = 0
        """Failures in a row so far."""

    def next_wait_s(self, at_least_s: float | None = None) -> float:
        """Counts one more failure and says how long to wait; never less than what the server asked for."""
        whole_s = min(self._cap_s, self._first_s * 2.0 ** min(self.attempts, 30))
        self.attempts += 1
        return max(at_least_s or 0.0, whole_s * (0.5 + 0.5 * self._dice()))

    def reset(self) -> None:
        self.attempts = 0
