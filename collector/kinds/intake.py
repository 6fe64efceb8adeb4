"""Sights to records, once nothing stands in their way: whose they are, what is new, what others must be told.

An object is *keyed* when it is decided to which job it belongs. Until then all that is seen of it, and said about it,
is held in its lineage, in order. When a link changes the job of an object that was keyed before, the old job gets a
`moved` record and the new one the object's last state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from collector.kinds.base import LINK, Kind
from collector.kinds.events import EventSight
from collector.kinds.facts import FactBook, Told
from collector.kinds.identity import LISTED, Identity, Listing
from collector.kinds.known import Known
from collector.kinds.lineage import Lineage
from collector.kinds.projection import Sight
from collector.kinds.writing import Writer
from pipeline.records.envelope import Record
from pipeline.records.jobs import JobRef, is_placeholder
from pipeline.records.kinds import RESOURCE_CLAIM


class Intake:
    """What one cluster's records have told so far. Records are appended to `out`."""

    def __init__(self, writer: Writer, identity: Identity, facts: FactBook, wait_ms: int) -> None:
        self.out: list[Record] = []
        self.counts: Counter[str] = Counter()
        self.held: Counter[str] = Counter()
        """Sights that wait for a link, by kind."""
        self.changed: dict[str, Known] = {}
        """Objects of which something was written since this was last emptied."""
        self.removed: dict[str, Known] = {}
        self.identity = identity
        self.facts = facts
        self.writer = writer
        self._wait_ms = wait_ms
        self._waiting: dict[Lineage, None] = {}

    def take(self, sight: Sight) -> None:
        """One state of one object."""
        known = self.identity.objects.get(sight.uid)
        if known is None:
            self._first(sight)
        elif sight.change == "deleted":
            known.version = sight.version
            self._enter(known, sight)
        elif known.version == sight.version:
            self._same(known, sight)
        elif sight.digest is not None and sight.digest == known.digest:
            self.counts["suppressed"] += 1
            known.version = sight.version
            self._refill(known, sight)
        else:
            known.version, known.digest = sight.version, sight.digest
            sight.change = "modified"
            self._enter(known, sight)

    def lose(self, known: Known, received_ms: int, unseen_since: int | None) -> None:
        """An object that a list does not show any more."""
        if not known.keyed:
            self.hold(known, _last_held(known, received_ms, unseen_since))
            return
        if known.kind.role is not LINK:
            self.out.append(self.writer.lost(known, received_ms, unseen_since))
        self._forget(known)
        self._tell(self.facts.forget(known), received_ms)
        self._tell_claimed(known, received_ms)

    def hold(self, known: Known, what: Sight | EventSight) -> None:
        """Keeps back what belongs to an object that is not keyed."""
        lineage = known.lineage
        assert lineage is not None, "without links there is nothing to wait for"
        self._await(lineage, what.received_ms)
        lineage.held.append((known, what))
        self.held[what.kind.name] += 1

    def conclude(self, kind: Kind, listing: Listing, received_ms: int) -> None:
        """A kind was listed to its end, or is not to be had: from now on absence means something, or nothing."""
        self.identity.listing[kind.group, kind.kind] = listing
        if listing is LISTED:
            self._tell(self.facts.complete(kind), received_ms)
        for lineage in list(self._waiting):
            if lineage in self._waiting and self.identity.resolve(lineage):
                self._settle_all(lineage, received_ms)

    def tick(self, now_ms: int) -> None:
        """Ends waits that were long enough; tells what was told too short a while ago."""
        for lineage in list(self._waiting):
            old_enough = now_ms - lineage.since_ms >= self._wait_ms
            if lineage in self._waiting and old_enough and self.identity.resolve(lineage, force=True):
                self.counts["link_not_found"] += 1
                self._settle_all(lineage, now_ms)
        for known, told in self.facts.late_news(now_ms):
            self._write_told(known, told, now_ms)

    # one object

    def _first(self, sight: Sight) -> None:
        gone = self.identity.gone(sight.uid)
        if gone is not None and gone.version == sight.version and not sight.retold:
            self.counts["duplicates"] += 1
            return
        if sight.surrogate:
            self.counts["surrogate"] += 1
        if sight.change != "added":
            sight.start_observed = False
        known = Known(sight.uid, sight.version, sight.kind, sight.namespace, sight.name, digest=sight.digest)
        self.identity.add(known)
        self._enter(known, sight)
        self._tell_claimed(known, sight.received_ms)

    def _same(self, known: Known, sight: Sight) -> None:
        if known.bare:
            self._refill(known, sight)
        else:
            self.counts["duplicates"] += 1

    def _refill(self, known: Known, sight: Sight) -> None:
        """After a restart: what is not kept on disk, out of a state that was written before."""
        self._learn(sight)
        if not known.bare:
            return
        known.waits = sight.waits
        self._relink(known, sight)
        self.facts.see(known, sight, self._job_tells(known))
        known.last = sight
        self._settle(known, sight.received_ms)
        if known.firm:
            known.last = None
        self._tell((known.uid,), sight.received_ms)

    def _trust(self, known: Known) -> None:
        """What was known before a restart holds until better is known: its owner may be gone since long."""
        known.bare = False
        lineage = known.lineage
        if lineage is not None and not lineage.resolved and not self.identity.resolve(lineage):
            is_own = known.job is not None and known.job.uid == known.uid
            lineage.job, lineage.resolved = None if is_own else known.job, True

    def _enter(self, known: Known, sight: Sight) -> None:
        """A state that is new."""
        if sight.truncated or sight.lossy:
            self._count_flags(sight)
        known.waits = sight.waits
        relinked = self._relink(known, sight)
        if known.keyed:
            if self._settle(known, sight.received_ms, at_hand=True, relinked=relinked) and sight.change == "modified":
                sight.change = "added"
            self._write(known, sight)
        elif known.lineage is None or known.lineage.resolved or self.identity.resolve(known.lineage):
            self._key(known, sight)
        else:
            self.hold(known, sight)

    def _count_flags(self, sight: Sight) -> None:
        if sight.truncated:
            self.counts["truncated"] += 1
        if sight.lossy:
            self.counts["lossy"] += 1

    def _relink(self, known: Known, sight: Sight) -> bool:
        """Puts an object below its links as they are now; whether they are others than before."""
        links = sight.links
        lineage = known.lineage
        changed = bool(links) if lineage is None else links != lineage.links
        if changed:
            self.identity.link(known, links)
        if known.bare:
            self._trust(known)
            return False
        return changed

    def _key(self, known: Known, sight: Sight) -> None:
        known.keyed, known.job = True, self._job(known)
        self._write(known, sight)
        self._wake(known, sight.received_ms)

    def _write(self, known: Known, sight: Sight) -> None:
        sight.first_ms = known.last.first_ms if known.last is not None else sight.received_ms
        told = self.facts.see(known, sight, sight.waits and self._job_tells(known))
        known.facts = told[1]
        if known.kind.role is not LINK:
            sight.group_unseen = self.identity.group_unseen(sight.links)
            self.out.append(self.writer.seen(known, sight, told))
        if sight.learned is not None:
            self._learn(sight)
        if sight.change == "deleted":
            self._forget(known)
            self._tell_claimed(known, sight.received_ms)
            return
        self.changed[known.uid] = known
        known.last = None if known.lineage is None or known.lineage.firm else sight

    def _forget(self, known: Known) -> None:
        self.changed.pop(known.uid, None)
        self.removed[known.uid] = known
        self.facts.leave(known.uid)
        below = self.identity.below(known)
        self.identity.remove(known)
        for lineage in below:
            self.identity.resolve(lineage)

    def _job(self, known: Known) -> JobRef | None:
        above = known.lineage.job if known.lineage is not None else None
        if above is not None:
            return above
        is_own = known.job is not None and known.job.uid == known.uid
        return known.job if is_own else known.own_job()

    def _job_tells(self, known: Known) -> bool:
        """Whether the job has an object of its own in the log."""
        job = known.job
        if job is None or is_placeholder(job.uid):
            return False
        return self.identity.listing.get((job.group, job.kind)) is LISTED

    # links

    def _await(self, lineage: Lineage, received_ms: int) -> None:
        if lineage not in self._waiting:
            lineage.since_ms = received_ms
            self._waiting[lineage] = None

    def _settle(self, known: Known, received_ms: int, *, at_hand: bool = False, relinked: bool = False) -> bool:
        """A keyed object's job, as its links are now; whether it moved.

        `at_hand`: its state is about to be written. `relinked`: its links are not those of before.
        """
        lineage = known.lineage
        if lineage is not None and not lineage.resolved and not self.identity.resolve(lineage):
            self._await(lineage, received_ms)
            return False
        if lineage is not None and lineage.job is not None and lineage.job is known.job:
            return False
        job = self._job(known)
        if job == known.job or (not relinked and _stays(known, job)):
            return False
        old, known.job = known.job, job
        if known.kind.role is not LINK:
            self._write_move(known, old, received_ms, at_hand)
        self._wake(known, received_ms)
        return True

    def _write_move(self, known: Known, old: JobRef | None, received_ms: int, at_hand: bool) -> None:
        self.counts["moved"] += 1
        self.out.append(self.writer.moved(known, old, received_ms))
        self.changed[known.uid] = known
        if at_hand:
            return
        told = self.facts.told_now(known, self._job_tells(known))
        known.facts = told[1]
        self.out.append(self.writer.again(known, known.last, told, received_ms))

    def _wake(self, known: Known, received_ms: int) -> None:
        """An object came, or its job changed: what is below it may have another job now."""
        for lineage in self.identity.below(known):
            if self.identity.resolve(lineage):
                self._settle_all(lineage, received_ms)

    def _settle_all(self, lineage: Lineage, received_ms: int) -> None:
        self._waiting.pop(lineage, None)
        for uid in list(lineage.members):
            known = self.identity.objects.get(uid)
            if known is not None and known.keyed:
                self._settle(known, received_ms)
                if known.firm:
                    known.last = None
        self._release(lineage)

    def _release(self, lineage: Lineage) -> None:
        held, lineage.held = lineage.held, []
        for known, what in held:
            self.held[what.kind.name] -= 1
            if isinstance(what, EventSight):
                self.out.append(self.writer.event(what, known.job))
            elif not self.identity.has(known):
                self.counts["duplicates"] += 1  # its end was among what was held, and was told already
            elif known.keyed:
                self._write(known, what)
            else:
                self._key(known, what)
        self.identity.prune(lineage)

    # facts

    def _tell_claimed(self, known: Known, received_ms: int) -> None:
        """A device claim came or is gone: those that name it are told."""
        if (known.kind.group, known.kind.kind) == RESOURCE_CLAIM:
            self._tell(self.facts.claimed(known.namespace, known.name), received_ms)

    def _learn(self, sight: Sight) -> None:
        if sight.learned is not None:
            self._tell(self.facts.learn(sight), sight.received_ms)

    def _tell(self, uids: Iterable[str], received_ms: int) -> None:
        for known, told in self.facts.news(uids, received_ms):
            self._write_told(known, told, received_ms)

    def _write_told(self, known: Known, told: Told, received_ms: int) -> None:
        known.facts = told[1]
        self.changed[known.uid] = known
        self.out.append(self.writer.told(known, told, received_ms))


def _last_held(known: Known, received_ms: int, unseen_since: int | None) -> Sight:
    """The end of an object of which everything is held back: its last state, as a list shows it gone."""
    held = known.lineage.held if known.lineage is not None else []
    last = next(what for each, what in reversed(held) if each is known and isinstance(what, Sight))
    return msgspec.structs.replace(
        last, change="deleted", received_ms=received_ms, synthetic=True, unseen_since=unseen_since
    )


def _stays(known: Known, new: JobRef | None) -> bool:
    """With the links of before: nothing follows a job to its absence, and to a name used again only what still waits."""
    old = known.job
    if old is None or new is None or is_placeholder(old.uid):
        return False
    same_name = (old.kind, old.namespace, old.name) == (new.kind, new.namespace, new.name)
    return is_placeholder(new.uid) or (same_name and not known.waits)
