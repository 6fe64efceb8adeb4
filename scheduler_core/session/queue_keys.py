"""The keys by which queues of a tree are ordered: smaller first.

Two queues compare by what lies below their nearest common ancestor: its share, and whether it deserves anything. Equal there,
they are equal, whatever lies deeper. Numbers level by level say the same where of the accounts above queues no two
neighbours are equal, and neighbours are either all queues or all accounts above queues. Most trees are so, and a tuple of
numbers is compared without asking anybody. Where a tree is not so, the key is an object that walks both paths.

What lies above the queues that take jobs keeps its share for a session, so which tree is so is found when one opens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.session.accounts import Account


def settle(root: Account) -> None:
    """Marks the accounts whose keys can be numbers."""
    above = [each for each in root.children if each.children]
    if not above:
        _mark(root.children)
    elif len(above) == len(root.children):
        often: dict[tuple[float, bool], int] = {}
        for each in above:
            often[_stands(each)] = often.get(_stands(each), 0) + 1
        for each in above:
            if often[_stands(each)] == 1 and _tells_apart(each):
                _mark([each])


def _stands(account: Account) -> tuple[float, bool]:
    return account.share, account.deserves_nothing


def _tells_apart(account: Account) -> bool:
    """Whether numbers tell all queues below an account apart as paths do."""
    waiting = [account]
    while waiting:
        children = waiting.pop().children
        above = [each for each in children if each.children]
        if above and (len(above) < len(children) or len({_stands(each) for each in above}) < len(above)):
            return False
        waiting += above
    return True


def _mark(accounts: Sequence[Account]) -> None:
    waiting = [*accounts]
    while waiting:
        account = waiting.pop()
        account.in_numbers = True
        waiting += account.children


def key_of(account: Account) -> tuple[Any, ...]:
    """The key of a queue as it stands."""
    first = account.path[0]
    if not account.in_numbers:
        return (account.standing, first.share, first.deserves_nothing, _Path(account))
    return (account.standing, *[part for each in account.path for part in (each.share, each.deserves_nothing)])


class _Path:
    """The way from below the root down to a queue, as it stood when the key was made."""

    __slots__ = ("steps",)

    def __init__(self, account: Account) -> None:
        self.steps = [(each, _stands(each)) for each in account.path]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Path) and self._compare(other) == 0

    def __lt__(self, other: _Path) -> bool:
        return self._compare(other) < 0

    def __le__(self, other: _Path) -> bool:
        return self._compare(other) <= 0

    def _compare(self, other: _Path) -> int:
        for mine, theirs in zip(self.steps, other.steps, strict=False):
            if mine[0] is not theirs[0]:
                return -1 if mine[1] < theirs[1] else int(theirs[1] < mine[1])
        return 0

    __hash__ = None  # type: ignore[assignment]
