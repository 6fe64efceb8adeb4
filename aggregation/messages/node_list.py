"""The sentence most schedulers share: `0/N nodes are available: 3 A, 2 B. preemption: 0/N nodes are available: 5 C.`

Three parts, none of which may be cut at a plain comma or full stop: taints and claims carry both. The frame gives N.
The list is cut where punctuation is followed by a count, and never inside braces. The clauses at the end are what the
scheduler tried after the filters; they repeat filter reasons, which are not counted again, and add only why no victim
helps, or that victims are on their way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from aggregation.messages import filters
from aggregation.messages.message import Message, Said, said
from aggregation.messages.rules import ANY_CASE, Inner, count
from pipeline.records import reasons

FRAME: Final = (
    r"(?:\b\d+/(?P<total>\d+) node(?:s|\(s\))?(?: (?:are|is))?(?: (?:un)?available)?(?=\s*[:.]|\s*$)"
    r"|\b\d+/\d+ reservations? (?:are|is) available"
    r"|\ball nodes are unavailable"
    r"|\bno nodes (?:with enough resources )?(?:were found|are available|available)\b(?=\s*:))"
    r"\s*:?\s*(?P<body>.*)"
)
"""Pattern of the frame, for the rules of a dialect: `total` where N counts nodes, `body` all that follows."""

_CLAUSES = re.compile(
    r"(?:no new claims to deallocate|still not schedulable|(?:pod group )?preemption:|not eligible due to|"
    r"[Dd]e(?:allocation|letion) (?:and deletion )?of \w*ResourceClaims?|All PostFilter plugins)"
)
_DEALLOCATED = re.compile(r"(?:deallocation|deletion) .*ResourceClaim", ANY_CASE)
_BOUNDARY = re.compile(r"\{[^{}]*\}|(?P<cut>[,.;]\s*)(?=(?:at least )?\d+ [^\d\s])", ANY_CASE)
_UNCOUNTED = re.compile(
    r",\s+(?=(?:insufficient |node\(s\) |too many pods|pod has unbound |persistentvolumeclaim |cannot allocate ))",
    ANY_CASE,
)
_COUNT = re.compile(r"(?:at least )?(\d+) (.*)", re.DOTALL)
_CUT_SHORT = re.compile(r"[^\s,.;:] ?(?:\.\.\.|…)$")
_CORE_RESOURCES: Final = ("cpu", "memory", "pods", "ephemeral-storage", "gpu")

_AFTERMATH: Final[dict[str, tuple[str, str]]] = {
    "no preemption victims found": ("no_victims", reasons.PREEMPTION_NO_VICTIM),
    "preemption is not helpful": ("not_helpful", reasons.PREEMPTION_NO_VICTIM),
    "no candidate node for preemption": ("no_victims", reasons.PREEMPTION_NO_VICTIM),
    "not eligible due to preemptionpolicy=never": ("policy_never", reasons.PREEMPTION_NO_VICTIM),
    "not eligible due to a terminating pod": ("terminating_victims", reasons.WAITING_VICTIMS),
    "not eligible due to terminating pod": ("terminating_victims", reasons.WAITING_VICTIMS),
    "not eligible due to": ("not_eligible", reasons.PREEMPTION_NO_VICTIM),
    ", preempting ": ("preempting", reasons.WAITING_VICTIMS),
    "ongoing preemption": ("preempting", reasons.WAITING_VICTIMS),
}
_AFTER = re.compile(
    r"(?:(?P<nodes>\d+) )?(?P<what>" + "|".join(re.escape(words) for words in _AFTERMATH) + ")",
    ANY_CASE,
)


def reading(match: re.Match[str], inner: Inner) -> Message | None:
    """The reading of a rule whose pattern ends in `FRAME`. A frame around no list of nodes is left to others."""
    if "no candidate topology nodes" in match["body"]:
        return None
    return read(match["body"], count(match["total"]))


def read(body: str, total: int | None, meaning: Callable[[str], tuple[Said, ...]] = filters.meaning) -> Message:
    """List and clauses behind the frame; `meaning` reads the words of one entry."""
    main, clauses = _split(body)
    named = [msgspec.structs.replace(one, nodes=nodes) for nodes, words in entries(main) for one in meaning(words)]
    if named and _CUT_SHORT.search(main):
        named[-1] = _of_cut_words(named[-1])
    after = aftermath(clauses)
    return msgspec.structs.replace(after, total_nodes=total, reasons=(*named, *after.reasons))


def _of_cut_words(last: Said) -> Said:
    """A note is cut at 1,024 bytes and ends in ` ...`: of words not known their beginning may tell, and what stands
    there of an extended resource's name may be half."""
    if last.category == "other" and (whole := filters.completed((last.detail or "").strip(" .…"))):
        return msgspec.structs.replace(whole[0], nodes=last.nodes)
    complete = last.resource is None or last.resource in _CORE_RESOURCES or "/" in last.resource
    return last if complete else msgspec.structs.replace(last, resource=None)


def entries(main: str) -> Iterator[tuple[int | None, str]]:
    """Count and words of each entry of a list; None where the text gives no count."""
    start = 0
    cuts = [found.span("cut") for found in _BOUNDARY.finditer(main) if found["cut"]]
    for end, following in [*cuts, (len(main), len(main))]:
        yield from _entry(main[start:end].strip(" .,;\n"))
        start = following


def _entry(words: str) -> Iterator[tuple[int | None, str]]:
    if not words:
        return
    found = _COUNT.fullmatch(words)
    nodes, words = (count(found[1]), found[2]) if found else (None, words)
    joined = [words] if "predicates failed" in words else _UNCOUNTED.split(words)
    for place, part in enumerate(joined):
        yield (nodes if place == 0 else None), part


def by_name(nodes: Iterable[Iterable[str]]) -> Message | None:
    """The texts that list nodes by name, one group of words a node: here the nodes can be counted."""
    counts = Counter(one for words in nodes for part in words for one in filters.meaning(part))
    named = tuple(msgspec.structs.replace(one, nodes=nodes_of) for one, nodes_of in counts.items())
    return Message(reasons=named) if named else None


def _split(body: str) -> tuple[str, str]:
    found = _CLAUSES.search(body)
    return (body[: found.start()], body[found.start() :]) if found else (body, "")


def aftermath(clauses: str) -> Message:
    """What the clauses add: why no victim helps, each with its own count, or that victims are being ended."""
    if not clauses:
        return Message()
    named = []
    for found in _AFTER.finditer(clauses):
        detail, reason = _AFTERMATH[found["what"].lower()]
        one = said("preemption_no_victim", detail, reason=reason)
        named.append(msgspec.structs.replace(one, nodes=count(found["nodes"])))
    deallocated = (said("dra", "deallocated"),) if _DEALLOCATED.search(clauses) else ()
    return Message(
        reasons=(*deallocated, *named),
        waiting_victims=any(one.reason == reasons.WAITING_VICTIMS for one in named),
        preemption_part="preemption:" in clauses.lower(),
    )
