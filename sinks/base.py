"""The contract between what is read and what is written: the loader knows no log, no outbox and no Doris, only this.

A `Source` gives rows in its order and is told, durably, when they are loaded. A `Target` takes the rows of one table as
lines and loads all of them or none. Rows converge (unique key, sequence), so between a load and the ack a crash may
repeat rows, never lose them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from pipeline.records.rows import Row


class Bad(NamedTuple):
    """Input that no row can be made of: it goes to the dead letters as it is."""

    kind: str
    data: bytes
    error: str


class Taken(NamedTuple):
    """What a source gave: rows in order, bad input, size in bytes, and `end`, which `ack` takes back.

    `log_at`: for each cluster the log time (ms) up to which all of its rows were given, where the source knows it.
    """

    rows: list[Row]
    bad: list[Bad]
    size: int
    end: Any
    log_at: dict[str, int]


class Source(Protocol):
    """Where rows come from. Used by one thread. `begun`: an earlier run has given something that was loaded."""

    @property
    def begun(self) -> bool: ...

    def take(self, max_rows: int, max_bytes: int) -> Taken | None:
        """The next rows, or None when nothing came since; goes on behind what it gave before, acked or not."""
        ...

    def ack(self, end: Any) -> None:
        """Everything given up to `end` is loaded."""
        ...

    def again(self) -> bool:
        """The warehouse has lost what it was given: gives all of it once more that is still there.

        Whether something had been given that is not.
        """
        ...

    def close(self) -> None: ...


class Target(Protocol):
    """Where rows go. Raises Transient (try again later) or `pipeline.doris.errors.BadRows` (bisect)."""

    def load(self, table: str, lines: list[bytes]) -> None:
        """Loads all lines or none."""
        ...
