"""Karpenter: why no node pool could make a node for the pod, one sentence a pool, joined by `; `.

A sentence about instance types tells which of three conditions no type met; where resources are among them the pod
asks for more than a node gives, else the pool's or the pod's requirements leave nothing.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from aggregation.messages import filters
from aggregation.messages.message import Message, Said, said
from aggregation.messages.rules import ANY_CASE, Inner, first, rule, says, silent

_SENTENCES = re.compile(
    r";\s+(?=incompatible |all available|no instance|did not|unsatisfiable|checking|label|minValues|nodepool|pod )",
    ANY_CASE,
)
_HEADING = re.compile(r"incompatible with (?P<kind>\w+) \"(?P<name>[^\"]*)\"", ANY_CASE)
_LIMITED = re.compile(r"exceed limits for (?P<kind>\w+):? \"(?P<name>[^\"]*)\"", ANY_CASE)
_TAGGED = re.compile(r"(?P<kind>NodePool)=\"?(?P<name>[\w.-]+)")


def _taint(match: re.Match[str], inner: Inner) -> Message:
    return Message(reasons=(filters.taint(match["taint"]),))


def _instance_types(match: re.Match[str], inner: Inner) -> Message:
    verdict = re.search(r"\((no instance type[^)]*)\)", match.string, ANY_CASE)
    words = verdict[1] if verdict else match["words"].split(", requirements=")[0]
    if re.search(r"\bresources\b", words):
        return Message(reasons=(said("insufficient_resource", "no_instance_type"),))
    return Message(reasons=(said("node_affinity", "no_offering"),))


_POOL_RULES: Final = (
    rule(r"did not tolerate (?:taint \(taint=)?(?P<taint>.*)", _taint),
    rule(r"unsatisfiable topology constraint for pod anti-affinity", says("pod_anti_affinity")),
    rule(r"unsatisfiable topology constraint for pod affinity", says("pod_affinity")),
    rule(r"unsatisfiable topology constraint", says("topology_spread")),
    rule(r"label \"(?P<label>[^\"]*)\" does not have known values", says("node_affinity", "label={label}")),
    rule(r"incompatible requirements|requirements filtered out|minValues",
         says("node_affinity", "nodepool_requirements")),
    rule(r"no instance types? (?P<words>.*)", _instance_types),
    rule(r"exceeds? limits|exceeded.*limits", says("quota", "limits")),
    rule(r"checking host ?port|hostport conflicts", says("port_conflict")),
    rule(r"checking volume|volume limit|persistentvolume|\bpvc\b", says("volume")),
    rule(r"Dynamic Resource Allocation", says("dra", "unsupported")),
    rule(r"exceeds node resources", says("insufficient_resource")),
    rule(r"could not be reserved|reserved offering", says("insufficient_resource", "reserved_offering")),
    rule(r"no nodepools? found", says("other", "no_nodepool")),
)  # fmt: skip


def _pools(match: re.Match[str], inner: Inner) -> Message | None:
    """One reason a pool: where pools have headings, further taints without one belong to the pool before."""
    sentences = _SENTENCES.split(match["pools"])
    if any(_HEADING.match(sentence) for sentence in sentences):
        sentences = [sentence for sentence in sentences if not sentence.lower().startswith("did not tolerate")]
    named = [one for sentence in sentences for one in _sentence(sentence)]
    return Message(reasons=tuple(named)) if named else None


def _sentence(sentence: str) -> list[Said]:
    found = first(_POOL_RULES, sentence, silent)
    if found is None:
        return []
    pool = _HEADING.search(sentence) or _LIMITED.search(sentence) or _TAGGED.search(sentence)
    if pool is None:
        return list(found.reasons)
    where = f"{pool['kind'].lower()}={pool['name']}"
    return [msgspec.structs.replace(one, detail=f"{where} {one.detail or ''}".strip()) for one in found.reasons]


RULES: Final = (
    rule(r"(?:Failed to|Could not) schedule pod, (?P<pools>.*)", _pools),
    rule(r"(?P<pools>(?:incompatible with (?:nodepool|provisioner)|no instance types? |"
         r"all available instance types exceed|NodePool requirements filtered|unsatisfiable topology constraint|"
         r"no nodepools? found|pod has Dynamic Resource).*)", _pools),
    rule(r"^Pod should schedule on: ", says("other", "progress", no_evidence=True)),
)  # fmt: skip
