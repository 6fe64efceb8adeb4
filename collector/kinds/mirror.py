"""What lists and watches say, made into records: the state machine between the API server and the log.

Driven with happenings and their receive times, live or from a recording; the same happenings give the same records.
Kinds are taken in by stages (`Stage`): what comes of a kind while one of an earlier stage is not listed yet waits, in
order, until that one was listed or is known to be absent. So nothing is concluded from what was merely not seen yet,
and a pod's first record already carries its job, its nodes and its queue.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

import msgspec

from collector.kinds import events, projection
from collector.kinds.base import EVENT, Kind
from collector.kinds.catalog import KINDS
from collector.kinds.events import EventSight
from collector.kinds.facts import FactBook
from collector.kinds.identity import Identity, Listing
from collector.kinds.intake import Intake
from collector.kinds.known import Known, KnownChanges, KnownObject
from collector.kinds.lists import Lists
from collector.kinds.projection import Arrival, Change, Json, Sight
from collector.kinds.reports import Reports
from collector.kinds.stages import Stages, Watch
from collector.kinds.writing import Writer
from pipeline.errors import Terminal
from pipeline.records import gaps, keys
from pipeline.records.envelope import Record
from pipeline.records.gaps import Gap
from pipeline.records.shapes import Shape

_CHANGES: Final[dict[str, Change]] = {"ADDED": "added", "MODIFIED": "modified", "DELETED": "deleted"}


class MirrorOptions(msgspec.Struct, frozen=True):
    """What can be set. `kinds` are all that are wanted; one that turns out not to be served is told by `kind_absent`.

    `namespaces`: only these are watched, each on its own; empty: all, together. Kinds without namespace are not split.
    """

    kinds: tuple[Kind, ...] = KINDS
    namespaces: tuple[str, ...] = ()
    tenant_label: str = keys.TENANT
    limits: projection.Limits = projection.Limits()
    identity_wait_ms: int = 2000
    facts_interval_ms: int = 1000


class Mirror:
    """One cluster as its records tell it.

    A `key` names a watch: `pods`, `podgroups.scheduling.volcano.sh`; of one namespace only, `pods/team-a`.

    Methods return the records to write now, which may be of earlier happenings and of other kinds.
    """

    def __init__(self, cluster: str, source: str, options: MirrorOptions) -> None:
        wait_ms = options.identity_wait_ms
        self._limits = options.limits
        self._stages = Stages(options.kinds, options.namespaces)
        self._identity = Identity(options.kinds)
        facts = FactBook(options.tenant_label, options.facts_interval_ms, self._identity.claim_exists)
        self._intake = Intake(Writer(cluster, source), self._identity, facts, wait_ms)
        self._reports = Reports(self._intake, wait_ms)
        self._lists = Lists(self._intake, self._reports)
        self.counts: dict[str, int] = self._intake.counts
        """Counters: duplicates, suppressed, ignored, surrogate, truncated, lossy, moved, link_not_found."""

    def restore(self, known: Iterable[KnownObject]) -> None:
        """What was known before a restart. Every kind must then be listed once; only differences are written.

        Objects of watches that are not wanted are left where they are stored, in case those are wanted again.
        """
        for each in known:
            self._stages.restored()
            if not self._stages.wants(each.key):
                continue
            kind = self._stages.watch(each.key).kind
            if kind.role is EVENT:
                self._reports.restore(each.key, each.uid, each.version)
            else:
                self._identity.add(_remembered(kind, each))

    def wants(self, key: str) -> bool:
        """Whether this is a watch of ours."""
        return self._stages.wants(key)

    def disabled(
        self, kind: Kind, received_ms: int, unseen_since: int | None, from_version: str | None
    ) -> list[Record]:
        """The kind was watched before and is not wanted any more: what becomes of its objects is not known from here on."""
        gap = Gap(
            kind=kind.kind,
            group=kind.group,
            from_ms=unseen_since,
            to_ms=received_ms,
            from_version=from_version,
            why=gaps.DISABLED,
        )
        return [self._intake.writer.gap(gap)]

    def kind_absent(self, key: str, received_ms: int) -> list[Record]:
        """The kind is not served, or we may not see it: nothing waits for it any more."""
        watch = self._stages.watch(key)
        self._settle(watch, received_ms, listed=False)
        return self._written()

    def kind_listed(self, key: str, received_ms: int) -> list[Record]:
        """After `kind_absent`: it can be seen again, and everything since its last list was told or is about to be."""
        watch = self._stages.watch(key)
        self._settle(watch, received_ms, listed=True)
        return self._written()

    def list_begin(self, key: str, received_ms: int) -> None:
        """A list of the kind begins, or begins anew."""
        watch = self._stages.watch(key)
        self._stages.do(watch, partial(self._lists.begin, watch, received_ms))

    def list_item(
        self, key: str, raw: Json, received_ms: int, lossy: bool = False, api_version: str = ""
    ) -> list[Record]:
        """An object of the list. Raises Terminal if it cannot be read; it is not taken for deleted then.

        `api_version` is that of the list, whose items leave it out; without it the kind's best version is assumed.
        """
        watch = self._stages.watch(key)
        try:
            sight = self._read(watch.kind, "added", raw, Arrival(received_ms, lossy, api_version))
        except Terminal:
            self._stages.do(watch, partial(self._lists.unreadable, watch, raw))
            raise
        self._stages.do(watch, partial(self._lists.item, watch, sight))
        return self._written()

    def list_end(
        self,
        key: str,
        version: str,
        received_ms: int,
        unseen_since: int | None,
        *,
        why: str = "expired",
        from_version: str | None = None,
    ) -> list[Record]:
        """The list is complete. `unseen_since`: last contact before it, if changes may have been missed since then.

        `why` and `from_version` (where the watch had come to) are for the gap record, which is written only then.
        """
        watch = self._stages.watch(key)
        gap = None
        if unseen_since is not None:
            gap = Gap(
                kind=watch.kind.kind,
                group=watch.kind.group,
                from_ms=unseen_since,
                to_ms=received_ms,
                from_version=from_version,
                to_version=version,
                why=why,
            )
        self._stages.do(watch, partial(self._end, watch, received_ms, gap))
        return self._written()

    def frame(self, key: str, type: str, raw: Json, received_ms: int, lossy: bool = False) -> list[Record]:
        """As `show`, of an object that nobody has decoded."""
        return self.show(key, type, raw, Arrival(received_ms, lossy))

    def show(self, key: str, type: str, found: Json | Shape, arrival: Arrival) -> list[Record]:
        """The object of an ADDED, MODIFIED or DELETED frame. Raises Terminal if it cannot be read.

        The end of what cannot be read is an end all the same: it is among the records of the next call.
        """
        watch = self._stages.watch(key)
        try:
            sight = self._read(watch.kind, _CHANGES[type], found, arrival)
        except Terminal:
            if type == "DELETED":
                self._stages.do(watch, partial(self._lists.gone, watch, projection.uid_of(found), arrival.received_ms))
            raise
        if watch.open:
            self._lists.frame(watch, sight)
        else:
            self._stages.do(watch, partial(self._lists.frame, watch, sight))
        return self._written()

    def tick(self, now_ms: int) -> list[Record]:
        """Ends waits, and tells facts that had to wait. To be called about once a second."""
        self._intake.tick(now_ms)
        self._reports.tick(now_ms)
        return self._written()

    def held(self, key: str) -> bool:
        """Whether records of this kind are held back: its checkpoint must not move beyond what was written."""
        watch = self._stages.watch(key)
        return bool(watch.waiting or watch.changes or self._intake.held[watch.kind.name])

    def take_changes(self) -> KnownChanges:
        """What changed about what is known since this was last called; to be stored together with the records."""
        intake, reports = self._intake, self._reports
        upserts = [self._to_remember(known) for known in intake.changed.values()]
        upserts += [KnownObject(key, uid, version) for (key, uid), version in reports.changed.items()]
        deletes = [(self._stages.key(known.kind, known.namespace), uid) for uid, known in intake.removed.items()]
        deletes += reports.removed
        for told in (intake.changed, intake.removed, reports.changed, reports.removed):
            told.clear()
        return KnownChanges(upserts, deletes)

    def _to_remember(self, known: Known) -> KnownObject:
        return KnownObject(
            self._stages.key(known.kind, known.namespace),
            known.uid,
            known.version,
            known.namespace,
            known.name,
            job=known.job,
            digest=known.digest,
            facts=known.facts,
        )

    def _read(self, kind: Kind, change: Change, found: Json | Shape, arrival: Arrival) -> Sight | EventSight:
        if kind.role is not EVENT:
            return projection.read(kind, found, change, arrival, self._limits)
        event = events.read(kind, found, arrival, self._limits.max_object_bytes)
        event.expired, event.seen.lossy = change == "deleted", arrival.lossy
        return event

    def _end(self, watch: Watch, received_ms: int, gap: Gap | None) -> None:
        self._lists.end(watch, received_ms, gap)
        self._settle(watch, received_ms, listed=True)

    def _settle(self, watch: Watch, received_ms: int, *, listed: bool) -> None:
        self._stages.settle(watch, listed)
        of_kind = self._stages.of_kind(watch.kind)
        if all(each.settled for each in of_kind):
            any_listed = any(each.listed for each in of_kind)
            self._intake.conclude(watch.kind, Listing.LISTED if any_listed else Listing.ABSENT, received_ms)
        self._stages.advance()

    def _written(self) -> list[Record]:
        written, self._intake.out = self._intake.out, []
        return written


def _remembered(kind: Kind, each: KnownObject) -> Known:
    return Known(
        each.uid,
        each.version,
        kind,
        each.namespace,
        each.name,
        job=each.job,
        keyed=True,
        bare=True,
        digest=each.digest,
        facts=each.facts,
    )
