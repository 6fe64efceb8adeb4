"""The parts put together: one engine, one catalog, two HTTP faces, one SQL port."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from pipeline import clock
from sinks.doris_local import http
from sinks.doris_local.access import Access
from sinks.doris_local.backend import Backend
from sinks.doris_local.catalog import Catalog
from sinks.doris_local.definitions import Definitions
from sinks.doris_local.engine import Engine, Limits
from sinks.doris_local.faults import Faults
from sinks.doris_local.frontend import Frontend
from sinks.doris_local.labels import Labels
from sinks.doris_local.listener import Listener
from sinks.doris_local.load import Loader
from sinks.doris_local.mysql_session import SqlPort
from sinks.doris_local.statements import Statements

STOP_S = 20.0


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What can be chosen; a port of 0 is a free one."""

    folder: Path
    http_port: int = 0
    backend_port: int = 0
    mysql_port: int = 0
    password: str = ""
    faults: bool = False
    limits: Limits = Limits()
    lock_wait_s: float = 0.0


class Ready(msgspec.Struct, frozen=True):
    """Where the server listens: the line it prints when it is ready."""

    http_port: int
    backend_port: int
    mysql_port: int


class Server:
    """Opens the store and listens. Raises CheckFailed if the store cannot be opened, OSError if a port is taken."""

    def __init__(self, options: Options) -> None:
        access = Access(options.password)
        faults = Faults(options.faults)
        self._engine = Engine(options.folder, options.limits, options.lock_wait_s)
        catalog = Catalog(self._engine)
        labels = Labels(self._engine)
        definitions = Definitions(self._engine, catalog, labels)
        definitions.rebuild()
        self._statements = statements = Statements(self._engine, catalog, labels, definitions, faults)
        backend = Backend(access, catalog, labels, Loader(self._engine, catalog, labels), faults, self._engine.scratch)
        backend_listener = Listener(options.backend_port, partial(http.serve, handle=backend.handle))
        backend.port = backend_listener.port
        frontend = Frontend(access, labels, faults, backend.port)
        frontend_listener = Listener(options.http_port, partial(http.serve, handle=frontend.handle))
        sql_listener = Listener(options.mysql_port, SqlPort(access, statements).serve)
        frontend.query_port = sql_listener.port
        statements.show.ports = (backend.port, frontend_listener.port, sql_listener.port)
        self._listeners = (backend_listener, frontend_listener, sql_listener)
        self.ready = Ready(frontend_listener.port, backend.port, sql_listener.port)

    def start(self, on_fatal: Callable[[], object]) -> None:
        """`on_fatal` is called when the database can no longer be used; then end, and start anew."""
        self._engine.on_fatal = on_fatal
        for listener in self._listeners:
            listener.start()

    def stop(self) -> bool:
        """Take no more, end queries, let loads that were read finish, write everything into the file.

        False if something went on for too long: then the file is left as after a crash, which loses nothing.
        """
        for listener in self._listeners:
            listener.stop()
        deadline = clock.monotonic_s() + STOP_S
        while any(listener.busy for listener in self._listeners):
            if clock.monotonic_s() > deadline:
                return False
            self._statements.interrupt()
            time.sleep(0.01)
        self._engine.close()
        return True
