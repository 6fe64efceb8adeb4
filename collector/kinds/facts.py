"""Who is told what: facts about waiting objects that only somebody who sees the whole cluster can know.

A waiting pod is told of the nodes it wants, and whether a device claim that it names is missing. What stands for a job in
the log (its group, its object, the pod itself if it is its own job, or if the job's object is not to be seen) is told of
its queue and tenant. Each record of a waiting object carries its facts; when they change while the object does not, it
gets a record of facts alone, at most one an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b

import msgspec

from collector.kinds.base import JOB, SURROUNDINGS, Kind, QueueName
from collector.kinds.known import Known
from collector.kinds.placement import Placement, PlacementClass
from collector.kinds.projection import Sight
from collector.kinds.queues import Queues
from pipeline.records import matching
from pipeline.records.objects import Facts

_encode = msgspec.json.Encoder(order="sorted").encode
_MOST_TOLD = 8192
"""Facts that are kept made; there is one for each class of pods, queue and namespace that waits."""
Told = tuple[Facts | None, str]
NOTHING: Told = (None, "")


class Waiter(msgspec.Struct, gc=False):
    """A waiting object: what its facts depend on, and when it may be told again."""

    known: Known
    wants: matching.Wants | None = None
    placement: PlacementClass | None = None
    queue: QueueName | None = None
    claims: tuple[str, ...] = ()
    of_job: bool = False
    """Whether it is told of queue and tenant."""
    next_ms: int = 0


class FactBook:
    """Nodes, queues, tenants, and all that wait for them."""

    def __init__(self, tenant_label: str, interval_ms: int, claim_exists: Callable[[str, str], bool]) -> None:
        """`claim_exists` says of a namespace and a name whether a device claim is there, or nothing is known of claims."""
        self.placement = Placement()
        self.queues = Queues(tenant_label)
        self._claim_exists = claim_exists
        self._interval_ms = interval_ms
        self._waiters: dict[str, Waiter] = {}
        self._of_jobs: dict[str, None] = {}
        self._late: dict[str, None] = {}
        self._by_claim: dict[tuple[str, str], dict[str, None]] = {}
        self._told: dict[tuple[bytes | None, QueueName | None, str | None, bool], Told] = {}

    def complete(self, kind: Kind) -> Iterable[str]:
        """A kind was listed to its end: from now on absence means something. Uids whose facts may have changed."""
        if kind.plural == "nodes" and not self.placement.listed:
            self.placement.listed = True
            for waiter in self._waiters.values():
                self._place(waiter)
        elif kind.plural == "queues" and not self.queues.volcano_listed:
            self.queues.volcano_listed = True
        elif kind.plural == "localqueues" and not self.queues.kueue_listed:
            self.queues.kueue_listed = True
        elif kind.plural == "resourceclaims":
            return [uid for uids in self._by_claim.values() for uid in uids]
        else:
            return ()
        self._told.clear()
        return list(self._waiters)

    def learn(self, sight: Sight) -> Iterable[str]:
        """Takes in what a sight says about the surroundings; uids whose facts may have changed."""
        if sight.change == "deleted":
            return self._forget(sight.kind, sight.namespace, sight.name)
        if isinstance(sight.learned, matching.Traits):
            return self._placed(sight.name, sight.learned)
        return self._queued(self.queues.learn(sight.namespace, sight.name, sight.learned))

    def claimed(self, namespace: str, name: str) -> Iterable[str]:
        """Uids of what waits and names a device claim."""
        return list(self._by_claim.get((namespace, name), ()))

    def forget(self, known: Known) -> Iterable[str]:
        """As `learn`, for an object that is gone without a last sight."""
        return self._forget(known.kind, known.namespace, known.name)

    def _forget(self, kind: Kind, namespace: str, name: str) -> Iterable[str]:
        if kind.role is not SURROUNDINGS:
            return ()
        if kind.plural == "nodes":
            return self._placed(name, None)
        return self._queued(self.queues.forget(kind.plural, namespace, name))

    def _placed(self, name: str, node: matching.Traits | None) -> Iterable[str]:
        changed = self.placement.learn(name, node)
        if changed:
            self._told.clear()
        return [uid for each in changed for uid in each.members]

    def _queued(self, news: bool) -> Iterable[str]:
        if not news:
            return ()
        self._told.clear()
        return list(self._of_jobs)

    def see(self, known: Known, sight: Sight, job_tells: bool) -> Told:
        """Takes in the state of an object, and says what to tell with it."""
        waiter = self._waiters.get(known.uid)
        if not sight.waits or sight.change == "deleted":
            if waiter is not None:
                self._leave(waiter)
            return NOTHING
        if waiter is None:
            waiter = self._waiters[known.uid] = Waiter(known)
        waiter.queue, waiter.wants = sight.queue, sight.wants
        if waiter.claims != sight.claims:
            self._unclaim(waiter)
            waiter.claims = sight.claims
            for name in sight.claims:
                self._by_claim.setdefault((known.namespace, name), {})[known.uid] = None
        if waiter.placement is None or waiter.placement.wants is not sight.wants:
            self._place(waiter)
        return self._tell_part(waiter, job_tells)

    def leave(self, uid: str) -> None:
        """An object is gone."""
        waiter = self._waiters.get(uid)
        if waiter is not None:
            self._leave(waiter)

    def told_now(self, known: Known, job_tells: bool) -> Told:
        """What holds for an object now, as a part of its job; `job_tells`: the job has an object that tells the rest."""
        waiter = self._waiters.get(known.uid)
        return NOTHING if waiter is None else self._tell_part(waiter, job_tells)

    def _tell_part(self, waiter: Waiter, job_tells: bool) -> Told:
        known = waiter.known
        lone = known.job is not None and known.job.uid == known.uid
        waiter.of_job = known.kind.role is JOB or lone or not job_tells
        if waiter.of_job:
            self._of_jobs[known.uid] = None
        else:
            self._of_jobs.pop(known.uid, None)
        return self._tell(waiter)

    def news(self, uids: Iterable[str], now_ms: int) -> Iterator[tuple[Known, Told]]:
        """Of these objects the ones to be told now; those told less than an interval ago are kept for later."""
        for uid in uids:
            waiter = self._waiters.get(uid)
            if waiter is None:
                continue
            told = self._tell(waiter)
            if told[1] == waiter.known.facts:
                continue
            if now_ms < waiter.next_ms:
                self._late[uid] = None
                continue
            waiter.next_ms = now_ms + self._interval_ms
            yield waiter.known, told

    def late_news(self, now_ms: int) -> Iterator[tuple[Known, Told]]:
        """Those kept for later, as far as their time has come."""
        late, self._late = self._late, {}
        yield from self.news(late, now_ms)

    def _place(self, waiter: Waiter) -> None:
        old, wants, uid = waiter.placement, waiter.wants, waiter.known.uid
        if wants is None or not self.placement.listed:
            waiter.placement = None
        elif old is None or old.wants.key != wants.key:
            waiter.placement = self.placement.join(wants, uid)
        if old is not None and waiter.placement is not old:
            self.placement.leave(old, uid)

    def _unclaim(self, waiter: Waiter) -> None:
        known = waiter.known
        for name in waiter.claims:
            uids = self._by_claim.get((known.namespace, name), {})
            uids.pop(known.uid, None)
            if not uids:
                self._by_claim.pop((known.namespace, name), None)

    def _leave(self, waiter: Waiter) -> None:
        self._unclaim(waiter)
        uid = waiter.known.uid
        self._waiters.pop(uid, None)
        self._of_jobs.pop(uid, None)
        if waiter.placement is not None:
            self.placement.leave(waiter.placement, uid)

    def _tell(self, waiter: Waiter) -> Told:
        place = waiter.placement
        namespace = waiter.known.namespace if waiter.of_job else None
        queue = waiter.queue if waiter.of_job else None
        within = waiter.known.namespace
        missing = any(not self._claim_exists(within, name) for name in waiter.claims)
        key = (None if place is None else place.wants.key, queue, namespace, missing)
        told = self._told.get(key)
        if told is None:
            if len(self._told) >= _MOST_TOLD:
                self._told.clear()
            facts = Facts(
                nodes_wanted=None if place is None else place.counted,
                queue=None if queue is None else self.queues.facts(queue),
                tenant=None if namespace is None else self.queues.tenant(queue, namespace),
                claim_missing=missing,
            )
            told = self._told[key] = (facts, tag_of(facts))
        return told


def tag_of(facts: Facts) -> str:
    """Equal for equal facts."""
    return blake2b(_encode(facts), digest_size=6).hexdigest()
