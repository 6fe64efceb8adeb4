"""HAMi: GPU sharing; its filter counts cards of one node (`3/8 CardInsufficientMemory`) or nodes by name."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from aggregation.messages import filters
from aggregation.messages.message import Message, said
from aggregation.messages.rules import Inner, count, rule, says

_ANY = "|".join(filters.CARDS)
_COUNTED = re.compile(
    rf"(?:(?P<cards>\d+)/(?P<of>\d+) |(?P<nodes>\d+) (?:nodes? )?)?\b(?P<code>{_ANY})\b(?:\([^)]*\))?"
)


def _codes(match: re.Match[str], inner: Inner) -> Message:
    named = []
    for found in _COUNTED.finditer(match.string):
        category, resource = filters.CARDS[found["code"]]
        cards = f"cards={found['cards']} of {found['of']}" if found["cards"] else found["code"]
        named.append(msgspec.structs.replace(said(category, cards, resource), nodes=count(found["nodes"])))
    return Message(reasons=tuple(named))


RULES: Final = (
    rule(rf"(?-i:\b(?:{_ANY})\b)", _codes),
    rule(r"no available node, (?P<nodes>\d+) nodes? do not meet", says("other", "no_available_node")),
)  # fmt: skip
