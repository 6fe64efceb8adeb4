"""Records out of what was seen: envelopes, identities, buckets."""

from __future__ import annotations

from typing import Final

import msgspec

from collector.kinds.events import EventSight
from collector.kinds.facts import Told
from collector.kinds.known import Known
from collector.kinds.projection import Sight
from pipeline.records import jobs, times
from pipeline.records.envelope import EventRecord, GapRecord, ObjectRecord
from pipeline.records.gaps import Gap
from pipeline.records.jobs import JobRef
from pipeline.records.objects import Change, ObjectChange

_KEYS: Final = tuple(str(bucket) for bucket in range(jobs.BUCKETS))


class Writer:
    """Writes for one cluster. `source` says who collected it."""

    def __init__(self, cluster: str, source: str) -> None:
        self._cluster = cluster
        self._source = source

    def seen(self, known: Known, sight: Sight, told: Told) -> ObjectRecord:
        """A state of an object, for its job."""
        facts, tag = told
        kind, job = known.kind, known.job
        uid, version, namespace, name = sight.uid, sight.version, sight.namespace, sight.name
        change = ObjectChange(
            change=sight.change,
            kind=kind.kind,
            name=name,
            uid=uid,
            version=version,
            group=kind.group,
            api_version=sight.api_version,
            namespace=namespace,
            job=job,
            facts=facts,
            object=sight.body,
            redacted=sight.redacted,
        )
        if sight.unusual:
            _flag(change, sight)
        if sight.change == "added" and 0 < sight.first_ms < sight.received_ms:
            change.first_seen = sight.first_ms
        return ObjectRecord(
            id=self._id(uid, version, sight.change, job, f"{tag}@{sight.received_ms}" if sight.retold else tag),
            source=self._source,
            cluster=self._cluster,
            partitionkey=self._bucket(job, namespace, name),
            observedms=sight.received_ms,
            subject=f"{kind.kind}/{namespace}/{name}",
            time=sight.deleted or (sight.created if sight.change == "added" else None),
            data=change,
        )

    def lost(self, known: Known, received_ms: int, unseen_since: int | None) -> ObjectRecord:
        """An object that a list does not show any more; its last state is not known."""
        change = self._reference(known, "deleted", known.job)
        change.synthetic, change.unseen_since = True, unseen_since
        return self._about(known, change, known.job, received_ms)

    def moved(self, known: Known, old: JobRef | None, received_ms: int) -> ObjectRecord:
        """To the job that an object leaves."""
        change = self._reference(known, "moved", old)
        change.moved_to = known.job
        return self._about(known, change, old, received_ms)

    def told(self, known: Known, told: Told, received_ms: int) -> ObjectRecord:
        """Facts alone."""
        change = self._reference(known, "facts", known.job)
        change.facts = told[0]
        return self._about(known, change, known.job, received_ms, told[1])

    def again(self, known: Known, last: Sight | None, told: Told, received_ms: int) -> ObjectRecord:
        """The last state of an object for the job that it has moved to; a stub, flagged so, if that is not at hand."""
        if last is not None:
            last.change, last.synthetic, last.unseen_since = "added", False, None
            record = self.seen(known, last, told)
            record.id += f"@{received_ms}"
            return record
        change = self._reference(known, "added", known.job)
        change.facts, change.truncated, change.start_observed = told[0], True, False
        change.object = msgspec.Raw(msgspec.json.encode(_stub(known)))
        return self._about(known, change, known.job, received_ms, told[1])

    def event(self, sight: EventSight, job: JobRef | None) -> EventRecord:
        """An event, for the job of the object it is about; without one it goes by that object's name."""
        seen = sight.seen
        seen.job = job
        about = seen.regarding
        namespace, name = (about.namespace or "", about.name) if about is not None else (seen.namespace, seen.name)
        return EventRecord(
            id=f"{self._cluster}/{seen.uid}/{seen.version}",
            source=self._source,
            cluster=self._cluster,
            partitionkey=self._bucket(job, namespace, name),
            observedms=sight.received_ms,
            subject=f"Event/{seen.namespace}/{seen.name}",
            time=times.format_us(seen.at_us),
            data=seen,
        )

    def gap(self, gap: Gap) -> GapRecord:
        """That changes of a kind may be missing."""
        name = f"{gap.kind}.{gap.group}" if gap.group else gap.kind
        return GapRecord(
            id=f"{self._cluster}/{name}/{gap.from_ms}/{gap.to_ms}",
            source=self._source,
            cluster=self._cluster,
            partitionkey=self._bucket(None, "", name),
            observedms=gap.to_ms,
            subject=name,
            data=gap,
        )

    def _reference(self, known: Known, change: Change, job: JobRef | None) -> ObjectChange:
        return ObjectChange(
            change=change,
            kind=known.kind.kind,
            group=known.kind.group,
            namespace=known.namespace,
            name=known.name,
            uid=known.uid,
            version=known.version,
            job=job,
        )

    def _about(
        self, known: Known, change: ObjectChange, job: JobRef | None, received_ms: int, tag: str = ""
    ) -> ObjectRecord:
        """What is said while the version stays may be said again, and is no copy then: the time is part of the id."""
        return ObjectRecord(
            id=self._id(known.uid, known.version, change.change, job, f"{tag}@{received_ms}"),
            source=self._source,
            cluster=self._cluster,
            partitionkey=self._bucket(job, known.namespace, known.name),
            observedms=received_ms,
            subject=f"{known.kind.kind}/{known.namespace}/{known.name}",
            data=change,
        )

    def _id(self, uid: str, version: str, change: str, job: JobRef | None, tag: str) -> str:
        return f"{self._cluster}/{uid}/{version}/{change}/{job.uid if job is not None else ''}/{tag}"

    def _bucket(self, job: JobRef | None, namespace: str, name: str) -> str:
        if job is not None:
            namespace, name = job.namespace, job.name
        return _KEYS[jobs.bucket_of(self._cluster, namespace, name)]


def _flag(change: ObjectChange, sight: Sight) -> None:
    change.start_observed = sight.start_observed
    change.synthetic = sight.synthetic
    change.unseen_since = sight.unseen_since
    change.truncated = sight.truncated
    change.lossy = sight.lossy
    change.surrogate = sight.surrogate
    change.group_unseen = sight.group_unseen


def _stub(known: Known) -> dict[str, dict[str, str]]:
    meta = {"name": known.name, "namespace": known.namespace, "uid": known.uid, "resourceVersion": known.version}
    return {"metadata": meta}
