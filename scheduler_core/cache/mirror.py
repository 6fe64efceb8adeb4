"""What there is in the cluster, changed by every record and never looked up elsewhere.

Two schedulers may share a cluster, and each decides only about its own pods; what the other has placed still takes room.
So there are two views of one cluster: `facts(VOLCANO)` has Volcano's queues, groups and waiting pods, `facts(OTHERS)`
the native groups and the waiting pods of everyone else. Both have all nodes and all pods that have one.

Records come in log order, some of them twice. A uid lives once: what is said of one after its deletion is a copy. An
object that cannot be read is left out, with what is wrong with it in `faults`; the next good state of it puts it right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple

import msgspec

from pipeline.errors import Terminal
from pipeline.records import kinds, shapes, stored
from pipeline.records.envelope import ObjectRecord, Record
from pipeline.records.jobs import JobRef
from pipeline.records.objects import ObjectChange
from scheduler_core.cache import claims, reading, relating
from scheduler_core.cache.changes import Changed, Journal
from scheduler_core.cache.groups import Groups, name_of
from scheduler_core.cache.reading import ClaimSeen, PodSeen
from scheduler_core.model.facts import ClusterFacts, GroupFacts, NodeFacts, PodFacts, PriorityClassFacts, QueueFacts
from scheduler_core.model.why import Misconfigured

VOLCANO: Final = "volcano"
OTHERS: Final = "others"
View = Literal["volcano", "others"]
SCHEMA: Final = 2
_TOMBSTONES: Final = 4096


class Noted(NamedTuple):
    """What a record changed. `bound`: uid of a pod that got a node. `eased`: more than pods that come or get their place
    has changed, so what was refused before may fit now."""

    changed: bool = False
    bound: str = ""
    eased: bool = False


_NOTHING = Noted()
_EASED = Noted(changed=True, eased=True)


class Kept(msgspec.Struct):
    """All that is known, by uid: what a snapshot holds."""

    schema: int
    nodes: dict[str, NodeFacts] = {}
    queues: dict[str, QueueFacts] = {}
    volcano_groups: dict[str, GroupFacts] = {}
    native_groups: dict[str, GroupFacts] = {}
    classes: dict[str, PriorityClassFacts] = {}
    claims: dict[str, ClaimSeen] = {}
    pods: dict[str, PodSeen] = {}
    namespaces: dict[str, tuple[str, dict[str, str]]] = {}
    """Name and labels."""
    notes: dict[str, dict[str, str]] = {}
    """Annotations of Volcano Jobs, which the groups below them are read with."""
    faults: dict[str, Misconfigured] = {}
    gone: dict[str, None] = {}
    """The last uids that were deleted."""
    queues_listed: bool = False
    """Whether absence of a queue means anything."""


_encoder = msgspec.json.Encoder()  # what came as JSON goes as JSON: numbers of any size, which msgpack has not
_decoder = msgspec.json.Decoder(Kept)


class Mirror:
    """The objects of one cluster. `volcano` are the names of schedulers whose pods Volcano's policy decides about."""

    def __init__(self, cluster: str, volcano: Iterable[str] = ("volcano",), kept: Kept | None = None) -> None:
        self.cluster = cluster
        self._volcano = frozenset(volcano)
        self._kept = kept or Kept(SCHEMA)
        self._views: dict[View, dict[str, PodFacts]] = {VOLCANO: {}, OTHERS: {}}
        self._waiting: dict[View, dict[str, PodSeen]] = {VOLCANO: {}, OTHERS: {}}
        self._in_order: dict[View, tuple[PodSeen, ...]] = {}
        self._claims: dict[tuple[str, str], ClaimSeen] | None = None
        self._groups: dict[View, Groups] = {
            VOLCANO: Groups(self._kept.volcano_groups.items()), OTHERS: Groups(self._kept.native_groups.items())
        }  # fmt: skip
        self._selecting: set[str] = set()
        """Pods that mean others by the labels of their namespaces."""
        self._claiming: set[str] = set()
        """Pods of Volcano that wait and mount claims for volumes."""
        self._journals: dict[View, Journal] = {VOLCANO: Journal(), OTHERS: Journal()}
        for uid, seen in self._kept.pods.items():
            self._show(uid, seen)

    # --- what changes ---------------------------------------------------------------------------------------------------

    def apply(self, record: Record) -> Noted:
        """Takes in one record; those of other clusters and of other types change nothing."""
        if not isinstance(record, ObjectRecord) or record.cluster != self.cluster:
            return _NOTHING
        change = record.data
        if change.facts is not None and change.facts.queue is not None and change.facts.queue.exists is not None:
            self._see_queues()
        kind = (change.group, change.kind)
        if change.change == "deleted":
            return self._remove(kind, change.uid)
        if change.change == "moved":
            return self._give(change.uid, change.moved_to)
        if change.object is msgspec.UNSET or kind not in _READERS or change.uid in self._kept.gone:
            return _NOTHING
        if change.truncated and change.change == "added" and self._knows(kind, change.uid):
            return self._give(change.uid, change.job)  # told again for its new job, without what is known already
        return self._read(kind, change)

    def _read(self, kind: tuple[str, str], change: ObjectChange) -> Noted:
        try:
            assert isinstance(change.object, msgspec.Raw)
            shape = shapes.decode(*kind, change.object)
            shape.metadata.uid = change.uid  # an object without one was given it by the collector
            return _READERS[kind](self, change, shape)
        except (Terminal, ValueError, TypeError) as error:
            # What it was before does not hold any more either.
            self._remove(kind, change.uid, for_ever=False)
            name = f"{change.namespace}/{change.name}" if change.namespace else change.name
            self._kept.faults[change.uid] = Misconfigured(change.kind, name, f"cannot be read: {error}")
            return _EASED

    def _remove(self, kind: tuple[str, str], uid: str, *, for_ever: bool = True) -> Noted:
        kept = self._kept
        if for_ever:
            kept.gone[uid] = None
            if len(kept.gone) > _TOMBSTONES:
                del kept.gone[next(iter(kept.gone))]
        kept.faults.pop(uid, None)
        if kind == kinds.POD:
            self._hide(uid)
        held = self._held(kind)
        before = None if held is None else held.pop(uid, None)
        if before is None:
            return _NOTHING
        self._note(kind, uid, before, None)
        return _EASED

    def _held(self, kind: tuple[str, str]) -> dict[str, Any] | None:
        """Where objects of a kind are kept."""
        place = _PLACES.get(kind)
        return None if place is None else getattr(self._kept, place)

    def _knows(self, kind: tuple[str, str], uid: str) -> bool:
        return uid in (self._held(kind) or ())

    def _give(self, uid: str, job: JobRef | None) -> Noted:
        """The object is as before, and another job's."""
        kept = self._kept
        if uid in kept.pods:
            self._show(uid, msgspec.structs.replace(kept.pods[uid], job=job))
            return Noted(changed=True)
        for kind, groups in ((kinds.VOLCANO_GROUP, kept.volcano_groups), (kinds.NATIVE_GROUP, kept.native_groups)):
            before = groups.get(uid)
            if before is not None:
                groups[uid] = msgspec.structs.replace(before, job=job)
                self._note(kind, uid, before, groups[uid])
                return Noted(changed=True)
        return _NOTHING

    def _put(self, kind: tuple[str, str], uid: str, facts: object) -> Noted:
        """Keeps facts under a uid; nothing has changed if they are the same as before."""
        held = self._held(kind)
        assert held is not None
        self._kept.faults.pop(uid, None)
        before = held.get(uid)
        if before == facts:
            return _NOTHING
        held[uid] = facts
        self._note(kind, uid, before, facts)
        return _EASED

    def _take_pod(self, change: ObjectChange, shape: Any) -> Noted:
        uid = change.uid
        self._kept.faults.pop(uid, None)
        before, now = self._kept.pods.get(uid), reading.pod(shape, change.job)
        if before == now:
            return _NOTHING
        self._show(uid, now)
        if before is None or msgspec.structs.replace(before, tried=now.tried) == now:
            return Noted(changed=True)
        bound = uid if before.waits and now.facts.node else ""
        return Noted(changed=True, bound=bound, eased=not bound)

    def _take_group(self, kind: tuple[str, str], uid: str, facts: GroupFacts) -> Noted:
        """A group that only goes on to its next phase lets nobody else in."""
        held = self._held(kind)
        before = None if held is None else held.get(uid)
        noted = self._put(kind, uid, facts)
        same = before is not None and msgspec.structs.replace(before, phase=facts.phase) == facts
        return noted._replace(eased=noted.eased and before is not None and not same)

    def _take_queue(self, change: ObjectChange, shape: Any) -> Noted:
        self._see_queues()
        return self._put(kinds.VOLCANO_QUEUE, change.uid, reading.queue(shape))

    def _take_job(self, change: ObjectChange, shape: Any) -> Noted:
        noted = self._put(kinds.VOLCANO_JOB, change.uid, shape.metadata.annotations or {})
        return noted if shape.metadata.annotations else _NOTHING

    # --- what those who follow have to look at ----------------------------------------------------------------------------

    def end(self, view: View) -> int:
        """Where a view's journal of changes ends now."""
        return self._journals[view].end

    def since(self, view: View, seen: int) -> Changed | None:
        """What has changed in a view since its journal ended there; None if that is not known any more."""
        return self._journals[view].since(seen)

    def _note(self, kind: tuple[str, str], uid: str, before: Any, now: Any) -> None:
        """Anything but a pod was so, and is so now."""
        if kind in _GROUP_VIEWS:
            self._note_group(_GROUP_VIEWS[kind], uid, before, now)
        elif kind == kinds.VOLCANO_JOB:
            for group in self._groups[VOLCANO].of_job(uid):
                self._journals[VOLCANO].note("groups", name_of(self._kept.volcano_groups[group]))
        elif kind == kinds.NAMESPACE:
            self._look_again(before, now)
        elif kind in _NOTED_AS:
            if kind == kinds.VOLUME_CLAIM:
                self._look_at_claims(before or now)
            for journal in self._journals.values():
                journal.note(_NOTED_AS[kind])

    def _look_again(self, before: tuple[str, dict[str, str]] | None, now: tuple[str, dict[str, str]] | None) -> None:
        """A namespace has come, gone or other labels: pods that mean others by these may mean others now."""
        if before != now:
            for uid in self._selecting.copy():
                self._show(uid, self._kept.pods[uid])

    def _look_at_claims(self, moved: ClaimSeen) -> None:
        """A claim has come, changed or gone: pods that mount it may have their volumes now, or not any more.

        The first and the last claim say whether claims are watched, which concerns all who mount any.
        """
        self._claims = None
        all_of_them = len(self._kept.claims) < 2
        for uid in self._claiming.copy():
            seen = self._kept.pods[uid]
            if all_of_them or (seen.facts.namespace == moved.namespace and moved.name in seen.claims):
                self._show(uid, seen)

    def _note_group(self, view: View, uid: str, before: GroupFacts | None, now: GroupFacts | None) -> None:
        groups, journal = self._groups[view], self._journals[view]
        queues = set(groups.queues)
        groups.put(uid, before, now)
        for facts in (before, now):
            if facts is not None:
                journal.note("groups", name_of(facts))
        if view == VOLCANO and self._guesses_queues and groups.queues.keys() != queues:
            journal.note("queues")

    def _see_queues(self) -> None:
        if not self._kept.queues_listed:
            self._kept.queues_listed = True
            self._journals[VOLCANO].note("queues")

    @property
    def _guesses_queues(self) -> bool:
        return not self._kept.queues_listed and not self._kept.queues

    # --- pods in both views ---------------------------------------------------------------------------------------------

    def _show(self, uid: str, seen: PodSeen) -> None:
        """Keeps a pod, and puts it where it counts: with its own scheduler, and where it takes room with the other too."""
        self._kept.pods[uid] = seen
        own: View = VOLCANO if seen.scheduler in self._volcano else OTHERS
        other: View = OTHERS if own == VOLCANO else VOLCANO
        facts = seen.facts
        if relating.selects_namespaces(facts.affinity):
            self._selecting.add(uid)
            facts = msgspec.structs.replace(facts, affinity=relating.in_namespaces(facts.affinity, self.namespaces))
        else:
            self._selecting.discard(uid)
        if own == VOLCANO and seen.claims and seen.waits:
            self._claiming.add(uid)
            fault = claims.refusal(self.claims or None, facts.namespace, seen.claims)
            facts = msgspec.structs.replace(facts, volume_fault=fault) if fault else facts
        else:
            self._claiming.discard(uid)
        if own == OTHERS and facts.group != seen.native_group:
            facts = msgspec.structs.replace(facts, group=seen.native_group)
        elsewhere = (msgspec.structs.replace(facts, group="") if facts.group else facts) if facts.node else None
        self._show_in(own, uid, facts, seen if seen.waits else None)
        self._show_in(other, uid, elsewhere, None)

    def _hide(self, uid: str) -> None:
        self._selecting.discard(uid)
        self._claiming.discard(uid)
        for view in self._views:
            self._show_in(view, uid, None, None)

    def _show_in(self, view: View, uid: str, facts: PodFacts | None, waits: PodSeen | None) -> None:
        """A pod is so in a view from now on (None: not in it), and waits there if `waits`."""
        pods, waiting = self._views[view], self._waiting[view]
        if facts != pods.get(uid):
            self._journals[view].note("pods", uid)
        if facts is None:
            pods.pop(uid, None)
        else:
            pods[uid] = facts
        if waits is not None or uid in waiting:
            self._in_order.pop(view, None)
        if waits is None:
            waiting.pop(uid, None)
        else:
            waiting[uid] = waits

    # --- what a session is given ----------------------------------------------------------------------------------------

    def facts(self, view: View) -> ClusterFacts:
        """The cluster as one side of its schedulers sees it. Unchanged parts are the same objects each time."""
        kept = self._kept
        volcano = view == VOLCANO
        groups = tuple(self._volcano_groups()) if volcano else tuple(kept.native_groups.values())
        return ClusterFacts(
            nodes=tuple(kept.nodes.values()),
            queues=tuple(self._queues(groups)) if volcano else (),
            groups=groups,
            pods=tuple(self._views[view].values()),
            priority_classes=tuple(kept.classes.values()),
        )

    def nodes(self) -> Iterable[NodeFacts]:
        """All nodes; every side sees them alike."""
        return self._kept.nodes.values()

    def pod_in(self, view: View, uid: str) -> PodFacts | None:
        """A pod as one side sees it; None if it does not."""
        return self._views[view].get(uid)

    def groups_named(self, view: View, name: str) -> list[GroupFacts]:
        """The groups of this namespaced name: one, none, or for a moment two."""
        kept = self._kept.volcano_groups if view == VOLCANO else self._kept.native_groups
        found = [kept[uid] for uid in self._groups[view].named(name)]
        return [self._with_notes(each) for each in found] if view == VOLCANO else found

    def given_twice(self, view: View) -> bool:
        """Whether two groups have one name at the moment."""
        return self._groups[view].twice > 0

    def waiting(self, view: View) -> Sequence[PodSeen]:
        """The pods that wait for these schedulers, in the order of their names."""
        found = self._in_order.get(view)
        if found is None:
            found = self._in_order[view] = tuple(sorted(self._waiting[view].values(), key=_name_of))
        return found

    def waits(self, view: View) -> bool:
        """Whether there is anything to decide: a pod without a place, or for Volcano a group that was not let in."""
        return bool(self._waiting[view]) or (view == VOLCANO and any(True for _ in self.outside()))

    def outside(self) -> Iterator[GroupFacts]:
        """Volcano's groups that were not let into their queues."""
        return (each for each in self._kept.volcano_groups.values() if each.phase in ("", "Pending"))

    def pod(self, uid: str) -> PodSeen | None:
        return self._kept.pods.get(uid)

    @property
    def claims(self) -> dict[tuple[str, str], ClaimSeen]:
        """Claims by namespace and name."""
        if self._claims is None:
            self._claims = {(each.namespace, each.name): each for each in self._kept.claims.values()}
        return self._claims

    @property
    def namespaces(self) -> dict[str, dict[str, str]]:
        """Labels of namespaces by name."""
        return dict(self._kept.namespaces.values())

    @property
    def faults(self) -> list[Misconfigured]:
        """Objects that could not be read."""
        return list(self._kept.faults.values())

    def counts(self) -> dict[str, int]:
        """How much there is of each kind."""
        return {place: len(getattr(self._kept, place)) for place in _PLACES.values()}

    def _volcano_groups(self) -> Iterator[GroupFacts]:
        """Groups with the annotations of the Volcano Job above them."""
        return map(self._with_notes, self._kept.volcano_groups.values())

    def _with_notes(self, group: GroupFacts) -> GroupFacts:
        notes = self._kept.notes.get(group.job.uid) if group.job is not None else None
        return msgspec.structs.replace(group, owner_annotations=notes) if notes else group

    def _queues(self, groups: tuple[GroupFacts, ...]) -> Iterator[QueueFacts]:
        """The queues. Where they are not to be seen at all, those that groups name count as open and without limit."""
        yield from self._kept.queues.values()
        if self._guesses_queues:
            yield from (QueueFacts(name=name) for name in sorted({group.queue for group in groups}))

    # --- snapshots ------------------------------------------------------------------------------------------------------

    def encode(self) -> bytes:
        """All that is known, for `again`."""
        return _encoder.encode(self._kept)

    def again(self, data: bytes) -> Mirror:
        """A mirror like this one with what was encoded in it. Raises Terminal when another version wrote it."""
        return Mirror(self.cluster, self._volcano, stored.read(_decoder.decode, data, SCHEMA, "mirror of the cluster"))


def _name_of(seen: PodSeen) -> tuple[str, str, str]:
    return seen.facts.namespace, seen.facts.name, seen.facts.uid


_PLACES: Final[dict[tuple[str, str], str]] = {
    kinds.NODE: "nodes",
    kinds.VOLCANO_QUEUE: "queues",
    kinds.VOLCANO_GROUP: "volcano_groups",
    kinds.NATIVE_GROUP: "native_groups",
    kinds.PRIORITY_CLASS: "classes",
    kinds.VOLUME_CLAIM: "claims",
    kinds.NAMESPACE: "namespaces",
    kinds.VOLCANO_JOB: "notes",
    kinds.POD: "pods",
}

_GROUP_VIEWS: Final[dict[tuple[str, str], View]] = {kinds.VOLCANO_GROUP: VOLCANO, kinds.NATIVE_GROUP: OTHERS}
_NOTED_AS: Final = {
    kinds.NODE: "nodes", kinds.VOLCANO_QUEUE: "queues", kinds.PRIORITY_CLASS: "queues", kinds.VOLUME_CLAIM: "beside"
}  # fmt: skip

_Reader = Callable[[Mirror, ObjectChange, Any], Noted]
_READERS: Final[dict[tuple[str, str], _Reader]] = {
    kinds.NODE: lambda mirror, change, shape: mirror._put(kinds.NODE, change.uid, reading.node(shape)),
    kinds.VOLCANO_QUEUE: Mirror._take_queue,
    kinds.VOLCANO_GROUP: lambda mirror, change, shape: mirror._take_group(
        kinds.VOLCANO_GROUP, change.uid, reading.volcano_group(shape, change.job)
    ),
    kinds.NATIVE_GROUP: lambda mirror, change, shape: mirror._take_group(
        kinds.NATIVE_GROUP, change.uid, reading.native_group(shape, change.job)
    ),
    kinds.PRIORITY_CLASS: lambda mirror, change, shape: mirror._put(
        kinds.PRIORITY_CLASS, change.uid, reading.priority_class(shape)
    ),
    kinds.VOLUME_CLAIM: lambda mirror, change, shape: mirror._put(kinds.VOLUME_CLAIM, change.uid, reading.claim(shape)),
    kinds.NAMESPACE: lambda mirror, change, shape: mirror._put(
        kinds.NAMESPACE, change.uid, (shape.metadata.name, shape.metadata.labels or {})
    ),
    kinds.VOLCANO_JOB: Mirror._take_job,
    kinds.POD: Mirror._take_pod,
}
