"""The kubelet: pods it turns away although they were bound, and pods it ends."""

from __future__ import annotations

from typing import Final

from aggregation.messages import filters
from aggregation.messages.message import Message, said
from aggregation.messages.rules import rule, says

RULES: Final = (
    rule(r"requested number of devices unavailable for (?P<resource>[\w./-]+)",
         says("insufficient_resource", "devices_unavailable")),
    rule(r"allocate (?:unhealthy|unregistered) devices? (?P<resource>[\w./-]+)",
         says("insufficient_resource", "devices_unavailable")),
    rule(r"no set of running pods found to reclaim resources: \[\(res: (?P<resource>[\w./-]+)",
         says("insufficient_resource", "no_victims")),
    rule(r"with topology locality|TopologyAffinityError", says("topology", "numa")),
    rule(r"Predicate (?P<plugin>\w+) failed(?:: (?P<words>.*))?", lambda match, inner: Message(reasons=(
        filters.meaning(match["words"])[:1] if match["words"] else filters.meaning(match["plugin"])))),
    rule(r"node features that are not available", says("other", "node_declared_features")),
    rule(r"node was low on resource: (?P<resource>[\w./-]+)",
         says("insufficient_resource", "victim", no_evidence=True)),
    rule(r"\bnode is shutting down|imminent node shutdown", says("node_not_ready", "shutting_down", no_evidence=True)),
    rule(r"deleting due to NoExecute taint",
         lambda match, inner: Message(reasons=(said("untolerated_taint", "victim"),), no_evidence=True)),
)  # fmt: skip
