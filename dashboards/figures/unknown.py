"""Values of filters that no stored job has: an answer of nothing says so, since it would look like good news."""

from __future__ import annotations

from dashboards.figures.asked import Asked
from dashboards.filters import IDENTITY, MOST_KNOWN, NONE, Filters
from dashboards.objects import Unknown
from dashboards.waits import Row
from pipeline.config.suggest import closest

_COLUMNS = {"kind": "job_kind"}
"""Where a column is called otherwise than its filter."""


def values(asked: Asked, filters: Filters, found: bool) -> list[Unknown]:
    """The values of these filters that nothing has; `found`: the answer is not empty. Of filters by one value each that
    is enough to know; else the warehouse is asked, and while it has nothing at all, or more than is read, nobody can tell.
    """
    given = {name: _of(filters, name) for name in IDENTITY}
    if not any(given.values()) or (found and all(len(each) <= 1 for each in given.values())):
        return []
    rows = asked.store.rows("choices", limit=asked.store.max_rows)
    if not 0 < len(rows) < asked.store.max_rows:
        return []
    rows = [row for row in rows if row["cluster"] in filters.cluster] or rows
    return [each for name, wanted in given.items() for each in _missing(name, wanted, rows)]


def _of(filters: Filters, name: str) -> tuple[str, ...]:
    wanted: tuple[str, ...] = getattr(filters, name)
    return tuple(value for value in wanted if value != NONE or name not in ("queue", "tenant"))


def _missing(name: str, wanted: tuple[str, ...], rows: list[Row]) -> list[Unknown]:
    fold = str.lower if name == "kind" else str
    known = {fold(value): value for row in rows if (value := row[_COLUMNS.get(name, name)])}
    listed = sorted(known.values())[:MOST_KNOWN]
    return [
        Unknown(name, value, known.get(closest(fold(value), known) or ""), listed)
        for value in wanted
        if fold(value) not in known
    ]
