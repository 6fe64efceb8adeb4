"""Broken promises, latest first."""

from __future__ import annotations

import msgspec
from msgspec import structs

from dashboards import cursors, waits
from dashboards.figures import unknown
from dashboards.figures.asked import Asked, fresh
from dashboards.filters import Filters
from dashboards.objects import Violations
from dashboards.waits import Row
from pipeline.records import times

MOST = 500
USUAL = 100
_FILTERS = ("cluster", "namespace", "tenant", "queue", "kind", "name", "reason", "state")


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """The last row of a page."""

    at_ms: cursors.Moment = 0
    cluster: str = ""
    uid: str = ""
    episode: cursors.Key = 0


def listed(asked: Asked, filters: Filters, limit: int = USUAL, cursor: str | None = None) -> Violations:
    """A page of violations; the filters by phase and promise say nothing here. Raises BadUsage."""
    after = cursors.decode(cursor, Cursor) if cursor else Cursor()
    narrowed = {**filters.parameters(*_FILTERS), "like": filters.like()}
    rows = asked.store.rows(
        "violations",
        **narrowed,
        after_at=times.sql_datetime(after.at_ms),
        after_cluster=after.cluster,
        after_uid=after.uid,
        after_episode=after.episode,
        limit=limit + 1,
    )
    page = rows[:limit]
    whole = not cursor and len(rows) <= limit
    return Violations(
        items=[waits.violation(row, asked.lang) for row in page],
        next=_next(page[-1]) if len(rows) > limit else None,
        total=len(rows) if whole else int(asked.store.row("violations_count", **narrowed)["total"]),
        unknown=unknown.values(asked, filters, bool(rows)),
        **structs.asdict(fresh(asked, filters.cluster)),
    )


def _next(last: Row) -> str:
    return cursors.encode(Cursor(waits.at(last["violated_at"]), last["cluster"], last["job_uid"], last["episode"]))
