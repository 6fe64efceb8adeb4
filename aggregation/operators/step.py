"""The answer of an operator to a record or a timer."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from pipeline.records.rows import Row

S = TypeVar("S")


class Step(msgspec.Struct, Generic[S], gc=False):
    """The state afterwards (None: drop it), rows to write, and timers: name → due ms in log time, None cancels it.

    Timers that are not named stay as they are. A timer is a promise to look again: an operator that is called twice or
    late for one changes nothing the second time.
    """

    state: S | None
    rows: list[Row]
    timers: dict[str, int | None]
