"""The counters of stages, by the minute, as rows of `pipeline_minute`.

They are those of the process that loads: all stages of `up`, of a `sink` by itself only its own. Minutes are of log time,
as everywhere in the warehouse. A replay runs through them faster than rows are loaded: then the row is of the last minute
that was over, and those before it have none.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.records import tables, times
from pipeline.records.rows import Row

Counted = Mapping[tuple[str, str], float]
"""Values by stage and counter."""


class Minutes:
    """When counters are due: as often as a minute of log time is over, the first that was seen to begin included."""

    def __init__(self) -> None:
        self._minute_ms: int | None = None

    def over(self, log_at_ms: int) -> int | None:
        """The last minute (its begin, ms) that is over at this log time, if it was not told before."""
        minute_ms = log_at_ms // times.MINUTE_MS * times.MINUTE_MS
        before_ms, self._minute_ms = self._minute_ms, max(minute_ms, self._minute_ms or 0)
        return None if before_ms is None or minute_ms <= before_ms else minute_ms - times.MINUTE_MS


def rows(counted: Counted, cluster: str, minute_ms: int, now_ms: int) -> list[Row]:
    """A row a counter. `now_ms` is their version: a process that begins again in the same minute has the newer values."""
    at = {"day": minute_ms, "cluster": cluster, "minute": minute_ms}
    return [
        Row(tables.PIPELINE_MINUTE.name, now_ms, {**at, "stage": stage, "name": name, "value": value})
        for (stage, name), value in sorted(counted.items())
    ]
