"""predicates: which nodes a pod may use at all.

The checks are those of the Kubernetes scheduler that Volcano asks, with its texts and codes: number of pods, cordon,
selector and required affinity, taints, host ports, other pods, spread. Of volumes only that a pod can have its own on no
node is known (`PodFacts.volume_fault`), of devices nothing.
A check whose code is unresolvable is not cured by evicting anybody. Each can be switched off by an argument.
Controllers repeat a cordon, and that a node is not ready, as taints; a node that is refused for it is not refused for the
taint as well.

In Volcano it is this plugin that keeps, during a session, which pods are on which node: an evicted pod is gone at once, a
promised one is there. So the table tracks pods only if the policy has this plugin. If an eviction is undone, the pod stays
gone for the checks and scores of the session: upstream means to put it back, but the reservation of its volumes, which it
never prepared, fails first. `undoneEvictions: back` puts it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from pipeline.records import matching, reasons
from pipeline.records.shapes.pod import PodAffinityTerm, TopologySpreadConstraint
from scheduler_core.model.cells import Bools, Filter
from scheduler_core.model.checks import UNRESOLVABLE, UNSCHEDULABLE, Check
from scheduler_core.model.resources import PODS
from scheduler_core.model.tasks import Demand, Task, TaskClass
from scheduler_core.model.why import Why
from scheduler_core.session import arguments, relations
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.relations import Relations
from scheduler_core.session.session import Session

POD_COUNT: Final = Check(
    "NodePodNumber", UNSCHEDULABLE, "node(s) pod number exceeded", reasons.INSUFFICIENT_RESOURCE,
    "could hold one more pod", "NodeResourcesFit/pods",
)  # fmt: skip
CORDON: Final = Check(
    "NodeUnschedulable", UNRESOLVABLE, "node(s) were unschedulable", reasons.NODE_UNSCHEDULABLE, "were not cordoned"
)
AFFINITY: Final = Check(
    "NodeAffinity", UNRESOLVABLE, "node(s) didn't match Pod's node affinity/selector", reasons.NODE_AFFINITY,
    "had the labels that it asks for",
)  # fmt: skip
TAINT: Final = Check(
    "TaintToleration", UNRESOLVABLE, "node(s) had untolerated taint(s)", reasons.UNTOLERATED_TAINT,
    "had no taint, or the task tolerated it",
)  # fmt: skip
PORTS: Final = Check(
    "NodePorts", UNSCHEDULABLE, "node(s) didn't have free ports for the requested pod ports", reasons.PORT_CONFLICT,
    "had the host port free",
)  # fmt: skip
NEAR: Final = Check(
    "InterPodAffinity", UNRESOLVABLE, "node(s) didn't match pod affinity rules", reasons.POD_AFFINITY,
    "lay beside the pods it must be near",
)  # fmt: skip
AWAY: Final = Check(
    "InterPodAffinity", UNSCHEDULABLE, "node(s) didn't match pod anti-affinity rules", reasons.POD_ANTI_AFFINITY,
    "lay apart from the pods it must avoid",
)  # fmt: skip
KEPT_AWAY: Final = Check(
    "InterPodAffinity", UNSCHEDULABLE, "node(s) didn't satisfy existing pods anti-affinity rules",
    reasons.POD_ANTI_AFFINITY, "lay apart from the pods that avoid it",
)  # fmt: skip
SPREAD: Final = Check(
    "PodTopologySpread", UNSCHEDULABLE, "node(s) didn't match pod topology spread constraints", reasons.TOPOLOGY_SPREAD,
    "were in a domain that may have more",
)  # fmt: skip
NO_DOMAIN: Final = Check(
    "PodTopologySpread", UNRESOLVABLE,
    "node(s) didn't match pod topology spread constraints (missing required label)", reasons.TOPOLOGY_SPREAD,
    "had the label that names the domain",
)  # fmt: skip

_SWITCHES: Final = {
    "cordon": "predicate.NodeUnschedulableEnable",
    "affinity": "predicate.NodeAffinityEnable",
    "taint": "predicate.TaintTolerationEnable",
    "ports": "predicate.NodePortsEnable",
    "pods": "predicate.PodAffinityEnable",
    "spread": "predicate.PodTopologySpreadEnable",
    "volumes": "predicate.VolumeBindingEnable",
}


UNDONE: Final = "undoneEvictions"


class Predicates(Plugin):
    name = "predicates"
    arguments_known = (*_SWITCHES.values(), "predicate.*", UNDONE)
    filters_by_class = True
    checks = (POD_COUNT, CORDON, AFFINITY, TAINT, PORTS, NEAR, AWAY, KEPT_AWAY, NO_DOMAIN, SPREAD)

    def open(self, session: Session) -> None:
        self.table = session.nodes
        self.table.track_pods = True
        self.table.forgets = arguments.text(self.arguments, UNDONE) != "back"
        self.relations: Relations = session.relations
        self.on = {which: arguments.truth(self.arguments, switch, default=True) for which, switch in _SWITCHES.items()}
        self._minds_volumes = self.on["volumes"]
        self.any_cordoned = self.table.any_cordoned
        self.port_users = _port_users(session) if session.snapshot.classes.any_ports else None

    def before_filter(self, task: Task) -> Why | None:
        fault = task.cls.volume_fault if self._minds_volumes else ""
        return Why(reasons.VOLUME, message=fault, plugin=self.name) if fault else None

    # --- one node ----------------------------------------------------------------------------------------------------

    def row_filters(self, demand: Demand) -> Iterable[tuple[Check, Filter]]:
        yield POD_COUNT, lambda cells: cells.alloc[PODS] <= cells.pods

    def fixed_filters(self, cls: TaskClass) -> Iterable[tuple[Check, Bools]]:
        wants = cls.wants
        if self.on["cordon"] and self.any_cordoned:
            tolerated = any(matching.tolerates(each, *matching.UNSCHEDULABLE_TAINT) for each in wants.tolerations)
            if not tolerated:
                yield CORDON, self.table.cordoned
        if self.on["affinity"] and (wants.node_selector or wants.terms is not None):
            yield AFFINITY, self.table.by_label.unwanted(wants)
        if self.on["taint"] and self.table.by_label.tainted:
            yield TAINT, self.table.by_label.unwelcome(wants, further=self.on["cordon"])

    # --- other pods --------------------------------------------------------------------------------------------------

    def looks_elsewhere(self, cls: TaskClass) -> bool:
        return bool(cls.ports) or self.relations.active

    def table_filters(self, task: Task) -> Iterable[tuple[Check, Bools]] | None:
        cls = task.cls
        found: list[tuple[Check, Bools]] = []
        if cls.ports and self.on["ports"]:
            found.append((PORTS, self._taken_ports(cls)))
        if self.relations.active and self.on["pods"]:
            found += self._by_pods(task)
        if cls.spread and self.on["spread"]:
            for constraint in cls.spread:
                if constraint.when_unsatisfiable == "DoNotSchedule":
                    found += self._by_spread(task, constraint)
        return found or None

    def _taken_ports(self, cls: TaskClass) -> Bools:
        assert self.port_users is not None
        return _mask(
            any(_collide(wanted, taken) for wanted in cls.ports for ports in users.values() for taken in ports)
            for users in self.port_users
        )

    def _by_pods(self, task: Task) -> Iterable[tuple[Check, Bools]]:
        near = list(relations.required(task.cls.affinity))
        if near:
            yield NEAR, self._not_near(task, near)
        for term in relations.required(task.cls.anti_affinity):
            counts = self.relations.count((self.relations.selector(task, term),))
            yield AWAY, self.relations.spread_out(term.topology_key, counts) > 0
        for _, _, key, carriers in self.relations.carried(("anti",), task):
            yield KEPT_AWAY, self.relations.spread_out(key, carriers) > 0

    def _not_near(self, task: Task, near: list[PodAffinityTerm]) -> Bools:
        """A pod counts only if it matches all terms; the first of a series that means itself may start anywhere."""
        selectors = tuple(self.relations.selector(task, term) for term in near)
        counts = self.relations.count(selectors)
        keys = [term.topology_key for term in near]
        labelled = np.all([self.relations.has_domain(key) for key in keys], axis=0)
        anywhere = np.any([self.relations.has_domain(key) & (counts > 0) for key in keys])
        if not anywhere and self.relations.means_itself(task, selectors):
            missing: Bools = ~labelled
            return missing
        beside = np.all([self.relations.spread_out(key, counts) > 0 for key in keys], axis=0)
        refused: Bools = ~(labelled & beside)
        return refused

    def _by_spread(self, task: Task, constraint: TopologySpreadConstraint) -> Iterable[tuple[Check, Bools]]:
        selector = relations.spread_selector(self.relations, task, constraint)
        counts = self.relations.count((selector,), skip_leaving=True)
        hard = [each for each in task.cls.spread if each.when_unsatisfiable == "DoNotSchedule"]
        labelled = np.all([self.relations.has_domain(each.topology_key) for each in hard], axis=0)
        eligible = labelled & self._eligible(task, constraint)
        by_domain = self.relations.spread_out(constraint.topology_key, counts, eligible)
        least = float(by_domain[eligible].min()) if eligible.any() else 0.0
        domains = np.unique(self.relations.domains(constraint.topology_key)[0][eligible])
        if constraint.min_domains and len(domains) < constraint.min_domains:
            least = 0.0
        itself = int(self.relations.means_itself(task, (selector,)))
        has_key = self.relations.has_domain(constraint.topology_key)
        yield NO_DOMAIN, ~has_key
        yield SPREAD, has_key & (by_domain + itself - least > relations.heeded(constraint.max_skew))

    def _eligible(self, task: Task, constraint: TopologySpreadConstraint) -> Bools:
        """Nodes whose pods count: those the pod wants (unless told otherwise), and, if asked, those it tolerates."""
        wants = task.cls.wants
        good: Bools = self.table.usable.copy()
        if constraint.node_affinity_policy != "Ignore" and (wants.node_selector or wants.terms is not None):
            good &= self.table.by_label.wanted(wants)
        if constraint.node_taints_policy == "Honor":
            good &= ~self.table.by_label.untolerated(wants.tolerations)
        return good

    # --- pods come and go ----------------------------------------------------------------------------------------------

    def allocated(self, task: Task) -> None:
        if self.table.is_gone(task):
            return
        if self.relations.active:
            self.relations.come(task, task.row)
        if self.port_users is not None and task.cls.ports:
            self.port_users[task.row][task.uid] = task.cls.ports

    def allocated_together(self, tasks: Sequence[Task]) -> None:
        if self.relations.active or self.port_users is not None:
            for task in tasks:
                self.allocated(task)

    def deallocated_together(self, tasks: Sequence[Task]) -> None:
        if self.relations.active or self.port_users is not None:
            for task in tasks:
                self.deallocated(task)

    def deallocated(self, task: Task) -> None:
        if self.relations.active:
            self.relations.go(task)
        if self.port_users is not None:
            self.port_users[task.row].pop(task.uid, None)


def _mask(values: Iterable[bool]) -> Bools:
    return np.fromiter(values, dtype=np.bool_)


def _port_users(session: Session) -> list[dict[str, tuple[tuple[str, int, str], ...]]]:
    return [{uid: task.cls.ports for uid, task in tasks.items() if task.cls.ports} for tasks in session.nodes.tasks]


_ANY_ADDRESS: Final = ("", "0.0.0.0")


def _collide(one: tuple[str, int, str], other: tuple[str, int, str]) -> bool:
    """Whether two host ports (protocol, port, address) cannot be on one node; no address is every address.

    `::` is an address like any other, as it is to the Kubernetes scheduler.
    """
    if one[:2] != other[:2]:
        return False
    return one[2] == other[2] or one[2] in _ANY_ADDRESS or other[2] in _ANY_ADDRESS
