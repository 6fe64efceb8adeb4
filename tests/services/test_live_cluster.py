"""A live cluster followed with least rights: why each job waits, how long it waited, and what an outage changes."""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from collector import app as collector_app
from collector import rights
from collector.settings import Settings
from pipeline.config.places import Places
from pipeline.log import LogReader, Position
from pipeline.records import codec, times
from pipeline.records.envelope import GapRecord, ObjectRecord, TickRecord
from tests.support import cluster
from tests.support.cluster import Cluster, poll
from tests.support.running import Pipeline

pytestmark = [pytest.mark.services, pytest.mark.timeout(600)]

NAMESPACE = "live"
GATES = "GenericWorkload=true"


def node(name: str, *, cpu: str = "4", gpu: str = "0", managed: bool = True, taints: list[Any] | None = None) -> Any:
    labels = {
        "kubernetes.io/hostname": name,
        "pool": name.rstrip("0123456789-"),
        **({"type": "kwok"} if managed else {}),
    }
    room = {"cpu": cpu, "memory": "64Gi", "pods": "110", "nvidia.com/gpu": gpu}
    made: dict[str, Any] = {
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": room, "capacity": room},
    }
    if not managed:  # nobody renews its lease
        made["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]
        taints = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    if taints:
        made["spec"] = {"taints": taints}
    return made


def pod_spec(pool: str, *, cpu: str = "1", gpu: str | None = None, **more: Any) -> Any:
    asks = {"cpu": cpu, "memory": "1Gi", **({"nvidia.com/gpu": gpu} if gpu else {})}
    return {
        "restartPolicy": "Never",
        "nodeSelector": {"pool": pool},
        "containers": [
            {"name": "main", "image": "registry.invalid/train:1", "resources": {"requests": asks, "limits": asks}}
        ],
        **more,
    }


def job(name: str, spec: Any, *, promise: str | None = None) -> Any:
    annotations = {"volcano.sh/sla-waiting-time": promise} if promise else {}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": {"template": {"spec": spec}}}


class Live:
    """The cluster and the pipeline that follows it."""

    def __init__(self, kube: Cluster, pipeline: Pipeline) -> None:
        self.kube = kube
        self.pipeline = pipeline

    def job(self, name: str, spec: Any, **more: Any) -> None:
        self.kube.request("POST", f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs", job(name, spec, **more))

    def pod(self, name: str, spec: Any) -> None:
        self.kube.request("POST", f"/api/v1/namespaces/{NAMESPACE}/pods", {"metadata": {"name": name}, "spec": spec})

    def node(self, name: str, **more: Any) -> None:
        self.kube.request("POST", "/api/v1/nodes", node(name, **more))

    def waits_for(self, name: str, reason: str, resource: str | None = None) -> None:
        """Until `why` names the reason that holds the job now."""

        def says() -> bool:
            answer = self.pipeline.why(name, NAMESPACE)
            now = (answer or {}).get("now") or {}
            return (now.get("reason"), now.get("resource")) == (reason, resource)

        try:
            poll(f"why {name} says {reason} {resource}", says, 45)
        except BaseException:
            print(self.pipeline.why(name, NAMESPACE))
            raise

    def placed_at_ms(self, name: str) -> int | None:
        """When the last of a job's pods was bound, as the pods themselves say."""
        pods = self.kube.request("GET", f"/api/v1/namespaces/{NAMESPACE}/pods")["items"]
        own = [p for p in pods if p["metadata"]["name"] == name or p["metadata"]["name"].startswith(f"{name}-")]
        bound = [
            times.parse_ms(condition["lastTransitionTime"])
            for each in own
            for condition in each.get("status", {}).get("conditions", [])
            if condition["type"] == "PodScheduled" and condition["status"] == "True"
        ]
        return max(at for at in bound if at) if own and len(bound) == len(own) else None

    def row(self, name: str) -> dict[str, Any] | None:
        found = self.pipeline.sql(
            "select * from v_job_wait where namespace = %s and job_name = %s order by episode", NAMESPACE, name
        )
        return found[0] if found else None

    def records(self) -> list[Any]:
        """Everything in the log but ticks."""
        reader = LogReader(Places(self.pipeline.data).records, "test", start=Position(0, 0))
        found = []
        while True:
            batch = reader.read()
            if not batch.entries:
                return found
            found += [r for r in (codec.decode(entry.line) for entry in batch.entries) if not isinstance(r, TickRecord)]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("live")
    flags = ("--runtime-config=scheduling.k8s.io/v1beta1=true",)
    with Cluster(cluster.programs(), folder / "kube", tier=3, api_flags=flags, gates=GATES) as kube:
        kube.request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        role = next(
            yaml.safe_load_all(rights.role(collector_app.kinds(Settings()), service_account="x", namespace="x"))
        )
        kube.allow("collector", role["rules"])
        poll(
            "the namespace has its account",
            lambda: _exists(kube, f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"),
        )
        with _pipeline(folder / "data", kube) as pipeline:
            yield Live(kube, pipeline)


def _pipeline(data: Path, kube: Cluster) -> Pipeline:
    """`up` on the cluster, with the role that `rbac` prints and nothing more."""
    return Pipeline(data, "--kubeconfig", str(kube.kubeconfig("collector")), "--set", "cluster.name=live")


def _exists(kube: Cluster, path: str) -> bool:
    try:
        kube.request("GET", path)
    except OSError:
        return False
    return True


def test_each_refusal_is_named_and_the_wait_is_that_of_the_pods(live: Live) -> None:
    """CPU, GPU, taint, affinity, lost node, gate, missing claim, a native gang; then each is freed."""
    live.node("cpu-0", cpu="2")
    live.node("gpu-0", gpu="2")
    live.node("tainted-0", taints=[{"key": "dedicated", "value": "x", "effect": "NoSchedule"}])
    live.node("gang-0", cpu="16")
    live.node("gated-0")
    live.node("claim-0")
    live.node("lost-0", managed=False)
    live.job("needs-cpu", pod_spec("cpu", cpu="8"))
    live.job("needs-gpu", pod_spec("gpu", gpu="4"))
    live.job("needs-toleration", pod_spec("tainted"))
    live.job("needs-label", pod_spec("nowhere"))
    live.job("needs-node", pod_spec("lost"))
    live.pod("gated", pod_spec("gated", schedulingGates=[{"name": "example.com/hold"}]))
    claim = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    live.job("needs-claim", pod_spec("claim", **claim))
    group = {"metadata": {"name": "gang"}, "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}
    live.kube.request("POST", f"/apis/scheduling.k8s.io/v1beta1/namespaces/{NAMESPACE}/podgroups", group)
    for n in range(2):
        live.pod(f"gang-{n}", pod_spec("gang", schedulingGroup={"podGroupName": "gang"}))

    live.waits_for("needs-cpu", "insufficient_resource", "cpu")
    live.waits_for("needs-gpu", "insufficient_resource", "nvidia.com/gpu")
    live.waits_for("needs-toleration", "untolerated_taint")
    live.waits_for("needs-label", "node_affinity")
    live.waits_for("needs-node", "node_not_ready")
    live.waits_for("gated", "not_admitted")
    live.waits_for("needs-claim", "volume")
    live.waits_for("gang", "gang_incomplete")

    live.node("cpu-1", cpu="16")
    live.node("gpu-1", gpu="8")
    live.node("nowhere-0")
    live.kube.patch("/api/v1/nodes/tainted-0", {"spec": {"taints": None}})
    live.kube.patch("/api/v1/nodes/lost-0", {"metadata": {"labels": {"type": "kwok"}}})
    live.kube.patch(f"/api/v1/namespaces/{NAMESPACE}/pods/gated", {"spec": {"schedulingGates": None}})
    _provide_claim(live.kube)
    live.pod("gang-2", pod_spec("gang", schedulingGroup={"podGroupName": "gang"}))

    names = ("needs-cpu", "needs-gpu", "needs-toleration", "needs-label", "needs-node", "gated", "needs-claim", "gang")
    poll("every job is placed", lambda: all(live.placed_at_ms(name) for name in names), 120)
    poll("every wait has ended", lambda: all((live.row(name) or {}).get("phase") == "scheduled" for name in names), 30)
    for name in names:
        row, placed_ms = live.row(name), live.placed_at_ms(name)
        assert row is not None
        assert placed_ms is not None
        ended_ms = row["scheduled_at"].timestamp() * 1000 - time.timezone * 1000
        assert -1 <= ended_ms - placed_ms <= 1000, name
        assert timedelta(milliseconds=row["wait_ms"]) == row["scheduled_at"] - row["started_at"], name


def test_a_broken_promise_shows_within_two_seconds_as_one_violation(live: Live) -> None:
    live.job("late", pod_spec("nobody-has-this"), promise="6s")
    poll("the job is known", lambda: live.row("late"), 20)
    deadline_s = live.row("late")["deadline_at"].timestamp() - time.timezone
    poll("the deadline has come", lambda: time.time() >= deadline_s, 20)

    def violations() -> list[dict[str, Any]]:
        return live.pipeline.sql("select * from v_sla_violation where namespace = %s and job_name = 'late'", NAMESPACE)

    poll("the violation shows", violations, 10)
    late_s = time.time() - deadline_s
    print(f"violation visible {late_s:.2f} s after the deadline")
    assert late_s <= 2.0
    assert len(violations()) == 1
    assert live.pipeline.why("late", NAMESPACE)["sla"] == "violated"


def test_an_api_server_that_is_killed_costs_one_gap_a_kind_and_nothing_else(live: Live) -> None:
    live.job("before", pod_spec("outage-pool"))
    live.waits_for("before", "node_affinity")
    gaps_before = Counter(record.data.kind for record in live.records() if isinstance(record, GapRecord))
    live.kube.kill_api()
    live.kube.start_api()
    live.node("outage-pool-0")
    poll("the job is placed", lambda: live.placed_at_ms("before"), 90)
    poll("and so the row says", lambda: live.row("before")["phase"] == "scheduled", 60)
    live.job("after", pod_spec("still-nobody"))
    live.waits_for("after", "node_affinity")

    gaps = Counter(record.data.kind for record in live.records() if isinstance(record, GapRecord))
    new = {kind: gaps[kind] - gaps_before[kind] for kind in gaps if gaps[kind] != gaps_before[kind]}
    assert set(new.values()) <= {1}, new  # none where the server still knew the version and the watch was resumed
    ids = [record.id for record in live.records()]
    assert len(ids) == len(set(ids))
    pods = live.kube.request("GET", f"/api/v1/namespaces/{NAMESPACE}/pods")["items"]
    changes = [record.data for record in live.records() if isinstance(record, ObjectRecord)]
    seen = {change.uid for change in changes if change.kind == "Pod"}
    assert {pod["metadata"]["uid"] for pod in pods} <= seen


def test_ctrl_c_ends_everything_that_was_started(live: Live, tmp_path: Path) -> None:
    with _pipeline(tmp_path / "data", live.kube) as pipeline:
        port = pipeline.sql_port
        assert pipeline.stop() == 130
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port), timeout=2).close()


def _provide_claim(kube: Cluster) -> None:
    volume = {
        "metadata": {"name": "data"},
        "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
            "hostPath": {"path": "/nowhere"}, "claimRef": {"namespace": NAMESPACE, "name": "data"},
        },
    }  # fmt: skip
    wanted = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeName": "data",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }  # fmt: skip
    kube.request("POST", "/api/v1/persistentvolumes", volume)
    kube.request("POST", f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims", wanted)
