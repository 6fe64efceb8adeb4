"""How far a reflector is, for metrics and readiness.

Written by the reflector's thread alone; anybody may read a field at any time (each is one reference, set whole).
"""

from __future__ import annotations

import enum

import msgspec


class State(enum.StrEnum):
    STARTING = "starting"
    LISTING = "listing"
    WATCHING = "watching"
    RETRYING = "retrying"
    FORBIDDEN = "forbidden"
    NOT_SERVED = "not_served"
    STOPPED = "stopped"


class Progress(msgspec.Struct):
    """Times are ms UTC, None = not yet; counters count since the process started."""

    state: State = State.STARTING
    version: str = ""
    """The version that was read up to (not: what is durable)."""
    error: str = ""
    """Why it is not getting on; empty while it is."""

    last_frame_ms: int | None = None
    last_bookmark_ms: int | None = None
    last_list_ms: int | None = None
    """When the last complete list ended."""
    last_alive_ms: int | None = None
    """When the server last proved that nothing is missing: a frame, a bookmark, a whole list, an orderly end."""
    watch_since_ms: int | None = None
    """When the open stream was opened; None while none is open."""

    lists: int = 0
    watches: int = 0
    frames: int = 0
    bookmarks: int = 0
    bad_lines: int = 0
    lossy: int = 0
    silences: int = 0
    expiries: int = 0
    retries: int = 0
    discarded_bytes: int = 0

    def silent_ms(self, now_ms: int) -> int | None:
        """How long ago the server last proved that nothing is missing; None = never yet."""
        return None if self.last_alive_ms is None else max(0, now_ms - self.last_alive_ms)
