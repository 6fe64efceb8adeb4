"""Pod, and the pod templates inside jobs."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from pipeline.records.quantity import Quantity
from pipeline.records.shapes.base import Condition, Container, Inside, Part, Shape


class LabelExpression(Part):
    """One requirement of a label or node selector: operator In, NotIn, Exists, DoesNotExist, Gt, Lt."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class LabelSelector(Part):
    match_labels: dict[str, str] | None = None
    match_expressions: list[LabelExpression] | None = None


class NodeSelectorTerm(Part):
    match_expressions: list[LabelExpression] | None = None
    match_fields: list[LabelExpression] | None = None


class NodeSelector(Part):
    node_selector_terms: list[NodeSelectorTerm] | None = None


class PreferredTerm(Part):
    weight: int = 0
    preference: NodeSelectorTerm | None = None


class NodeAffinity(Part):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: list[PreferredTerm] | None = None


class PodAffinityTerm(Part):
    label_selector: LabelSelector | None = None
    topology_key: str = ""
    namespaces: list[str] | None = None
    namespace_selector: LabelSelector | None = None
    match_label_keys: list[str] | None = None
    mismatch_label_keys: list[str] | None = None


class WeightedPodAffinityTerm(Part):
    weight: int = 0
    pod_affinity_term: PodAffinityTerm | None = None


class PodAffinity(Part):
    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] | None = None
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] | None = None


class Affinity(Part):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Part):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None


class TopologySpreadConstraint(Part):
    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: list[str] | None = None


class SchedulingGate(Part):
    name: str = ""


class SchedulingGroup(Part):
    pod_group_name: str | None = None


class PodWorkloadRef(Part):
    """`spec.workloadRef` of Kubernetes 1.35; `spec.schedulingGroup` since."""

    name: str | None = None
    pod_group: str | None = None


class PodResourceClaim(Part):
    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class ClaimVolume(Part):
    claim_name: str = ""


class Volume(Part):
    """Only what scheduling looks at: claims. Contents and sources of other volumes never enter."""

    name: str = ""
    persistent_volume_claim: ClaimVolume | None = None


class PodSpec(Part):
    node_name: str | None = None
    scheduler_name: str | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    preemption_policy: str | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: list[Toleration] | None = None
    topology_spread_constraints: list[TopologySpreadConstraint] | None = None
    scheduling_gates: list[SchedulingGate] | None = None
    scheduling_group: SchedulingGroup | None = None
    workload_ref: PodWorkloadRef | None = None
    resource_claims: list[PodResourceClaim] | None = None
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    overhead: dict[str, Quantity] | None = None
    host_network: bool | None = None
    restart_policy: str | None = None
    volumes: list[Volume] | None = None


class PodStatus(Part):
    phase: str | None = None
    conditions: list[Condition] | None = None
    nominated_node_name: str | None = None
    reason: str | None = None
    message: str | None = None
    start_time: str | None = None


class Pod(Shape):
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)

    def pods(self) -> Iterable[Inside]:
        return (("", None, self.spec.containers, self.spec.init_containers),)


class TemplateMeta(Part):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class PodTemplate(Part):
    metadata: TemplateMeta | None = None
    spec: PodSpec | None = None

    def inside(self, path: str) -> Inside:
        """This template at `path`."""
        spec, meta = self.spec or PodSpec(), self.metadata
        return f"{path}.", meta.annotations if meta else None, spec.containers, spec.init_containers
