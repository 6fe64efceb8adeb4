"""Queues in a tree below `root`: who is above whom, and what each may have at most.

What a queue may have is what its parent may have, without what its siblings are guaranteed, and no more than its own
capability. A capability that names no cpu, no memory or not some other resource takes the parent's. The root is not
limited by the cluster: without a capability of its own it may have any amount of what some node has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from scheduler_core.model.resources import CPU, MEMORY, UNLIMITED, Resource
from scheduler_core.session.accounts import Account

ROOT: Final = "root"
_MOST_OF_OTHERS: Final = float(2**63 - 1)
FIRST_OTHERS: Final = MEMORY + 1


class Tree(NamedTuple):
    """`broken` says what is wrong with the tree, or is empty."""

    root: Account | None
    broken: str


def grow(accounts: Mapping[str, Account], total: Resource) -> Tree:
    """Links the accounts and fills what each deserves and may have."""
    broken = ""
    placed = {ROOT}
    for account in accounts.values():
        broken = _climb(account, accounts, placed) or broken
    root = accounts.get(ROOT)
    if root is None:
        return Tree(None, f"there is no queue {ROOT}")
    if broken:
        return Tree(root, broken)
    for account in accounts.values():
        if account.ancestors:
            account.ancestors[-1].children.append(account)
    _crown(root, total)
    _share_out(root)
    return Tree(root, "")


def _climb(account: Account, accounts: Mapping[str, Account], placed: set[str]) -> str:
    """Fills the ancestors of an account, the root first, and of those above it that have none yet."""
    path: list[Account] = []
    seen: set[str] = set()
    here = account
    while here.queue.name not in placed:
        if here.queue.name in seen:
            return f"queue {here.queue.name} is its own ancestor"
        seen.add(here.queue.name)
        path.append(here)
        parent = accounts.get(here.queue.parent or ROOT)
        if parent is None:
            return f"queue {here.queue.name} names the parent {here.queue.parent or ROOT}, which does not exist"
        here = parent
    for each in reversed(path):
        each.ancestors = [*here.ancestors, here]
        placed.add(each.queue.name)
        here = each
    return ""


def _crown(root: Account, total: Resource) -> None:
    capability = root.capability
    if capability is None or capability.is_empty():
        capability = Resource([UNLIMITED] * FIRST_OTHERS + [0] * (len(total.values) - FIRST_OTHERS), 0)
        for place in range(FIRST_OTHERS, len(total.values)):
            if total.has(place):
                capability.set(place, _MOST_OF_OTHERS)
    root.capability = capability
    root.real_capability = root.room = capability.copy()


def _share_out(root: Account) -> None:
    """What the children of each account deserve and may have, from the root down."""
    below = [root]
    while below:
        account = below.pop()
        guaranteed, deserved = account.guarantee.scaled(0), account.deserved.scaled(0)
        for child in account.children:
            child.deserved = child.deserved.at_least(child.guarantee)
            guaranteed.add(child.guarantee)
            deserved.add(child.deserved)
            _inherit(child, account)
        if not account.ancestors:
            account.guarantee, account.deserved = guaranteed, deserved
        for child in account.children:
            assert child.capability is not None
            child.room = account.real_capability.beyond(guaranteed).add(child.guarantee)
            child.real_capability = child.room.copy().at_most(child.capability)
        below += account.children


def _inherit(child: Account, parent: Account) -> None:
    assert parent.capability is not None
    capability = child.capability or Resource([0] * len(parent.capability.values), 0)
    for place, most in enumerate(parent.capability.values):
        unset = capability.values[place] <= 0 if place in (CPU, MEMORY) else not capability.has(place)
        if unset and parent.capability.has(place):
            capability.set(place, most)
    child.capability = capability
