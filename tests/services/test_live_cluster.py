"""A live cluster followed with least rights: why each job waits, how long it waited, and what an outage changes."""

from __future__ import annotations

import itertools
import json
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from collector import app as collector_app
from collector import rights
from collector.settings import Settings
from collector.spool import survey
from pipeline import clock
from pipeline.config.places import Places
from pipeline.log import LogReader, Position
from pipeline.records import codec, times
from pipeline.records.envelope import EventRecord, GapRecord, ObjectRecord, TickRecord
from tests.support import cluster
from tests.support.cluster import Cluster, poll
from tests.support.collecting import Collecting
from tests.support.pace import Claim
from tests.support.proxy import Proxy
from tests.support.running import Pipeline

pytestmark = [pytest.mark.services, pytest.mark.timeout(1800)]

NAMESPACE = "live"
GATES = "GenericWorkload=true"
FOLLOWED = {
    "Event.events.k8s.io", "Job.batch", "Namespace", "Node", "PersistentVolumeClaim", "Pod", "PodGroup.scheduling.k8s.io",
    "PriorityClass.scheduling.k8s.io", "ReplicaSet.apps", "ResourceClaim.resource.k8s.io", "Workload.scheduling.k8s.io",
}  # fmt: skip
"""The kinds that are wanted and served, by the subject that their gap would have."""


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


def event(name: str) -> Any:
    """As the API server stores one."""
    at = "2026-03-02T08:00:00Z"
    metadata = {"name": name, "namespace": NAMESPACE, "uid": f"uid-of-{name}", "creationTimestamp": at}
    return {
        "apiVersion": "v1", "kind": "Event", "metadata": metadata, "reason": "Said", "message": "said", "type": "Normal",
        "involvedObject": {"kind": "Pod", "namespace": NAMESPACE, "name": "before"}, "firstTimestamp": at,
        "lastTimestamp": at, "count": 1,
    }  # fmt: skip


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
            poll(f"why {name} says {reason} {resource}", says)
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

    def watched(self) -> set[str]:
        """The kinds of which something is in the log for good, as in `FOLLOWED`."""
        kinds = {kind.name: kind for kind in collector_app.kinds(Settings())}
        (cluster,) = survey.clusters(Places(self.pipeline.data).collector_db) or [None]
        found = [kinds[name] for name in (cluster.watches if cluster else ())]
        return {f"{kind.kind}.{kind.group}" if kind.group else kind.kind for kind in found}

    def gaps(self, since: int = 0) -> dict[str, list[GapRecord]]:
        """Those of each kind, in order; the first `since` of all are left out."""
        found: defaultdict[str, list[GapRecord]] = defaultdict(list)
        for gap in [record for record in self.records() if isinstance(record, GapRecord)][since:]:
            found[gap.subject].append(gap)
        return found

    def changes(self, kind: str, name: str | None = None) -> list[ObjectRecord]:
        """What was written of objects of a kind, facts alone left out."""
        found = [each for each in self.records() if isinstance(each, ObjectRecord) and each.data.kind == kind]
        return [each for each in found if name in (None, each.data.name) and each.data.change != "facts"]

    def said_twice(self) -> list[str]:
        """Ids that more than one record has."""
        return [id_ for id_, count in Counter(record.id for record in self.records()).items() if count > 1]

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
    poll("every job is placed", lambda: all(live.placed_at_ms(name) for name in names), 300)
    poll("every wait has ended", lambda: all((live.row(name) or {}).get("phase") == "scheduled" for name in names))
    for name in names:
        row, placed_ms = live.row(name), live.placed_at_ms(name)
        assert row is not None
        assert placed_ms is not None
        assert 0 <= ms_of(row["scheduled_at"]) - placed_ms < 1000, f"{name}: pods name the second"
        assert timedelta(milliseconds=row["wait_ms"]) == row["scheduled_at"] - row["started_at"], name


def test_a_broken_promise_shows_within_two_seconds_as_one_violation(live: Live, tmp_path: Path) -> None:
    names = [f"late-{number}" for number in range(5)]
    for number, name in enumerate(names):  # far enough apart that what delays one is over before the next
        live.job(name, pod_spec("nobody-has-this"), promise=f"{8 + 4 * number}s")
    poll("the jobs are known", lambda: all(live.row(name) for name in names))

    def violations(name: str) -> list[dict[str, Any]]:
        return live.pipeline.sql(
            "select * from v_sla_violation where namespace = %s and job_name = %s", NAMESPACE, name
        )

    claim = Claim("violation visible after the deadline", 2.0, tmp_path)
    for name in names:
        deadline_s = ms_of(live.row(name)["deadline_at"]) / 1000
        poll("the deadline has come", lambda at_s=deadline_s: time.time() >= at_s)
        with claim.measured(late_s=time.time() - deadline_s):
            poll("the violation shows", lambda each=name: violations(each))
    claim.check()
    for name in names:
        assert len(violations(name)) == 1
        assert json.loads(live.pipeline.told("why", name, "-n", NAMESPACE, "-o", "json"))["sla"] == "violated"


def test_an_api_server_that_is_killed_costs_one_gap_a_kind_and_nothing_else(live: Live) -> None:
    """While it is down another server of the cluster takes changes, and every version of before is forgotten."""
    live.job("before", pod_spec("outage-pool"))
    live.waits_for("before", "node_affinity")
    live.pod("goes-unseen", pod_spec("outage-pool"))
    poll("every kind is followed", lambda: live.watched() == FOLLOWED and live.changes("Pod", "goes-unseen"))
    gaps_before = sum(map(len, live.gaps().values()))
    killed_ms = clock.now_ms()
    live.kube.kill_api()
    live.kube.store(f"pods/{NAMESPACE}/goes-unseen", None)
    live.kube.store(f"events/{NAMESPACE}/while-away", event("while-away"))
    live.kube.expire_versions()
    live.kube.start_api()
    live.node("outage-pool-0")
    ready_ms = clock.now_ms()
    poll("the job is placed", lambda: live.placed_at_ms("before"), 300)
    poll("every kind was listed again", lambda: live.gaps(gaps_before).keys() >= FOLLOWED)
    poll("and so the row says", lambda: live.row("before")["phase"] == "scheduled")
    live.job("after", pod_spec("still-nobody"))
    live.waits_for("after", "node_affinity")

    gaps = live.gaps(gaps_before)
    assert gaps.keys() == FOLLOWED
    for one, next_ in itertools.chain.from_iterable(map(itertools.pairwise, gaps.values())):
        # A server whose cache begins after it has answered the first list does not know that list's version any more.
        assert next_.data.from_version == one.data.to_version, "nothing else was missed"
    (node_seen,) = live.changes("Node", "outage-pool-0")[:1]
    print(f"a node is seen {node_seen.observedms - ready_ms} ms after the server was ready")
    assert node_seen.observedms - ready_ms < max(15_000, ready_ms - killed_ms), "waits grow no longer than the outage"
    assert [(gone.data.change, gone.data.synthetic) for gone in live.changes("Pod", "goes-unseen")[-1:]] == [
        ("deleted", True)
    ]
    assert [told.data.name for told in live.records() if isinstance(told, EventRecord)].count("while-away") == 1
    assert live.said_twice() == []
    pods = live.kube.request("GET", f"/api/v1/namespaces/{NAMESPACE}/pods")["items"]
    assert {pod["metadata"]["uid"] for pod in pods} <= {change.data.uid for change in live.changes("Pod")}


def test_a_way_to_the_server_that_breaks_for_a_moment_costs_no_gap_at_all(live: Live, tmp_path: Path) -> None:
    """The server still knows every version, so each watch goes on where it was."""
    with Proxy(live.kube.port) as proxy:
        mine = proxy.kubeconfig(live.kube.kubeconfig("collector"))
        with Collecting(mine, tmp_path / "data") as collecting:
            poll("every kind came", collecting.ready)
            watches = collecting.collector.progress()
            for number in range(3):
                proxy.refuse()
                live.pod(f"while-refused-{number}", pod_spec("still-nobody"))
                opened = {name: each.watches for name, each in watches.items()}
                proxy.listen()
                poll("all go on", lambda then=opened: all(each.watches > then[name] for name, each in watches.items()))
                poll("what came meanwhile", lambda each=number: collecting.saw("Pod", f"while-refused-{each}"))
            assert {each.lists for each in watches.values()} == {1}
            assert collecting.gaps() == []


def test_ctrl_c_ends_everything_that_was_started(live: Live, tmp_path: Path) -> None:
    with _pipeline(tmp_path / "data", live.kube) as pipeline:
        port = pipeline.sql_port
        assert pipeline.stop() == 130
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port), timeout=2).close()


def ms_of(at: datetime) -> int:
    """Of a time as the warehouse gives it, in UTC."""
    return round(at.replace(tzinfo=UTC).timestamp() * 1000)


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
