"""Happenings to records: what the reflectors tell is given to the mirror, and how far each watch has come is kept.

The last contact of a watch is its last frame, bookmark or whole list, or the orderly end of a stream that delivered;
an ERROR frame or a refused connection is none (rule P5). A list that follows an expiry, a cut or a restart may show
what changed since the last contact: its differences carry it, and one gap record says so.

A kind whose first list fails and fails, while other kinds come, is taken for absent until it comes after all: one
broken conversion webhook must not hold back what waits for its kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

from collector.kinds.mirror import Mirror
from collector.kinds.projection import Arrival
from collector.spool.checkpoint import OpenGap, Watch
from pipeline.errors import Terminal
from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.happenings import Doing, Happening, How, Why
from pipeline.records.envelope import Record

PATIENCE_MS: Final = 30_000
"""How long a kind is waited for whose first list fails while the lists of others come."""


class Dead(NamedTuple):
    """Input that could not be understood."""

    watch: str
    error: str
    raw: bytes
    received_ms: int


class _Place(msgspec.Struct):
    version: str = ""
    contact_ms: int | None = None
    listed: bool = False
    absent: bool = False
    """It was told to the mirror as not to be had."""
    asked_ms: int | None = None
    """When its first list began."""
    delivered: bool = False
    lost_from: int | None = None
    lost_version: str | None = None
    why: str = "restart"


class Follower:
    """One cluster's watches. `take` returns the records to write now; `dead` gathers what could not be read."""

    def __init__(
        self, mirror: Mirror, saved: Mapping[str, Watch] | None = None, gaps: Mapping[str, OpenGap] | None = None
    ) -> None:
        """`saved` and `gaps`: what the checkpoint has, by watch; those that are not wanted stay as they are there."""
        self._mirror = mirror
        self._gaps = gaps or {}
        known = (saved or {}).items()
        self._places = {watch: _Place(old.version, old.contact_ms) for watch, old in known if mirror.wants(watch)}
        self.dead: list[Dead] = []
        self.counts: Counter[tuple[str, str]] = Counter()
        """(watch, what) → how often: frames, bookmarks, lists, bad_lines, expired, silent, resumed."""

    def take(self, watch: str, happening: Happening) -> list[Record]:
        """Everything that follows from one happening of one watch."""
        place = self._places.setdefault(watch, _Place())
        match happening:
            case tell.Frames():
                return self._frames(watch, place, happening)
            case tell.ListStarted() | tell.ListRestarted():
                self._list_started(watch, place, happening)
            case tell.ListPage():
                return self._page(watch, place, happening)
            case tell.Bookmark():
                place.version, place.contact_ms, place.delivered = happening.version, happening.at_ms, True
                self.counts[watch, "bookmarks"] += 1
            case tell.WatchStarted():
                self.counts[watch, "resumed"] += place.delivered
                place.delivered = False
                if place.absent and place.listed:  # allowed again, and what came meanwhile follows
                    place.absent = False
                    return self._mirror.kind_listed(watch, happening.at_ms)
            case tell.StreamEnded():
                if happening.how is How.ORDERLY and place.delivered:
                    place.contact_ms = happening.at_ms
            case tell.BadLines():
                self.counts[watch, "bad_lines"] += len(happening.lines)
                self.dead += [Dead(watch, line.error, line.raw, happening.at_ms) for line in happening.lines]
            case tell.Expired():
                self._expired(watch, place, happening)
            case tell.Forbidden() | tell.NotServed():
                return self._absent(watch, place, happening.at_ms)
            case tell.Retrying(doing=Doing.LIST):
                if self._is_hopeless(place, happening.at_ms):
                    return self._absent(watch, place, happening.at_ms)
            case tell.Silent():
                self.counts[watch, "silent"] += 1
        return []

    def absent(self, watches: Iterable[str], received_ms: int) -> list[Record]:
        """These kinds are not watched here, so nothing waits for them."""
        return [record for watch in watches for record in self._mirror.kind_absent(watch, received_ms)]

    def unlisted(self) -> list[str]:
        """Watches that were begun and whose first list has not come."""
        return [watch for watch, place in self._places.items() if not place.listed and not place.absent]

    def tick(self, now_ms: int) -> list[Record]:
        """Log time has come to `now_ms`."""
        return self._mirror.tick(now_ms)

    def checkpoints(self) -> list[Watch]:
        """How far each watch has come, of those whose records were all handed out."""
        return [
            Watch(watch, place.version, place.contact_ms)
            for watch, place in self._places.items()
            if place.version and place.contact_ms is not None and not self._mirror.held(watch)
        ]

    def ended_gaps(self) -> list[str]:
        """Watches with a gap in the checkpoint that a list has ended."""
        return [watch for watch in self._gaps if (place := self._places.get(watch)) is not None and place.listed]

    def _frames(self, watch: str, place: _Place, happening: tell.Frames) -> list[Record]:
        records: list[Record] = []
        at_ms = happening.at_ms
        for frame in happening.frames:
            try:
                arrival = Arrival(at_ms, frame.lossy, size_bytes=len(frame.raw))
                records += self._mirror.show(watch, frame.type, frame.shape or frame.object, arrival)
            except Terminal as error:
                self.dead.append(Dead(watch, str(error), frame.raw, at_ms))
        self.counts[watch, "frames"] += len(happening.frames)
        place.version = next((f.version for f in reversed(happening.frames) if f.version), place.version)
        place.contact_ms, place.delivered = at_ms, True
        return records

    def _list_started(self, watch: str, place: _Place, happening: tell.ListStarted | tell.ListRestarted) -> None:
        place.asked_ms = happening.at_ms if place.asked_ms is None else place.asked_ms
        known_before = place.listed or bool(place.version)
        if known_before and place.lost_from is None and isinstance(happening, tell.ListStarted):
            place.lost_from, place.lost_version = place.contact_ms, place.version or None
            place.why = self._why(watch, happening.why)
        self._mirror.list_begin(watch, happening.at_ms)

    def _why(self, watch: str, why: Why) -> str:
        if why is not Why.START:
            return str(why)
        return self._gaps[watch].why if watch in self._gaps else "restart"

    def _is_hopeless(self, place: _Place, at_ms: int) -> bool:
        if place.listed or place.absent or place.asked_ms is None or at_ms - place.asked_ms < PATIENCE_MS:
            return False
        return any(other.listed for other in self._places.values())

    def _absent(self, watch: str, place: _Place, at_ms: int) -> list[Record]:
        place.absent = True
        return self._mirror.kind_absent(watch, at_ms)

    def _page(self, watch: str, place: _Place, page: tell.ListPage) -> list[Record]:
        records: list[Record] = []
        for item in page.items:
            try:
                records += self._mirror.list_item(watch, item, page.at_ms, page.lossy, page.api_version)
            except Terminal as error:
                self.dead.append(Dead(watch, str(error), bytes(item), page.at_ms))
        if not page.last:
            return records
        records += self._mirror.list_end(
            watch, page.version, page.at_ms, place.lost_from, why=place.why, from_version=place.lost_version
        )
        self.counts[watch, "lists"] += 1
        place.version, place.contact_ms, place.listed, place.delivered = page.version, page.at_ms, True, True
        place.absent = False
        place.lost_from = place.lost_version = None
        return records

    def _expired(self, watch: str, place: _Place, happening: tell.Expired) -> None:
        self.counts[watch, "expired"] += 1
        place.lost_from = place.contact_ms if place.contact_ms is not None else happening.from_ms
        place.lost_version = happening.from_version or place.version or None
        place.why = "too_large" if happening.why is Why.AHEAD else "expired"
