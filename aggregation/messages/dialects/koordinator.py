"""Koordinator: gangs that quote the text of the member that failed, topologies without room, elastic quotas.

Reservations counted like nodes are words of its filters (`filters`).
"""

from __future__ import annotations

import re
from typing import Final

from aggregation.messages import node_list
from aggregation.messages.message import Message, said, together
from aggregation.messages.rules import Inner, count, rule, says

_SLOTS = re.compile(r"desiredOfferSlot: (?P<desired>\d+)(?P<offers>(?:[,;]\s*topology [^,;]*: \d+)*)")


def _gang(match: re.Match[str], inner: Inner) -> Message:
    """The gang, what the failed member said, and what preemption added behind it."""
    quoted = inner(match["reason"])
    gang = said("gang", None if quoted.reasons else "no_nodes")
    return together(Message(reasons=(gang,), pointer=True), quoted, node_list.aftermath(match["rest"]))


def _topology(match: re.Match[str], inner: Inner) -> Message:
    slots = _SLOTS.search(match["rest"])
    detail, rest = None, match["rest"]
    if slots:
        offers = [count(offer) or 0 for offer in re.findall(r": (\d+)", slots["offers"])]
        detail = f"desired={slots['desired']} best={max(offers, default=0)}"
        rest = match["rest"][slots.end() :].lstrip(" ,;.")
    frame = re.search(r"(?:\d+/\d+ nodes|all nodes) .*", rest, re.DOTALL)
    after = inner(frame[0]) if frame else node_list.aftermath(rest)
    return together(Message(total_nodes=count(match["total"]), reasons=(said("topology", detail),)), after)


RULES: Final = (
    rule(r"Gang(?:Group)? \"[^\"]*\" gets rejected due to (?:member )?Pod \"[^\"]*\" ?is ?unschedulable with reason "
         r"[\"'](?P<reason>.*)[\"'](?P<rest>[^\"']*)$", _gang),
    rule(r"Gang(?:Group)? \S+ gets rejected", says("gang", pointer=True)),
    rule(r"(?:0/(?P<total>\d+) nodes are available: )?no candidate topology nodes can accommodate(?P<rest>.*)",
         _topology),
    rule(r"child pod not collect enough|gangs?OfGangNotInit|has not init", says(
        "gang", "members_missing", reason_detail="members_missing")),
    rule(r"can't find gang|gang .*not found", says("gang", "group_missing", reason_detail="group_missing")),
    rule(r"rejected in PreFilter because ?ElasticQuota.*?quotaName ?: ?(?P<quota>[^\s,]+)",
         says("quota", "quota={quota}")),
)  # fmt: skip
