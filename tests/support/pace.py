"""Claims in seconds, held on a machine that others use as well.

    claim = Claim("the row is there", 2.0, tmp_path)
    for number in range(5):
        change(number)
        with claim.measured():
            poll("the row is there", row)
    claim.check()

A claim such as "within two seconds" is about a machine that has time. So beside what is measured a small piece of work is
done again and again, some computing and one line made durable, as the parts of the pipeline do; where that takes three times
as long as usual, three times as much is allowed. A burst of other work can still hit a change and miss that piece, so one
delay alone proves little: the median of several is held to the claim as it stands, which no single burst moves, and each of
them to what can only be a fault.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_ROUNDS = 2_000_000
"""Longer than the moment for which the kernel prefers who has rested: after that everybody has the same share."""
_USUAL_S = 0.08
"""What the work takes on two quiet cores of today, with room to spare."""
_REST_S = 0.2
_ROOM = 3.0
"""So many times the claim is a fault even once."""


class Delay(NamedTuple):
    """What one change took, and how many times slower than usual the machine was meanwhile."""

    took_s: float
    slowness: float

    @property
    def usual_s(self) -> float:
        """What it would have taken on a machine that has time."""
        return self.took_s / self.slowness


class Claim:
    """That something happens within `limit_s`. Its delays are measured one by one, then held to it together."""

    def __init__(self, what: str, limit_s: float, folder: Path) -> None:
        """`folder`: where the piece of work is done beside what is measured."""
        self.delays: list[Delay] = []
        self._what = what
        self._limit_s = limit_s
        self._folder = folder

    @contextmanager
    def measured(self, late_s: float = 0.0) -> Iterator[None]:
        """What happens in the block is one delay; `late_s` have gone by already when it begins."""
        began_s = time.monotonic()
        with Pace(self._folder) as pace:
            yield
            took_s = late_s + time.monotonic() - began_s
        self.delays.append(Delay(took_s, pace.slowness))

    def check(self) -> None:
        """Prints the delays; fails where their median breaks the claim, or one of them by far."""
        shown = ", ".join(f"{each.took_s:.2f} s (slowness {each.slowness:.1f})" for each in self.delays)
        print(f"{self._what}: {shown}")
        usual_s = [each.usual_s for each in self.delays]
        assert len(usual_s) >= 3, "a median of less than three is moved by each of them"
        assert statistics.median(usual_s) <= self._limit_s, f"{self._what} within {self._limit_s:g} s: {shown}"
        assert max(usual_s) <= _ROOM * self._limit_s, f"{self._what} takes much too long once: {shown}"


class Pace:
    """Measures on a thread of its own from begin to end of the block; writes into `folder`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "pace"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pace")
        self._took_s: list[float] = []

    def __enter__(self) -> Pace:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def slowness(self) -> float:
        """1 on a machine that is as fast as usual or faster, else how many times longer the work took on average."""
        return max(1.0, sum(self._took_s) / len(self._took_s) / _USUAL_S)

    def _run(self) -> None:
        with self._path.open("wb", buffering=0) as file:
            while True:
                began_s = time.monotonic()
                file.write(b"%d\n" % sum(range(_ROUNDS)))
                os.fsync(file.fileno())
                self._took_s.append(time.monotonic() - began_s)
                if self._over.wait(_REST_S):
                    return
