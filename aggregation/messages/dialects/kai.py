"""KAI scheduler (run:ai): node histograms of its own form, queue limits, gangs and the end of victims."""

from __future__ import annotations

import re
from typing import Final

from aggregation.messages import node_list
from aggregation.messages.message import Message, said, together
from aggregation.messages.rules import ANY_CASE, Inner, exceeds, resource_name, rule, says

_NODE_LINE = re.compile(r"^<(?P<node>[^>]+)>: (?P<words>.*?)\.?$", re.MULTILINE)
_NEXT_REASON = re.compile(r"(?<=[a-z)\d]), (?=node|not )", ANY_CASE)
_SHORT = re.compile(
    r"(?:did ?n[o']t have|not) enough (?:resources?: |capacity: |of mig profile: )?(?P<resource>GPU memory|CPU cores|[\w./-]+)",
    ANY_CASE,
)


def _short(match: re.Match[str], inner: Inner) -> Message:
    """`didn't have enough resources: GPUs, requested: 0.5, used: 1.8`, of a node, domain or job; one a sentence."""
    named = [
        said("insufficient_resource", None, resource_name(found["resource"])) for found in _SHORT.finditer(match.string)
    ]
    return Message(reasons=tuple(dict.fromkeys(named)))


def _node_by_node(match: re.Match[str], inner: Inner) -> Message | None:
    """The detailed form, a line for each node by name: the nodes are counted here."""
    lines = (_NEXT_REASON.split(line["words"]) for line in _NODE_LINE.finditer(match.string))
    return node_list.by_name(lines)


def _gang(match: re.Match[str], inner: Inner) -> Message:
    gang = said("gang", f"found={match['found']} min={match['min'] or match['min_of_group']}")
    return together(Message(reasons=(gang,)), inner(match["why"] or ""))


def _limit(match: re.Match[str], inner: Inner) -> Message:
    limit, used, requested = match["limit"], match["used"], match["requested"]
    return Message(
        reasons=(said("quota", f"limit={limit} used={used} requested={requested}", resource_name(match["unit"])),),
        never_fits=exceeds(requested, limit),
    )


RULES: Final = (
    rule(r"Resources were found for (?P<found>\d+) pods .*?(?:while (?P<min>\d+) are required|"
         r"requires (?P<min_of_group>\d+) pods)(?:.*? due to: (?P<why>.*))?", _gang),
    rule(r"Resources were not found for pod \S+ due to: (?P<why>.*)", lambda match, inner: inner(match["why"])),
    rule(r"^\s*(?:no nodes with enough resources were found\.)?\s*(?:.*\n)?<[^>]+>: ", _node_by_node),
    rule(r"Limit is (?P<limit>[\d.]+) (?P<unit>\w+), currently (?P<used>[\d.]+) \w+ allocated and "
         r"workload requested (?P<requested>[\d.]+)",
         _limit),
    rule(r"Workload requested (?P<requested>[\d.]+) (?P<unit>GPUs|CPU cores|"
         r"GB memory), but \S+ quota is (?P<limit>[\d.]+) \w+, while (?P<used>[\d.]+)", _limit),
    rule(r"is over quota|quota has reached the allowable limit of (?P<resource>GPUs|CPU cores|memory)", says("quota")),
    rule(r"topology (?P<topology>[\w.-]+), requirement (?P<level>\S+) couldn't be satisfied"
         r"(?:.*?not enough resources in (?P<domain>\S+))?",
         says("topology", "topology={topology} domain={domain}")),
    rule(r"Workload doesn't meet the minimum required number of pods|Job is not ready for scheduling",
         says("gang", "members_missing", reason_detail="members_missing")),
    rule(r"Unable to schedule pod ?group: not enough|(?:did ?n[o']t|does ?n[o']t) have enough (?:resources?|"
         r"capacity|of mig profile): ", _short),
    rule(r"was preempted by higher priority workload|preempted and rescheduled due to bin packing",
         says("priority", "victim", no_evidence=True)),
    rule(r"was preempted by workload", says("quota", "victim reclaim", no_evidence=True)),
)  # fmt: skip
