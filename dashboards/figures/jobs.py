"""The list of jobs: one row each, by its latest wait."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import structs

from dashboards import cursors, waits
from dashboards.figures import unknown
from dashboards.figures.asked import Asked, fresh
from dashboards.filters import LAST_MS, SORTS, Filters, one_of
from dashboards.objects import JobRow, Jobs, Now
from dashboards.queries.statements import Value
from dashboards.waits import Row
from pipeline.errors import BadUsage
from pipeline.records import times

MOST = 500
USUAL = 100
DEFAULT_SORT = "-wait"
_FILTERS = ("cluster", "namespace", "tenant", "queue", "kind", "name", "phase", "sla", "reason")


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """The last row of a page, and up to when open waits were measured when the first page was made (LAST_MS: no bound)."""

    sort: str
    until_ms: cursors.Moment
    key: cursors.Key
    text: str
    cluster: str
    uid: str


def listed(
    asked: Asked, filters: Filters, sort: str = DEFAULT_SORT, limit: int = USUAL, cursor: str | None = None
) -> Jobs:
    """A page of jobs. `sort` is one of SORTS, `-` turns it round. Raises BadUsage."""
    one_of("sort", sort.removeprefix("-"), SORTS)
    after = cursors.decode(cursor, Cursor) if cursor else Cursor(sort, LAST_MS, 0, "", "", "")
    if after.sort != sort:
        raise BadUsage(
            f"the cursor is of a list sorted by {after.sort}", fix="Leave the order as it was, or begin anew."
        )
    narrowed = {**filters.parameters(*_FILTERS), "like": filters.like()}
    rows = asked.store.rows("jobs", **narrowed, **_order(sort, after), limit=limit + 1)
    page = rows[:limit]
    whole = not cursor and len(rows) <= limit
    total = len(rows) if whole else asked.store.row("jobs_count", **narrowed)["total"]
    return Jobs(
        items=made(asked, page),
        next=_next(after, page) if len(rows) > limit else None,
        total=int(total),
        unknown=unknown.values(asked, filters, bool(rows)),
        **structs.asdict(fresh(asked, filters.cluster)),
    )


def made(asked: Asked, rows: list[Row]) -> list[JobRow]:
    """Rows of `jobs.sql` with what holds each job now."""
    holding = _holding(asked, [row for row in rows if row["phase"] == "waiting"])
    return [
        waits.job_row(
            row, int(row["episodes"]), asked.lang, holding.get((row["cluster"], row["job_uid"], row["episode"]))
        )
        for row in rows
    ]


def _holding(asked: Asked, rows: list[Row]) -> dict[tuple[str, str, int], Now]:
    if not rows:
        return {}
    found = asked.store.rows(
        "open_segments",
        days=_each(row["day"].isoformat() for row in rows),
        clusters=_each(row["cluster"] for row in rows),
        uids=_each(row["job_uid"] for row in rows),
        limit=asked.store.max_rows,
    )
    return {(row["cluster"], row["job_uid"], row["episode"]): waits.open_now(row, asked.lang) for row in found}


def _each(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _order(sort: str, after: Cursor) -> dict[str, Value]:
    return {
        "sort": sort.removeprefix("-"),
        "direction": -1 if sort.startswith("-") else 1,
        "until_at": times.sql_datetime(after.until_ms),
        "after_key": after.key,
        "after_text": after.text,
        "after_cluster": after.cluster,
        "after_uid": after.uid,
    }


def _next(before: Cursor, page: list[Row]) -> str:
    until_ms = min(before.until_ms, max(waits.at(row["now_at"]) for row in page))
    last = page[-1]
    return cursors.encode(
        Cursor(before.sort, until_ms, int(last["sort_key"]), last["sort_text"], last["cluster"], last["job_uid"])
    )
