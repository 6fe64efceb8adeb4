"""Terms about other pods, said in words that need nothing else: label keys as values, namespaces by name.

The API server writes `matchLabelKeys` and `mismatchLabelKeys` of a new pod into its label selectors; one that does not yet
leaves that to schedulers. Which namespaces a `namespaceSelector` means depends on namespaces that are not the pod's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from pipeline.records import matching
from pipeline.records.shapes.pod import Affinity, LabelExpression, LabelSelector, PodAffinity, PodAffinityTerm

_NONE = LabelSelector(match_labels={matching.NAMESPACE_NAME: ""})


def own_labels(affinity: Affinity | None, labels: Mapping[str, str]) -> Affinity | None:
    """The same with `mismatchLabelKeys` as a requirement: not the pod's own value. A key that it has not asks nothing."""
    if affinity is None or not any(term.mismatch_label_keys for term in _terms(affinity)):
        return affinity
    return _changed(affinity, lambda term: _apart_from_own(term, labels))


def _apart_from_own(term: PodAffinityTerm, labels: Mapping[str, str]) -> PodAffinityTerm:
    selector = term.label_selector
    keys = [key for key in term.mismatch_label_keys or () if key in labels]
    if selector is None or not keys:
        return term
    there = selector.match_expressions or []
    asked = [LabelExpression(key=key, operator="NotIn", values=[labels[key]]) for key in keys]
    more = [each for each in asked if each not in there]
    changed = msgspec.structs.replace(selector, match_expressions=[*there, *more])
    return msgspec.structs.replace(term, label_selector=changed, mismatch_label_keys=None)


def selects_namespaces(affinity: Affinity | None) -> bool:
    """Whether a term means namespaces by their labels."""
    return affinity is not None and any(_selects(term) for term in _terms(affinity))


def in_namespaces(affinity: Affinity | None, namespaces: Mapping[str, Mapping[str, str]]) -> Affinity | None:
    """The same with the names of the namespaces that are meant; unchanged where none is known (they are not watched)."""
    if affinity is None or not namespaces:
        return affinity
    return _changed(affinity, lambda term: _named(term, namespaces))


def _named(term: PodAffinityTerm, namespaces: Mapping[str, Mapping[str, str]]) -> PodAffinityTerm:
    if not _selects(term):
        return term
    meant = {
        name
        for name, labels in namespaces.items()
        if matching.labels_match(term.namespace_selector, {**labels, matching.NAMESPACE_NAME: name})
    }
    names = sorted({*(term.namespaces or ()), *meant})
    return msgspec.structs.replace(term, namespaces=names, namespace_selector=None if names else _NONE)


def _selects(term: PodAffinityTerm) -> bool:
    """An empty selector means all namespaces, whichever there are."""
    selector = term.namespace_selector
    return selector is not None and bool(selector.match_labels or selector.match_expressions)


def _terms(affinity: Affinity) -> Iterator[PodAffinityTerm]:
    for each in (affinity.pod_affinity, affinity.pod_anti_affinity):
        if each is not None:
            yield from each.required_during_scheduling_ignored_during_execution or ()
            for weighted in each.preferred_during_scheduling_ignored_during_execution or ():
                if weighted.pod_affinity_term is not None:
                    yield weighted.pod_affinity_term


def _changed(affinity: Affinity, change: Callable[[PodAffinityTerm], PodAffinityTerm]) -> Affinity:
    return msgspec.structs.replace(
        affinity,
        pod_affinity=_changed_side(affinity.pod_affinity, change),
        pod_anti_affinity=_changed_side(affinity.pod_anti_affinity, change),
    )


def _changed_side(side: PodAffinity | None, change: Callable[[PodAffinityTerm], PodAffinityTerm]) -> PodAffinity | None:
    if side is None:
        return None
    required = side.required_during_scheduling_ignored_during_execution
    preferred = side.preferred_during_scheduling_ignored_during_execution
    return msgspec.structs.replace(
        side,
        required_during_scheduling_ignored_during_execution=None if required is None else [change(each) for each in required],
        preferred_during_scheduling_ignored_during_execution=None if preferred is None else [
            msgspec.structs.replace(each, pod_affinity_term=change(each.pod_affinity_term)) if each.pod_affinity_term else each
            for each in preferred
        ],
    )  # fmt: skip
