"""A scheduler's decision in words: nodes by what they lack, what would help, who goes first. Pure.

Counts are told from the names of the checks that failed, in any language. What a scheduler says in words of its own (helps
and messages) is English in the log, as it was said; another language recognises the sentence and fills its own with the
same names and figures. A sentence that nobody knows is given as it is: nothing is hidden for want of a translation.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from pipeline.records import reasons, words
from pipeline.records.decisions import FailureSet
from pipeline.records.words import LANGUAGES, en

RESOURCES = "NodeResourcesFit"
"""The check of amounts; the log has `NodeResourcesFit/RESOURCE`."""
REASONS: dict[str, str] = {
    RESOURCES: reasons.INSUFFICIENT_RESOURCE,
    "NodePodNumber": reasons.INSUFFICIENT_RESOURCE,
    "NodeNotReady": reasons.NODE_NOT_READY,
    "NodeUnschedulable": reasons.NODE_UNSCHEDULABLE,
    "NodeAffinity": reasons.NODE_AFFINITY,
    "TaintToleration": reasons.UNTOLERATED_TAINT,
    "NodePorts": reasons.PORT_CONFLICT,
    "InterPodAffinity": reasons.POD_AFFINITY,
    "PodTopologySpread": reasons.TOPOLOGY_SPREAD,
    "VolumeBinding": reasons.VOLUME,
    "VolumeZone": reasons.VOLUME,
    "NodeVolumeLimits": reasons.VOLUME,
    "DynamicResources": reasons.DRA,
}
"""Which reason a check stands for."""


_COUNTED = {"ahead": "jobs", "held": "places", "together": "nodes", "places": "partly", "place": "partly"}
"""Sentences in which one of something is told otherwise than several, and the place that holds how many there are."""
_NODES = re.compile(r"(, then )?\b\d+/\d+ nodes (take it|are (un)?available)\b.*")
"""How both schedulers begin to count nodes."""


def reason_of(filters: Sequence[str]) -> str | None:
    """The reason of the first check that is known; None for nodes that fail none, or none that is known."""
    return next((REASONS[name] for each in filters if (name := each.partition("/")[0]) in REASONS), None)


def nodes_that(lang: str, filters: Sequence[str], nodes: int) -> str:
    """What so many nodes have in common: `lack nvidia.com/gpu and have an untolerated taint`."""
    texts = LANGUAGES[lang]
    if not filters:
        return _form(texts.CHECKS["fits"], nodes)
    short = [each.partition("/")[2] for each in filters if each.startswith(f"{RESOURCES}/")]
    names = list(dict.fromkeys(each.partition("/")[0] for each in filters))
    said = [
        _form(texts.CHECKS.get(name, texts.CHECKS["other"]), nodes).format(
            resource=texts.LISTS["names"].join(short) or texts.FALLBACKS["resource"], check=name
        )
        for name in names
    ]
    return str(texts.LISTS["checks"].join(said))


def counts(lang: str, sets: Sequence[FailureSet]) -> str:
    """All nodes in one sentence: `12 of 20 nodes lack nvidia.com/gpu, 5 have an untolerated taint.`; empty without sets."""
    if not sets:
        return ""
    texts = LANGUAGES[lang].LISTS
    total = sum(each.nodes for each in sets)
    if total == 1:
        return str(texts["only"].format(that=nodes_that(lang, next(each for each in sets if each.nodes).filters, 1)))
    ordered = sorted(sets, key=lambda each: -each.nodes)
    parts = [
        texts["first" if place == 0 else "next"].format(
            nodes=each.nodes, total=total, that=nodes_that(lang, each.filters, each.nodes)
        )
        for place, each in enumerate(ordered)
    ]
    return str(texts["whole"].format(total=total, parts=texts["parts"].join(parts)))


def said(lang: str, text: str) -> str:
    """A scheduler's own English sentence in the reader's language; unchanged if it is none that is known."""
    texts = LANGUAGES[lang]
    for name, pattern in _patterns():
        found = pattern.fullmatch(text)
        if found:
            one = name in texts.SAID_ONE and found[_COUNTED[name]] == "1"
            places = {key: _inner(lang, key, value) for key, value in found.groupdict().items()}
            return words.spaced(lang, (texts.SAID_ONE if one else texts.SAID)[name].format(**places))
    return text


def beside(lang: str, message: str, *, counted: bool) -> str:
    """What a message says beside who goes first, in the reader's language; without its nodes where they are `counted`."""
    parts = [_NODES.sub("", part) if counted else part for part in message.split("; ") if part != ahead(message)]
    return "; ".join(said(lang, part) for part in parts if part)


def ahead(message: str) -> str | None:
    """The part of a job's message that says how many jobs of the queue went before it, and by what the last of them."""
    pattern = dict(_patterns())["ahead"]
    return next((part for part in message.split("; ") if pattern.fullmatch(part)), None)


def _form(forms: tuple[str, str], nodes: int) -> str:
    return forms[0] if nodes == 1 else forms[1]


@functools.cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Every English sentence as the pattern that finds its places, the longest first."""
    longest = sorted(en.SAID.items(), key=lambda item: -len(item[1]))
    return [(name, _pattern(text)) for name, text in longest]


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(text)))


def _inner(lang: str, key: str, value: str) -> str:
    """Places that hold words: how nodes would have to be, and checks as the scheduler writes them."""
    known: dict[str, str] = LANGUAGES[lang].INNER
    if key == "lifted":
        what, _, about = value.partition(" (")
        told = known.get(re.sub("^was ", "were ", what))
        return value if told is None else f"{told}（{about.removesuffix(')')}）" if about else told
    if key == "much":
        return str(LANGUAGES[lang].LISTS["names"]).join(value.split(" and "))
    if key == "checks":
        return str(LANGUAGES[lang].LISTS["names"]).join(_check(known, each) for each in value.split(" and "))
    return value


def _check(known: dict[str, str], text: str) -> str:
    before, _, resource = text.partition("Insufficient ")
    return known["Insufficient"].format(resource=resource) if not before and resource else known.get(text, text)
