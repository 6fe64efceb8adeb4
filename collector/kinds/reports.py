"""Events to records: what was said about an object goes to the job of that object.

An event may come before the object it is about, since two watches race. If it is young, and of an object that could
still come, it is held for as long as an object waits for its owner; then it goes by the name of what it is about.
"""

from __future__ import annotations

from typing import Final

from collector.kinds.events import EventSight
from collector.kinds.identity import Gone, Listing
from collector.kinds.intake import Intake
from collector.kinds.known import Known
from pipeline.records.events import Regarding
from pipeline.records.jobs import JobRef

_YOUNG_US: Final = 60_000_000
"""An event older than this is about something that would have been seen by now if it still existed."""


class Reports:
    """Events that were seen, by uid, and those that wait for the object they are about."""

    def __init__(self, intake: Intake, wait_ms: int) -> None:
        self.changed: dict[tuple[str, str], str] = {}
        """Versions by (key of the watch, uid), since this was last emptied."""
        self.removed: dict[tuple[str, str], None] = {}
        self.strangers: dict[str, list[EventSight]] = {}
        """Events about objects that have not come yet, by the uid of the object."""
        self._versions: dict[str, dict[str, str]] = {}
        self._intake = intake
        self._identity = intake.identity
        self._wait_ms = wait_ms

    def restore(self, key: str, uid: str, version: str) -> None:
        """An event that was seen before a restart."""
        self._versions.setdefault(key, {})[uid] = version

    def take(self, key: str, sight: EventSight) -> None:
        """One sight of an event. The two event APIs show the same objects: a copy may come from the other one."""
        seen = sight.seen
        if any(versions.get(seen.uid) == seen.version for versions in self._versions.values()):
            self._intake.counts["duplicates"] += 1
            return
        for flag in ("surrogate", "truncated", "lossy"):
            if getattr(seen, flag):
                self._intake.counts[flag] += 1
        self.restore(key, seen.uid, seen.version)
        self.changed[key, seen.uid] = seen.version
        self._place(sight)

    def seen(self, key: str, sight: EventSight) -> bool:
        """Whether this very state of an event is known of this watch."""
        return self._versions.get(key, {}).get(sight.uid) == sight.version

    def forget(self, key: str, uid: str) -> None:
        """An event has expired: no news, but its version need not be known any more."""
        if self._versions.get(key, {}).pop(uid, None) is not None:
            self.changed.pop((key, uid), None)
            self.removed[key, uid] = None

    def keep_only(self, key: str, uids: set[str]) -> None:
        """Forgets all events of a watch but these."""
        for uid in [uid for uid in self._versions.get(key, {}) if uid not in uids]:
            self.forget(key, uid)

    def arrived(self, uid: str) -> None:
        """An object was seen: what was said about it before belongs to its job."""
        if uid not in self.strangers:
            return
        known = self._identity.objects.get(uid)
        if known is None:
            return
        for sight in self.strangers.pop(uid):
            self._intake.held[sight.kind.name] -= 1
            self._about(known, sight)

    def tick(self, now_ms: int) -> None:
        """Lets go what waited long enough."""
        for uid, waiting in list(self.strangers.items()):
            if now_ms - waiting[0].received_ms >= self._wait_ms:
                del self.strangers[uid]
                for sight in waiting:
                    self._intake.held[sight.kind.name] -= 1
                    self._write(sight, None)

    def _place(self, sight: EventSight) -> None:
        about = sight.seen.regarding
        if about is None:
            self._write(sight, None)
            return
        found = self._find(about)
        if isinstance(found, Known):
            self._about(found, sight)
        elif found is None and self._may_come(about, sight):
            self.strangers.setdefault(about.uid, []).append(sight)
            self._intake.held[sight.kind.name] += 1
        else:
            self._write(sight, found.job if found is not None else None)

    def _about(self, known: Known, sight: EventSight) -> None:
        if known.keyed:
            self._write(sight, known.job)
        else:
            self._intake.hold(known, sight)

    def _find(self, about: Regarding) -> Known | Gone | None:
        """By uid; by kind and name if the event gives none, or only the name again (nodes)."""
        identity = self._identity
        if about.uid and about.uid != about.name:
            return identity.objects.get(about.uid) or identity.gone(about.uid)
        name = (_group(about), about.kind, about.namespace or "", about.name)
        return identity.named(*name) or identity.gone_named(*name)

    def _may_come(self, about: Regarding, sight: EventSight) -> bool:
        listing = self._identity.listing.get((_group(about), about.kind), Listing.ABSENT)
        young = sight.received_ms * 1000 - sight.seen.at_us < _YOUNG_US
        return bool(about.uid) and about.uid != about.name and listing is not Listing.ABSENT and young

    def _write(self, sight: EventSight, job: JobRef | None) -> None:
        self._intake.out.append(self._intake.writer.event(sight, job))


def _group(about: Regarding) -> str:
    return about.api_version.rpartition("/")[0]
