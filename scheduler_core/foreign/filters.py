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

from typing import Final

import numpy as np

from pipeline.records import matching, reasons
from pipeline.records.matching import Obstacle
from scheduler_core.cache import claims
from scheduler_core.cache.reading import PodSeen
from scheduler_core.foreign.cluster import Cluster
from scheduler_core.foreign.columns import Mark, Short, Wish, Wished
from scheduler_core.foreign.judged import Judged, Kind, distinct
from scheduler_core.model.cells import Bools, Ints
from scheduler_core.model.checks import UNRESOLVABLE, UNSCHEDULABLE, Check
from scheduler_core.model.tasks import Task, TaskClass
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
_MOST_ROWS: Final = 40_000_000
"""Rows of all wishes that are kept, three bytes each: pods of a DaemonSet have a wish for every node."""

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


class Filters:
    """The filters on one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.table = cluster.table
        self.codes = cluster.session.judges.codes
        found = cluster.session.plugin(Predicates.name)
        assert isinstance(found, Predicates)
        self._predicates = found
        self._wished: dict[bytes, Wished] = {}
        self._short: dict[int, Short] = {}
        self._failed: dict[int, tuple[Check, ...]] = {}

    def failed(self, code: int) -> tuple[Check, ...]:
        """The checks in a code."""
        found = self._failed.get(code)
        if found is None:
            found = self._failed[code] = tuple(
                short_of(check.name.partition("/")[2]) if check.name == "NodeResourcesFit/pods" else check
                for check in self.codes.failed(code)
            )
        return found

    def judge(self, task: Task, *, promises: bool = True) -> Judged:
        """All nodes for a task that waits. Without `promises` places of nominated pods count as free."""
        alone = self._judge(task)
        others = self.cluster.promised(task) if promises and not alone.early else []
        if not others:
            return alone
        with self.cluster.held(others):
            beside = self._judge(task)
        rows = sorted({row for _, row in others if beside.refused_at(row)})
        return alone.replaced(rows, beside) if rows else alone

    def _judge(self, task: Task) -> Judged:
        seen = self.cluster.seen[task.uid]
        early = self._early(seen)
        if early:
            nothing: Ints = np.zeros(len(self.table), dtype=np.int64)
            return Judged([Kind(FITS, FITS, False, False)], [len(self.table)], nothing, early)
        wished, short = self.wished(task.cls), self._short_of(task)
        looked = sorted(self._predicates.table_filters(task) or (), key=lambda found: _PLACE[found[0].name])
        width, numbers = short.bound, wished.of_row.astype(np.int64)
        numbers *= width
        numbers += short.of_row()
        bound = width * len(wished.kinds)
        for at, (_, refused) in enumerate(looked):
            numbers += refused * (bound << at)
        values, nodes, of_row = distinct(numbers, bound << len(looked))
        unseen = _unseen(seen)
        kinds = []
        for value in values:
            others = [check for at, (check, _) in enumerate(looked) if value // bound >> at & 1]
            rest = value % bound
            kinds.append(self._kind(wished.kinds[rest // width], short, rest % width, others, unseen))
        return Judged(kinds, nodes, of_row)

    def _kind(self, wish: Wish, short: Short, number: int, others: list[Check], unseen: Check | None) -> Kind:
        """What is true of nodes of which these parts are true; `others` in the order of the filters."""
        lacks = short.code(number)
        first, joint, never = wish.first, wish.joint | lacks, wish.never
        for check in others:
            joint |= self._bit(check)
        if first == FITS:
            before = next((check for check in others if _PLACE[check.name] < _RESOURCES), None)
            after = next((check for check in others if _PLACE[check.name] > _RESOURCES), None)
            met = before or (after if not lacks else None)
            if met is not None:
                first, never = self._bit(met), met.code == UNRESOLVABLE
            elif lacks:
                first, never = lacks, short.never(number)
            elif unseen is not None:
                first, never = self._bit(unseen), True
                joint |= first
        return Kind(first, joint, wish.opened, never)

    def _bit(self, check: Check) -> int:
        return self.codes.bit(check)

    # --- before any node ---------------------------------------------------------------------------------------------

    def _early(self, seen: PodSeen) -> str:
        """Words of a PreFilter that refuses the pod itself."""
        return claims.refusal(self.cluster.world.claims, seen.facts.namespace, seen.claims)

    # --- node by node ------------------------------------------------------------------------------------------------

    def wished(self, cls: TaskClass) -> Wished:
        """What labels, names and taints of all nodes say to a class."""
        found = self._wished.get(cls.wants.key)
        if found is None:
            if len(self._wished) * len(self.table) >= _MOST_ROWS:
                self._wished.clear()
            found = self._wished[cls.wants.key] = self._wish(cls)
        return found

    def _wish(self, cls: TaskClass) -> Wished:
        marks: list[tuple[Mark, Bools]] = []
        named = matching.names_wanted(cls.wants)
        if named is not None:
            cut: Bools = np.array([name not in named for name in self.cluster.names], dtype=np.bool_)
            marks.append((Mark(CUT, self._bit(CUT), counted=True, told=True), cut))
        for check, refused in sorted(self._predicates.fixed_filters(cls), key=lambda found: _PLACE[found[0].name]):
            told = check not in (predicates.CORDON, predicates.TAINT)  # an obstacle stands for each of these
            marks.append((Mark(check, self._bit(check), counted=True, told=told), refused))
        closed = self.cluster.closed
        for kind, rows in closed.each(cls.wants.tolerations).items():
            check = _OF_OBSTACLE[kind]
            marks.append((Mark(check, self._bit(check), counted=False, told=True), rows))
        wanted = self.table.by_label.wanted(cls.wants)
        hardest = closed.hardest(cls.wants.tolerations)
        opened: Bools = wanted & ~np.any(list(hardest.values()), axis=0)
        return Wished(marks, opened, _why_closed(wanted, hardest))

    def _short_of(self, task: Task) -> Short:
        demand = task.cls.demand
        found = self._short.get(demand.number)
        if found is None:
            bits = {place: self.codes.resource_bit(place) for place, amount in demand.needs if amount > 0}
            found = self._short[demand.number] = Short(self.table, demand, bits)
        return found


def _why_closed(wanted: Bools, hardest: dict[Obstacle, Bools]) -> tuple[str, int]:
    """The reason where no node is open (rule P1), and the nodes for which it holds."""
    for kind, rows in hardest.items():
        nodes = int(np.count_nonzero(wanted & rows))
        if nodes:
            return _OF_OBSTACLE[kind].reason, nodes
    return reasons.NODE_AFFINITY, int(np.count_nonzero(~wanted))


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
