"""Kueue: conditions of a Workload and events on it, from 0.2 to 0.17.

One text names the reasons of several flavors and pod sets, joined by commas that also stand inside a reason: so it is
searched for reasons, not cut. `> maximum capacity` says that the flavor can never hold the request; the job never fits
only if that holds for every flavor of one of its resources. The text of a preemption stands on as the reason why the
workload is not admitted now, so it is evidence, unlike the event on a pod that was a victim.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from aggregation.messages import filters
from aggregation.messages.message import Message, Said, said
from aggregation.messages.rules import ANY_CASE, Inner, count, resource_name, rule, says
from pipeline.records import reasons

_POD_SET = re.compile(r"pod set \S+: ")
_TERMS = re.compile(
    r"insufficient (?:unused )?quota (?:in cohort )?for (?:resource )?(?P<resource>[^\s,]+)"
    r"(?: (?:in )?flavor (?P<flavor>[^\s,]+))?"
    r"(?:(?P<in_queue> in ClusterQueue)|, (?P<more>[^\s,]+) more needed"
    r"|,[^>;]*?(?P<ceiling>> maximum capacity)(?: \((?:[^)>]* > )?(?P<capacity>[^)]*)\))?)?"
    r"|borrowing limit for (?P<borrowed>[^\s,]+) in flavor (?P<borrow_flavor>[^\s,]+) exceeded"
    r"|resource (?P<undeclared>[^\s,]+) unavailable in ClusterQueue"
    r"|flavor (?P<lacking_flavor>[^\s,]+) does not provide resource (?P<lacking>[^\s,]+)"
    r"|Flavor \"(?P<topology_flavor>[^\"]*)\" (?:supports only|does not support|does not contain|information missing)"
    r"|topology \"(?P<topology>[^\"]*)\" (?:allows to fit only (?P<fit>\d+) out of|doesn't allow to fit(?: any of)?)"
    r"(?: (?P<wanted>\d+))?"
    r"|no (?:requested )?topology (?:level|domains)"
    r"|untolerated taint (?P<taint>\{[^}]*\}|\S+) in flavor (?P<tainted>[^\s,]+)"
    r"|flavor (?P<unmatched>[^\s,]+) doesn't match (?:with )?(?:node affinity|node selector)"
    r"|flavor (?P<missing>[^\s,]+) not found"
    r"|could not assign (?P<other>[^\s,]+) flavor"
    r"|Pending the preemption of (?P<victims>\d+) workload"
    r"|Preempting \d+ workload\(s\) failed",
    ANY_CASE,
)
_EXCLUDED = re.compile(r"Total nodes: (?P<total>\d+)(?:; excluded: (?P<parts>.*?))?(?=\. |;|$)", re.DOTALL)
_EXCLUSION = re.compile(r"(?P<kind>\w+)(?: \"(?P<name>[^\"]*)\")?: (?P<nodes>\d+)")
_EXCLUSIONS = {
    "nodeselector": "node_affinity",
    "affinity": "node_affinity",
    "topologydomain": "topology",
    "dranofit": "dra",
}


def _assignment(match: re.Match[str], inner: Inner) -> Message | None:
    text = match.string
    named = [_term(term) for term in _TERMS.finditer(text)]
    excluded = _EXCLUDED.search(text)
    named += _exclusions(excluded["parts"] or "") if excluded else []
    if not named:
        return None
    return Message(
        total_nodes=count(excluded["total"]) if excluded else None,
        reasons=tuple(named),
        waiting_victims=any(one.reason == reasons.WAITING_VICTIMS for one in named),
        never_fits=_never_fits(text),
    )


def _term(term: re.Match[str]) -> Said:
    """The reason of one alternative of `_TERMS`; the group that took part tells which."""
    found = {name: value for name, value in term.groupdict().items() if value is not None}
    if "resource" in found:
        return _quota(found)
    if "borrowed" in found:
        return said("quota", f"flavor={found['borrow_flavor']} borrowing_limit", resource_name(found["borrowed"]))
    if name := found.get("undeclared") or found.get("lacking"):
        return said("quota", "not_in_cluster_queue", resource_name(name), reasons.QUEUE_LIMIT, "never_fits")
    if "taint" in found:
        one = filters.taint("taint " + found["taint"])
        return msgspec.structs.replace(one, detail=f"{one.detail or ''} flavor={found['tainted']}".strip())
    if "victims" in found:
        return said("preemption_no_victim", f"pending_preemption={found['victims']}", None, reasons.WAITING_VICTIMS)
    return _placement(found, term[0])


def _quota(found: dict[str, str]) -> Said:
    words = {"flavor": "flavor", "capacity": "max_capacity", "more": "needed"}
    detail = " ".join(f"{word}={found[name]}" for name, word in words.items() if name in found) or None
    resource = resource_name(found["resource"])
    if "in_queue" in found or "ceiling" in found:
        return said("quota", detail, resource, reasons.QUEUE_LIMIT, "never_fits")
    return said("quota", detail, resource)


def _placement(found: dict[str, str], words: str) -> Said:
    if "topology_flavor" in found:
        return said("topology", f"flavor={found['topology_flavor']}")
    if "topology" in found:
        return said(
            "topology", f"topology={found['topology']} fit={found.get('fit', '0')} of {found.get('wanted', '?')}"
        )
    if "unmatched" in found:
        return said("node_affinity", f"flavor={found['unmatched']}")
    if "missing" in found:
        return said("other", f"flavor={found['missing']} not_found")
    if words.lower().startswith("preempting"):
        return said("preemption_no_victim", "preemption_failed")
    return said("topology") if "topology" in words else said("other", words[:120])


def _exclusions(parts: str) -> list[Said]:
    """`resource "cpu": 6, nodeSelector: 2, taint "a=b:NoSchedule": 1`: why topology-aware placement left nodes out."""
    named = []
    for found in _EXCLUSION.finditer(parts):
        kind = found["kind"].lower()
        if kind == "resource":
            one = said("insufficient_resource", None, resource_name(found["name"]))
        elif kind == "taint":
            one = filters.taint(f"taint {found['name'] or ''}")
        else:
            one = said(_EXCLUSIONS.get(kind, "other"), found["kind"])
        named.append(msgspec.structs.replace(one, nodes=count(found["nodes"])))
    return named


def _never_fits(text: str) -> bool:
    """Whether for some pod set and resource every flavor says that it can never hold the request."""
    for pod_set in _POD_SET.split(text):
        flavors: dict[str, list[bool]] = {}
        for term in _TERMS.finditer(pod_set):
            if name := term["resource"] or term["borrowed"]:
                flavors.setdefault(name, []).append(bool(term["in_queue"] or term["ceiling"]))
            elif name := term["undeclared"]:
                flavors.setdefault(name, []).append(True)
        if any(all(never) for never in flavors.values()):
            return True
    return False


def _preempted(match: re.Match[str], inner: Inner) -> Message:
    text = match.string.lower()
    if "fair sharing" in text:
        return Message(reasons=(said("quota", "victim fair_sharing"),))
    if "cohort" in text.split("preemptor path")[0]:
        return Message(reasons=(said("quota", "victim reclaim"),))
    return Message(reasons=(said("priority", "victim"),))


_MISSING = says("queue", "{kind}={queue} missing", reason_detail="queue_missing")
_CLOSED = says("queue", "{kind}={queue} inactive", reason_detail="queue_closed")

RULES: Final = (
    rule(r"Quota reserved in ClusterQueue|workload is admitted|Admitted by ClusterQueue|(?:was|were) (?:reactivated|"
         r"restarted)|backoff was finished|Can (?:submit|admit) new workloads",
         says("other", "progress", no_evidence=True)),
    rule(r"^Previously: ", says("other", "progress", no_evidence=True)),
    rule(r"Pre-?empted to accommodate", _preempted),
    rule(r"Preempted workload \S+ \(UID",
         says("preemption_no_victim", "preempting", reasons.WAITING_VICTIMS, waiting_victims=True)),
    rule(r"quota|flavor|topology \"|Pending the preemption|Preempting \d+ workload|unavailable in ClusterQueue|"
         r"no (?:requested )?topology", _assignment),
    rule(r"did ?n[o']t fit in the remaining quota|Workload did ?n[o']t fit", says("quota")),
    rule(r"no longer fits after processing another workload|overlapping preemption targets",
         says("quota", "lost_race")),
    rule(r"other workloads in the cohort were prioritized", says("priority")),
    rule(r"requires preemption, but it's gated", says("preemption_no_victim", "gated")),
    rule(r"no TAS cache information|TAS flavors? (?:is |are )?assigned|requires topology", says("topology")),
    # The queues.
    rule(r"(?P<kind>LocalQueue|ClusterQueue|Queue) \"?(?P<queue>[\w./-]+)\"? (?:does ?n[o']t exist|not found|"
         r"is terminating or missing)", _MISSING),
    rule(r"(?P<kind>ClusterQueue|LocalQueue) for queue (?P<queue>\S+) does ?n[o']t exist", _MISSING),
    rule(r"(?P<kind>LocalQueue|ClusterQueue) +does ?n[o']t exist(?P<queue>)", _MISSING),
    rule(r"(?P<kind>LocalQueue|ClusterQueue) (?P<queue>\S+) is (?:inactive|stopped|pending|terminating)", _CLOSED),
    rule(r"(?:the )?(?P<kind>LocalQueue|ClusterQueue) is (?:stopped|inactive)(?P<queue>)", _CLOSED),
    rule(r"Can't (?:submit|admit) new workloads", says("queue", "inactive", reason_detail="queue_closed")),
    rule(r"namespace doesn't match ClusterQueue selector", says("queue", "namespace_mismatch")),
    # Admission.
    rule(r"Exceeded the PodsReady timeout", says("gang", "pods_ready_timeout", reasons.NOT_ADMITTED)),
    rule(r"group has fewer runnable pods than expected",
         says("gang", "members_missing", reason_detail="members_missing")),
    rule(r"waiting for all admitted workloads to be in (?:the )?PodsReady", says("admission", "waits_for_pods_ready")),
    rule(r"Reset to Pending after eviction", says("admission", "admission_check", reason_detail="admission_check")),
    rule(r"max cluster limit reached|nodepools? out of resources", says("other", "autoscaler_limit")),
    rule(r"admission check|not all checks ready|failed admission checks|AdmissionCheck", says(
        "admission", "admission_check", reason_detail="admission_check")),
    rule(r"delayed topology requests?", says("admission", "delayed_topology", reason_detail="admission_check")),
    rule(r"workload has no reservation|AdmissionGatedBy cleared",
         says("admission", "quota_check", reason_detail="quota_check")),
    rule(r"admission is gated by:? ?(?P<gate>.*)", says("admission", "gated={gate}", reason_detail="gated")),
    rule(r"workload is (?:deactivated|inactive)|maximum number of re-queuing retries|maximum execution time|^Deactivated", says(
        "admission", "deactivated", reason_detail="suspended")),
    rule(r"resources did ?n[o']t satisfy LimitRange|resources validation failed|LimitRange",
         says("admission", "limit_range")),
    rule(r"no replacement for unhealthy node|replacement assignment for unhealthy node",
         says("node_not_ready", "replaced_node")),
)  # fmt: skip
