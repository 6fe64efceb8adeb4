"""Short words for clusters of kube-scheduler: what waits, on which nodes, beside which pods."""

from __future__ import annotations

from typing import Any

from pipeline.records.jobs import JobRef
from pipeline.records.shapes.pod import (
    Affinity,
    LabelExpression,
    LabelSelector,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    TopologySpreadConstraint,
)
from scheduler_core.cache.reading import PodSeen
from scheduler_core.foreign import World
from scheduler_core.model import facts as f

GPU = "nvidia.com/gpu"
NOT_READY = ("node.kubernetes.io/not-ready", "", "NoSchedule")


def node(name: str, cpu: int = 4, gpus: int = 0, **fields: Any) -> f.NodeFacts:
    labels = {"kubernetes.io/hostname": name, **fields.pop("labels", {})}
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": fields.pop("pods", 20)} | ({GPU: gpus} if gpus else {})
    return f.NodeFacts(name=name, allocatable=amounts, labels=labels, **fields)


def waits(name: str, cpu: int = 1, gpus: int = 0, *, job: str = "", **fields: Any) -> PodSeen:
    """A pod that waits; `job` is shared by its siblings."""
    outer = {key: fields.pop(key) for key in ("claims", "devices", "tried", "native_group") if key in fields}
    made = pod(name, cpu, gpus, group=outer.get("native_group", ""), **fields)
    return PodSeen(made, job=JobRef("Job", "ns", job or name, f"uid-{job or name}", "batch"), **outer)


def pod(name: str, cpu: int = 1, gpus: int = 0, *, on: str = "", **fields: Any) -> f.PodFacts:
    """A waiting pod, or a running one on a node."""
    requests = {"cpu": cpu} | ({GPU: gpus} if gpus else {})
    placed = {"phase": "Running", "node": on} if on else {}
    return f.PodFacts(
        **{"uid": name, "namespace": "ns", "name": name, "containers": (f.ContainerFacts(requests),)} | placed | fields
    )


def group(name: str, minimum: int) -> f.GroupFacts:
    return f.GroupFacts(namespace="ns", name=name, queue="", min_member=minimum)


def world(nodes: Any, waiting: Any, on_nodes: Any = (), groups: Any = (), claims: Any = None) -> World:
    pods = (*(each.facts for each in waiting), *on_nodes)
    return World(f.ClusterFacts(nodes=tuple(nodes), pods=pods, groups=tuple(groups)), tuple(waiting), claims)


def only_on(*names: str) -> Affinity:
    """Wants nodes by their names, as pods of a DaemonSet do."""
    terms = [
        NodeSelectorTerm(match_fields=[LabelExpression(key="metadata.name", operator="In", values=[name])])
        for name in names
    ]
    required = NodeSelector(node_selector_terms=terms)
    return Affinity(node_affinity=NodeAffinity(required_during_scheduling_ignored_during_execution=required))


def apart_from(**labels: str) -> Affinity:
    """Wants no pod with these labels on its host."""
    term = PodAffinityTerm(label_selector=LabelSelector(match_labels=labels), topology_key="kubernetes.io/hostname")
    return Affinity(pod_anti_affinity=PodAffinity(required_during_scheduling_ignored_during_execution=[term]))


def spread_over(key: str, **labels: str) -> TopologySpreadConstraint:
    """Wants to be spread evenly over the domains of a node label."""
    return TopologySpreadConstraint(
        max_skew=1,
        topology_key=key,
        when_unsatisfiable="DoNotSchedule",
        label_selector=LabelSelector(match_labels=labels),
    )
