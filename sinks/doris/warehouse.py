"""The way to the warehouse: where it is, its schema brought up to date, the client that loads into it.

`open` is called before every turn of the loader and costs nothing while all is well. It starts the local Doris if none
is configured, applies the schema once for each new address, and gives the target its client.
"""

from __future__ import annotations

from collections.abc import Callable

from pipeline.doris import local
from pipeline.doris.settings import Settings
from pipeline.doris.sql import Sql
from pipeline.doris.streamload import StreamLoad
from pipeline.telemetry import logs
from sinks.doris import migrations
from sinks.doris.child import Child
from sinks.doris.target import DorisTarget

log = logs.get(__name__)

Making = Callable[[list[str]], None]
"""Told names of tables that are not there, before any of them is made. If it raises, none is."""


class Warehouse:
    """Used by one thread at a time. `target` is the loader's, through every change of address."""

    def __init__(self, settings: Settings, child: Child | None, making: Making) -> None:
        """`child` None: the settings name a frontend."""
        self._settings = settings
        self._child = child
        self._making = making
        self._client: StreamLoad | None = None
        self._open: Settings | None = None
        self.target = DorisTarget()

    @property
    def address(self) -> str:
        """Where it is, empty before it is known."""
        return self._open.frontend if self._open else ""

    def open(self) -> None:
        """Ready to load, or raises: Transient, Unreachable or QueryFailed (later perhaps), CheckFailed (a conflict)."""
        settings = self._settings if self._child is None else local.at(self._settings, self._child.ensure())
        if settings == self._open:
            return
        apply_schema(settings, self._making)
        self._use(StreamLoad(settings))
        self._open = settings

    def well(self) -> None:
        """A turn was loaded."""
        if self._child is not None:
            self._child.well()

    def close(self) -> None:
        """Ends the client, and the local Doris if it is ours."""
        self._use(None)
        self._open = None
        if self._child is not None:
            self._child.stop()

    def _use(self, client: StreamLoad | None) -> None:
        if self._client is not None:
            self._client.close()
        self._client = self.target.client = client


def apply_schema(settings: Settings, making: Making | None = None) -> migrations.Plan:
    """Brings the schema up to date and returns what was done. Raises as `migrations.check` and `run`."""
    server, within = Sql(settings, database=""), Sql(settings)
    try:
        todo = _plan(settings, server)
        migrations.check(todo, settings.database)
        if making is not None and todo.tables:
            making(todo.tables)
        migrations.run(todo, server, within, settings.database)
    finally:
        server.close()
        within.close()
    if todo.changes:
        log.info("schema_applied", added=[change.what for change in todo.changes])
    return todo


def plan_schema(settings: Settings) -> migrations.Plan:
    """What `apply_schema` would do."""
    server = Sql(settings, database="")
    try:
        return _plan(settings, server)
    finally:
        server.close()


def _plan(settings: Settings, server: Sql) -> migrations.Plan:
    present = migrations.inspect(server, settings.database)
    return migrations.plan(present, replication_num=settings.replication_num, buckets=settings.buckets)
