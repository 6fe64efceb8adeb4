"""Combinations in a policy that cannot do what they seem to: each is a sentence, and the place it is about.

Tiers are alternatives. Where someone above always answers, nobody below is asked; where someone beside always permits or
rejects, an abstaining vote changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pipeline.config.origins import KeyPath
from pipeline.records import sla
from scheduler_core.model.policy import PluginChoice, Policy
from scheduler_core.session import arguments

Paths = Sequence[Sequence[KeyPath]]
Advice = tuple[KeyPath, str]

_ENQUEUE_DECIDERS = ("proportion", "capacity", "overcommit")
_PIPELINE_DECIDERS = ("gang",)
_QUOTAS = ("proportion", "capacity")
_FIRST_ANSWERS = ("gang", "conformance")


def of(policy: Policy, paths: Paths) -> Iterator[Advice]:
    """Everything worth saying; `paths` are the places of the plugins, tier by tier."""
    for advise in (_nothing, _values, _sla, _reclaim, _quotas, _twice, _starving, _enqueue):
        yield from advise(policy, paths)


def _placed(policy: Policy, paths: Paths) -> Iterator[tuple[int, PluginChoice, KeyPath]]:
    for tier, (choices, places) in enumerate(zip(policy.tiers, paths, strict=True)):
        for choice, place in zip(choices, places, strict=True):
            yield tier, choice, place


def _names(policy: Policy, which: Callable[[int], bool], flag: str) -> set[str]:
    return {
        choice.name
        for tier, choices in enumerate(policy.tiers)
        if which(tier)
        for choice in choices
        if flag in choice.enabled
    }


def _nothing(policy: Policy, paths: Paths) -> Iterator[Advice]:
    if not policy.actions:
        yield ("actions",), "no action is left, so nothing is decided"
    if not any(paths):
        yield ("tiers",), "no plugin is left, so queues, gangs and what pods ask of nodes count for nothing"


def _values(policy: Policy, paths: Paths) -> Iterator[Advice]:
    for _, choice, place in _placed(policy, paths):
        for name, value in choice.arguments.items():
            what = arguments.doubt(name, value)
            if what:
                yield (*place, "arguments", name), f"{what}; the default applies"


def _sla(policy: Policy, paths: Paths) -> Iterator[Advice]:
    for tier, choice, place in _placed(policy, paths):
        if choice.name == "sla":
            yield from _sla_votes(policy, tier, choice, place)
            yield from _sla_time(choice, place)


def _sla_votes(policy: Policy, tier: int, choice: PluginChoice, place: KeyPath) -> Iterator[Advice]:
    for flag, deciders in (("jobEnqueued", _ENQUEUE_DECIDERS), ("jobPipelined", _PIPELINE_DECIDERS)):
        if flag not in choice.enabled:
            continue
        beside = sorted(_names(policy, lambda at: at == tier, flag) & set(deciders))
        above = sorted(_names(policy, lambda at: at < tier, flag) & set(deciders))
        if above:
            yield (
                place,
                f"its {flag} vote is never asked: {', '.join(above)} above it always decides. Put sla first, alone",
            )
        elif beside:
            yield place, f"its {flag} vote changes nothing beside {', '.join(beside)}. Put sla first, alone in its tier"


def _sla_time(choice: PluginChoice, place: KeyPath) -> Iterator[Advice]:
    if "sla-waiting-time" not in choice.arguments:
        return
    value = choice.arguments["sla-waiting-time"]
    path = (*place, "arguments", "sla-waiting-time")
    if not isinstance(value, str):
        such = f"{value}s" if isinstance(value, int | float) and not isinstance(value, bool) else "1h"
        yield path, f"is no text, so there is no global promise: write it with a unit and quotes, such as '{such}'"
        return
    try:
        nanos = sla.parse_duration_ns(value)
    except ValueError as error:
        yield path, f"{error}; there is no global promise"
        return
    if nanos <= 0:
        yield path, "is not above zero, so there is no global promise"


def _reclaim(policy: Policy, paths: Paths) -> Iterator[Advice]:
    if "reclaim" not in policy.actions:
        return
    for tier, choice, place in _placed(policy, paths):
        above = sorted(_names(policy, lambda at: at < tier, "reclaimable") & set(_FIRST_ANSWERS))  # noqa: B023
        if choice.name in _QUOTAS and "reclaimable" in choice.enabled and above:
            yield (
                place,
                f"its word on who may be reclaimed is hardly ever asked: {', '.join(above)} above it answers first",
            )


def _quotas(policy: Policy, paths: Paths) -> Iterator[Advice]:
    found = [(choice.name, place) for _, choice, place in _placed(policy, paths) if choice.name in _QUOTAS]
    if len({name for name, _ in found}) > 1:
        yield found[-1][1], "proportion and capacity both limit queues; use one of them"


def _twice(policy: Policy, paths: Paths) -> Iterator[Advice]:
    seen: set[str] = set()
    for _, choice, place in _placed(policy, paths):
        if choice.name in seen:
            yield place, f"{choice.name} is given twice; each keeps its own accounts"
        seen.add(choice.name)


def _starving(policy: Policy, paths: Paths) -> Iterator[Advice]:
    evicts = [name for name in policy.actions if name in ("preempt", "reclaim")]
    if evicts and not _names(policy, lambda _: True, "jobStarving") & {"gang", "priority"}:
        yield ("actions",), f"no job is ever starving without gang or priority, so {' and '.join(evicts)} does nothing"


def _enqueue(policy: Policy, paths: Paths) -> Iterator[Advice]:
    if "enqueue" in policy.actions:
        return
    for _, choice, place in _placed(policy, paths):
        if choice.name == "overcommit":
            yield place, "without the action enqueue nobody asks it"
