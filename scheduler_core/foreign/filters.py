"""Nodes judged for a pod by kube-scheduler's filters, in its order.

kube-scheduler asks its filters one after the other and counts a node at the first that refuses it; of resources every
short one is counted, since one filter looks at all of them. The order is that of version 1.37. What a filter is given
before it sees a node (PreFilter) can end the attempt without any count, or cut the nodes to a few by name; those cut off
count at the filter that cut them off.

Two codes come out for each node. `first` is the count of kube-scheduler. `joint` has every filter that refuses the node,
and of taints what they stand for: it tells what would help.

A pod for whose nodes another was nominated is judged twice there, with the other one on them and without it, as upstream
does. Host names, labels, taints, ports, resources, other pods and spread are exact. Of volumes only the claims are known
(no persistent volumes, no storage classes, no limits of drivers), of devices only that a pod wants some: a pod that its
scheduler refused although no other filter refuses these nodes is taken to have failed there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from pipeline.records import matching, reasons
from pipeline.records.matching import Obstacle
from scheduler_core.cache.reading import PodSeen
from scheduler_core.foreign.cluster import Cluster
from scheduler_core.model.nodes import Bools, Codes
from scheduler_core.model.refusal import UNRESOLVABLE, UNSCHEDULABLE, Check
from scheduler_core.model.resources import PODS
from scheduler_core.model.tasks import Task
from scheduler_core.plugins import predicates
from scheduler_core.plugins.predicates import Predicates
from scheduler_core.session.codes import FITS, NOT_READY

ORDER: Final = (
    "NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
    "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity",
    "DynamicResources",
)  # fmt: skip
"""The filters in the order in which version 1.37 asks them."""
_PLACE = {name: place for place, name in enumerate(ORDER)}
_RESOURCES: Final = _PLACE["NodeResourcesFit"]

CUT = Check(
    "NodeAffinity", UNRESOLVABLE, "node(s) didn't satisfy plugin(s) [NodeAffinity]", reasons.NODE_AFFINITY,
    "were among those that it names",
)  # fmt: skip
VOLUMES = Check(
    "VolumeBinding", UNRESOLVABLE, "node(s) didn't find available persistent volumes to bind", reasons.VOLUME,
    "could reach a volume for its claim",
)  # fmt: skip
DEVICES = Check(
    "DynamicResources", UNRESOLVABLE, "cannot allocate all claims", reasons.DRA, "had the devices that it claims"
)

_OF_OBSTACLE: Final[dict[Obstacle, Check]] = {
    "tainted": predicates.TAINT,
    "unschedulable": predicates.CORDON,
    "not_ready": NOT_READY,
}


Refused = tuple[Check, Bools, Bools]
"""A check, the rows it refuses, and those among them that no eviction opens."""


class Judged(NamedTuple):
    """What nodes say of a pod, by row; FITS where they take it. `early`: words of a PreFilter that ended it, else empty.

    `never` marks nodes on which no eviction helps: the first filter that refuses is not about pods that could go.
    """

    first: Codes
    joint: Codes
    never: Bools
    early: str = ""

    @property
    def fits(self) -> Bools:
        found: Bools = self.first == FITS
        return found if not self.early else np.zeros_like(found)


class Filters:
    """The filters on one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.table = cluster.table
        self.codes = cluster.session.judges.codes
        found = cluster.session.plugin(Predicates.name)
        assert isinstance(found, Predicates)
        self._predicates = found

    def failed(self, code: int) -> tuple[Check, ...]:
        """The checks in a code."""
        return tuple(
            short_of(check.name.partition("/")[2]) if check.name == "NodeResourcesFit/pods" else check
            for check in self.codes.failed(code)
        )

    def judge(self, task: Task, *, promises: bool = True) -> Judged:
        """All nodes for a task that waits. Without `promises` places of nominated pods count as free."""
        alone = self._judge(task)
        others = self.cluster.promised(task) if promises and not alone.early else []
        if not others:
            return alone
        with self.cluster.held(others):
            beside = self._judge(task)
        rows = np.zeros(len(self.table), dtype=np.bool_)
        rows[[row for _, row in others]] = True
        first, joint, never = alone.first.copy(), alone.joint.copy(), alone.never.copy()
        rows &= beside.first != FITS
        first[rows], joint[rows], never[rows] = beside.first[rows], beside.joint[rows], beside.never[rows]
        return Judged(first, joint, never)

    def _judge(self, task: Task) -> Judged:
        seen = self.cluster.seen[task.uid]
        first: Codes = np.zeros(len(self.table), dtype=np.uint64)
        joint: Codes = np.zeros(len(self.table), dtype=np.uint64)
        never: Bools = np.zeros(len(self.table), dtype=np.bool_)
        early = self._early(seen)
        if early:
            return Judged(first, joint, never, early)
        for step in self._steps(task):
            undecided = first == FITS
            for check, refused, final in step:
                mark = np.uint64(self._bit(check))
                first[undecided & refused] |= mark
                never |= undecided & final
                if check not in (predicates.CORDON, predicates.TAINT):
                    joint[refused] |= mark
        unseen = _unseen(seen)
        if unseen is not None:
            rest = first == FITS
            never |= rest
            for codes in (first, joint):
                codes[rest] |= np.uint64(self._bit(unseen))
        for check, refused in self._obstacles(task):
            joint[refused] |= np.uint64(self._bit(check))
        return Judged(first, joint, never)

    def _bit(self, check: Check) -> int:
        name, _, resource = check.name.partition("/")
        if name == ORDER[_RESOURCES] and resource:
            return self.codes.resource_bit(self.cluster.session.axis.index[resource])
        return self.codes.bit(check)

    # --- before any node ---------------------------------------------------------------------------------------------

    def _early(self, seen: PodSeen) -> str:
        """Words of a PreFilter that refuses the pod itself."""
        claims = self.cluster.world.claims
        if claims is None:
            return ""
        for name in seen.claims:
            claim = claims.get((seen.facts.namespace, name))
            if claim is None:
                return f'persistentvolumeclaim "{name}" not found'
            if not claim.volume and not claim.storage_class:
                return "pod has unbound immediate PersistentVolumeClaims"
        return ""

    # --- node by node ------------------------------------------------------------------------------------------------

    def _steps(self, task: Task) -> Iterator[list[Refused]]:
        """What is refused, check by check in the order of the filters; resources are one step."""
        named = matching.names_wanted(task.cls.wants)
        if named is not None:
            yield [_refused(CUT, np.array([name not in named for name in self.cluster.names], dtype=np.bool_))]
        by_filter: list[list[tuple[Check, Bools]]] = [[] for _ in ORDER]
        for check, refused in (
            *self._predicates.fixed_filters(task.cls), *(self._predicates.table_filters(task) or ()),
        ):  # fmt: skip
            by_filter[_PLACE[check.name]].append((check, refused))
        for place, found in enumerate(by_filter):
            if place == _RESOURCES:
                yield list(self._short(task))
            yield from ([_refused(check, refused)] for check, refused in found)

    def _short(self, task: Task) -> Iterator[Refused]:
        """Every short resource. One of which the node never had enough makes its whole refusal final."""
        cells = self.table.settle()
        needs = [(place, amount) for place, amount in task.cls.needs if amount > 0]
        final: Bools = np.zeros(len(self.table), dtype=np.bool_)
        for place, amount in needs:
            if place != PODS:
                final |= cells.alloc[place] < amount
        for place, amount in needs:
            short: Bools = cells.idle[place] < amount
            yield short_of(self.cluster.session.axis.names[place]), short, short & final

    def _obstacles(self, task: Task) -> Iterator[tuple[Check, Bools]]:
        """What keeps the pod away from nodes, each taint as what it stands for."""
        for kind, rows in self.cluster.closed.each(task.cls.wants.tolerations).items():
            yield _OF_OBSTACLE[kind], rows


def _unseen(seen: PodSeen) -> Check | None:
    """What a pod that its scheduler refused may have failed besides the filters that are known here."""
    if not seen.tried or not (seen.devices or seen.claims):
        return None
    return DEVICES if seen.devices else VOLUMES


def place_of(check: str) -> int:
    """The place in the order of the filter to which a check belongs, by the name of the check."""
    return _PLACE[check.partition("/")[0]]


def short_of(resource: str) -> Check:
    """The check that a node has enough of a resource."""
    text = "Too many pods" if resource == "pods" else f"Insufficient {resource}"
    return Check(f"NodeResourcesFit/{resource}", UNSCHEDULABLE, text, reasons.INSUFFICIENT_RESOURCE)


def _refused(check: Check, rows: Bools) -> Refused:
    return check, rows, rows if check.code == UNRESOLVABLE else np.zeros_like(rows)
