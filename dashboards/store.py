"""The way to the warehouse: named questions in, rows out.

One reader serves all threads: it has a small pool, a time-out for each question, and keeps rows for a moment. The local
Doris may come back on other ports, so its address is looked up before each question and the pool made anew when it changed.
Rows are kept together with the log times that held when they were asked for. Whoever reads those first (every answer with a
mark does) gets no rows older than them: a mark that stays the same names one picture.
A question that fails because the connection was dead is asked once more; one that timed out is not. After a failure nobody
waits for a connection again for a moment: a page that asks five questions shall not wait five times.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from dashboards.cache import Cache
from dashboards.queries import statements
from dashboards.queries.statements import Value
from dashboards.settings import Settings
from pipeline import clock
from pipeline.config.load import Loaded
from pipeline.config.places import Places
from pipeline.doris import local
from pipeline.doris.errors import QueryFailed
from pipeline.doris.settings import Settings as Doris
from pipeline.doris.sql import Sql
from pipeline.errors import Unreachable

REST_S = 1.0
"""So long after a failed connection the next questions fail at once."""
QUICK_S = 1.0
"""A question that failed sooner than this met a dead connection, not a time-out."""
PROGRESS = "progress"
"""The question how far the log has come."""
_NO_DATABASE = 1049
_NO_TABLE = "does not exist in database"

Row = dict[str, Any]


class Store:
    """Asks the warehouse. Safe to use from several threads."""

    def __init__(
        self, locate: Callable[[], Doris], *, keep_s: float, timeout_s: float, max_connections: int, max_rows: int
    ) -> None:
        """`locate` says where the warehouse is now, or raises Unreachable; nothing is connected before the first question."""
        self.max_rows = max_rows
        self._locate = locate
        self._timeout_s = timeout_s
        self._max_connections = max_connections
        self._cache: Cache[list[Row]] = Cache(keep_s)
        self._lock = threading.Lock()
        self._sql: Sql | None = None
        self._at: Doris | None = None
        self._failure: Unreachable | None = None
        self._rest_until_s = 0.0
        self._reached: tuple[Hashable, ...] = ()

    def rows(self, name: str, /, **parameters: Value) -> list[Row]:
        """The rows of `queries/NAME.sql`. The same list may be given to others: do not change it.

        Raises Unreachable (no warehouse, no answer in time, no schema yet) or QueryFailed.
        """
        if name == PROGRESS:
            rows = self._cache.get(name, lambda: self._ask(name, parameters))
            self._reached = tuple(tuple(value for name, value in row.items() if name != "loaded_at") for row in rows)
            return rows
        key = name, tuple(sorted(parameters.items())), self._reached
        return self._cache.get(key, lambda: self._ask(name, parameters))

    def row(self, name: str, /, **parameters: Value) -> Row:
        """The one row of a sum."""
        return self.rows(name, **parameters)[0]

    @property
    def failure(self) -> str | None:
        """Why the last question failed for want of a warehouse; None after one that was answered."""
        return self._failure.what if self._failure else None

    @property
    def address(self) -> str:
        """Where the last question went, empty before the first."""
        return f"{self._at.host}:{self._at.query_port}" if self._at else ""

    def close(self) -> None:
        """Closes the connections; a later question opens new ones."""
        self._drop()

    def _ask(self, name: str, parameters: Mapping[str, Value]) -> list[Row]:
        text, arguments = statements.bind(name, parameters)
        if self._failure is not None and clock.monotonic_s() < self._rest_until_s:
            raise self._failure
        began_s = clock.monotonic_s()
        try:
            try:
                found = self._pool().query(text, arguments)
            except Unreachable:
                if clock.monotonic_s() - began_s > QUICK_S:
                    raise
                self._drop()
                found = self._pool().query(text, arguments)
        except Unreachable as error:
            self._failed(error)
            raise
        except QueryFailed as error:
            if error.code != _NO_DATABASE and _NO_TABLE not in str(error):
                raise
            option = self._at.option if self._at else ""
            fix = f"Start the sink, or run `kube-collector schema apply{option}`."
            empty = Unreachable("the warehouse has no tables yet", where=self.address, fix=fix)
            self._failed(empty)
            raise empty from error
        self._failure = None
        return found.dicts()

    def _pool(self) -> Sql:
        at = self._locate()
        with self._lock:
            if self._sql is None or at != self._at:
                if self._sql is not None:
                    self._sql.close()
                limits = {
                    "query_timeout": min(self._timeout_s, at.query_timeout),
                    "max_connections": min(self._max_connections, at.max_connections),
                }
                self._sql, self._at = Sql(at.model_copy(update=limits)), at
            return self._sql

    def _drop(self) -> None:
        with self._lock:
            if self._sql is not None:
                self._sql.close()
            self._sql = None

    def _failed(self, error: Unreachable) -> None:
        self._drop()
        self._failure = error
        self._rest_until_s = clock.monotonic_s() + REST_S


def open_store(loaded: Loaded) -> Store:
    """The reader of the warehouse that the settings name, or of the local one that runs."""
    settings, doris = loaded.of(Settings), loaded.of(Doris)
    folder = Places(loaded.ground.data_dir).doris
    return Store(
        lambda: local.locate(doris, folder),
        keep_s=settings.cache,
        timeout_s=settings.query_timeout,
        max_connections=settings.max_connections,
        max_rows=settings.max_rows,
    )
