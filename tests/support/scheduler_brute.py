"""A second opinion on every refusal: each node asked every question, one after the other, from the facts alone.

Plain loops over dictionaries and text. Nothing is kept, shared, counted ahead or imported from the scheduler; rules were
written down anew from Kubernetes' and Volcano's. It is told where pods are at a moment and says, node by node, which
checks a pod fails there: (name, reason, which of the checks of that name).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Any, NamedTuple

HOLDS, LEAVES, PROMISED = "holds", "leaves", "promised"
Places = Mapping[str, tuple[str, str]]
"""By pod uid: the node, and how the pod is there."""
Failed = tuple[str, str, str]

_UNITS = {"n": "1e-9", "u": "1e-6", "m": "1e-3", "k": "1e3", "M": "1e6", "G": "1e9", "T": "1e12"} | {
    unit: str(2**power) for unit, power in (("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40))
}


class Alone(NamedTuple):
    """A check that is all that keeps some nodes shut: how many, the least of a resource that is missing, and where."""

    nodes: int
    short: int
    nearest: frozenset[str]


class Brute:
    """The cluster of some facts."""

    def __init__(self, facts: Any) -> None:
        self.nodes = {node.name: node for node in facts.nodes}
        self.pods = {pod.uid: pod for pod in facts.pods}

    def at_opening(self) -> dict[str, tuple[str, str]]:
        """Where pods are before anything is decided."""
        found = {}
        for pod in self.pods.values():
            if pod.node in self.nodes and pod.phase in ("Pending", "Running"):
                found[pod.uid] = (pod.node, LEAVES if pod.deleting else HOLDS)
        return found

    def failures(self, uid: str, places: Places) -> dict[str, frozenset[Failed]]:
        """By node, the checks that this pod fails there."""
        pod = self.pods[uid]
        return {name: frozenset(self._failed(pod, node, places)) for name, node in self.nodes.items()}

    def missing(self, uid: str, name: str, resource: str, places: Places) -> int:
        """How much more of a resource would have to be free on a node; below zero if enough is."""
        free = amount(resource, self.nodes[name].allocatable.get(resource, 0))
        for other, (where, how) in places.items():
            if where == name and how != LEAVES:
                free -= asked(self.pods[other]).get(resource, 0)
        return asked(self.pods[uid]).get(resource, 0) - free

    def alone(self, uid: str, places: Places) -> dict[Failed, Alone]:
        """Checks that are the only one that some nodes fail."""
        by_check: dict[Failed, dict[str, int]] = {}
        for name, failed in self.failures(uid, places).items():
            obstacles = each_once(failed)
            if len(obstacles) == 1:
                (check,) = obstacles
                resource = check[0].partition("/")[2] if check[0].startswith("NodeResourcesFit/") else ""
                short = self.missing(uid, name, resource, places) if resource else 0
                by_check.setdefault(check, {})[name] = short
        return {
            check: Alone(
                len(nodes), min(nodes.values()), frozenset(n for n in nodes if nodes[n] == min(nodes.values()))
            )
            for check, every in by_check.items()
            for nodes in (self._able(uid, check[0], every),)
        }

    def _able(self, uid: str, check: str, short: dict[str, int]) -> dict[str, int]:
        """Of nodes that lack a resource those that have enough in all; all if none has."""
        resource = check.partition("/")[2]
        least = asked(self.pods[uid]).get(resource, 0)
        able = {
            name: much for name, much in short.items()
            if not resource or amount(resource, self.nodes[name].allocatable.get(resource, 0)) >= least
        }  # fmt: skip
        return able or short

    # one node

    def _failed(self, pod: Any, node: Any, places: Places) -> Iterator[Failed]:
        for resource in {"cpu", "memory", *asked(pod)} if asks_anything(pod) else ():
            if self.missing(pod.uid, node.name, resource, places) > 0:
                yield f"NodeResourcesFit/{resource}", "insufficient_resource", ""
        here = [self.pods[uid] for uid, (where, _) in places.items() if where == node.name]
        if len(here) >= amount("pods", node.allocatable.get("pods", 0)):
            yield "NodePodNumber", "insufficient_resource", ""
        if not node.ready:
            yield "NodeNotReady", "node_not_ready", ""
        if node.unschedulable and not tolerates(pod, ("node.kubernetes.io/unschedulable", "", "NoSchedule")):
            yield "NodeUnschedulable", "node_unschedulable", ""
        if not wants(pod, node):
            yield "NodeAffinity", "node_affinity", ""
        taints = [
            taint for taint in node.taints if taint[2] in ("NoSchedule", "NoExecute") and not repeats(node, taint)
        ]
        if any(not tolerates(pod, taint) for taint in taints):
            yield "TaintToleration", "untolerated_taint", ""
        if any(collide(mine, theirs) for other in here for mine in pod.ports for theirs in other.ports):
            yield "NodePorts", "port_conflict", ""
        yield from self._beside(pod, node, places)
        yield from self._spread(pod, node, places)

    def _beside(self, pod: Any, node: Any, places: Places) -> Iterator[Failed]:
        near = _terms(pod, "pod_affinity")
        if near and not self._near(pod, node, near, places):
            yield "InterPodAffinity", "pod_affinity", "near"
        for uid, (where, _) in places.items():
            other = self.pods[uid]
            for one, means, which in ((pod, other, "away"), (other, pod, "kept")):
                for term in _terms(one, "pod_anti_affinity"):
                    mine, theirs = node.labels.get(term.topology_key), self.nodes[where].labels.get(term.topology_key)
                    if mine is not None and mine == theirs and _term_means(term, one, means):
                        yield "InterPodAffinity", "pod_anti_affinity", which

    def _near(self, pod: Any, node: Any, terms: list[Any], places: Places) -> bool:
        """Pods that match every term count for each of them; the first of a series may start anywhere with the labels."""
        friends = [
            self.nodes[where] for uid, (where, _) in places.items()
            if all(_term_means(term, pod, self.pods[uid]) for term in terms)
        ]  # fmt: skip
        keys = [term.topology_key for term in terms]
        if any(key not in node.labels for key in keys):
            return False
        if all(any(friend.labels.get(key) == node.labels[key] for friend in friends) for key in keys):
            return True
        alone = not any(key in friend.labels for friend in friends for key in keys)
        return alone and all(_term_means(term, pod, pod) for term in terms)

    def _spread(self, pod: Any, node: Any, places: Places) -> Iterator[Failed]:
        hard = [each for each in pod.spread if each.when_unsatisfiable == "DoNotSchedule"]
        for rule in hard:
            key = rule.topology_key
            if key not in node.labels:
                yield "PodTopologySpread", "topology_spread", "no domain"
                continue
            counts: dict[str, int] = {}
            for other in self.nodes.values():
                if (
                    other.ready
                    and all(each.topology_key in other.labels for each in hard)
                    and _counts(pod, rule, other)
                ):
                    counts.setdefault(other.labels[key], 0)
                    counts[other.labels[key]] += sum(
                        where == other.name and how != LEAVES and self.pods[uid].namespace == pod.namespace
                        and labels_match(rule.label_selector, self.pods[uid].labels)
                        for uid, (where, how) in places.items()
                    )  # fmt: skip
            least = min(counts.values(), default=0)
            if rule.min_domains and len(counts) < rule.min_domains:
                least = 0
            here = counts.get(node.labels[key], 0) + labels_match(rule.label_selector, pod.labels)
            if here - least > rule.max_skew:
                yield "PodTopologySpread", "topology_spread", "skew"


def each_once(failed: frozenset[Failed]) -> frozenset[Failed]:
    """Without the want of a pod's place where the number of pods says the same."""
    names = {name for name, _, _ in failed}
    return frozenset(each for each in failed if each[0] != "NodeResourcesFit/pods" or "NodePodNumber" not in names)


def by_sets(failures: Mapping[str, frozenset[Failed]]) -> Counter[tuple[str, ...]]:
    """Nodes by the names of the checks they fail, sorted; a name stands as often as checks of it fail."""
    return Counter(tuple(sorted(name for name, _, _ in failed)) for failed in failures.values())


def by_reason(failures: Mapping[str, frozenset[Failed]]) -> Counter[str]:
    """Nodes for which each reason holds."""
    return Counter(reason for failed in failures.values() for reason in {reason for _, reason, _ in failed})


def by_resource(failures: Mapping[str, frozenset[Failed]]) -> Counter[str]:
    """Nodes that lack each resource."""
    return Counter(
        name.partition("/")[2]
        for failed in failures.values()
        for name, _, _ in failed
        if name.startswith("NodeResources")
    )


# amounts


def asked(pod: Any) -> dict[str, int]:
    """A pod's request: its containers together, or its largest init container, and the overhead; and one pod."""
    total: dict[str, int] = {}
    for container in pod.containers:
        for name, value in container.requests.items():
            total[name] = total.get(name, 0) + amount(name, value)
    for container in pod.init_containers:
        for name, value in container.requests.items():
            total[name] = max(total.get(name, 0), amount(name, value))
    for name, value in (pod.overhead or {}).items():
        total[name] = total.get(name, 0) + amount(name, value)
    return total | {"pods": 1}


def asks_anything(pod: Any) -> bool:
    """Whether room is compared at all: a pod that asks for nothing is put wherever the other checks allow."""
    return any(value for name, value in asked(pod).items() if name != "pods")


def amount(name: str, value: object) -> int:
    """Bytes and pods whole, everything else in thousandths; rounded up."""
    text = str(value)
    number, unit = text.rstrip("numkMGTi"), text[len(text.rstrip("numkMGTi")) :]
    exact = Decimal(number) * Decimal(_UNITS[unit] if unit else 1) * (1 if name in ("memory", "pods") else 1000)
    return int(exact.to_integral_value(ROUND_CEILING))


# labels, taints, ports


def repeats(node: Any, taint: tuple[str, str, str]) -> bool:
    """Whether a taint only says again that the node is cordoned or not ready."""
    lost = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    cordon = ("node.kubernetes.io/unschedulable", "", "NoSchedule")
    return (not node.ready and taint[0] in lost) or (node.unschedulable and taint == cordon)


def tolerates(pod: Any, taint: tuple[str, str, str]) -> bool:
    key, value, effect = taint
    for each in pod.tolerations:
        covers = each.operator == "Exists" or (each.value or "") == value
        if (not each.effect or each.effect == effect) and (not each.key or each.key == key) and covers:
            return True
    return False


def wants(pod: Any, node: Any) -> bool:
    """Node selector and required node affinity: one of the terms, all of its requirements; an empty term is no term."""
    if any(node.labels.get(key) != value for key, value in pod.node_selector.items()):
        return False
    affinity = pod.affinity.node_affinity if pod.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    if required is None:
        return True
    for term in required.node_selector_terms or []:
        fields = [(each, {"metadata.name": node.name}) for each in term.match_fields or []]
        asks = [(each, node.labels) for each in term.match_expressions or []] + fields
        if asks and all(requirement(each, labels) for each, labels in asks):
            return True
    return False


def requirement(expression: Any, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(expression.key), expression.values or []
    match expression.operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return value is not None and value.isdigit() and int(value) > int(values[0])
        case "Lt":
            return value is not None and value.isdigit() and int(value) < int(values[0])
    return False


def labels_match(selector: Any, labels: Mapping[str, str]) -> bool:
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in (selector.match_labels or {}).items()):
        return False
    return all(requirement(each, labels) for each in selector.match_expressions or [])


def collide(one: tuple[str, int, str], other: tuple[str, int, str]) -> bool:
    """Host ports (protocol, port, address): no address means every one."""
    if one[0] != other[0] or one[1] != other[1]:
        return False
    return "" in (one[2], other[2]) or "0.0.0.0" in (one[2], other[2]) or one[2] == other[2]


def _terms(pod: Any, kind: str) -> list[Any]:
    found = getattr(pod.affinity, kind) if pod.affinity else None
    return (found.required_during_scheduling_ignored_during_execution or []) if found else []


def _term_means(term: Any, carrier: Any, other: Any) -> bool:
    """Whether a term means a pod; without namespaces those of the carrier's namespace."""
    return other.namespace in (term.namespaces or [carrier.namespace]) and labels_match(
        term.label_selector, other.labels
    )


def _counts(pod: Any, rule: Any, node: Any) -> bool:
    """Whether pods on a node count for a spread: what the pod wants, unless told otherwise; what it tolerates, if told so."""
    if rule.node_affinity_policy != "Ignore" and not wants(pod, node):
        return False
    hard = [taint for taint in node.taints if taint[2] in ("NoSchedule", "NoExecute")]
    return rule.node_taints_policy != "Honor" or all(tolerates(pod, taint) for taint in hard)
