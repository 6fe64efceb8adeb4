"""Answers straight from the warehouse, made by the same figures as the API's."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from dashboards.asking.source import Answer
from dashboards.explaining import explainer
from dashboards.figures import job, jobs, naming, queues, reasons, violations
from dashboards.figures.asked import Asked
from dashboards.filters import Filters, Wanted
from dashboards.store import open_store
from pipeline import clock
from pipeline.config.load import Loaded


class Direct:
    """A `Source` without a server. Raises what the figures raise."""

    def __init__(self, loaded: Loaded, lang: str) -> None:
        self._store = open_store(loaded)
        self._explain = explainer(loaded)
        self._lang = lang

    def close(self) -> None:
        """Ends the connections."""
        self._store.close()

    def jobs(self, filters: Filters, sort: str, limit: int, cursor: str | None) -> Answer:
        return _plain(jobs.listed(self._asked(), filters, sort, limit, cursor))

    def job(self, wanted: Wanted) -> Answer:
        asked = self._asked()
        return _plain(job.detail(asked, naming.wanted(asked, wanted)))

    def why(self, wanted: Wanted, at_ms: int | None) -> Answer:
        asked = self._asked()
        return _plain(job.why(asked, naming.wanted(asked, wanted), at_ms, rebuild=at_ms is not None))

    def violations(self, filters: Filters, limit: int, cursor: str | None) -> Answer:
        return _plain(violations.listed(self._asked(), filters, limit, cursor))

    def queues(self, filters: Filters) -> Answer:
        return _plain(queues.listed(self._asked(), filters))

    def reasons(self, filters: Filters, from_ms: int | None, to_ms: int | None, unit: str) -> Answer:
        return _plain(reasons.made(self._asked(), filters, from_ms, to_ms, unit=unit))

    def _asked(self) -> Asked:
        return Asked(self._store, self._lang, clock.now_ms(), self._explain)


def _plain(answer: Any) -> Answer:
    return cast(Answer, msgspec.to_builtins(answer))
