"""The one hand that writes: what the follower makes of happenings goes to the spool, and the checkpoint after it.

Records that the log does not take (it is at its limit, or the disk is full) stay here, in order, until it does; whoever
feeds the scribe must stop reading meanwhile (`blocked`). Nothing is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from collector.kinds.catalog import KINDS
from collector.kinds.known import KnownChanges
from collector.kinds.mirror import Mirror
from collector.spool.checkpoint import OpenGap, Watch
from collector.spool.spool import Spool
from collector.watch.follower import Follower
from pipeline.errors import Transient
from pipeline.kubeapi.happenings import Happening
from pipeline.records.envelope import Record
from pipeline.telemetry import catalogue, logs

log = logs.get(__name__)

REPLAY = "replay"
"""Key under which a replay keeps how many beats of its recording are in the log."""

_LONGEST_WAIT_MS = 10_000
"""Longer than anything is held back for a link or an object."""


class Scribe:
    """Used by one thread.

    `known`: what the next checkpoint has to store beside the mirror's changes. Of a recording: `replayed` are the beats
    that the checkpoint says are in the log, `tail` the records that are there behind it; neither is written again.
    """

    def __init__(
        self,
        spool: Spool,
        mirror: Mirror,
        follower: Follower,
        *,
        known: KnownChanges | None = None,
        replayed: int | None = None,
        tail: Iterable[Record] = (),
    ) -> None:
        self._spool = spool
        self._mirror = mirror
        self._follower = follower
        self._pending: list[Record] = []
        self._known = known or KnownChanges([], [])
        self._opened: list[OpenGap] = []
        self._skip = replayed or 0
        self._tail = Counter(record.id for record in tail)
        self._beats: int | None = None if replayed is None else 0
        self.blocked = ""
        """Why nothing more may be read for now; empty while all is well."""

    @property
    def skipping(self) -> bool:
        """Whether the recording is still where the log has been before."""
        return self._beats is not None and self._beats < self._skip

    def hear(self, watch: str, happening: Happening) -> None:
        """Takes in one happening."""
        self._keep(self._follower.take(watch, happening))

    def disabled(self, watches: Iterable[OpenGap], now_ms: int) -> None:
        """These were followed before and are not wanted any more: says so, and keeps in mind that they are not."""
        known = {kind.name: kind for kind in KINDS}
        for each in watches:
            log.warning("kind_not_followed_any_more", kind=each.key, since_ms=each.from_ms)
            self._opened.append(each)
            if each.key in known:
                self._keep(self._mirror.disabled(known[each.key], now_ms, each.from_ms, each.from_version))

    def absent(self, watches: list[str], now_ms: int) -> None:
        """These kinds are not to be had."""
        self._keep(self._follower.absent(watches, now_ms))

    def tick(self, now_ms: int) -> None:
        """Lets log time pass."""
        if not self.blocked:
            self._write()
            if not self.skipping:
                self._spool.tick(now_ms)
        self._keep(self._follower.tick(now_ms))

    def beat(self) -> None:
        """One more moment of a recording was taken in completely."""
        if self._beats is not None:
            self._beats += 1

    def end(self, now_ms: int) -> None:
        """A recording is over: what was waited for does not come any more."""
        self._keep(self._follower.absent(self._follower.unlisted(), now_ms))
        self._keep(self._follower.tick(now_ms + _LONGEST_WAIT_MS))
        self.beat()

    def flush(self) -> None:
        """Makes all records durable and readable; sets `blocked` when that cannot be."""
        try:
            self._write()
            self._spool.commit()
        except Transient as error:
            self._block(error)
        else:
            self._unblock()

    def checkpoint(self, now_ms: int) -> None:
        """As `flush`, and moves the checkpoint behind what is durable.

        Of a recording nothing that is known is stored: it is always taken in from its first beat.
        """
        changes = self._mirror.take_changes()
        if self._beats is None:
            self._known = _merged(self._known, changes)
            known, watches = self._known, self._follower.checkpoints()
        elif self._beats > self._skip:
            known, watches = None, [Watch(REPLAY, str(self._beats), now_ms)]
        else:
            return
        try:
            self._write()
            self._spool.commit(known, watches, opened=self._opened, closed=self._follower.ended_gaps())
        except Transient as error:
            self._block(error)
        else:
            self._known = KnownChanges([], [])
            self._opened = []
            self._unblock()

    def _keep(self, records: list[Record]) -> None:
        if not self.skipping:
            self._pending += [record for record in records if not self._is_written(record)] if self._tail else records

    def _is_written(self, record: Record) -> bool:
        if record.id not in self._tail:
            return False
        self._tail[record.id] -= 1
        if not self._tail[record.id]:
            del self._tail[record.id]
        return True

    def _write(self) -> None:
        dead, self._follower.dead = self._follower.dead, []
        for each in dead if not self.skipping else ():
            log.warning("undecodable_input", watch=each.watch, error=each.error, bytes=len(each.raw))
            self._spool.dead.put(each.watch, each.raw, each.error, each.received_ms)
        if self._pending:
            self._spool.write(self._pending)
            catalogue.records.labels("collector", "all").inc(len(self._pending))
            self._pending = []

    def _block(self, error: Transient) -> None:
        if not self.blocked:
            log.error("spool_blocked", error=str(error))
        self.blocked = str(error)

    def _unblock(self) -> None:
        if self.blocked:
            log.info("spool_free_again")
        self.blocked = ""


def _merged(old: KnownChanges, new: KnownChanges) -> KnownChanges:
    """What a commit that failed wanted, with what came since; of one object the newer counts."""
    upserts = {(each.key, each.uid): each for each in old.upserts}
    deletes = dict.fromkeys(old.deletes)
    for gone in new.deletes:
        upserts.pop(gone, None)
        deletes[gone] = None
    for each in new.upserts:
        upserts[each.key, each.uid] = each
        deletes.pop((each.key, each.uid), None)
    return KnownChanges(list(upserts.values()), list(deletes))
