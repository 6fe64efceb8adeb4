"""What the shadow scheduler has decided, in a log that outlived many kills, and what `why` makes of it."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.config.places import Places
from pipeline.log import LogReader
from pipeline.log.positions import BEGINNING
from pipeline.records import codec
from pipeline.records.decisions import Decision
from pipeline.records.envelope import DecisionRecord
from scheduler_core.settings import Settings
from scheduler_core.shadow import building, runner
from tests.support.running import Pipeline

Sight = tuple[str, str | None, int | None, int | None]
"""Of a decision what `why` shows: task, reason, nodes, nodes in all."""


def records(data: Path) -> list[DecisionRecord]:
    """Decision records of the log, in its order."""
    return [record for _, line in _lines(data) if isinstance(record := codec.decode(line), DecisionRecord)]


def doubled(made: list[DecisionRecord]) -> list[str]:
    """Identities that stand in the log more than once, and sessions that were closed twice or out of order."""
    wrong = [f"decision {each} is {count} times in the log" for each, count in _counts(made).items() if count > 1]
    closes = [each.data.session_ms for each in made if each.data.kind == "close"]
    return wrong + [
        f"session {later} is closed after session {earlier}"
        for earlier, later in itertools.pairwise(closes)
        if later <= earlier
    ]


def missing_rows(pipeline: Pipeline, made: list[DecisionRecord]) -> list[str]:
    """Decisions of the log that are not one row of the table, and rows that are no decision of the log."""
    rows = Counter(str(row["id"]) for row in pipeline.sql("SELECT id FROM decision"))
    ids = set(_counts(made))
    wrong = [f"lost: decision {each} has no row" for each in sorted(ids - set(rows))]
    wrong += [f"extra: decision {each} is not in the log" for each in sorted(set(rows) - ids)]
    return wrong + [f"double: {count} rows of decision {each}" for each, count in rows.items() if count > 1]


def sights(pipeline: Pipeline, named: str, at_ms: int | None = None) -> dict[str, Any] | None:
    """The scheduler's part of `why` of `CLUSTER/NAMESPACE/KIND/NAME`, now or at a moment."""
    answer = pipeline.get(f"jobs/{named}/why" + ("" if at_ms is None else f"?at={at_ms}"))
    seen: dict[str, Any] | None = answer["scheduler"]
    return seen


def fresh(data: Path, cluster: str) -> dict[str, set[Sight]]:
    """By job, what a shadow that reads the whole log anew, without any snapshot, says of the waiting jobs at its end."""
    machine = building.machine(Settings(), cluster)
    stamp = 0
    for stamp, line in _lines(data):
        record = runner.told(line)
        if record is not None:
            machine.take(record)
    found: defaultdict[str, set[Sight]] = defaultdict(set)
    for each in machine.ask(stamp):
        if each.job is not None:
            found[each.job.uid].add(sight(each))
    return found


def sight(decision: Decision) -> Sight:
    return decision.task or "", decision.reason, decision.nodes, decision.total_nodes


def _counts(made: list[DecisionRecord]) -> Counter[str]:
    return Counter(each.id for each in made)


def _lines(data: Path) -> Iterator[tuple[int, bytes]]:
    with LogReader(Places(data).records, "test", start=BEGINNING) as reader:
        while (batch := reader.read()).entries:
            yield from batch.entries
