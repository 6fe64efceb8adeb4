"""Interning: pods that ask the same of a node become tasks of one class.

The key of a class is made of the pod's own fields, so equal pods meet whatever job they belong to. Requests repeat far
more than pods do; what a set of containers asks is worked out once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from pipeline.records import matching
from pipeline.records.matching import Wants
from pipeline.records.shapes.pod import Affinity, NodeAffinity, PodSpec
from scheduler_core.model import tasks
from scheduler_core.model.amounts import Amounts
from scheduler_core.model.facts import ContainerFacts, PodFacts, Quantities
from scheduler_core.model.resources import Axis, Resource
from scheduler_core.model.tasks import Demand, Relations, TaskClass

_encode: Final = msgspec.json.Encoder(order="sorted").encode


class Asked(NamedTuple):
    """What the containers of a pod ask, and what was wrong in it."""

    demand: Demand
    mistakes: tuple[tuple[str, str], ...]


class Classes:
    """All classes of a snapshot, in the order in which they were met; whether any of them looks at other pods, or at ports."""

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        self.any_selects = False
        self.any_ports = False
        self._last: tuple[PodFacts, TaskClass, Asked] | None = None
        self.all: list[TaskClass] = []
        self._by_key: dict[tuple[object, ...], TaskClass] = {}
        self._asked: dict[object, Asked] = {}
        self._demands: dict[tuple[object, ...], Demand] = {}

    def of(self, pod: PodFacts) -> tuple[TaskClass, Asked]:
        """The class of a pod, and what it asks. Pods of a gang come one after the other, and mostly ask the same."""
        last = self._last
        if last is not None and _alike(last[0], pod):
            return last[1], last[2]
        found, asked = self._find(pod)
        self._last = (pod, found, asked)
        return found, asked

    def _find(self, pod: PodFacts) -> tuple[TaskClass, Asked]:
        asked = self._ask(pod)
        wants = wants_of(pod)
        rest = (pod.affinity, pod.spread) if pod.affinity is not None or pod.spread else None
        key = (
            asked.demand.number, wants.key, pod.ports, pod.volume_fault,
            None if rest is None else (_encode(rest), pod.namespace),
        )  # fmt: skip
        found = self._by_key.get(key)
        if found is None:
            found = TaskClass(len(self.all), asked.demand, wants, _relations(pod))
            self._by_key[key] = found
            self.all.append(found)
            self.any_selects = self.any_selects or found.selects
            self.any_ports = self.any_ports or bool(found.ports)
        return found, asked

    def _ask(self, pod: PodFacts) -> Asked:
        key = (_flat(pod.containers), _flat(pod.init_containers), _items(pod.overhead))
        found = self._asked.get(key)
        if found is None:
            found = self._asked[key] = self._work_out(pod)
        return found

    def _work_out(self, pod: PodFacts) -> Asked:
        amounts = Amounts(self.axis)
        containers = [amounts.read(each.requests) for each in pod.containers]
        init = [amounts.read(each.requests) for each in pod.init_containers]
        overhead = amounts.read(pod.overhead)
        unset = [("cpu" not in each.requests, "memory" not in each.requests) for each in pod.containers]
        request = tasks.request_of(containers, init, overhead)
        scored = tasks.scored_of(containers, init, overhead, unset)
        return Asked(self._demand(request, scored), tuple(amounts.mistakes))

    def _demand(self, request: Resource, scored: tuple[int, int]) -> Demand:
        key = (tuple(request.values), request.named, scored)
        found = self._demands.get(key)
        if found is None:
            found = self._demands[key] = Demand(len(self._demands), request, scored)
        return found


def _alike(one: PodFacts, other: PodFacts) -> bool:
    """Whether two pods surely ask the same: they say the same. Pods that look at others are not compared."""
    return (
        one.affinity is None
        and other.affinity is None
        and not one.spread
        and not other.spread
        and one.containers == other.containers
        and one.init_containers == other.init_containers
        and one.overhead == other.overhead
        and one.node_selector == other.node_selector
        and one.tolerations == other.tolerations
        and one.ports == other.ports
        and one.volume_fault == other.volume_fault
    )


def _flat(containers: tuple[ContainerFacts, ...]) -> tuple[tuple[tuple[str, object], ...], ...]:
    return tuple(_items(each.requests) for each in containers)


def _items(quantities: Quantities | None) -> tuple[tuple[str, object], ...]:
    return tuple(sorted(quantities.items())) if quantities else ()


def _relations(pod: PodFacts) -> Relations:
    affinity = pod.affinity or Affinity()
    node = affinity.node_affinity or NodeAffinity()
    return Relations(
        preferred=tuple(node.preferred_during_scheduling_ignored_during_execution or ()),
        ports=pod.ports,
        affinity=affinity.pod_affinity,
        anti_affinity=affinity.pod_anti_affinity,
        spread=pod.spread,
        volume_fault=pod.volume_fault,
    )


_PLAIN: Final = matching.wants_of(PodSpec())


def wants_of(pod: PodFacts) -> Wants:
    """What the pod asks of a node's name, labels and taints."""
    if not pod.node_selector and not pod.tolerations and pod.affinity is None:
        return _PLAIN
    return matching.wants_of(
        PodSpec(
            node_selector=dict(pod.node_selector) or None,
            affinity=pod.affinity,
            tolerations=list(pod.tolerations) or None,
        )
    )


def labels_key(namespace: str, labels: Mapping[str, str]) -> tuple[str, frozenset[tuple[str, str]]]:
    """Equal for pods that no selector can tell apart."""
    return namespace, frozenset(labels.items())
