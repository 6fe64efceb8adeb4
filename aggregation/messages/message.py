"""What a text says, in two vocabularies at once.

`category` is the coarse word a person groups by; `reason` is the code of `pipeline.records.reasons` that a wait is
charged to. Mostly the one follows from the other; where a text says more (a queue's ceiling and not only "quota", a
victim that is on its way and not only "no victim"), the dialect gives the code itself.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from pipeline.records import reasons

REASON_OF_CATEGORY: Final[dict[str, str]] = {
    "insufficient_resource": reasons.INSUFFICIENT_RESOURCE,
    "node_affinity": reasons.NODE_AFFINITY,
    "untolerated_taint": reasons.UNTOLERATED_TAINT,
    "node_unschedulable": reasons.NODE_UNSCHEDULABLE,
    "node_not_ready": reasons.NODE_NOT_READY,
    "pod_affinity": reasons.POD_AFFINITY,
    "pod_anti_affinity": reasons.POD_ANTI_AFFINITY,
    "topology_spread": reasons.TOPOLOGY_SPREAD,
    "topology": reasons.TOPOLOGY,
    "volume": reasons.VOLUME,
    "port_conflict": reasons.PORT_CONFLICT,
    "dra": reasons.DRA,
    "preemption_no_victim": reasons.PREEMPTION_NO_VICTIM,
    "gang": reasons.GANG_INCOMPLETE,
    "priority": reasons.OUTRANKED,
    "quota": reasons.QUOTA,
    "queue": reasons.NOT_ADMITTED,
    "admission": reasons.NOT_ADMITTED,
    "other": reasons.UNKNOWN,
}
"""Every category, with the code it stands for when the text says nothing finer."""


class Said(msgspec.Struct, frozen=True):
    """One reason a text names.

    `nodes` is None where the text gives no count, never 1 by assumption; the counts of one text overlap and are
    sampled, so nothing follows from their sum. The cluster autoscaler counts node groups: then `detail` says so.
    """

    category: str
    reason: str
    detail: str | None = None
    resource: str | None = None
    nodes: int | None = None
    reason_detail: str | None = None
    """From the closed list `pipeline.records.reasons.DETAILS`, or None."""


class Message(msgspec.Struct, frozen=True):
    """A text with all it says. The facts are False where the text does not say them, which proves nothing."""

    text: str = ""
    total_nodes: int | None = None
    """N of `0/N nodes`; Volcano's N counts only the nodes it examined."""
    reasons: tuple[Said, ...] = ()
    """In the order of the text; never empty in what `parse` returns."""
    pointer: bool = False
    """The reason is on the other members of the gang."""
    waiting_victims: bool = False
    """A place is promised; what runs there is being ended."""
    has_place: bool = False
    """This member could be placed and waits for the rest of its gang."""
    queue_refused: bool = False
    """Volcano: the queue refuses the task, which leaves no other trace than a missing origin."""
    no_evidence: bool = False
    """Not a reason of a wait: progress, a group without pods, a gang just bound, the end of a victim's run."""
    preemption_part: bool = False
    """A `preemption:` clause was there."""
    aggregated: bool = False
    """The event recorder merged similar events under one text."""
    never_fits: bool = False
    """It cannot fit even when everything else has ended."""


def said(
    category: str, detail: str | None = None, resource: str | None = None, reason: str | None = None,
    reason_detail: str | None = None,
) -> Said:  # fmt: skip
    """A reason without a count; its code is that of the category unless given."""
    return Said(category, reason or REASON_OF_CATEGORY[category], detail, resource, None, reason_detail)


FACTS: Final = (
    "pointer", "waiting_victims", "has_place", "queue_refused", "no_evidence", "preemption_part", "aggregated",
    "never_fits",
)  # fmt: skip


def together(*parts: Message) -> Message:
    """One message of several parts: reasons one after the other, facts of any, nodes of the first that counts them."""
    total = next((part.total_nodes for part in parts if part.total_nodes is not None), None)
    facts: dict[str, Any] = {fact: any(getattr(part, fact) for part in parts) for fact in FACTS}
    return Message(total_nodes=total, reasons=tuple(reason for part in parts for reason in part.reasons), **facts)
