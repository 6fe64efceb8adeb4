"""Holds back log lines that one call site repeats.

A line in a loop that fails says the same thousand times a second and hides everything else. Each call site may write `burst`
lines in a window; what comes after is counted, and when the window is over one line says how many were held back.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass
class _Window:
    began_s: float
    event: str
    seen: int = 0


class Repeats:
    """Counts lines by call site. Pure: time comes from the caller, in seconds of one clock."""

    def __init__(self, *, burst: int = 10, window_s: float = 10.0) -> None:
        self.burst = burst
        self.window_s = window_s
        self._windows: dict[Hashable, _Window] = {}

    def admit(self, site: Hashable, event: str, now_s: float) -> bool:
        """Whether the site may write this line; call `over` before, which ends windows."""
        window = self._windows.setdefault(site, _Window(now_s, event))
        window.seen += 1
        return window.seen <= self.burst

    def over(self, now_s: float) -> list[tuple[Hashable, str, int]]:
        """(site, first event, lines held back) of every window that is over and held something back."""
        ended = [site for site, window in self._windows.items() if now_s - window.began_s >= self.window_s]
        return [
            (site, window.event, window.seen - self.burst)
            for site, window in self._taken(ended)
            if window.seen > self.burst
        ]

    def _taken(self, sites: list[Hashable]) -> list[tuple[Hashable, _Window]]:
        return [(site, self._windows.pop(site)) for site in sites]
