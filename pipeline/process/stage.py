"""What a stage looks like to the process that runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from pipeline.config.load import Loaded


class Check(NamedTuple):
    """One answer to "are you well?". `detail` is for a person and is shown also when all is well.

    A `live` check that fails says that only a restart helps (a thread is gone or hangs). Whatever a neighbour may cause, such
    as a server that does not answer, makes a process not ready, never dead.
    """

    name: str
    ok: bool
    detail: str = ""
    live: bool = False


class Stage(Protocol):
    """A part that runs until it is stopped. The supervisor calls `start` once and then `stop` once, from one thread."""

    name: str

    def start(self) -> None:
        """Begins and returns; raises when it cannot. Threads that end by an exception end the process."""

    def stop(self, deadline_s: float) -> None:
        """Finishes what is in hand and ends its threads, within so many seconds."""

    def checks(self) -> list[Check]:
        """How it is, from memory, at once: called from other threads while the stage runs."""


@runtime_checkable
class Reloads(Protocol):
    """A stage that takes new settings while it runs."""

    def reload(self, loaded: Loaded) -> None:
        """Takes over what is marked live. Called from the main thread; must not raise for settings that are valid."""


@runtime_checkable
class Shows(Protocol):
    """A stage that shows its inside at `/debug/state`."""

    def state(self) -> dict[str, Any]:
        """Plain data: positions, assignments, timers."""


@runtime_checkable
class Observes(Protocol):
    """A stage that shows the others: told once, before any starts, who runs in its process."""

    def observe(self, stages: Sequence[Stage]) -> None:
        """Takes note of all stages of the process, itself included."""
