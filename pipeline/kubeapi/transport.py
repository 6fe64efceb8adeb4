"""What a reflector needs of the network, and the ways it fails. `client` is the real one, tests bring scripted ones.

Transient
├── ServerBusy           an answer that asks to come again: 408, 429, 5xx; `problem`
└── ConnectionLost       no answer, or one cut short: reset, TLS cut, bad chunk
    ├── ConnectFailed    nobody took the connection: no such name, no way, refused, no answer to it
    └── StreamSilent     nothing came within the read time-out
Terminal
├── Refused              any other error answer; `problem`
└── Untrusted            the other side's certificate does not verify
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from pipeline.errors import KubeCollectorError, Terminal, Transient
from pipeline.kubeapi import statuses


class ServerBusy(Transient):
    """The server answered, and asks to come again."""

    def __init__(self, problem: statuses.Problem) -> None:
        super().__init__(str(problem), retry_after_s=problem.retry_after_s)
        self.problem = problem


class ConnectionLost(Transient):
    """No answer, or one that was cut short."""


class ConnectFailed(ConnectionLost):
    """Nobody took the connection, so nobody has seen the request."""


class StreamSilent(ConnectionLost):
    """Nothing came for longer than the caller wanted to wait."""


class Refused(Terminal):
    """The server answered with an error that the same request will meet again."""

    def __init__(self, problem: statuses.Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class Untrusted(Terminal):
    """The server's certificate does not verify."""


def refusal(problem: statuses.Problem) -> ServerBusy | Refused:
    """The exception for an error answer."""
    come_again = problem.code in (408, 429) or problem.code >= 500
    return ServerBusy(problem) if come_again else Refused(problem)


def problem_of(error: KubeCollectorError) -> statuses.Problem:
    """What the server complained of; for anything but an answer a problem that only has a text."""
    if isinstance(error, ServerBusy | Refused):
        return error.problem
    return statuses.Problem(message=str(error))


def action_of(error: KubeCollectorError) -> statuses.Action:
    """What a reader does next. Only an answer of the server decides; a lost connection says nothing but its loss.

    A certificate that does not verify may be a new one: whom we trust is read again with who we are.
    """
    if isinstance(error, ServerBusy | Refused):
        return statuses.action_for(error.problem)
    if isinstance(error, Untrusted):
        return statuses.Action.REFRESH_TOKEN
    return statuses.Action.RECONNECT_BACKOFF


class Transport(Protocol):
    """Requests of one reflector, one at a time. Every error is one of the above."""

    def get(self, path: str, query: Mapping[str, str], *, read_timeout_s: float) -> bytes:
        """The body of an answer below 400."""
        ...

    def stream(
        self, path: str, query: Mapping[str, str], *, read_timeout_s: float
    ) -> AbstractContextManager[Iterator[bytes]]:
        """The chunks of an endless answer, as they come. Entering sends the request; leaving closes the connection.

        A clean end of the body ends the iterator; everything else raises.
        """
        ...

    def refresh(self) -> None:
        """Reads the credentials again: the server refused the ones we have."""
        ...

    def abort(self) -> None:
        """From another thread: lets the call that is waiting for bytes end at once, with an error or early."""
        ...
