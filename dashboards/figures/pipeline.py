"""How the pipeline itself is: stages, watches, dead letters. Answers also while the warehouse does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from dashboards import waits
from dashboards.figures.asked import Asked, Status, fresh
from dashboards.objects import DeadLetter, DeadLetters, Fresh, Pipeline, StageProgress
from pipeline.errors import KubeCollectorError
from pipeline.records import times

MOST_LETTERS = 20
_MOST_COUNTERS = 10_000


def made(asked: Asked, status: Status | None = None) -> Pipeline:
    """All that can be told; never raises for a warehouse that is away."""
    process = status() if status else None
    try:
        stored: dict[str, Any] = {
            "stages": _stages(asked),
            "dead_letters": _dead_letters(asked),
            "counters": _counters(asked),
            "warehouse": None,
            **structs.asdict(fresh(asked)),
        }
    except KubeCollectorError as error:
        away = Fresh(now_ms=None, data_until_ms=None, lag_ms=None, replay=_is_replay(process))
        stored = {
            "stages": None,
            "dead_letters": None,
            "counters": None,
            "warehouse": str(error),
            **structs.asdict(away),
        }
    return Pipeline(watches=_watches(process), process=dict(process) if process else None, **stored)


def _stages(asked: Asked) -> list[StageProgress]:
    rows = asked.store.rows("progress")
    furthest: dict[str, int] = {}
    for row in rows:
        furthest[row["cluster"]] = max(furthest.get(row["cluster"], 0), waits.ms(row["log_at"]) or 0)
    return [
        StageProgress(
            row["cluster"],
            row["stage"],
            waits.ms(row["log_at"]),
            waits.ms(row["loaded_at"]),
            None if row["log_at"] is None else furthest[row["cluster"]] - waits.at(row["log_at"]),
        )
        for row in rows
    ]


def _dead_letters(asked: Asked) -> DeadLetters:
    latest = [
        DeadLetter(row["stage"], row["kind"], row["error"], waits.ms(row["observed_at"]))
        for row in asked.store.rows("dead_letters", limit=MOST_LETTERS)
    ]
    return DeadLetters(int(asked.store.row("dead_letters_count")["total"]), latest)


def _counters(asked: Asked) -> dict[str, float]:
    """`cluster/stage/name` to its last value in the last day of log time, of the cluster that is furthest back."""
    newest = [waits.at(row["log_at"]) for row in asked.store.rows("progress") if row["log_at"]]
    from_day = times.sql_date(min(newest, default=asked.clock_ms) - times.DAY_MS)
    rows = asked.store.rows("counters", from_day=from_day, limit=_MOST_COUNTERS)
    return {f"{row['cluster']}/{row['stage']}/{row['name']}": float(row["value"]) for row in rows}


def _watches(process: Mapping[str, Any] | None) -> list[dict[str, Any]] | None:
    if process is None:
        return None
    found = [stage["watches"] for stage in process.values() if isinstance(stage, Mapping) and "watches" in stage]
    return [watch for watches in found for watch in watches] if found else None


def _is_replay(process: Mapping[str, Any] | None) -> bool:
    return any(isinstance(stage, Mapping) and "replay" in stage for stage in (process or {}).values())
