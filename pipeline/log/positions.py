"""A place in the log, and what a reader gets from it."""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class Position(msgspec.Struct, frozen=True, order=True):
    """Where a line begins: segment number and byte offset in it. `Position(0, 0)` is the very beginning."""

    segment: int
    offset: int


BEGINNING = Position(0, 0)


class Entry(NamedTuple):
    """One line without its newline; `stamp` is log time (ms): the largest `observedms` written up to and with it."""

    stamp: int
    line: bytes


class Batch(NamedTuple):
    """Lines in log order; `end` is where the next read begins; `lost_bytes` were passed over because they are damaged."""

    entries: list[Entry]
    end: Position
    lost_bytes: int
