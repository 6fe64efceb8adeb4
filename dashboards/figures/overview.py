"""The first look: are promises kept, who waits longest, what is about to break, because of what."""

from __future__ import annotations

from msgspec import structs

from dashboards.figures import jobs, reasons, unknown, violations
from dashboards.figures.asked import Asked, fresh
from dashboards.filters import IDENTITY, Filters
from dashboards.objects import JobRow, Kept, Overview, Waiting

MOST = 8


def made(asked: Asked, filters: Filters) -> Overview:
    """Sums over all stored waits of the filters; `top_reasons` over the last day that there is data of."""
    row = asked.store.row("overview", **filters.parameters(*IDENTITY))
    numbers = {name: int(value or 0) for name, value in row.items()}
    return Overview(
        kept=Kept(*(numbers[name] for name in Kept.__struct_fields__)),
        waiting=Waiting(*(numbers[name] for name in Waiting.__struct_fields__)),
        longest=_jobs(asked, filters._replace(phase=("waiting",)), "-wait"),
        at_risk=_jobs(asked, filters._replace(sla=("at_risk",)), "deadline"),
        recent_violations=violations.listed(asked, filters, MOST).items,
        top_reasons=reasons.totals(asked, filters, reasons.usual(asked, filters))[:MOST],
        unknown=unknown.values(asked, filters, row["promised"] is not None),
        **structs.asdict(fresh(asked, filters.cluster)),
    )


def _jobs(asked: Asked, filters: Filters, sort: str) -> list[JobRow]:
    return jobs.listed(asked, filters, sort, MOST).items
