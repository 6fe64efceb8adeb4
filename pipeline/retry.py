"""The one policy of trying again, for calls and for loops.

A *call* (load a batch, ask a server) is tried again by `call` while it raises `Transient`, and never for anything else: the
type says whether trying again can help, not the text. Waits double from 0.1 s to 5 s with jitter; if the other side named a
time, that time is waited instead. stamina does the waiting, so tests turn it off or shorten it for everything at once
(`stamina.set_testing`).

A *loop* (read a stream, serve a queue) never gives up, must be stoppable while it waits, and forgets its failures after a
success: it asks a `Backoff` how long to wait and does the waiting itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import stamina
from stamina.instrumentation import RetryDetails, RetryHook

from pipeline.errors import Transient

T = TypeVar("T")


def call(function: Callable[[], T], *, attempts: int = 5, limit_s: float = 60.0) -> T:
    """The function's result, after at most `attempts` tries begun within `limit_s` seconds.

    Raises the last `Transient` when they are used up or the other side asks for a wait above `limit_s`, and at once
    whatever else the function raises.
    """

    def worth_it(error: Exception) -> bool | float:
        if not isinstance(error, Transient):
            return False
        wait_s = error.retry_after_s
        return True if wait_s is None else wait_s <= limit_s and max(0.0, wait_s)

    for attempt in stamina.retry_context(on=worth_it, attempts=attempts, timeout=limit_s):
        with attempt:
            result = function()
    return result


class Retry(NamedTuple):
    """What an observer learns: the error, how many tries have failed, how long the next one waits."""

    error: Exception
    failures: int
    wait_s: float


def observe(observer: Callable[[Retry], None] | None) -> None:
    """Has every retry of the process told to `observer` (telemetry counts and logs them); None tells nobody."""
    stamina.instrumentation.set_on_retry_hooks([_told_by(observer)] if observer else ())


def _told_by(observer: Callable[[Retry], None]) -> RetryHook:
    def hook(details: RetryDetails) -> None:
        observer(Retry(details.caused_by, details.retry_num, details.wait_for))

    return hook


observe(None)  # stamina's own default prints to stdout, which carries data only


class Backoff:
    """How long a loop waits after each failure in a row: doubling, capped, jittered. Pure: chance comes from the caller.

    backoff = Backoff(first_s=0.5, max_s=30.0)
    while not stopping.wait(wait_s):
        try:
            turn()
            wait_s = backoff.reset()
        except Transient as error:
            wait_s = backoff.next_s(random.random(), error.retry_after_s)
    """

    def __init__(self, *, first_s: float = 0.5, max_s: float = 30.0) -> None:
        self.first_s = first_s
        self.max_s = max_s
        self.failures = 0

    def next_s(self, chance: float, retry_after_s: float | None = None) -> float:
        """Seconds to wait after one more failure. `chance`, from 0 to 1, spreads the wait over its upper half.

        Never less than the time that the other side asked for, even above the cap.
        """
        full_s = min(self.max_s, self.first_s * 2.0 ** min(self.failures, 62))
        self.failures += 1
        return max(full_s / 2 + full_s / 2 * chance, retry_after_s or 0.0)

    def reset(self) -> float:
        """Forgets the failures after a success; the wait is then none."""
        self.failures = 0
        return 0.0
