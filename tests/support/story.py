"""A job's life told record by record, as a collector would write it, and what the operator makes of it.

Time stands still unless the story moves it with `after`; `BEGIN_MS` is a whole second. Objects are kept by name and
changed by saying only what is new about them.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec

from aggregation import topology
from pipeline.records import jobs, times
from pipeline.records.decisions import Decision
from pipeline.records.envelope import DecisionRecord, EventRecord, ObjectRecord, Record
from pipeline.records.events import EventSeen, Regarding
from pipeline.records.jobs import JobRef
from pipeline.records.objects import Facts, NodesWanted, ObjectChange, QueueFacts
from tests.support import replayed
from tests.support.replayed import Judged, Logged

BEGIN_MS = 1_800_000_000_000
CLUSTER = "test"
BATCH, VOLCANO = "batch", "batch.volcano.sh"
VOLCANO_GROUP, NATIVE_GROUP, KUEUE = "scheduling.volcano.sh", "scheduling.k8s.io", "kueue.x-k8s.io"


class Told(NamedTuple):
    """The rows of a story at its end, in order."""

    waits: list[dict[str, Any]]
    segments: list[dict[str, Any]]
    violations: list[dict[str, Any]]
    judged: Judged

    @property
    def wait(self) -> dict[str, Any]:
        """The only wait."""
        (wait,) = self.waits
        return wait

    def reasons(self, episode: int = 1) -> list[tuple[str, str | None, str | None]]:
        """Reason, detail and resource of each segment."""
        rows = [row for row in self.segments if row["episode"] == episode]
        return [(row["reason"], row["detail"], row["resource"]) for row in rows]

    def codes(self, episode: int = 1) -> list[str]:
        """Reasons alone."""
        return [reason for reason, _, _ in self.reasons(episode)]


class Story:
    """One job; `log` has its records with their stamps."""

    def __init__(self, kind: str = "Job", group: str = BATCH, name: str = "train", uid: str = "") -> None:
        self.job = JobRef(kind, "team-a", name, uid or f"uid-{name}", group)
        self.now = BEGIN_MS
        self.log: list[Logged] = []
        self.objects: dict[str, dict[str, Any]] = {}
        self.facts: dict[str, Facts] = {}
        self._kinds: dict[str, tuple[str, str]] = {}
        self._versions = 0

    def __repr__(self) -> str:
        return "\n".join([f"Story of {self.job}", *map(_line, self.log)])

    def after(self, ms: int) -> Story:
        """Time passes."""
        self.now += ms
        return self

    def tick(self, ms: int = 0) -> Story:
        """Time passes, and the log says so."""
        self.now += ms
        self.log.append(Logged(self.now, None))
        return self

    # objects

    def batch_job(self, *, parallelism: int = 1, completions: int | None = None, **more: Any) -> Story:
        """The job's own object."""
        spec = {"parallelism": parallelism, "completions": parallelism if completions is None else completions}
        return self.put("Job", BATCH, self.job.name, spec=spec, **more)

    def volcano_job(self, *, minimum: int = 1, **more: Any) -> Story:
        return self.put("Job", VOLCANO, self.job.name, spec={"minAvailable": minimum}, **more)

    def volcano_group(self, *, minimum: int = 1, phase: str | None = None, name: str = "", **more: Any) -> Story:
        status = {} if phase is None else {"phase": phase}
        return self.put(
            "PodGroup", VOLCANO_GROUP, name or self._group_name(), spec={"minMember": minimum}, status=status, **more
        )

    def native_group(self, *, minimum: int | None = None, name: str = "", **more: Any) -> Story:
        policy = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
        return self.put("PodGroup", NATIVE_GROUP, name or self._group_name(), spec={"schedulingPolicy": policy}, **more)

    def workload(self, *conditions: tuple[str, str, str, str], name: str = "wl", **more: Any) -> Story:
        """A Kueue Workload; conditions are (type, status, reason, message)."""
        said = [self._condition(*condition) for condition in conditions]
        return self.put("Workload", KUEUE, name, status={"conditions": said}, **more)

    def pod(
        self, name: str, *, text: str | None = None, node: str | None = None, phase: str | None = None,
        gates: tuple[str, ...] | None = None, nominated: str | None = None, wanted: NodesWanted | None = None,
        **more: Any,
    ) -> Story:  # fmt: skip
        """A pod as it is now; what is not said stays."""
        known = self.objects.get(name)
        spec: dict[str, Any] = more.pop("spec", {})
        status: dict[str, Any] = {"phase": phase or (known["status"].get("phase", "Pending") if known else "Pending")}
        if gates is not None:
            spec["schedulingGates"] = [{"name": gate} for gate in gates]
        if node is not None:
            spec["nodeName"] = node
            status["conditions"] = [self._condition("PodScheduled", "True", "", "")]
        elif text is not None:
            status["conditions"] = [self._condition("PodScheduled", "False", "Unschedulable", text)]
        if nominated is not None:
            status["nominatedNodeName"] = nominated
        if wanted is not None:
            more["facts"] = Facts(nodes_wanted=wanted)
        return self.put("Pod", "", name, spec=spec, status=status, **more)

    def put(
        self, kind: str, group: str, name: str, *, spec: dict[str, Any] | None = None,
        status: dict[str, Any] | None = None, facts: Facts | None = None, **more: Any,
    ) -> Story:  # fmt: skip
        """Writes an object as it is now. `more`: labels, annotations, deleting (grace s), and fields of the record."""
        new = name not in self.objects
        self._kinds[name] = (kind, group)
        known = self.objects.setdefault(name, self._new(kind, name))
        known["spec"].update(spec or {})
        if status is not None:
            conditions = {one["type"]: one for one in known["status"].get("conditions", ())}
            conditions.update({one["type"]: one for one in status.get("conditions", ())})
            known["status"].update(status)
            known["status"]["conditions"] = list(conditions.values())
        for key in ("labels", "annotations"):
            known["metadata"].setdefault(key, {}).update(more.pop(key, {}))
        deleting = more.pop("deleting", None)
        if deleting is not None:
            known["metadata"]["deletionTimestamp"] = self._second(self.now + 1000 * deleting)
            known["metadata"]["deletionGracePeriodSeconds"] = deleting
        if facts is not None:
            self.facts[name] = facts
        return self._write(name, more.pop("change", "added" if new else "modified"), **more)

    def gone(self, name: str, **more: Any) -> Story:
        """The object was deleted."""
        self._write(name, "deleted", **more)
        del self.objects[name]
        self.facts.pop(name, None)
        return self

    def vanished(self, name: str, unseen_since: int) -> Story:
        """A list does not have it any more."""
        kind, group = self._kinds[name]
        meta = self.objects.pop(name)["metadata"]
        change = self._change("deleted", kind, group, meta)
        change.synthetic, change.unseen_since = True, unseen_since
        return self._record(change)

    def fact(self, name: str, facts: Facts) -> Story:
        """Only the facts about an object have changed."""
        self.facts[name] = facts
        change = self._change("facts", *self._kinds[name], self.objects[name]["metadata"])
        change.facts = facts
        return self._record(change)

    def queue(self, **facts: Any) -> Facts:
        """Facts about the queue `main`."""
        return Facts(queue=QueueFacts("main", **{"exists": True, "state": "Open", **facts}), tenant="vision")

    def moved(self, name: str, to: JobRef) -> Story:
        """The object belongs to another job from now on."""
        change = self._change("moved", *self._kinds[name], self.objects[name]["metadata"])
        change.moved_to = to
        return self._record(change)

    # what is said

    def event(self, name: str, reason: str, message: str, *, at_ms: int | None = None, kind: str = "") -> Story:
        """A sight of an event about an object; times of the new recorder, in microseconds."""
        self._versions += 1
        at_us = (self.now if at_ms is None else at_ms) * 1000 + 1
        about = Regarding(kind or self._kinds[name][0], name, self.job.namespace, self._uid(name))
        seen = EventSeen(
            uid=f"event-{self._versions}", version=str(self._versions), name="e", at_us=at_us, regarding=about,
            job=self.job, reason=reason, message=message,
        )  # fmt: skip
        record = EventRecord(
            id=f"{CLUSTER}/event-{self._versions}/{self._versions}", source="test", cluster=CLUSTER,
            partitionkey=self._bucket(), observedms=self.now, data=seen,
        )  # fmt: skip
        self.log.append(Logged(self.now, record))
        return self

    def decision(self, kind: str = "attribution", *, task: str | None = None, **more: Any) -> Story:
        """A scheduler's decision about the job or a task."""
        self._versions += 1
        data = Decision(
            source="shadow", policy="volcano", session_ms=self.now, kind=kind, job=self.job, task=task, **more
        )
        record = DecisionRecord(
            id=f"{CLUSTER}/shadow/{self._versions}", source="test", cluster=CLUSTER, partitionkey=self._bucket(),
            observedms=self.now, data=data,
        )  # fmt: skip
        self.log.append(Logged(self.now, record))
        return self

    # the end

    def tell(self, **options: Any) -> Told:
        """Judges the story up to now; a last tick lets everything out that is due."""
        log = [*self.log, Logged(self.now, None), Logged(self.now + 1000, None)]
        return told(replayed.judge(log, CLUSTER, topology.Options(**options)))

    def _group_name(self) -> str:
        return self.job.name if self.job.kind == "PodGroup" else "gang"

    def _uid(self, name: str) -> str:
        known = self.objects.get(name)
        return known["metadata"]["uid"] if known else f"uid-{name}"

    def _new(self, kind: str, name: str) -> dict[str, Any]:
        self._versions += 1
        own = kind == self.job.kind and name == self.job.name
        uid = self.job.uid if own else f"uid-{name}-{self._versions}"
        meta = {"name": name, "namespace": self.job.namespace, "uid": uid, "creationTimestamp": self._second(self.now)}
        return {"metadata": meta, "spec": {}, "status": {}}

    def _condition(self, type: str, status: str, reason: str, message: str) -> dict[str, Any]:
        return {
            "type": type, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": self._second(self.now),
        }  # fmt: skip

    def _second(self, at_ms: int) -> str:
        return times.format_us(at_ms // 1000 * 1_000_000)

    def _write(self, name: str, change: str, **more: Any) -> Story:
        known = self.objects[name]
        made = self._change(change, *self._kinds[name], known["metadata"])
        made.object, made.facts = msgspec.Raw(json.dumps(known).encode()), self.facts.get(name)
        for field, value in more.items():
            setattr(made, field, value)
        return self._record(made)

    def _change(self, change: Any, kind: str, group: str, meta: dict[str, Any]) -> ObjectChange:
        self._versions += 1
        return ObjectChange(
            change=change, kind=kind, group=group, name=meta["name"], namespace=self.job.namespace, uid=meta["uid"],
            version=str(self._versions), job=self.job,
        )  # fmt: skip

    def _record(self, change: ObjectChange) -> Story:
        record = ObjectRecord(
            id=f"{CLUSTER}/{change.uid}/{change.version}/{change.change}/{self.job.uid}/", source="test", cluster=CLUSTER,
            partitionkey=self._bucket(), observedms=self.now, data=change,
        )  # fmt: skip
        self.log.append(Logged(self.now, record))
        return self

    def _bucket(self) -> str:
        return str(jobs.bucket_of(CLUSTER, self.job.namespace, self.job.name))

    @property
    def records(self) -> list[Record]:
        """The records without ticks."""
        return [line.record for line in self.log if line.record is not None]


def told(judged: Judged) -> Told:
    """Rows in order, and no failures."""
    for failure in judged.failures:
        raise failure.error
    tables = {name: list(rows.values()) for name, rows in judged.tables.items()}
    return Told(
        sorted(tables.get("job_wait", []), key=lambda row: (row["job_uid"], row["episode"])),
        sorted(tables.get("wait_segment", []), key=lambda row: (row["job_uid"], row["episode"], row["n"])),
        sorted(tables.get("sla_violation", []), key=lambda row: (row["job_uid"], row["episode"])),
        judged,
    )


def _line(line: Logged) -> str:
    """A record of a failing story, short enough to be read."""
    at, data = line.stamp - BEGIN_MS, getattr(line.record, "data", None)
    if data is None:
        return f"{at:8} tick"
    if isinstance(data, ObjectChange):
        seen = json.loads(bytes(data.object)) if isinstance(data.object, msgspec.Raw) else {}
        more = {
            "spec": seen.get("spec"),
            "status": seen.get("status"),
            "del": seen.get("metadata", {}).get("deletionTimestamp"),
        }
        return f"{at:8} {data.change} {data.kind} {data.name} {more} {data.facts or ''} {data.unseen_since or ''}"
    return f"{at:8} {data}"
