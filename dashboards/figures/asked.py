"""What every figure is given: the warehouse, the language, the clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dashboards.explaining import Explain
from dashboards.objects import Fresh
from dashboards.store import Store
from dashboards.waits import ms

JUDGED = "aggregation"
REPLAY = "@replay"
LEFT_MS = 60_000
"""The loader of a replay says every few seconds that it is there; after so long without a word nobody plays it."""

Status = Callable[[], Mapping[str, Any] | None]
"""What each stage of this process shows of itself, by its name; None if it runs no other stage."""


class Asked(NamedTuple):
    """One question's surroundings: `clock_ms` is the reader's clock, `lang` a language there are words for.

    `explain` rebuilds what a scheduler saw in the past; None where no log is at hand, or nobody is installed who can.
    `status` None: this process runs no other stage.
    """

    store: Store
    lang: str
    clock_ms: int
    explain: Explain | None = None
    status: Status | None = None


def fresh(asked: Asked, clusters: tuple[str, ...] = ()) -> Fresh:
    """How fresh the data of these clusters is; of several, or of all, that of the one that was loaded last.

    Log times of different clusters do not compare: a replay's lies in its recording.
    """
    rows = [row for row in asked.store.rows("progress") if not clusters or row["cluster"] in clusters]
    loaded = {row["cluster"]: row["loaded_at"] for row in sorted(rows, key=_loaded)}
    if not loaded:
        # The first rows are there before the first progress: whose they are tells a replay already.
        names = clusters or tuple(row["cluster"] for row in asked.store.rows("choices", limit=asked.store.max_rows))
        replay = any(name.endswith(REPLAY) for name in names)
        return Fresh(now_ms=None, data_until_ms=None, lag_ms=None, replay=replay)
    cluster, loaded_at = list(loaded.items())[-1]
    log_at = {row["stage"]: ms(row["log_at"]) for row in rows if row["cluster"] == cluster}
    known = [at for at in log_at.values() if at is not None]
    loaded_ms = ms(loaded_at)
    lag_ms = None if loaded_ms is None else max(0, asked.clock_ms - loaded_ms)
    over = _is_over(asked, cluster, lag_ms or 0) if cluster.endswith(REPLAY) else None
    return Fresh(
        now_ms=log_at.get(JUDGED) or max(known, default=None),
        data_until_ms=min(known, default=None),
        lag_ms=None if over else lag_ms,
        replay=cluster.endswith(REPLAY),
        replay_over=over,
    )


def _is_over(asked: Asked, cluster: str, lag_ms: int) -> bool | None:
    """Whether nothing comes of a recording any more: as the stage that plays it says, else where nobody has loaded anything
    for long; None where that cannot be told yet."""
    shown = (asked.status() if asked.status else None) or {}
    for stage in shown.values():
        if isinstance(stage, Mapping) and stage.get("cluster") == cluster and "replay" in stage:
            return bool(stage["replay"]["done"])
    return True if lag_ms > LEFT_MS else None


def _loaded(row: dict[str, object]) -> tuple[str, str]:
    """Orders rows of progress by their load, those without one first."""
    return (str(row["loaded_at"] or ""), str(row["cluster"]))
