"""SQL over the MySQL protocol: a small pool for writers of schema and readers of figures.

Every connection has time-outs, UTC as its time zone and one user at a time. One that lay idle is asked whether it still
lives before it is used again, since a restarted frontend leaves dead ones behind. Arguments are put in by the client
(`%s`, `%(name)s`): Doris prepares statements only for a part of its grammar.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pymysql

from pipeline import clock
from pipeline.doris.errors import QueryFailed
from pipeline.doris.settings import Settings
from pipeline.errors import Unreachable

IDLE_S = 1.0
"""Younger idle connections are used without asking them first."""

_GONE = {1040, 1042, 1043, 1053, 1077, 1079, 1152, 1153, 1158, 1159, 1160, 1161, 2002, 2003, 2006, 2013, 2014, 2055}
"""Errors of the connection, not of the statement."""
_DENIED = {1044, 1045, 1698}

Arguments = Sequence[object] | Mapping[str, object] | None


class Rows(msgspec.Struct, frozen=True):
    """A result: column names, and the rows as tuples of Python values (DATETIME without zone, in UTC)."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def dicts(self) -> list[dict[str, Any]]:
        """The rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class Sql:
    """A pool of connections to one database. Safe to use from several threads; each use has a connection of its own."""

    def __init__(self, settings: Settings, *, database: str | None = None) -> None:
        """`database` "" connects to none, as before the first migration; None to the one of the settings."""
        self._settings = settings
        self._database = settings.database if database is None else database
        self._idle: list[tuple[Any, float]] = []
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(settings.max_connections)
        self._closed = False

    def query(self, statement: str, arguments: Arguments = None) -> Rows:
        """Runs one statement. Raises Unreachable (no connection, time-out) or QueryFailed (Doris refuses it)."""
        with self._connection() as connection:
            try:
                with connection.cursor() as cursor:
                    cursor.execute(statement, arguments)
                    columns = tuple(column[0] for column in cursor.description or ())
                    return Rows(columns, tuple(cursor.fetchall()) if columns else ())
            except pymysql.MySQLError as error:
                raise self._meaning(error, statement) from error

    def execute(self, statement: str, arguments: Arguments = None) -> None:
        """Runs one statement for its effect. Raises as `query`."""
        self.query(statement, arguments)

    def ping(self) -> None:
        """Whether Doris answers. Raises Unreachable."""
        self.query("SELECT 1")

    def close(self) -> None:
        """Closes idle connections; those in use close when they come back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            _shut(connection)

    @contextlib.contextmanager
    def _connection(self) -> Iterator[Any]:
        if not self._free.acquire(timeout=self._settings.query_timeout):
            raise Unreachable(
                f"all {self._settings.max_connections} connections to Doris are busy",
                fix="ask again later, or raise doris.max_connections",
            )
        try:
            connection = self._take() or self._connect()
            try:
                yield connection
            except Unreachable:
                _shut(connection)
                raise
            except QueryFailed:
                self._give(connection)
                raise
            except BaseException:
                _shut(connection)  # half a result may still be on its way
                raise
            else:
                self._give(connection)
        finally:
            self._free.release()

    def _take(self) -> Any | None:
        """An idle connection that lives, newest first."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection, since = self._idle.pop()
            if clock.monotonic_s() - since < IDLE_S:
                return connection
            try:
                connection.ping(reconnect=False)
            except pymysql.MySQLError:
                _shut(connection)
                continue
            return connection

    def _give(self, connection: Any) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append((connection, clock.monotonic_s()))
                return
        _shut(connection)

    def _connect(self) -> Any:
        settings = self._settings
        try:
            return pymysql.connect(
                host=settings.host,
                port=settings.query_port,
                user=settings.user,
                password=settings.secret,
                database=self._database or None,
                charset="utf8mb4",
                autocommit=True,
                connect_timeout=max(1, round(settings.connect_timeout)),
                read_timeout=settings.query_timeout,
                write_timeout=settings.query_timeout,
                init_command="SET time_zone = '+00:00'",
            )
        except pymysql.MySQLError as error:
            raise self._meaning(error, "") from error

    def _meaning(self, error: pymysql.MySQLError, statement: str) -> Unreachable | QueryFailed:
        code, text = _parts(error)
        place = f"Doris at {self._settings.host}:{self._settings.query_port}"
        if code in _GONE or isinstance(error, pymysql.InterfaceError):
            return Unreachable(f"no answer: {text}", where=place, fix=self._settings.when_silent)
        if code in _DENIED:
            return Unreachable(f"refused: {text}", where=place, fix="check doris.user and doris.password")
        return QueryFailed(text, code=code, statement=statement)


def _parts(error: pymysql.MySQLError) -> tuple[int, str]:
    """(error number, text); driver errors without a number count as a lost connection."""
    if len(error.args) >= 2 and isinstance(error.args[0], int):
        return error.args[0], str(error.args[1])
    return 2013, str(error) or type(error).__name__


def _shut(connection: Any) -> None:
    """Closes without a farewell that could block on a dead peer."""
    with contextlib.suppress(pymysql.MySQLError, OSError):
        connection._force_close()
