"""What to do about a failure, given the failures before it. Pure: the caller waits, refreshes, forgets and tells.

A *row* of failures ends with a stream that lived or brought something (`settled`), not with a call that returned: a
server that answers every list and cuts every watch must still be met with longer and longer waits. *Trouble* is what
people see: it begins with the first failure and is over with the first success (`over`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from pipeline.errors import Terminal, Transient
from pipeline.kubeapi import transport
from pipeline.kubeapi.backoff import Backoff
from pipeline.kubeapi.happenings import Doing, Why
from pipeline.kubeapi.options import Options
from pipeline.kubeapi.statuses import Action, Problem

MAX_RETRY_AFTER_S: Final = 300.0
"""However long a server asks us to wait, we look again after this."""

_SLOW = (Action.DISABLE_KEEP_OTHERS, Action.NOT_SERVED)


class Step(msgspec.Struct, frozen=True):
    """The next step: wait `wait_s` and try again; or, if `expired`, forget the version, wait, and list."""

    action: Action
    wait_s: float
    attempt: int
    is_new: bool
    """The trouble before was none, or another one."""
    expired: Why | None = None


class Trouble:
    """The failures of one reflector."""

    def __init__(self, options: Options, dice: Callable[[], float]) -> None:
        self._options = options
        self._backoff = Backoff(options.backoff_first_s, options.backoff_cap_s, dice)
        self._relists = Backoff(options.backoff_first_s, options.backoff_cap_s, dice)
        self._ahead_answers = 0
        self._token_refreshed = False
        self._action: Action | None = None
        self._since_s = 0.0

    def met(self, doing: Doing, error: Transient | Terminal, now_s: float) -> Step:
        """What to do about `error`. A list has no version that could have expired: it is only tried again."""
        action, problem = transport.action_of(error), transport.problem_of(error)
        if action is Action.RELIST and doing is not Doing.LIST and not self._may_catch_up(problem):
            return self._relist(Why.AHEAD if problem.ahead else Why.EXPIRED)
        if self._action is None:
            self._since_s = now_s
        is_new = action is not self._action
        self._action = action
        if action is Action.REFRESH_TOKEN and not self._token_refreshed:
            self._token_refreshed = True
            return Step(action, 0.0, self._backoff.attempts, is_new)
        wait_s = self._backoff.next_wait_s(at_least_s=self._asked_s(action, problem))
        return Step(action, wait_s, self._backoff.attempts, is_new)

    def over(self, now_s: float) -> float | None:
        """Something succeeded: seconds since the trouble began, or None if there was none."""
        if self._action is None:
            return None
        self._action = None
        return now_s - self._since_s

    def settled(self) -> None:
        """A stream lived or brought something: the row of failures is over."""
        self._backoff.reset()
        self._relists.reset()
        self._ahead_answers = 0
        self._token_refreshed = False

    def _may_catch_up(self, problem: Problem) -> bool:
        """A server that has not got to our version: perhaps it only lags."""
        if not problem.ahead or self._ahead_answers >= self._options.ahead_tries:
            return False
        self._ahead_answers += 1
        return True

    def _relist(self, why: Why) -> Step:
        """At once; but a server that forgets what it has just listed is not listed in a hot loop."""
        self._ahead_answers = 0
        first = self._relists.attempts == 0
        wait_s = self._relists.next_wait_s()
        return Step(Action.RELIST, 0.0 if first else wait_s, self._relists.attempts, is_new=True, expired=why)

    def _asked_s(self, action: Action, problem: Problem) -> float:
        asked_s = min(problem.retry_after_s or 0.0, MAX_RETRY_AFTER_S)
        return max(asked_s, self._options.slow_retry_s) if action in _SLOW else asked_s
