"""Which nodes a pod may use, and what stands in the way: once for the collector's facts and for the scheduler.

The rules are the scheduler's own (Kubernetes' component helpers): terms of a node selector are alternatives, the
requirements of a term all hold; a term without requirements matches nothing; `NotIn` holds where the key is absent.

A node that is wanted may still be closed. Rule P1 counts it once, by its hardest obstacle: a taint that the pod does
not tolerate, then a cordon, then a node that is not ready. The scheduler itself knows only taints: a cordon is the
taint `node.kubernetes.io/unschedulable`, a lost node `node.kubernetes.io/not-ready` or `unreachable`. The node's own
fields (`spec.unschedulable`, the condition Ready) may be ahead of those taints, so each is read as the taint it stands
for, and a toleration undoes both alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal

import msgspec

from pipeline.records.shapes.node import Node
from pipeline.records.shapes.pod import LabelExpression, LabelSelector, NodeSelectorTerm, PodSpec, Toleration

Obstacle = Literal["tainted", "unschedulable", "not_ready"]

UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
UNSCHEDULABLE_TAINT: Final = (UNSCHEDULABLE, "", "NoSchedule")
"""What a cordon stands for."""
NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"
"""The label with its name, which every namespace has."""
_NAME_FIELD: Final = "metadata.name"
_HARD_EFFECTS: Final = frozenset({"NoSchedule", "NoExecute"})
_KIND_OF_TAINT: Final[Mapping[str, Obstacle]] = {
    UNSCHEDULABLE: "unschedulable",
    NOT_READY: "not_ready",
    UNREACHABLE: "not_ready",
}
_NO_LABELS: Final[Mapping[str, str]] = {}
_LEAST, _MOST = -(2**63), 2**63 - 1
"""Gt and Lt compare integers of 64 bits; what is more is no number to them."""
_INTEGER: Final = re.compile(r"[+-]?\d+\Z", re.ASCII)


class Traits(msgspec.Struct, frozen=True, gc=False):
    """What matching looks at of a node; `taints` are only those that keep pods away, implied ones included."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[tuple[str, str, str], ...]
    """(key, value, effect)."""


class Wants(msgspec.Struct, frozen=True, gc=False):
    """What a pod asks of a node. Pods with equal wants are one class: `key` is equal exactly then."""

    key: bytes
    node_selector: Mapping[str, str]
    terms: tuple[NodeSelectorTerm, ...] | None
    """Alternatives of the required node affinity; None: no such affinity."""
    node_name: str
    tolerations: tuple[Toleration, ...]


def traits_of(node: Node) -> Traits:
    """A node as matching sees it."""
    taints = [(t.key, t.value or "", t.effect) for t in node.spec.taints or () if t.effect in _HARD_EFFECTS]
    if node.spec.unschedulable:
        _imply(taints, UNSCHEDULABLE, "NoSchedule")
    if node.ready != "True":
        _imply(taints, UNREACHABLE if node.ready == "Unknown" else NOT_READY, "NoSchedule")
    return Traits(node.metadata.name, node.metadata.labels or _NO_LABELS, tuple(taints))


def _imply(taints: list[tuple[str, str, str]], key: str, effect: str) -> None:
    if (key, "", effect) not in taints:
        taints.append((key, "", effect))


def wants_of(spec: PodSpec) -> Wants:
    """What a pod asks of a node; equal specifications give the very same object as long as it is remembered."""
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    key = _encode((spec.node_selector, required, spec.node_name, spec.tolerations))
    return _wants(key)


_encode = msgspec.json.Encoder(order="sorted").encode


class _Key(msgspec.Struct, array_like=True):
    node_selector: dict[str, str] | None
    required: _Required | None
    node_name: str | None
    tolerations: list[Toleration] | None


class _Required(msgspec.Struct, rename="camel"):
    node_selector_terms: list[NodeSelectorTerm] | None = None


_decode = msgspec.json.Decoder(_Key).decode


@lru_cache(maxsize=4096)
def _wants(key: bytes) -> Wants:
    found = _decode(key)
    required = found.required
    return Wants(
        key=key,
        node_selector=found.node_selector or _NO_LABELS,
        terms=None if required is None else tuple(required.node_selector_terms or ()),
        node_name=found.node_name or "",
        tolerations=tuple(found.tolerations or ()),
    )


def names_wanted(wants: Wants) -> frozenset[str] | None:
    """The only nodes that can match, if the pod asks for nodes by name (as pods of a DaemonSet do); None: any may."""
    if wants.node_name:
        return frozenset({wants.node_name})
    if not wants.terms:
        return None if wants.terms is None else frozenset()
    names: set[str] = set()
    for term in wants.terms:
        named = [field for field in term.match_fields or () if field.key == _NAME_FIELD and field.operator == "In"]
        if not named:
            return None
        names.update(named[0].values or ())
    return frozenset(names)


def wanted(wants: Wants, node: Traits) -> bool:
    """Whether the node matches node name, node selector and required node affinity. Taints are not looked at."""
    if wants.node_name and wants.node_name != node.name:
        return False
    labels = node.labels
    for key, value in wants.node_selector.items():
        if labels.get(key) != value:
            return False
    return wants.terms is None or any(term_matches(term, node.name, labels) for term in wants.terms)


def obstacle(node: Traits, tolerations: Sequence[Toleration]) -> Obstacle | None:
    """The hardest thing that keeps a pod with these tolerations off the node; None if nothing does (rule P1)."""
    hardest: Obstacle | None = None
    for key, value, effect in node.taints:
        if any(tolerates(toleration, key, value, effect) for toleration in tolerations):
            continue
        kind = _KIND_OF_TAINT.get(key, "tainted")
        if kind == "tainted":
            return kind
        if hardest is None or kind == "unschedulable":
            hardest = kind
    return hardest


def untolerated(node: Traits, tolerations: Sequence[Toleration]) -> tuple[tuple[str, str, str], ...]:
    """All taints (key, value, effect) of the node that keep a pod with these tolerations away."""
    return tuple(taint for taint in node.taints if not any(tolerates(each, *taint) for each in tolerations))


def tolerates(toleration: Toleration, key: str, value: str, effect: str) -> bool:
    """Whether a toleration covers a taint: no effect covers all, no key with Exists covers all, Equal is the default."""
    if toleration.effect and toleration.effect != effect:
        return False
    if toleration.key and toleration.key != key:
        return False
    operator = toleration.operator or "Equal"
    if operator == "Exists":
        return True
    return operator == "Equal" and (toleration.value or "") == value


def term_matches(term: NodeSelectorTerm, name: str, labels: Mapping[str, str]) -> bool:
    """Whether a node satisfies all requirements of a term; a term without any matches nothing."""
    if not term.match_expressions and not term.match_fields:
        return False
    for expression in term.match_expressions or ():
        if not requirement_holds(expression, labels):
            return False
    return all(_field_holds(field, name) for field in term.match_fields or ())


def requirement_holds(expression: LabelExpression, labels: Mapping[str, str]) -> bool:
    """One requirement of a node selector: In, NotIn, Exists, DoesNotExist, Gt, Lt. An unknown operator never holds."""
    value = labels.get(expression.key)
    operator, values = expression.operator, expression.values or ()
    if operator == "In":
        return value is not None and value in values
    if operator == "NotIn":
        return value is None or value not in values
    if operator == "Exists":
        return value is not None
    if operator == "DoesNotExist":
        return value is None
    return operator in ("Gt", "Lt") and _compares(operator, value, values)


def _compares(operator: str, value: str | None, values: Sequence[str]) -> bool:
    if value is None or len(values) != 1 or not (_INTEGER.match(value) and _INTEGER.match(values[0])):
        return False
    left, right = int(value), int(values[0])
    if not (_LEAST <= left <= _MOST and _LEAST <= right <= _MOST):
        return False
    return left > right if operator == "Gt" else left < right


def _field_holds(field: LabelExpression, name: str) -> bool:
    """Only the name of a node can be asked for, one value at a time, with In or NotIn."""
    values = field.values or ()
    if field.key != _NAME_FIELD or len(values) != 1:
        return False
    if field.operator == "In":
        return name == values[0]
    return field.operator == "NotIn" and name != values[0]


def labels_match(selector: LabelSelector | None, labels: Mapping[str, str] | None) -> bool:
    """Whether labels satisfy a label selector (spread, pod affinity): None matches nothing, an empty one everything."""
    if selector is None:
        return False
    held = labels or _NO_LABELS
    for key, value in (selector.match_labels or _NO_LABELS).items():
        if held.get(key) != value:
            return False
    return all(_label_requirement(expression, held) for expression in selector.match_expressions or ())


def _label_requirement(expression: LabelExpression, labels: Mapping[str, str]) -> bool:
    """Label selectors know no Gt and Lt."""
    return expression.operator not in ("Gt", "Lt") and requirement_holds(expression, labels)
