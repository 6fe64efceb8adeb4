"""Accounts of queues that stay from session to session while their tables stand (`model.standing`).

What queues deserve and may have, and how they lie in their tree, does not change while the queues and the nodes stay; what
they hold and wait for changes with jobs. So accounts are opened again: what a session charged to them is forgotten, and
what the ledger says of queues whose jobs have changed is added on the way up. Amounts of pods and of groups are whole
numbers, so adding a difference is exact: an account that was opened again equals one that was made anew.
"""

from __future__ import annotations

from scheduler_core.session.accounts import AMOUNTS, Account, Ledger

Values = tuple[list[float], ...]
"""What an account holds and waits for, by name in `AMOUNTS`."""


class Book:
    """The accounts of all queues by name, each as it stood when a session opened, and the ledger up to which they speak."""

    def __init__(self, accounts: dict[str, Account], ledger: Ledger) -> None:
        self.accounts = accounts
        self._turn = ledger.turn
        self._charged = {name: charge.values() for name, charge in ledger.of_queue.items()}
        self._opening = {name: (_values(account), account.share) for name, account in accounts.items()}

    def reopen(self, ledger: Ledger) -> list[Account]:
        """Forgets a session and takes in what has changed: the accounts of which the share has to be found again."""
        for name, (values, share) in self._opening.items():
            self.accounts[name].reopen(values, share)
        changed: dict[str, Account] = {}
        for name in ledger.changed_since(self._turn):
            account = self.accounts[name]
            difference = self._difference(name, ledger)
            for each in (account, *account.ancestors):
                _add(each, difference)
                changed[each.queue.name] = each
        self._turn = ledger.turn
        return list(changed.values())

    def settle(self, changed: list[Account]) -> None:
        """Takes these accounts as they now are for what they are when a session opens."""
        for account in changed:
            self._opening[account.queue.name] = (_values(account), account.share)

    def _difference(self, name: str, ledger: Ledger) -> Values:
        now = ledger.of_queue[name].values()
        before = self._charged.get(name) or tuple([0] * len(each) for each in now)
        self._charged[name] = now
        return tuple(
            [mine - theirs for mine, theirs in zip(one, other, strict=True)]
            for one, other in zip(now, before, strict=True)
        )


def _values(account: Account) -> Values:
    return tuple(getattr(account, name).values[:] for name in AMOUNTS)


def _add(account: Account, difference: Values) -> None:
    for name, amounts in zip(AMOUNTS, difference, strict=True):
        mine = getattr(account, name).values
        for place, amount in enumerate(amounts):
            if amount:
                mine[place] += amount
