"""The shadow beside a real scheduler: how soon `why` has the exact count of nodes by reason, and that it follows them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from collector import app as collector_app
from collector import rights
from collector.settings import Settings
from pipeline.config.places import Places
from pipeline.log import LogReader
from pipeline.log.positions import BEGINNING
from pipeline.records import codec, times
from pipeline.records.envelope import ObjectRecord
from tests.support import cluster
from tests.support.cluster import Cluster, poll
from tests.support.pace import Claim
from tests.support.running import Pipeline

pytestmark = [pytest.mark.services, pytest.mark.timeout(1800)]

NAMESPACE = "shadow"
LACK, TAINT, CORDON = "NodeResourcesFit/nvidia.com/gpu", "TaintToleration", "NodeUnschedulable"
SOON_S = 2.0
CHANGES = 5


class Shadowed:
    """A cluster whose nodes belong to pools, one for each test, and the pipeline with its shadow."""

    def __init__(self, kube: Cluster, pipeline: Pipeline) -> None:
        self.kube = kube
        self.pipeline = pipeline

    def node(self, name: str, *, gpu: str = "4", **spec: Any) -> None:
        """A node that is there when everybody takes it for ready."""
        room = {"cpu": "8", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": gpu}
        labels = {"kubernetes.io/hostname": name, "pool": name.partition("-")[0], "type": "kwok"}
        made = {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": room, "capacity": room}}
        self.kube.request("POST", "/api/v1/nodes", made)
        poll(f"{name} is ready", lambda: not self.taints(name))
        if spec:
            self.kube.patch(f"/api/v1/nodes/{name}", {"spec": spec})

    def taints(self, name: str) -> list[Any]:
        spec: dict[str, Any] = self.kube.request("GET", f"/api/v1/nodes/{name}")["spec"]
        return list(spec.get("taints") or [])

    def heard(self, name: str) -> dict[str, Any]:
        """The node's spec as the pipeline's log has it last; the watch of pods may be ahead of that of nodes."""
        spec: dict[str, Any] = {}
        with LogReader(Places(self.pipeline.data).records, "test", start=BEGINNING) as reader:
            while (batch := reader.read()).entries:
                for record in (codec.decode(entry.line) for entry in batch.entries):
                    if isinstance(record, ObjectRecord) and (record.data.kind, record.data.name) == ("Node", name):
                        spec = msgspec.json.decode(record.data.object or b"{}").get("spec") or {}
        return spec

    def pod(self, name: str, *, gpu: str) -> None:
        """A pod that may use the nodes of its pool, the first part of its name."""
        asks = {"cpu": "1", "nvidia.com/gpu": gpu}
        main = {"name": "main", "image": "registry.invalid/train:1", "resources": {"requests": asks, "limits": asks}}
        spec = {"nodeSelector": {"pool": name.partition("-")[0]}, "containers": [main]}
        path = f"/api/v1/namespaces/{NAMESPACE}/pods"
        self.kube.request("POST", path, {"metadata": {"name": name}, "spec": spec})

    def why(self, name: str, **query: object) -> dict[str, Any] | None:
        text = "&".join(f"{key}={value}" for key, value in query.items())
        answer: dict[str, Any] | None = self.pipeline.try_get(f"jobs/live/{NAMESPACE}/Pod/{name}/why?{text}")
        return answer

    def counts(self, name: str) -> dict[str, int]:
        """Nodes by the filters they fail, of those in the pod's pool."""
        answer = self.why(name) or {}
        return counts_of(answer.get("scheduler"))

    def follows(self, name: str, wanted: dict[str, int]) -> None:
        poll(f"why {name} counts {wanted}", lambda: self.counts(name) == wanted)


def counts_of(scheduler: dict[str, Any] | None) -> dict[str, int]:
    sets = (scheduler or {}).get("node_sets", [])
    return {"+".join(each["filters"]): each["nodes"] for each in sets if each["filters"] != ["NodeAffinity"]}


@pytest.fixture(scope="module")
def shadowed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shadowed]:
    folder = tmp_path_factory.mktemp("shadow")
    with Cluster(cluster.programs(), folder / "kube", tier=3) as kube:
        kube.request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        role = next(
            yaml.safe_load_all(rights.role(collector_app.kinds(Settings()), service_account="x", namespace="x"))
        )
        kube.allow("collector", role["rules"])
        account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"
        poll("the namespace has its account", lambda: _there(kube, account))
        with _pipeline(folder / "data", kube) as pipeline:
            yield Shadowed(kube, pipeline)


def _pipeline(data: Path, kube: Cluster, *more: str) -> Pipeline:
    return Pipeline(data, "--kubeconfig", str(kube.kubeconfig("collector")), "--set", "cluster.name=live", *more)


def _there(kube: Cluster, path: str) -> bool:
    try:
        kube.request("GET", path)
    except OSError:
        return False
    return True


def test_why_counts_nodes_by_reason_within_two_seconds(shadowed: Shadowed, tmp_path: Path) -> None:
    for place in range(3):
        shadowed.node(f"red-{place}")
    claim = Claim("exact counts after the pod was visible", SOON_S, tmp_path)
    for number in range(CHANGES):
        name = f"red-pod-{number}"
        shadowed.pod(name, gpu="8")
        poll("the pod is visible", lambda each=name: shadowed.why(each))
        with claim.measured():
            shadowed.follows(name, {LACK: 3})
    claim.check()


def test_why_counts_nodes_by_reason_and_follows_each_node_that_is_freed(shadowed: Shadowed) -> None:
    for place in range(2):
        shadowed.node(f"blue-{place}")
    shadowed.node("blue-2", taints=[{"key": "dedicated", "value": "x", "effect": "NoSchedule"}])
    shadowed.node("blue-3", unschedulable=True)
    poll("the cordon is a taint too", lambda: shadowed.taints("blue-3"))
    poll("the pipeline knows of the taint", lambda: len(shadowed.heard("blue-2").get("taints") or ()) == 1)
    poll(
        "and of the cordon",
        lambda: shadowed.heard("blue-3").get("unschedulable") and shadowed.heard("blue-3").get("taints"),
    )
    shadowed.pod("blue", gpu="8")

    shadowed.follows("blue", {LACK: 2, TAINT: 1, CORDON: 1})
    sentence = (shadowed.why("blue") or {})["scheduler"]["sentence"]
    assert "2 " in sentence and "lack nvidia.com/gpu" in sentence and "1 is cordoned" in sentence
    assert sentence in shadowed.pipeline.told("why", "blue", "-n", NAMESPACE)
    stood_ms = (shadowed.why("blue") or {})["at_ms"]

    shadowed.kube.patch("/api/v1/nodes/blue-3", {"spec": {"unschedulable": None}})
    shadowed.follows("blue", {LACK: 3, TAINT: 1})
    shadowed.kube.patch("/api/v1/nodes/blue-2", {"spec": {"taints": None}})
    shadowed.follows("blue", {LACK: 4})
    shadowed.node("blue-4")
    shadowed.follows("blue", {LACK: 5})

    before = shadowed.why("blue", at=stood_ms) or {}
    assert counts_of(before["scheduler"]) == {LACK: 2, TAINT: 1, CORDON: 1}
    shadowed.node("blue-5", gpu="8")
    poll("the pod is placed", lambda: (shadowed.why("blue") or {}).get("phase") == "scheduled")
    assert (shadowed.why("blue") or {})["scheduler"] is None
    assert counts_of((shadowed.why("blue", at=stood_ms) or {})["scheduler"]) == {LACK: 2, TAINT: 1, CORDON: 1}


def test_a_moment_that_no_shadow_saw_is_made_anew_from_the_log(shadowed: Shadowed, tmp_path: Path) -> None:
    shadowed.node("green-0")
    shadowed.pod("green", gpu="8")
    poll("the pod is visible", lambda: shadowed.why("green"))
    began_ms = (shadowed.why("green") or {})["at_ms"]
    with _pipeline(tmp_path / "off", shadowed.kube, "--set", "scheduler.enabled=false") as unshadowed:
        off = Shadowed(shadowed.kube, unshadowed)
        poll("its scheduler's words are known", lambda: ((off.why("green") or {}).get("now") or {}).get("message"))
        answer = off.why("green") or {}
        assert answer["scheduler"] is None
        at_ms = answer["at_ms"]
        shadowed.node("green-1")
        made = (off.why("green", at=at_ms, rebuild="true") or {})["scheduler"]
        assert made["rebuilt"] and counts_of(made) == {LACK: 1}
        shown = unshadowed.told("why", "green", "-n", NAMESPACE, "--at", times.format_ms(at_ms))
        assert made["sentence"] in shown and "made anew from the log" in shown
        later = off.why("green", at=began_ms, rebuild="true") or {}
        assert later["scheduler"] is None and "does not reach back" in later["scheduler_note"]
