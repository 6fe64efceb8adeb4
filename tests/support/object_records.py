"""Records of a cluster's objects, as a collector writes them: short words for what a scheduler mirrors."""

from __future__ import annotations

import msgspec

from pipeline.records.envelope import ObjectRecord
from pipeline.records.jobs import JobRef
from pipeline.records.objects import ObjectChange

JOB = JobRef("Job", "ml", "train", "job-1", "batch.volcano.sh")
GROUPS = {"Node": "", "Pod": "", "PersistentVolumeClaim": "", "Namespace": "", "PriorityClass": "scheduling.k8s.io"}
VOLCANO_API = "scheduling.volcano.sh"


ROOM = {"cpu": "8", "memory": "8Gi", "pods": "10"}
"""What a node has."""


def record(kind, uid, body=None, *, change="added", group=None, cluster="c", job=None, **more):
    """An object record; `body` is the object without its metadata's uid."""
    meta = (body or {}).get("metadata", {})
    return ObjectRecord(
        id=f"{uid}/{change}/{meta}", source="t", cluster=cluster, partitionkey="0", observedms=1000,
        data=ObjectChange(
            change=change, kind=kind, group=GROUPS.get(kind, VOLCANO_API) if group is None else group,
            name=meta.get("name", uid), namespace=meta.get("namespace", ""), uid=uid, version="1", job=job,
            object=msgspec.UNSET if body is None else msgspec.Raw(msgspec.json.encode(body)), **more,
        ),
    )  # fmt: skip


def node(uid="n-1", name="n1", *, ready="True", **spec):
    body = {
        "metadata": {"name": name, "labels": {"zone": "a"}},
        "spec": spec,
        "status": {"allocatable": ROOM, "conditions": [{"type": "Ready", "status": ready}]},
    }
    return record("Node", uid, body)


def pod(uid="p-1", *, node="", scheduler="volcano", change="added", notes=None, phase="Pending", meta=None, **spec):
    return record("Pod", uid, {
        "metadata": {"name": uid, "namespace": "ml", "annotations": notes or {"scheduling.k8s.io/group-name": "g"}, **(meta or {})},
        "spec": {"schedulerName": scheduler, "nodeName": node or None,
                 "containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "gpu": "1"}}}], **spec},
        "status": {"phase": phase},
    }, change=change, job=JOB)  # fmt: skip


def group(uid="g-1", *, phase="Pending", change="added", queue=None, job=JOB, **more):
    body = {"metadata": {"name": "g", "namespace": "ml", "creationTimestamp": "2026-01-01T00:00:00Z"}}
    spec = {"minMember": 2, **({"queue": queue} if queue else {})}
    return record("PodGroup", uid, {**body, "spec": spec, "status": {"phase": phase}}, change=change, job=job, **more)


def queue(name="default", **spec):
    body = {"metadata": {"name": name}, "spec": {"weight": 1, **spec}, "status": {"state": "Open"}}
    return record("Queue", f"queue-{name}", body)


def deleted(kind, uid, *, group=None):
    return record(kind, uid, change="deleted", group=group)
