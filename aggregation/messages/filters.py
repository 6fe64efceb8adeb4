"""What the words of one filter mean: `Insufficient cpu`, `node(s) were unschedulable`, `CheckVolumeBinding`.

The schedulers of this world share these words, since most embed kube-scheduler's filters and copied its histogram of
them. Two decisions are settled here once: the taints that stand for a node that is not ready, and the affinity text
before 1.21 that does not say which affinity it was. The words at the end of the table are loose on purpose: they read
filters nobody has written down yet, within a frame that leaves no doubt that a filter is speaking.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

from aggregation.messages.message import Message, Said, said
from aggregation.messages.rules import ANY_CASE, Inner, first, resource_name, rule, says, silent
from pipeline.records import reasons

AMBIGUOUS_AFFINITY: Final = "ambiguous_affinity_or_anti_affinity"

PLUGINS: Final[dict[str, tuple[str, str | None]]] = {
    "NodeAffinity": ("node_affinity", None), "NodeName": ("node_affinity", "node_name"),
    "MatchNodeSelector": ("node_affinity", None), "HostName": ("node_affinity", "node_name"),
    "PodMatchNodeSelector": ("node_affinity", None), "NodeLabel": ("node_affinity", None),
    "CheckNodeLabelPresence": ("node_affinity", None), "CheckServiceAffinity": ("node_affinity", "service_affinity"),
    "TaintToleration": ("untolerated_taint", None), "PodToleratesNodeTaints": ("untolerated_taint", None),
    "PodToleratesNodeNoExecuteTaints": ("untolerated_taint", None),
    "NodeUnschedulable": ("node_unschedulable", None), "CheckNodeUnschedulable": ("node_unschedulable", None),
    "NodeNotReady": ("node_not_ready", None), "NodeUnknownCondition": ("node_not_ready", "unknown_condition"),
    "NodeNetworkUnavailable": ("node_not_ready", "network_unavailable"), "CheckNodeCondition": ("node_not_ready", None),
    "NodeOutOfDisk": ("node_not_ready", "out_of_disk"), "NodeUnderDiskPressure": ("node_not_ready", "disk_pressure"),
    "NodeUnderMemoryPressure": ("node_not_ready", "memory_pressure"),
    "NodeUnderPIDPressure": ("node_not_ready", "pid_pressure"),
    "CheckNodeMemoryPressure": ("node_not_ready", "memory_pressure"),
    "CheckNodeDiskPressure": ("node_not_ready", "disk_pressure"),
    "CheckNodePIDPressure": ("node_not_ready", "pid_pressure"),
    "NodeResourcesFit": ("insufficient_resource", None), "PodFitsResources": ("insufficient_resource", None),
    "GeneralPredicates": ("insufficient_resource", None),
    "NodePorts": ("port_conflict", None), "PodFitsHostPorts": ("port_conflict", None),
    "PodFitsPorts": ("port_conflict", None),
    "InterPodAffinity": ("pod_anti_affinity", AMBIGUOUS_AFFINITY),
    "MatchInterPodAffinity": ("pod_anti_affinity", AMBIGUOUS_AFFINITY),
    "PodAffinityRulesNotMatch": ("pod_affinity", None), "PodAntiAffinityRulesNotMatch": ("pod_anti_affinity", None),
    "ExistingPodsAntiAffinityRulesNotMatch": ("pod_anti_affinity", "existing_pods"),
    "PodTopologySpread": ("topology_spread", None), "EvenPodsSpread": ("topology_spread", None),
    "EvenPodsSpreadNotMatch": ("topology_spread", None),
    "NodeResourceTopologyMatch": ("topology", "numa"), "NUMAAware": ("topology", "numa"),
    "VolumeBinding": ("volume", None), "CheckVolumeBinding": ("volume", None), "VolumeZone": ("volume", None),
    "NoVolumeZoneConflict": ("volume", None), "NoVolumeNodeConflict": ("volume", None),
    "VolumeNodeAffinityConflict": ("volume", "node_affinity_conflict"), "VolumeBindingNoMatch": ("volume", None),
    "VolumeRestrictions": ("volume", None), "NoDiskConflict": ("volume", None),
    "NodeVolumeLimits": ("volume", "max_volume_count"), "MaxVolumeCount": ("volume", "max_volume_count"),
    "EBSLimits": ("volume", "max_volume_count"), "GCEPDLimits": ("volume", "max_volume_count"),
    "AzureDiskLimits": ("volume", "max_volume_count"), "CinderLimits": ("volume", "max_volume_count"),
    "MaxEBSVolumeCount": ("volume", "max_volume_count"), "MaxGCEPDVolumeCount": ("volume", "max_volume_count"),
    "MaxAzureDiskVolumeCount": ("volume", "max_volume_count"), "MaxCSIVolumeCountPred": ("volume", "max_volume_count"),
    "DynamicResources": ("dra", None), "Coscheduling": ("gang", None), "GangScheduling": ("gang", None),
    "CapacityScheduling": ("quota", None), "ElasticQuota": ("quota", None),
    "SchedulingGates": ("admission", "gated"), "NodeDeclaredFeatures": ("other", "node_declared_features"),
}  # fmt: skip
"""What it means that this plugin (or the predicate of before 1.18) refused."""

CARDS: Final[dict[str, tuple[str, str | None]]] = {
    "CardInsufficientMemory": ("insufficient_resource", "gpu-memory"),
    "CardInsufficientCore": ("insufficient_resource", "gpu-core"),
    "CardComputeUnitsExhausted": ("insufficient_resource", "gpu-core"),
    "CardTimeSlicingExhausted": ("insufficient_resource", "gpu"),
    "ExclusiveDeviceAllocateConflict": ("insufficient_resource", "gpu"),
    "NodeInsufficientDevice": ("insufficient_resource", "gpu"),
    "AllocatedCardsInsufficientRequest": ("insufficient_resource", "gpu"),
    "CardTypeMismatch": ("node_affinity", None), "CardUuidMismatch": ("node_affinity", None),
    "CardNotFoundCustomFilterRule": ("node_affinity", None), "NumaNotFit": ("topology", None),
    "CardNotHealth": ("node_not_ready", None), "ResourceQuotaNotFit": ("quota", None), "NodeUnfitPod": ("other", None),
}  # fmt: skip
"""HAMi's codes, which stand for words: category and resource. Its extender passes them on as reasons of nodes."""

_LOST_NODE = re.compile(r"node\.(?:alpha\.)?kubernetes\.io/(?:not-?ready|unreachable)$", ANY_CASE)
_IN_BRACES = re.compile(r"\{\s*(?P<key>[^\s:}=]+)(?::?\s+(?P<value>[^\s}]+))?")
_SPELLED = re.compile(
    r"(?<![\w./-])(?P<key>[\w./-]+)(?:=(?P<value>[\w.-]*))?:(?:NoSchedule|NoExecute|PreferNoSchedule)"
)
_QUOTED = re.compile(r"taint \"(?P<key>[\w./-]+)(?:=(?P<value>[\w.-]*))?")
_EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")


def taint(words: str) -> Said:
    """The reason of a taint, written `{key: value}`, `{key value effect}`, `key=value:effect` or not at all.

    A node that is not ready or out of reach is told by its taint too.
    """
    found = _IN_BRACES.search(words) or _SPELLED.search(words) or _QUOTED.search(words)
    if found is None:
        return said("untolerated_taint")
    key, value = found["key"], found["value"]
    category = "node_not_ready" if _LOST_NODE.match(key) else "untolerated_taint"
    return said(category, f"{key}={value}" if value and value not in _EFFECTS else key)


def _taint(match: re.Match[str], inner: Inner) -> Message:
    return Message(reasons=(taint(match.string),))


def _plugin(match: re.Match[str], inner: Inner) -> Message | None:
    """The plugin that refused, unless the words after it say more."""
    known = PLUGINS.get(match["plugin"])
    words = match.groupdict().get("words") or ""
    quoted = [reason for part in words.split(", ") if part for reason in meaning(part)]
    exact = [reason for reason in quoted if reason.category != "other" and reason.detail != AMBIGUOUS_AFFINITY]
    if exact:
        return Message(reasons=(exact[0],))
    if known is None:
        return Message(reasons=tuple(quoted[:1]) or (said("other", f"plugin={match['plugin']}"),))
    return Message(reasons=(said(known[0], known[1] or f"plugin={match['plugin']}"),))


def _reservation(match: re.Match[str], inner: Inner) -> Message:
    """Koordinator counts reservations that would have fitted as if they were nodes, and those that matched at all."""
    words = match["after"] or match["before"] or ""
    if "matched owner" in words.lower():
        return Message()
    return Message(
        reasons=tuple(
            msgspec.structs.replace(one, detail=f"reservation {one.detail or ''}".strip()) for one in meaning(words)
        )
    )


def _quotas(match: re.Match[str], inner: Inner) -> Message:
    over = re.search(r"exceedDimensions: \[([^\]]*)\]", match.string)
    names = re.split(r"[\s,]+", (over or match)[1].strip("[] "))
    quota = re.search(r"quotaName: ([^\s,]+)", match.string)
    detail = f"quota={quota[1]}" if quota else None
    return Message(reasons=tuple(said("quota", detail, resource_name(name)) for name in names))


def _code(match: re.Match[str], inner: Inner) -> Message | None:
    """A bare name: a plugin, a predicate of old, or one of HAMi's codes."""
    name = match["plugin"]
    if name in CARDS:
        category, resource = CARDS[name]
        return Message(reasons=(said(category, name, resource),))
    return _plugin(match, inner) if name in PLUGINS else None


def _pods(match: re.Match[str], inner: Inner) -> Message:
    return Message(reasons=(said("insufficient_resource", resource="pods"),))


RULES: Final = (
    rule(r"^[\s.…]*$", lambda match, inner: Message()),
    rule(r"^(?P<plugin>[A-Z][A-Za-z]+)$", _code),
    rule(r"^(?:node\(s\) )?didn't satisfy plugins?(?:\(s\))? \[?(?P<plugin>\w+)", _plugin),
    rule(r"^plugin (?P<plugin>\w+) predicates failed\s*(?P<words>.*)", _plugin),
    rule(r"Reservation\(s\) (?:for node reason that )?(?P<after>.+)|^(?P<before>.+) Reservation\(s\)$", _reservation),
    # Quota of a scheduler's own queues, told as a filter's reason.
    rule(r"insufficient quotas? \[+([^\]]*)\]", _quotas),
    rule(r"(?:ElasticQuota|\bquota) .*?(?:more than|exceed|at quota)|exceeds? (?:the )?(?:\w+ )?quota", says("quota")),
    rule(r"queue (?P<queue>\S+) is at quota", says("quota", "queue={queue}")),
    # An extended resource, whatever its name sounds like.
    rule(r"^insufficient (?P<resource>[a-z0-9][\w.-]*/[\w./-]+|[a-z0-9]+(?:-[a-z0-9]+)+)$",
         says("insufficient_resource")),
    # Volumes, before affinity: a volume has an affinity of its own.
    rule(r"volume node affinity conflict|PersistentVolume's node affinity", says("volume", "node_affinity_conflict")),
    rule(r"exceed max volume count|MaxVolumeCount|exceed volume limit", says("volume", "max_volume_count")),
    rule(r"enough free storage", says("volume", "free_storage")),
    rule(r"unbound (?:immediate )?PersistentVolumeClaims?", says("volume", "unbound_claims")),
    rule(r"didn't find available persistent volumes? to bind", says("volume", "no_volume_to_bind")),
    rule(r"no available volume zone", says("volume", "zone")),
    rule(r"bound to non-?existent", says("volume", "bound_to_missing")),
    rule(r"no available disk|ReadWriteOncePod", says("volume", "in_use")),
    rule(r"persistentvolumeclaim \"?[^\"]*\"? not found", says("volume", "claim_not_found")),
    rule(r"persistentvolumeclaim \"?[^\"]*\"? is being deleted", says("volume", "claim_deleted")),
    rule(r"persistent ?volume|\bPVCs?\b|\bPVs?\b|volume|storage ?class|\bCSI\b", says("volume")),
    # Dynamic resource allocation.
    rule(r"cannot allocate all claims", says("dra", "cannot_allocate")),
    rule(r"timed out trying to allocate devices", says("dra", "timed_out")),
    rule(r"resource ?claims?\b|device class|resource ?slice|extended resource claim|cannot fit resource|"
         r"dynamic ?resource|\bDRA\b|allocation of claim", says("dra")),
    # Resources.
    rule(r"too many pods|pod number exceeded", _pods),
    rule(r"resource fit failed|exceeds? node resources|overhead resources", says("insufficient_resource")),
    rule(r"(?:did ?n[o']t|does ?n[o']t) have enough (?:free )?(?:resources?|capacity|of mig profile): "
         r"(?P<resource>[\w./-]+(?: (?:memory|cores)\b)?)", says("insufficient_resource")),
    rule(r"^insufficient (?:amplified |free |available |allocatable )?(?P<resource>GPU memory|[\w.-]+(?:/[\w./-]+)?)",
         says("insufficient_resource")),
    rule(r"(?:\b(?:not|no)|n't have) enough (?P<resource>(?:GPU memory|CPU cores|[\w./-]+))", says("insufficient_resource")),
    # Node selection.
    rule(r"declared features", says("other", "node_declared_features")),
    rule(r"untolerated taint|had taints?\b|did not tolerate|doesn't tolerate|didn't tolerate|not tolerate", _taint),
    rule(r"topology spread", says("topology_spread")),
    rule(r"unschedulable due to topology", says("topology_spread")),
    rule(r"existing pods'? anti-affinity", says("pod_anti_affinity", "existing_pods")),
    rule(r"pod affinity ?/ ?anti-affinity", says("pod_anti_affinity", AMBIGUOUS_AFFINITY)),
    rule(r"anti-?affinity", says("pod_anti_affinity")),
    rule(r"pod affinity|inter-?pod affinity", says("pod_affinity")),
    rule(r"requested (?:node ?name|hostname)", says("node_affinity", "node_name")),
    rule(r"node affinity|selector|enforced node", says("node_affinity")),
    rule(r"free ports?|host ?ports?|port conflict", says("port_conflict")),
    rule(r"(?:were|was|is|are|be) ?unschedulable|cordoned|scheduling disabled", says("node_unschedulable")),
    rule(r"unknown conditions?", says("node_not_ready", "unknown_condition")),
    rule(r"unavailable network|network ?unavailable", says("node_not_ready", "network_unavailable")),
    rule(r"out of disk", says("node_not_ready", "out_of_disk")),
    rule(r"(?P<kind>memory|disk|pid) ?pressure", says("node_not_ready", "{kind}_pressure")),
    rule(r"no feasible placements? found", says("topology", "no_placement")),
    # A gang's own filter.
    rule(r"sibling pods|minMember|min member|\bgang\b|pod ?group|minCount|minReservedPods", says("gang")),
    rule(r"node shard", says("other", "scheduler_shard")),
    rule(r"\bpredicates? failed\b", says("other", "predicate_failed")),
    rule(r"pod is not ready for scheduling", says("queue", "queued", reasons.SCHEDULER_BACKLOG)),
    rule(r"scheduling gates", says("admission", "gated", reason_detail="gated")),
    # Loose words: filters not written down here.
    rule(r"node\w*(?:\(s\))? .*not ready|unreachable|out of sync|unhealthy", says("node_not_ready")),
    rule(r"\btaint|tolerat", _taint),
    rule(r"numa|topology|hypernode|cannot align", says("topology")),
    rule(r"affinity", says("node_affinity")),
    rule(r"exceeds? (?:the )?limits?|over ?quota|quota", says("quota")),
    rule(r"(?:insufficient|not enough|lack of|exhausted)\s*(?P<resource>[\w.-]+/[\w./-]+)?",
         says("insufficient_resource")),
)  # fmt: skip


_SENTENCES: Final = (
    "node(s) were unschedulable", "node(s) had untolerated taint(s)", "node(s) had taints that the pod didn't tolerate",
    "node(s) didn't match Pod's node affinity/selector", "node(s) didn't match node selector",
    "node(s) didn't match the requested node name", "node(s) didn't have free ports for the requested pod ports",
    "node(s) didn't match pod topology spread constraints", "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules", "node(s) didn't satisfy existing pods anti-affinity rules",
    "node(s) had volume node affinity conflict", "node(s) didn't match PersistentVolume's node affinity",
    "node(s) didn't find available persistent volumes to bind", "node(s) exceed max volume count",
    "node(s) had no available volume zone", "node(s) did not have enough free storage", "Too many pods",
    "cannot allocate all claims", "resourceclaim not available on the node",
)  # fmt: skip
"""What is said of nodes so often that its beginning is enough."""


def completed(beginning: str) -> tuple[Said, ...]:
    """The reasons of words that were cut, if only filters of one category begin so; else none."""
    whole = [sentence for sentence in _SENTENCES if sentence.startswith(beginning)]
    found = {one.category: (one,) for sentence in whole for one in meaning(sentence)}
    return next(iter(found.values())) if len(found) == 1 else ()


@lru_cache(maxsize=8192)
def meaning(words: str) -> tuple[Said, ...]:
    """The reasons (nearly always one) that a filter's words name, without counts; `other` for words not known."""
    bare = words.strip(" .,;:\n\t")
    found = first(RULES, bare, silent)
    if found is None:
        return (said("other", bare[:120]),)
    return found.reasons
