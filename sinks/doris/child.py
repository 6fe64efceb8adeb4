"""The local Doris as a child process: started when no Doris is configured, started again when it dies.

Its launcher is found by entry point, never imported: what speaks to it must only know its two ports, as with a real Doris.
The launcher starts a process of its own that ends when this one does, however this one ends.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from pipeline import clock, extensions
from pipeline.doris import local
from pipeline.doris.errors import Offline
from pipeline.doris.local import Address
from pipeline.errors import UserError
from pipeline.retry import Backoff
from pipeline.telemetry import logs

GROUP = "kube_collector.doris_local"

log = logs.get(__name__)


class Running(Protocol):
    """What the launcher gives: the ports of a server that answers, and the handle on its process."""

    http_port: int
    mysql_port: int

    @property
    def alive(self) -> bool: ...
    def stop(self) -> None: ...


class Launcher(Protocol):
    """Starts the server over the files in a folder and returns when it answers; port 0 is a free one. Raises UserError."""

    def __call__(self, path: Path, *, http_port: int = 0, mysql_port: int = 0) -> Running: ...


def launcher() -> Launcher:
    """The installed one. Raises UserError."""
    found = extensions.found(GROUP)
    if not found:
        raise UserError(
            "no Doris is configured, and this installation has no local one",
            fix="install kube-collector[local], or set doris.frontend to host:8030",
        )
    start: Launcher = found[0].load()
    return start


class Child:
    """At most one running local Doris, on the same ports through its restarts if they stay free. One thread at a time."""

    def __init__(self, folder: Path, start: Launcher) -> None:
        self._folder = folder
        self._start = start
        self._running: Running | None = None
        self._ports = Address(0, 0)
        self._known_to_start = False
        self._backoff = Backoff(first_s=0.5, max_s=15.0)
        self._not_before_s = 0.0

    def ensure(self) -> Address:
        """Its address, after starting it if it does not run.

        Raises Offline while it ended and is not back, UserError when it cannot be started at all.
        """
        if self._running is None or not self._running.alive:
            self._restart()
        return self._ports

    def _restart(self) -> None:
        if self._running is not None:
            log.error("local_doris_ended", now="it is started again")
            self.stop()  # collects what is left of the process
        wait_s = self._not_before_s - clock.monotonic_s()
        if wait_s > 0:
            raise Offline("the local Doris ended", retry_after_s=wait_s)
        # One that dies again at once is not started again at once.
        self._not_before_s = clock.monotonic_s() + self._backoff.next_s(1.0)
        before, self._ports = self._ports, Address(0, 0)  # tried once: another program may have them by now
        try:
            self._running = self._start(self._folder, http_port=before.http_port, mysql_port=before.mysql_port)
        except UserError as error:
            if not self._known_to_start:
                raise
            raise Offline(f"the local Doris ended and does not start again: {error.what}") from error
        self._known_to_start = True
        self._ports = Address(self._running.http_port, self._running.mysql_port)
        local.announce(self._folder, self._ports)
        log.info("local_doris_answers", http_port=self._ports.http_port, mysql_port=self._ports.mysql_port)

    def well(self) -> None:
        """It took a load: an end from now on is not one of a row of ends."""
        self._backoff.reset()

    def stop(self) -> None:
        """Ends it, after what it has in hand."""
        if self._running is not None:
            self._running.stop()
            self._forget()

    def _forget(self) -> None:
        self._running = None
        local.withdraw(self._folder)
