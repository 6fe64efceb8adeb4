"""A list of a kind, from its first page to its end: what exists, and what is different from what was known.

The first list says what exists. A later one is compared with what is known, and the differences are written at its end
as `synthetic`, each with the last contact before it: first what is gone, then what is new or changed. An object that a
list shows for the first time was seen from its start only if it was created while that list ran.

What a list shows is so, whatever its version: a cluster that was restored from an older copy shows versions of before,
and objects that are known to be gone. Their records would be taken for copies of the first ones, so they are `retold`.
"""

from __future__ import annotations

from collector.kinds import projection
from collector.kinds.base import EVENT
from collector.kinds.events import EventSight
from collector.kinds.intake import Intake
from collector.kinds.known import Known
from collector.kinds.projection import Json, Sight
from collector.kinds.reports import Reports
from collector.kinds.stages import Watch
from pipeline.records import times
from pipeline.records.gaps import Gap


class Lists:
    """Takes in lists and frames of watches whose turn it is."""

    def __init__(self, intake: Intake, reports: Reports) -> None:
        self._intake = intake
        self._reports = reports
        self._objects = intake.identity.objects

    def begin(self, watch: Watch, received_ms: int) -> None:
        """A list begins, or begins anew."""
        watch.listing, watch.changes, watch.news, watch.began_ms = set(), {}, 0, received_ms

    def item(self, watch: Watch, sight: Sight | EventSight) -> None:
        """An object of the list under way."""
        if watch.listing is not None:
            watch.listing.add(sight.uid)
        if isinstance(sight, EventSight):
            if not self._reports.seen(watch.key, sight):
                watch.news += 1
                self._reports.take(watch.key, sight)
            return
        sight.start_observed = _created_since(sight.created, watch.began_ms)
        known = self._objects.get(sight.uid)
        if watch.again and (known is None or known.version != sight.version):
            watch.changes[sight.uid] = sight
        elif not watch.again or (known is not None and known.bare):
            self._take(sight)

    def unreadable(self, watch: Watch, raw: Json) -> None:
        """An object of the list that cannot be read is not gone for that."""
        if watch.listing is not None:
            watch.listing.add(projection.uid_of(raw))

    def gone(self, watch: Watch, uid: str, received_ms: int) -> None:
        """An object whose last state cannot be read is gone for all that."""
        known = self._objects.get(uid)
        if watch.listing is not None:
            watch.changes.pop(uid, None)
        if known is not None and known.kind is watch.kind:
            self._intake.lose(known, received_ms, None)

    def frame(self, watch: Watch, sight: Sight | EventSight) -> None:
        """An object as the watch shows it; also between two pages of a list."""
        if watch.listing is not None:
            watch.changes.pop(sight.uid, None)
            watch.listing.add(sight.uid)
        if isinstance(sight, Sight):
            self._take(sight)
        elif sight.expired:
            self._intake.counts["ignored"] += 1
            self._reports.forget(watch.key, sight.uid)
        else:
            self._reports.take(watch.key, sight)

    def end(self, watch: Watch, received_ms: int, gap: Gap | None) -> None:
        """The list is complete."""
        unseen_since = gap.from_ms if gap is not None else None
        changed = self._lose_unlisted(watch, received_ms, unseen_since)
        changed += self._take_changes(watch, unseen_since)
        if gap is not None:
            gap.changed = changed
            self._intake.out.append(self._intake.writer.gap(gap))
        watch.listing, watch.again = None, True

    def _take(self, sight: Sight) -> None:
        self._intake.take(sight)
        if self._reports.strangers:
            self._reports.arrived(sight.uid)

    def _went_back(self, sight: Sight, known: Known | None) -> bool:
        if known is not None:
            return _is_before(sight.version, known.version)
        return self._intake.identity.gone(sight.uid) is not None

    def _lose_unlisted(self, watch: Watch, received_ms: int, unseen_since: int | None) -> int:
        listing = watch.listing if watch.listing is not None else set()
        if watch.kind.role is EVENT:
            self._reports.keep_only(watch.key, listing)
            return watch.news
        lost = [known for known in self._objects.values() if _is_of(known, watch) and known.uid not in listing]
        for known in lost:
            self._intake.lose(known, received_ms, unseen_since)
        return len(lost)

    def _take_changes(self, watch: Watch, unseen_since: int | None) -> int:
        changes, watch.changes = watch.changes, {}
        suppressed = self._intake.counts["suppressed"]
        for sight in changes.values():
            known = self._objects.get(sight.uid)
            sight.change = "added" if known is None else "modified"
            sight.retold = self._went_back(sight, known)
            sight.synthetic, sight.unseen_since = True, unseen_since
            self._take(sight)
        return len(changes) - (self._intake.counts["suppressed"] - suppressed)


def _is_before(version: str, other: str) -> bool:
    """A hint for naming records, no more: versions are opaque, though those of etcd rise."""
    return version.isdecimal() and other.isdecimal() and int(version) < int(other)


def _is_of(known: Known, watch: Watch) -> bool:
    return known.kind is watch.kind and (not watch.namespace or known.namespace == watch.namespace)


def _created_since(created: str | None, began_ms: int) -> bool:
    """Whether an object was created in the second in which a list began, or later."""
    created_ms = times.parse_ms(created)
    return created_ms is not None and created_ms >= began_ms - began_ms % 1000
