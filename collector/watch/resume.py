"""What is known at a start: what the checkpoint says, brought up to the end of the log.

A collector that is killed leaves records behind its checkpoint. Readers have them already, so they count as told: taken
in here, they make the first lists show only what really changed since. Otherwise a pod whose end is in the log would end
once more, and one whose third state is in the log would begin with it again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from collector.kinds import facts
from collector.kinds.base import Kind, Role
from collector.kinds.known import KnownChanges, KnownObject
from collector.spool.checkpoint import OpenGap, Saved
from pipeline.records import gaps
from pipeline.records.envelope import EventRecord, ObjectRecord, Record
from pipeline.records.objects import ObjectChange


def changes_of(tail: Iterable[Record], kinds: Iterable[Kind], watched: Collection[str]) -> KnownChanges:
    """What records say of what is known. `watched`: keys of the watches that the checkpoint has, to tell event APIs apart."""
    wanted = list(kinds)
    keys = {(kind.group, kind.kind): kind.name for kind in wanted if kind.role is not Role.EVENT}
    event_keys = [kind.name for kind in wanted if kind.role is Role.EVENT]
    event_key = next((key for key in event_keys if key in watched), next(iter(event_keys), ""))
    found: dict[tuple[str, str], KnownObject | None] = {}
    for record in tail:
        if isinstance(record, EventRecord):
            found[event_key, record.data.uid] = KnownObject(event_key, record.data.uid, record.data.version)
        elif isinstance(record, ObjectRecord):
            key = keys.get((record.data.group, record.data.kind))
            # An object that leaves a job is told to its new one right after; without that it still has to be.
            if key is not None and record.data.change != "moved":
                found[key, record.data.uid] = _known(key, record.data)
    upserts = [known for known in found.values() if known is not None]
    return KnownChanges(upserts, [gone for gone, known in found.items() if known is None])


def disabled(saved: Saved, kinds: Iterable[Kind]) -> list[OpenGap]:
    """The watches of before that are not wanted any more, if that was not told at an earlier start."""
    wanted = {kind.name for kind in kinds}
    return [
        OpenGap(watch.key, watch.contact_ms, watch.version, gaps.DISABLED)
        for watch in saved.watches.values()
        if watch.key not in wanted and watch.key not in saved.gaps
    ]


def brought_up(stored: Iterable[KnownObject], changes: KnownChanges) -> Iterator[KnownObject]:
    """The stored objects with the changes applied."""
    told = {(each.key, each.uid) for each in changes.upserts}
    told.update(changes.deletes)
    yield from (each for each in stored if (each.key, each.uid) not in told)
    yield from changes.upserts


def _known(key: str, change: ObjectChange) -> KnownObject | None:
    """None for an object that is gone."""
    if change.change == "deleted":
        return None
    tag = "" if change.facts is None else facts.tag_of(change.facts)
    return KnownObject(key, change.uid, change.version, change.namespace, change.name, job=change.job, facts=tag)
