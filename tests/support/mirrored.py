"""A mirror driven by hand: objects in the API's own form, and what it wrote about them.

Time stands still unless a test moves it: `now` is milliseconds since 1970 UTC and begins at a whole second.
"""

from __future__ import annotations

import json
from typing import Any

from collector.kinds.catalog import KINDS
from collector.kinds.known import KnownChanges
from collector.kinds.mirror import Mirror, MirrorOptions
from pipeline.records import times
from pipeline.records.envelope import EventRecord, ObjectRecord, Record
from pipeline.records.objects import ObjectChange

BEGIN_MS = 1_800_000_000_000
CREATED = "2027-01-15T08:00:00Z"
"""Creation of every object that does not say otherwise: the second in which time begins."""

NODES = "nodes"
PODS = "pods"
JOBS = "jobs.batch"
GROUPS = "podgroups.scheduling.k8s.io"
VOLCANO_GROUPS = "podgroups.scheduling.volcano.sh"
VOLCANO_QUEUES = "queues.scheduling.volcano.sh"
VOLCANO_JOBS = "jobs.batch.volcano.sh"
WORKLOADS = "workloads.kueue.x-k8s.io"
LOCAL_QUEUES = "localqueues.kueue.x-k8s.io"
CLUSTER_QUEUES = "clusterqueues.kueue.x-k8s.io"
REPLICA_SETS = "replicasets.apps"
NAMESPACES = "namespaces"
EVENTS = "events.events.k8s.io"


class Cluster:
    """A mirror and its clock. `records` has everything it wrote; `wrote` takes what came since it was last asked."""

    def __init__(self, options: MirrorOptions | None = None, *, listed: bool = True) -> None:
        self.options = options or MirrorOptions()
        self.mirror = Mirror("test", "collector", self.options)
        self.now = BEGIN_MS
        self.records: list[Record] = []
        self._asked = 0
        self._versions = 100
        if listed:
            for kind in self.options.kinds:
                self.list(kind.name)
            self.wrote()

    def list(self, key: str, *objects: dict[str, Any], unseen_since: int | None = None) -> None:
        """A whole list of one page."""
        self.mirror.list_begin(key, self.now)
        for each in objects:
            self.take(self.mirror.list_item(key, self._bytes(each), self.now))
        self.take(self.mirror.list_end(key, "listed", self.now, unseen_since))

    def add(self, key: str, each: dict[str, Any]) -> dict[str, Any]:
        return self._frame(key, "ADDED", each)

    def modify(self, key: str, each: dict[str, Any]) -> dict[str, Any]:
        return self._frame(key, "MODIFIED", each)

    def delete(self, key: str, each: dict[str, Any]) -> dict[str, Any]:
        return self._frame(key, "DELETED", each)

    def copy(self, key: str, each: dict[str, Any], type: str = "MODIFIED") -> None:
        """A frame whose version is that of the object as it is."""
        self.take(self.mirror.frame(key, type, self._bytes(each), self.now))

    def absent(self, *keys: str) -> None:
        for key in keys:
            self.take(self.mirror.kind_absent(key, self.now))

    def pass_ms(self, millis: int) -> None:
        """Time passes, and a tick at its end."""
        self.now += millis
        self.take(self.mirror.tick(self.now))

    def take(self, records: list[Record]) -> None:
        self.records += records

    def wrote(self) -> list[Record]:
        """What came since the last call."""
        new = self.records[self._asked :]
        self._asked = len(self.records)
        return new

    def changes(self) -> list[ObjectChange]:
        """Bodies of the object records that came since the last call of this or `wrote`."""
        return [record.data for record in self.wrote() if isinstance(record, ObjectRecord)]

    def said(self) -> list[str]:
        """The same as text: change, name, and the job's kind and name."""
        return [f"{each.change} {each.name} of {short(each)}" for each in self.changes()]

    def events(self) -> list[EventRecord]:
        return [record for record in self.wrote() if isinstance(record, EventRecord)]

    def restarted(self) -> Cluster:
        """Another collector that knows what this one has stored."""
        other = Cluster(self.options, listed=False)
        other.now = self.now
        other.mirror.restore(self.known().upserts)
        return other

    def known(self) -> KnownChanges:
        return self.mirror.take_changes()

    def _frame(self, key: str, type: str, each: dict[str, Any]) -> dict[str, Any]:
        self._versions += 1
        each = {**each, "metadata": {**each["metadata"], "resourceVersion": str(self._versions)}}
        self.take(self.mirror.frame(key, type, self._bytes(each), self.now))
        return each

    def _bytes(self, each: dict[str, Any]) -> bytes:
        meta = {"resourceVersion": "1", "creationTimestamp": CREATED}
        return json.dumps({**each, "metadata": {**meta, **each["metadata"]}}).encode()


def only(*keys: str) -> Cluster:
    """A cluster in which these kinds are served and nothing else; they were listed and there was nothing."""
    cluster = Cluster(listed=False)
    cluster.absent(*(kind.name for kind in KINDS if kind.name not in keys))
    for kind in KINDS:
        if kind.name in keys:
            cluster.list(kind.name)
    cluster.wrote()
    return cluster


def short(change: ObjectChange) -> str:
    return f"{change.job.kind} {change.job.name}" if change.job is not None else "nothing"


def thing(name: str, namespace: str = "team", *, uid: str | None = None, **meta: Any) -> dict[str, Any]:
    """Any object; its uid is its name unless it is told."""
    return {"metadata": {"name": name, "namespace": namespace, "uid": uid or f"uid-{name}", **meta}}


def owned(each: dict[str, Any], kind: str, name: str, api_version: str = "batch/v1", uid: str = "") -> dict[str, Any]:
    """The same with a controller."""
    owner = {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid or f"uid-{name}", "controller": True}
    return {**each, "metadata": {**each["metadata"], "ownerReferences": [owner]}}


def pod(
    name: str, *, node: str = "", phase: str = "Pending", spec: dict[str, Any] | None = None, **meta: Any
) -> dict[str, Any]:
    made = thing(name, **meta)
    made["spec"] = {"containers": [{"name": "main"}], **(spec or {}), **({"nodeName": node} if node else {})}
    made["status"] = {"phase": phase}
    return made


def group_pod(name: str, group: str, **more: Any) -> dict[str, Any]:
    """A pod that names a native group."""
    return pod(name, spec={"schedulingGroup": {"podGroupName": group}}, **more)


def volcano_pod(name: str, group: str, **more: Any) -> dict[str, Any]:
    return pod(name, annotations={"scheduling.k8s.io/group-name": group}, **more)


def node(
    name: str, *, ready: str = "True", cordoned: bool = False, labels: dict[str, str] | None = None, taints: Any = ()
) -> dict[str, Any]:
    made = thing(name, "", labels=labels or {})
    made["spec"] = {"unschedulable": cordoned, "taints": list(taints)}
    made["status"] = {"conditions": [{"type": "Ready", "status": ready}]}
    return made


def volcano_queue(name: str, *, state: str = "Open", **more: Any) -> dict[str, Any]:
    annotations = more.pop("annotations", {})
    return {**thing(name, "", annotations=annotations), "spec": more, "status": {"state": state}}


def event(
    name: str, about: dict[str, Any], kind: str = "Pod", *, api_version: str = "v1", **more: Any
) -> dict[str, Any]:
    """An event about an object, of `events.k8s.io`."""
    meta = about["metadata"]
    regarding = {
        "apiVersion": api_version,
        "kind": kind,
        "name": meta["name"],
        "namespace": meta["namespace"],
        "uid": meta["uid"],
    }
    made = thing(name, meta["namespace"] or "default")
    made.update(
        {"regarding": regarding, "reason": "Said", "note": "something", "eventTime": times.format_us(BEGIN_MS * 1000)}
    )
    return {**made, **more}
