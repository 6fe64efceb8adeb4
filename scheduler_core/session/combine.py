"""How answers of plugins are combined: each rule once, over tiers of functions, whatever is asked.

Tiers are in the order of the policy, functions in the order of their tier; functions that are not enabled or not there
are not in the tiers at all. Which point uses which rule is said in `points`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from scheduler_core.model.why import Why

T = TypeVar("T")
Tiers = Sequence[Sequence[Callable[..., T]]]

PERMITS: Final = 1
ABSTAINS: Final = 0
REJECTS: Final = -1


class Vote:
    """Permit, abstain or reject; a rejection says why."""

    __slots__ = ("value", "why")

    def __init__(self, value: int, why: Why | None = None) -> None:
        self.value = value
        self.why = why


PERMIT: Final = Vote(PERMITS)
ABSTAIN: Final = Vote(ABSTAINS)


def reject(why: Why) -> Vote:
    """A rejection with its reason."""
    return Vote(REJECTS, why)


class Ballot:
    """The outcome of a vote: `passed`, every vote that was `cast` in order, and `why` it was rejected if it was."""

    __slots__ = ("cast", "passed", "why")

    def __init__(self, passed: bool, cast: tuple[Vote, ...], why: Why | None = None) -> None:
        self.passed = passed
        self.cast = cast
        self.why = why


def vote(tiers: Tiers[Vote], about: Any, *, all_abstain: bool = True) -> Ballot:
    """A rejection ends everything. Permits let the rest of their tier speak; then the tier decides and lower ones are not asked.

    When every tier abstains the outcome is `all_abstain`.
    """
    cast: list[Vote] = []
    for tier in tiers:
        permitted = False
        for ask in tier:
            answer = ask(about)
            cast.append(answer)
            if answer.value < 0:
                return Ballot(False, tuple(cast), answer.why)
            permitted = permitted or answer.value > 0
        if permitted:
            return Ballot(True, tuple(cast))
    return Ballot(all_abstain or not cast, tuple(cast))


def unanimous(asked: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """Everyone asked must say yes, whatever the tier; nobody asked is yes. One function, for what is asked very often.

    Answers count by their truth: a plug-in may well say numpy's.
    """
    if len(asked) == 1:
        return asked[0]
    return lambda *about: all(ask(*about) for ask in asked)


def first_tier_true(tiers: Tiers[Any], *about: Any) -> bool:
    """The first tier in which anyone is asked decides alone, and all of it must say yes; nobody asked is no."""
    for tier in tiers:
        if tier:
            return all(ask(*about) for ask in tier)
    return False


def first_given(tiers: Tiers[T | None], *about: Any) -> T | None:
    """The first answer that is one: an objection, a chosen node, gradients."""
    for tier in tiers:
        for ask in tier:
            answer = ask(*about)
            if answer is not None:
                return answer
    return None


def everyone(tiers: Tiers[None], *about: Any) -> None:
    """All are told."""
    for tier in tiers:
        for tell in tier:
            tell(*about)


def compare(tiers: Tiers[int], *about: Any) -> int:
    """The first comparison that is not equal decides."""
    for tier in tiers:
        for ask in tier:
            answer = ask(*about)
            if answer:
                return answer
    return 0


def victims(tiers: Tiers[Iterable[T] | None], *about: Any, empty_is_final: bool = False) -> list[T]:
    """Who may be evicted: within a tier what all agree on, in the order of the first; of tiers the first with anyone.

    None abstains. An empty answer ends its tier without result, and the next tier is asked: tiers are alternatives, not
    vetoes. Volcano cannot tell an agreement on nobody from "not asked yet", so a later plugin of the tier starts anew;
    `empty_is_final` keeps it.
    """
    for tier in tiers:
        agreed: list[T] | None = None
        for ask in tier:
            answer = ask(*about)
            if answer is None:
                continue
            offered = list(answer)
            if not offered:
                agreed = None
                break
            if agreed is None:
                agreed = offered
            else:
                agreed = [each for each in agreed if any(each is other or each == other for other in offered)]
                if not agreed and empty_is_final:
                    break
                agreed = agreed or None
        if agreed is not None and (agreed or empty_is_final):
            return agreed
    return []


def union(tiers: Tiers[Iterable[T] | None], *about: Any) -> list[T]:
    """Everyone whom the first tier with any answer names, once each."""
    for tier in tiers:
        found: list[T] = []
        for ask in tier:
            found += [each for each in ask(*about) or () if each not in found]
        if found:
            return found
    return []
