"""The objects of a made-up cluster, as an API server sends them: sizes, fields and texts are those of real ones.

Everything follows from a number, so that two runs see the same cluster. Times are milliseconds; objects carry whole
seconds, as the API does.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pipeline.records import times

Object = dict[str, Any]
BEGIN_MS = 1_800_000_000_000
"""When everything made up here begins."""
NODES = 300
NAMESPACES = 20
REFUSED = "0/300 nodes are available: 100 node(s) had untolerated taint(s), 200 Insufficient nvidia.com/gpu."


def stamp(at_ms: int) -> str:
    """The whole second, as objects name it."""
    return times.format_us(at_ms // 1000 * 1_000_000)


def node(number: int) -> Object:
    """A node with 8 GPUs, one of three pools."""
    room = {"cpu": "64", "memory": "512Gi", "nvidia.com/gpu": "8", "pods": "110"}
    labels = {"pool": f"gpu-{number % 3}", "kubernetes.io/hostname": f"gpu-{number}"}
    return {
        "metadata": {
            "name": f"gpu-{number}",
            "uid": f"n{number}",
            "resourceVersion": str(number + 1),
            "labels": labels,
        },
        "spec": {},
        "status": {"allocatable": room, "capacity": room, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def namespace_of(job: int) -> str:
    return f"team-{job % NAMESPACES}"


def is_gang(job: int) -> bool:
    """Every second job is a Volcano job with a group; the others are batch Jobs."""
    return job % 2 == 1


def job(number: int, created_ms: int, version: int, pods: int, status: Object) -> Object:
    """A job object with a promise of one minute."""
    meta = {
        "name": f"train-{number}", "namespace": namespace_of(number), "uid": _uid("9000", number),
        "resourceVersion": str(version), "generation": 1, "creationTimestamp": stamp(created_ms),
        "annotations": {"sla-waiting-time": "1m"},
    }  # fmt: skip
    template = {"spec": {"containers": [_container(number)]}}
    if is_gang(number):
        spec: Object = {
            "minAvailable": pods, "queue": "research", "schedulerName": "volcano",
            "tasks": [{"name": "worker", "replicas": pods, "template": template}],
        }  # fmt: skip
        return {
            "kind": "Job",
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "metadata": meta,
            "spec": spec,
            "status": status,
        }
    spec = {"parallelism": pods, "completions": pods, "template": template}
    return {"kind": "Job", "apiVersion": "batch/v1", "metadata": meta, "spec": spec, "status": status}


def group(job: int, created_ms: int, version: int, pods: int, phase: str) -> Object:
    """The Volcano group of a job."""
    meta = {
        "name": f"train-{job}", "namespace": namespace_of(job), "uid": _uid("7000", job), "resourceVersion": str(version),
        "creationTimestamp": stamp(created_ms), "ownerReferences": [_owner(job)],
    }  # fmt: skip
    spec = {"minMember": pods, "queue": "research"}
    return {
        "kind": "PodGroup", "apiVersion": "scheduling.volcano.sh/v1beta1",
        "metadata": meta, "spec": spec, "status": {"phase": phase},
    }  # fmt: skip


def pod(job: int, task: int, created_ms: int, version: int, **states: Any) -> Object:
    """A pod of about 2.8 KB: 12 variables, 4 volumes, managed fields, a condition.

    `states`: `node` it was given, `phase` it is in, `bound_ms` when that was, `deleted_ms`.
    """
    name, place = f"train-{job}-worker-{task}", states.get("node")
    meta: Object = {
        "name": name, "namespace": namespace_of(job), "uid": pod_uid(job, task),
        "resourceVersion": str(version), "creationTimestamp": stamp(created_ms),
        "labels": {"app": "train", "job-name": f"train-{job}", "apps.kubernetes.io/pod-index": str(task)},
        "annotations": {"example.com/note": "x" * 60},
        "ownerReferences": [_owner(job)], "managedFields": _managed_fields(),
    }  # fmt: skip
    if is_gang(job):
        meta["annotations"]["scheduling.k8s.io/group-name"] = f"train-{job}"
    if "deleted_ms" in states:
        meta |= {"deletionTimestamp": stamp(states["deleted_ms"]), "deletionGracePeriodSeconds": 0}
    spec = {
        "schedulerName": "volcano" if is_gang(job) else "default-scheduler", "priority": 0, "nodeSelector": {"pool": f"gpu-{job % 3}"},
        "volumes": [{"name": f"volume-{n}", "configMap": {"name": f"settings-{n}"}} for n in range(4)],
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [_container(job, task)], **({} if place is None else {"nodeName": place}),
    }  # fmt: skip
    status: Object = {"phase": states.get("phase", "Pending"), "qosClass": "Guaranteed"}
    if states.get("tried", True):
        status["conditions"] = [_scheduled(states["bound_ms"]) if place else _refused(created_ms + 1000)]
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": status}


def event(job: int, task: int, at_ms: int, version: int, reason: str, note: str) -> Object:
    """An event about a pod."""
    name = f"train-{job}-worker-{task}"
    about = {"kind": "Pod", "namespace": namespace_of(job), "name": name, "uid": pod_uid(job, task), "apiVersion": "v1"}
    return {
        "kind": "Event", "apiVersion": "events.k8s.io/v1",
        "metadata": {"name": f"{name}.{version:x}", "namespace": namespace_of(job), "uid": _uid("e000", version),
                     "resourceVersion": str(version), "creationTimestamp": stamp(at_ms)},
        "regarding": about, "reason": reason, "note": note, "type": "Normal", "action": reason,
        "eventTime": times.format_us(at_ms * 1000 + 1), "reportingController": "default-scheduler",
    }  # fmt: skip


def pod_uid(job: int, task: int) -> str:
    return _uid(f"8{task:03x}", job)


def _uid(mark: str, number: int) -> str:
    return f"{number:08x}-0000-4000-{mark}-{number * 2654435761 % (1 << 48):012x}"


def _owner(job: int) -> Object:
    version = "batch.volcano.sh/v1alpha1" if is_gang(job) else "batch/v1"
    return {"apiVersion": version, "kind": "Job", "name": f"train-{job}", "uid": _uid("9000", job), "controller": True}


def _container(job: int, task: int = 0) -> Object:
    amounts = {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"}
    env = [{"name": f"VARIABLE_{n}", "value": f"value-{job}-{task}-{n}"} for n in range(12)]
    resources = {"requests": amounts, "limits": amounts}
    return {"name": "main", "image": "registry.invalid/train:1", "env": env, "resources": resources}


@cache
def _managed_fields() -> list[Object]:
    fields: Object = {f"f:field{n}": {"f:a": {}, "f:b": {}} for n in range(21)}
    return [
        {"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "time": stamp(BEGIN_MS), "fieldsType": "FieldsV1", "fieldsV1": fields}
    ]  # fmt: skip


def _refused(at_ms: int) -> Object:
    return {
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "lastTransitionTime": stamp(at_ms), "message": REFUSED,
    }  # fmt: skip


def _scheduled(at_ms: int) -> Object:
    return {"type": "PodScheduled", "status": "True", "lastTransitionTime": stamp(at_ms)}
