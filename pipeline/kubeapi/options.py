"""The settings of a reflector, and time as it sees it."""

from __future__ import annotations

import threading
from typing import Protocol

import msgspec

from pipeline import clock
from pipeline.kubeapi.lines import MAX_LINE_BYTES


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Every field has the value a real cluster wants; tests shorten the times."""

    page_limit: int = 500
    streamed_list: bool = False
    """List by watching from nothing (`sendInitialEvents`); falls back to pages where the server does not do it."""
    watch_timeout_s: float = 290.0
    """Asked of the server, shortened by up to a tenth so that many watches do not end together."""
    silent_s: float = 90.0
    """Bookmarks come about once a minute; a stream without frame and bookmark for this long is taken for dead."""
    list_read_timeout_s: float = 60.0
    backoff_first_s: float = 0.5
    backoff_cap_s: float = 30.0
    away_cap_s: float = 5.0
    """Between tries while nobody takes connections: they cost next to nothing, and people wait for the first answer."""
    slow_retry_s: float = 60.0
    """Between tries of a collection that stays forbidden or not served."""
    believed_after_s: float = 5.0
    """How long what came before must be refused until that is told: a server that starts refuses everything at first."""
    settled_s: float = 5.0
    """A stream that lived this long, or brought something, ends the row of failures."""
    ahead_tries: int = 3
    """How often a server may say that it has not got to our version yet before we take it for restored."""
    max_line_bytes: int = MAX_LINE_BYTES


DEFAULTS = Options()


class Clock(Protocol):
    """Tests bring their own."""

    def now_ms(self) -> int: ...

    def monotonic_s(self) -> float: ...

    def wait(self, stop: threading.Event, for_s: float) -> None:
        """Returns after `for_s`, or as soon as `stop` is set."""
        ...


class SystemClock:
    def now_ms(self) -> int:
        return clock.now_ms()

    def monotonic_s(self) -> float:
        return clock.monotonic_s()

    def wait(self, stop: threading.Event, for_s: float) -> None:
        stop.wait(for_s)
