"""`jobs`: several jobs as a list, or the one that was named and not narrowed further in full."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dashboards.asking import columns, listing
from dashboards.asking.source import Source
from dashboards.filters import SORTS, Filters, Wanted, job_name
from pipeline.cli import output

_LONGEST_FIRST = "-wait"


class Asked(NamedTuple):
    """What was typed: names as `typed` gives them, filters with those names, the column to sort by, most rows (0: all)."""

    names: list[str]
    filters: Filters
    uid: str
    sort_by: str | None
    limit: int

    @property
    def is_one(self) -> bool:
        """Whether one job is meant."""
        asked = self.filters
        narrowing = (asked.tenant, asked.queue, asked.phase, asked.sla, asked.reason, asked.text)
        return len(self.names) == 1 and len(asked.kind) < 2 and not any(narrowing)

    @property
    def sort(self) -> str:
        """The order in which the list is cut."""
        return self.sort_by if self.sort_by is not None and self.column is None else _LONGEST_FIRST

    @property
    def column(self) -> str | None:
        """The column by which only what is shown can be sorted; None if the list itself is sorted, or nothing was said."""
        is_ours = self.sort_by is not None and self.sort_by.removeprefix("-") in SORTS
        return None if is_ours else self.sort_by


def typed(names: Iterable[str] | None) -> list[str]:
    """Each name once; `list`, alone, stands for none. Raises BadUsage for what names no job."""
    given = list(names or ())
    return [] if given == ["list"] else list(dict.fromkeys(map(job_name, given)))


def show(source: Source, asked: Asked, wanted: output.Wanted, utc: bool, lang: str) -> None:
    """Asks and prints."""
    filters = asked.filters
    if asked.is_one:
        job = Wanted(asked.names[0], filters.cluster, filters.namespace, "".join(filters.kind), asked.uid)
        listing.detail(source, job, wanted, utc, lang)
        return
    rows = listing.called(
        asked.names, lambda size, cursor: source.jobs(filters, asked.sort, size, cursor), asked.limit, lang
    )
    listing.render(rows, columns.jobs(utc, lang), wanted, lang, columns.name)
