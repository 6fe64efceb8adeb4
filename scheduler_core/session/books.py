"""Accounts of queues that stay from session to session while their tables stand (`model.standing`).

What queues deserve and may have, and how they lie in their tree, does not change while the queues and the nodes stay; what
they hold and wait for changes with jobs. So accounts are opened again: what a session charged to them is forgotten, and
what the ledger says of queues whose jobs have changed is added on the way up. Amounts of pods and of groups are whole
numbers, so adding a difference is exact: an account that was opened again equals one that was made anew.
"""

from __future__ import annotations

from scheduler_core.session.accounts import Account, Charge, Ledger


class Book:
    """The accounts of all queues by name, each as it stood when a session opened, and the ledger up to which they speak."""

    def __init__(self, accounts: dict[str, Account], ledger: Ledger) -> None:
        self.accounts = accounts
        self._all = list(accounts.values())
        self._turn = ledger.turn
        self._charged: dict[str, Charge] = {name: charge.copy() for name, charge in ledger.of_queue.items()}
        for account in self._all:
            account.remember()

    def reopen(self, ledger: Ledger) -> list[Account]:
        """Forgets a session and takes in what has changed: the accounts of which the share has to be found again.

        If there are any, all places among queues are forgotten, since what lies above may have moved.
        """
        for account in self._all:
            account.reopen()
        changed: dict[str, Account] = {}
        for name in ledger.changed_since(self._turn):
            now = ledger.of_queue[name].copy()
            before = self._charged.get(name) or Charge(name, ledger.nothing, ledger.nothing)
            self._charged[name] = now
            for each in self.accounts[name].line:
                each.change(before, now)
                changed[each.queue.name] = each
        self._turn = ledger.turn
        if changed:
            for account in self._all:
                account.order = None
                account.in_numbers = False
        return list(changed.values())

    def settle(self, changed: list[Account]) -> None:
        """Takes these accounts as they now are for what they are when a session opens."""
        for account in changed:
            account.remember()
