"""A run that was killed against a run that was not: every row of every table, every column.

A replay writes the log that a straight pass writes, and rows are a function of the log alone. So nothing is left out
of the comparison, not even `version` and `as_of`; only the tables `progress` and `pipeline_minute`, which hold the
loader's clock and what its process has counted, are not compared at all.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pymysql

from collector.replay.recording import Recording
from pipeline.records import tables
from pipeline.records.tables import TABLES
from tests.support.cluster import poll
from tests.support.running import Pipeline

LIMIT_S = 600.0
"""What a pipeline may take to come anywhere. It ends a wait in vain, and is no claim about speed."""
Rows = dict[tuple[Any, ...], dict[str, Any]]
COMPARED = tuple(name for name in TABLES if name not in (tables.PROGRESS.name, tables.PIPELINE_MINUTE.name))
JUDGED = (tables.JOB_WAIT.name, tables.WAIT_SEGMENT.name, tables.WAIT_REASON_HOUR.name, tables.SLA_VIOLATION.name)


class Difference(NamedTuple):
    """How a table differs from the straight one: keys that are missing, that are too many, whose rows are others."""

    table: str
    rows: int
    lost: list[tuple[Any, ...]]
    extra: list[tuple[Any, ...]]
    different: list[tuple[Any, ...]]

    @property
    def none(self) -> bool:
        return not (self.lost or self.extra or self.different)

    def __str__(self) -> str:
        counts = f"{self.rows} rows, {len(self.lost)} lost, {len(self.extra)} extra, {len(self.different)} different"
        shown = [*self.lost[:3], *self.extra[:3], *self.different[:3]]
        return f"{self.table}: {counts}" + "".join(f"\n    {key}" for key in shown)


def read(pipeline: Pipeline) -> dict[str, Rows]:
    """All rows of the compared tables, by key."""
    found: dict[str, Rows] = {}
    for name in COMPARED:
        key = TABLES[name].key
        found[name] = {tuple(row[k] for k in key): row for row in pipeline.sql(f"SELECT * FROM {name}")}
    return found


def compare(
    straight: Mapping[str, Rows], other: Mapping[str, Rows], names: Iterable[str] = COMPARED
) -> list[Difference]:
    """Table by table."""
    return [_difference(name, straight[name], other[name]) for name in names]


def end_ms(recording: Path) -> int:
    """Log time at which a replay is over: its last tick."""
    return (Recording(recording).bounds()[1] // 1000 + 1) * 1000


def finish(pipeline: Pipeline, until_ms: int) -> dict[str, Rows]:
    """Starts it, lets it come to the end, reads its rows, and ends it as Ctrl-C would."""
    with finished(pipeline, until_ms):
        return read(pipeline)


@contextmanager
def finished(pipeline: Pipeline, until_ms: int) -> Iterator[None]:
    """Started and come to the end, for the block; then ended as Ctrl-C would."""
    with pipeline:
        await_end(pipeline, until_ms)
        yield
        assert pipeline.stop() == 130


def await_end(pipeline: Pipeline, until_ms: int) -> None:
    """Waits until everything up to this log time is judged and loaded."""
    poll("everything is judged and loaded", lambda: loaded_ms(pipeline) >= until_ms, LIMIT_S)


def loaded_ms(pipeline: Pipeline) -> int:
    """Log time up to which both raw and judged rows are in the warehouse; progress is loaded after what it speaks of."""
    try:
        rows = pipeline.sql(f"SELECT stage, log_at FROM {tables.PROGRESS.name}")
    except (OSError, pymysql.Error):
        return -1
    at = {row["stage"]: int(row["log_at"].replace(tzinfo=datetime.UTC).timestamp() * 1000) for row in rows}
    return min(at.get("aggregation", -1), at.get("loader", -1))


def _difference(name: str, straight: Rows, other: Rows) -> Difference:
    lost = [key for key in straight if key not in other]
    extra = [key for key in other if key not in straight]
    different = [key for key in straight if key in other and straight[key] != other[key]]
    return Difference(name, len(straight), lost, extra, different)
