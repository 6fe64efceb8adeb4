"""The one shape all dialects have: an ordered table of rules, a pattern and what a text that fits it says.

The first rule that reads the text wins, so the narrow ones stand first. A rule may decline (None) after a closer look.
Patterns search anywhere and ignore case, unless they anchor themselves: the same sentence is wrapped by different
writers. `inner` reads a text within a text (a gang's text that quotes a pod's); it says nothing where it knows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import msgspec

from aggregation.messages.message import Message, said
from pipeline.records import quantity

Inner = Callable[[str], Message]
Reading = Callable[[re.Match[str], Inner], Message | None]


ANY_CASE: Final = re.IGNORECASE | re.ASCII
"""Flags of the patterns: ASCII, since a dotless i is no i and Arabic digits count no nodes."""


class Rule(NamedTuple):
    pattern: re.Pattern[str]
    reading: Reading


def rule(pattern: str, reading: Reading) -> Rule:
    return Rule(re.compile(pattern, ANY_CASE | re.DOTALL), reading)


class Says(msgspec.Struct, frozen=True):
    """A reading with one reason. Named groups fill `detail` (`"queue={queue}"`), the resource and the count."""

    category: str
    detail: str | None = None
    reason: str | None = None
    reason_detail: str | None = None
    facts: dict[str, bool] = {}

    def __call__(self, match: re.Match[str], inner: Inner) -> Message:
        groups = {name: value or "" for name, value in match.groupdict().items()}
        detail = self.detail.format_map(groups) if self.detail else None
        resource = resource_name(groups.get("resource"))
        one = said(self.category, detail, resource, self.reason, self.reason_detail)
        facts: dict[str, Any] = dict(self.facts)
        return Message(reasons=(msgspec.structs.replace(one, nodes=count(groups.get("nodes"))),), **facts)


def says(
    category: str, detail: str | None = None, reason: str | None = None, reason_detail: str | None = None,
    **facts: bool,
) -> Says:  # fmt: skip
    return Says(category, detail, reason, reason_detail, facts)


def first(table: Iterable[Rule], text: str, inner: Inner) -> Message | None:
    """What the first rule that reads the text makes of it, or None."""
    for candidate in table:
        match = candidate.pattern.search(text)
        if match and (message := candidate.reading(match, inner)) is not None:
            return message
    return None


def silent(text: str) -> Message:
    """The `inner` of tables that quote no other text."""
    return Message()


_PLAIN_NAMES = {
    "gpu": "gpu", "gpus": "gpu", "gpu memory": "gpu-memory", "cpu": "cpu", "cpus": "cpu", "cpu cores": "cpu",
    "cores": "cpu", "memory": "memory", "mem": "memory", "gb": "memory", "gb memory": "memory", "pods": "pods",
}  # fmt: skip
_NO_NAMES = {"", "resource", "resources", "capacity", "nodes", "node", "devices", "quota", "the"}


def resource_name(words: str | None) -> str | None:
    """The resource as Kubernetes writes it; None for words that name none ("resources")."""
    name = (words or "").strip(" .,:;[]()\"'\n")
    plain = _PLAIN_NAMES.get(name.lower())
    if plain or name.lower() in _NO_NAMES:
        return plain
    return name


def count(digits: str | None) -> int | None:
    """The number; None for no digits and for more than any cluster has."""
    return int(digits) if digits and len(digits) < 10 else None


def exceeds(amount: str, limit: str | None) -> bool:
    """Whether one Kubernetes quantity is above another; False where either cannot be read."""
    try:
        return limit is not None and quantity.parse(amount) > quantity.parse(limit)
    except ValueError:
        return False
