"""Queues: how many jobs wait in each, how long, because of what."""

from __future__ import annotations

from msgspec import structs

from dashboards.figures import unknown
from dashboards.figures.asked import Asked, fresh
from dashboards.filters import IDENTITY, Filters
from dashboards.objects import Queue, Queues, Reason
from dashboards.waits import Row
from pipeline.records import words


def listed(asked: Asked, filters: Filters) -> Queues:
    """Every queue, the one with the most waiting first."""
    narrowed = filters.parameters(*IDENTITY)
    leading = _leading(asked, asked.store.rows("queue_reasons", **narrowed, limit=asked.store.max_rows))
    rows = asked.store.rows("queues", **narrowed, limit=asked.store.max_rows)
    return Queues(
        items=[_queue(row, leading.get((row["queue"], row["tenant"]))) for row in rows],
        unknown=unknown.values(asked, filters, bool(rows)),
        **structs.asdict(fresh(asked, filters.cluster)),
    )


def _queue(row: Row, leading: Reason | None) -> Queue:
    return Queue(
        queue=row["queue"] or "",
        tenant=row["tenant"] or "",
        jobs=int(row["jobs"]),
        waiting=int(row["waiting"]),
        violated=int(row["violated"]),
        longest_wait_ms=int(row["longest_wait_ms"]),
        waiting_ms=int(row["waiting_ms"]),
        gpus_waiting=int(row["gpus_waiting"]),
        leading=leading,
    )


def _leading(asked: Asked, rows: list[Row]) -> dict[tuple[str, str], Reason]:
    """Of each queue the first of the rows, which come longest first, with its share of all."""
    whole: dict[tuple[str, str], int] = {}
    for row in rows:
        key = row["queue"], row["tenant"]
        whole[key] = whole.get(key, 0) + int(row["ms"])
    first: dict[tuple[str, str], Reason] = {}
    for row in rows:
        key, ms = (row["queue"], row["tenant"]), int(row["ms"])
        share = round(ms / whole[key], 4) if whole[key] else 1.0
        title = words.title(asked.lang, row["reason"])
        first.setdefault(key, Reason(row["reason"], row["detail"] or None, row["resource"] or None, ms, share, title))
    return first
