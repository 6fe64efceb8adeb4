"""YuniKorn: the steps of a task and an application as events, and the core's words on queues, users and predicates."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from aggregation.messages import filters
from aggregation.messages.message import Message
from aggregation.messages.rules import Inner, count, rule, says
from pipeline.records import reasons

_FAILURE = re.compile(r"\s*(?P<words>.+?) \((?P<nodes>\d+)x\);?", re.DOTALL)


def _predicates(match: re.Match[str], inner: Inner) -> Message:
    """`node(s) had taints that the pod didn't tolerate (5x); Insufficient cpu (2x); `."""
    named = tuple(
        msgspec.structs.replace(one, nodes=count(found["nodes"]))
        for found in _FAILURE.finditer(match["failures"])
        for one in filters.meaning(found["words"].strip(" ,;"))
    )
    return Message(reasons=named or filters.meaning(match["failures"]))


RULES: Final = (
    rule(r"^Unschedulable request '[^']*': (?P<failures>.*)", _predicates),
    rule(r"does not fit in queue '(?P<queue>[^']*)'", says("quota", "queue={queue}")),
    rule(r"exceeds the available user quota", says("quota", "user_quota")),
    rule(r"is pending for the requested resources", says("insufficient_resource")),
    rule(r"is queued and waiting for allocation", says("queue", "queued", reasons.SCHEDULER_BACKLOG, "not_tried")),
    rule(r"timed out due to insufficient resources|ResourceReservationTimeout",
         says("insufficient_resource", "timed_out")),
    rule(r"placeholder timeout exceeded|placeholder has been timed out", says("gang", "placeholder_timeout")),
    rule(r"placeholders?\b|resuming as (?:a )?non-gang|belongs to the taskGroup|scheduled as a gang member|"
         r"fall back to normal scheduling", says("gang")),
    rule(r"(?:application|app) .*rejected.*(?:queue|root\.)|failed to (?:find|create) queue|queue .*(?:is not a leaf|"
         r"does not allow)", says("queue", "queue_missing", reason_detail="queue_missing")),
    rule(r"(?:max(?:imum)? (?:running )?applications|max running apps)",
         says("queue", "max_applications", reasons.QUEUE_LIMIT)),
    rule(r"Application \S+ scheduling failed, reason: (?P<why>.*)", lambda match, inner: inner(match["why"])),
    rule(r"become schedulable in queue|fits in the available user quota|is successfully bound to node", says(
        "other", "progress", no_evidence=True)),
)  # fmt: skip
