"""kube-scheduler, from 1.2 to the pod groups of 1.37.

The list of nodes has its own module. Here are its older forms, what is said before any node is looked at (gates, gangs
that are not complete), what is said after one was chosen (plugins that failed while binding), and the events on
victims. The numbers of `minCount (4) cannot be satisfied: 3 scheduled, 0 remaining` depend on which pod was tried
first: they are kept as words and measure nothing.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from aggregation.messages import filters, node_list
from aggregation.messages.message import Message, said, together
from aggregation.messages.rules import ANY_CASE, Inner, count, rule, says
from pipeline.records import reasons

_PREDICATES = re.compile(r"\s*([^(),][^()]*?) \((\d+)\)")
_ONE_NODE = re.compile(r"fit failure on node \(([^)]*)\): ([^\n]*?)(?=\s*,?\s*fit failure on node|\n|$)", ANY_CASE)


def _predicates(match: re.Match[str], inner: Inner) -> Message | None:
    """`MatchNodeSelector (3), Insufficient cpu (1)`: the histogram of 1.6 to 1.8, counts behind the names."""
    named = [
        msgspec.structs.replace(one, nodes=count(found[2]))
        for found in _PREDICATES.finditer(match["predicates"])
        for one in filters.meaning(found[1].strip(" ,"))
    ]
    return Message(reasons=tuple(named)) if named else None


def _node_by_node(match: re.Match[str], inner: Inner) -> Message | None:
    """`fit failure on node (a): X, Y` for each node by name, before 1.6: the nodes are counted here."""
    return node_list.by_name(found[2].split(", ") for found in _ONE_NODE.finditer(match.string))


def _first_predicate(match: re.Match[str], inner: Inner) -> Message:
    return Message(reasons=filters.meaning(match["predicate"]))


def _min_count(match: re.Match[str], inner: Inner) -> Message:
    detail = "min={min} scheduled={scheduled} remaining={remaining}".format_map(match.groupdict())
    group = Message(reasons=(said("gang", detail),), pointer=True)
    return together(group, node_list.aftermath(match["rest"]))


def _placements(match: re.Match[str], inner: Inner) -> Message:
    """`0/3 placements are available, first placement status: ...` counts placements and quotes one of them."""
    quoted = inner(match["status"] or "")
    if any(one.category == "gang" for one in quoted.reasons):
        return msgspec.structs.replace(quoted, pointer=True)
    return together(Message(reasons=(said("gang", f"placements={match['placements']}"),), pointer=True), quoted)


def _plugin_failed(match: re.Match[str], inner: Inner) -> Message:
    """A plugin failed outside of a list; its own words decide, else what the plugin is for."""
    quoted = inner(match["words"]) if match["words"] else Message()
    if any(one.category != "other" for one in quoted.reasons):
        return quoted
    category, detail = filters.PLUGINS.get(match["plugin"], ("other", f"plugin={match['plugin']}"))
    return Message(reasons=(said(category, _plugin_detail(match["words"]) or detail),))


def _plugin_detail(words: str | None) -> str | None:
    if words and "waiting for resource driver to allocate" in words:
        return "driver_allocation"
    return "timed_out" if words and "timed out" in words else None


RULES: Final = (
    rule(r"^" + node_list.FRAME, node_list.reading),
    rule(r"no nodes available to schedule pods", says("other", "no_nodes")),
    rule(r"failed to fit in any node.*?fit failure on node|^fit failure on node", _node_by_node),
    rule(r"Failed for reason (?P<predicate>\w+) and possibly others", _first_predicate),
    rule(r"(?:fit failure summary on nodes|match all of the (?:following )?predicates)\s*:+\s*(?P<predicates>.*)",
         _predicates),
    # Gangs: the pod groups of scheduling.k8s.io.
    rule(r"minCount \((?P<min>\d+)\) (?:cannot be|is not yet) satisfied: (?P<scheduled>\d+) scheduled, "
         r"(?P<remaining>\d+) remaining(?P<rest>.*)", _min_count),
    rule(r"0/(?P<placements>\d+) placements are available(?:, first placement status: (?P<status>.*))?", _placements),
    rule(r"waiting for minCount pods from a gang to be scheduled", says("gang", has_place=True)),
    rule(r"waiting for minCount pods from a gang", says("gang", "members_missing", reason_detail="members_missing")),
    rule(r"tree to meet quorum", says("gang", "members_missing", reason_detail="members_missing")),
    rule(r"waiting for pods?'?s? (?:pod group|workload) \"?(?P<group>[^\"]*)\"? to appear",
         says("gang", "group={group}", reason_detail="group_missing")),
    rule(r"no feasible placements? found", says("topology", "no_placement")),
    rule(r"no topology domain found|more than 1 domain found", says("topology", "no_domain")),
    rule(r"all pods in a single pod group should have the same", says("gang", "members_differ")),
    rule(r"waiting for the preemption for this pod(?: group)? to be finished",
         says("preemption_no_victim", "preempting", reasons.WAITING_VICTIMS, waiting_victims=True)),
    rule(r"^(?:[Ff]ound a (?:potential )?placement|not eligible due to|No preemption victims|pod group preemption:|"
         r"preemption:)", lambda match, inner: node_list.aftermath(match.string)),
    rule(r"pod group is unschedulable|failed to schedule other pod from a pod group", says("gang", pointer=True)),
    # Before the queue.
    rule(r"non-empty scheduling gates|waiting for scheduling gates",
         says("admission", "gated", reason_detail="gated")),
    # Claims, before any node is looked at. Behind a comma or a colon others quote these words among their own.
    rule(r"waiting for (?:the )?dynamic resource controller to create|resourceclaim to be created",
         says("dra", "claim_not_created")),
    rule(r"^[^:,]*persistentvolumeclaim \"[^\"]*\" not found", says("volume", "claim_not_found")),
    rule(r"^[^:,]*(?:unbound (?:immediate )?PersistentVolumeClaims?|waiting for .*to create the PersistentVolumeClaims?|"
         r"PersistentVolumeClaim is not bound|persistentvolumeclaim \")", says("volume", "unbound_claims")),
    # Plugins that failed, mostly after a node was chosen.
    rule(r"(?:running (?:\w+ plugin )?|\bplugin )\"(?P<plugin>\w+)\"(?: \w+ plugin)?[^:]*:? ?(?P<words>.*)", _plugin_failed),
    rule(r"rejected due to timeout after waiting \S+ at (?:plugin )?(?P<plugin>\w+)(?P<words>)", _plugin_failed),
    rule(r"binding volumes:|[Ff]ailed to bind volumes|selectedNode annotation", says("volume", "binding")),
    # Victims: the end of a run.
    rule(r"preempted by \w+ \S+ on node|preempted by \S+/\S+ on node|preempting to accommodate|preempted by Kubelet|"
         r"preempted in order to admit critical pod", says("priority", "victim", no_evidence=True)),
    rule(r"^Successfully assigned ", says("other", "progress", no_evidence=True)),
)  # fmt: skip
