"""What to do about a failure, given the failures before it. Pure: the caller waits, refreshes, forgets and tells.

A *row* of failures ends with a stream that lived or brought something (`settled`), not with a call that returned: a
server that answers every list and cuts every watch must still be met with longer and longer waits. *Trouble* is what
people see: it begins with the first failure and is over with the first success (`over`).

Each way to fail has a row of its own, since a server that comes up fails in one way after the other: it takes no
connections, then says 503, and then, until it has read its roles, 403 to everybody. Waits that grew in one row say
nothing about the next. For the same reason a refusal of what came before is believed only once it has lasted.
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

_REFUSALS = (Action.DISABLE_KEEP_OTHERS, Action.NOT_SERVED)


class Step(msgspec.Struct, frozen=True):
    """The next step: wait `wait_s` and try again; or, if `expired`, forget the version, wait, and list."""

    action: Action
    wait_s: float
    attempt: int
    is_news: bool
    """The trouble before was none or another one, and it is to be believed."""
    expired: Why | None = None


class Trouble:
    """The failures of one reflector."""

    def __init__(self, options: Options, dice: Callable[[], float]) -> None:
        self._options = options
        self._away = Backoff(options.backoff_first_s, options.away_cap_s, dice)
        self._failing = Backoff(options.backoff_first_s, options.backoff_cap_s, dice)
        self._refusing = Backoff(options.backoff_first_s, options.slow_retry_s, dice)
        self._relists = Backoff(options.backoff_first_s, options.backoff_cap_s, dice)
        self._ahead_answers = 0
        self._token_refreshed = False
        self._action: Action | None = None
        self._since_s = 0.0
        self._action_since_s = 0.0
        self._is_told = False
        self._has_worked = False

    def met(self, doing: Doing, error: Transient | Terminal, now_s: float) -> Step:
        """What to do about `error`. A list has no version that could have expired: it is only tried again."""
        action, problem = transport.action_of(error), transport.problem_of(error)
        if action is Action.RELIST and doing is not Doing.LIST and not self._may_catch_up(problem):
            return self._relist(Why.AHEAD if problem.ahead else Why.EXPIRED)
        if self._action is None:
            self._since_s = now_s
        is_news = self._note(action, now_s)
        if action is Action.REFRESH_TOKEN and not self._token_refreshed:
            self._token_refreshed = True
            return Step(action, 0.0, self._attempts, is_news)
        asked_s = min(problem.retry_after_s or 0.0, MAX_RETRY_AFTER_S)
        wait_s = self._row(doing, action, error).next_wait_s(at_least_s=asked_s)
        return Step(action, wait_s, self._attempts, is_news)

    def over(self, now_s: float) -> float | None:
        """Something succeeded: seconds since the trouble began, or None if there was none."""
        self._has_worked = True
        if self._action is None:
            return None
        self._action = None
        return now_s - self._since_s

    def settled(self) -> None:
        """A stream lived or brought something: the row of failures is over."""
        for row in (self._away, self._failing, self._refusing, self._relists):
            row.reset()
        self._ahead_answers = 0
        self._token_refreshed = False

    @property
    def _attempts(self) -> int:
        return self._away.attempts + self._failing.attempts + self._refusing.attempts

    def _note(self, action: Action, now_s: float) -> bool:
        """Remembers how it failed; whether that is news now."""
        if action is not self._action:
            self._action, self._action_since_s, self._is_told = action, now_s, False
        may_pass = action in _REFUSALS and self._has_worked
        if self._is_told or (may_pass and now_s - self._action_since_s < self._options.believed_after_s):
            return False
        self._is_told = True
        return True

    def _row(self, doing: Doing, action: Action, error: Transient | Terminal) -> Backoff:
        """A question that gets no answer costs nobody anything; a list that is cut, or a 500, may have cost much."""
        if action in _REFUSALS:
            return self._refusing
        unanswered = doing is Doing.PROBE and isinstance(error, transport.ConnectionLost)
        return self._away if unanswered or isinstance(error, transport.ConnectFailed) else self._failing

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
        return Step(Action.RELIST, 0.0 if first else wait_s, self._relists.attempts, is_news=True, expired=why)
