"""DuckDB opened the way this server uses it: one file for what must last, memory for what is derived from it.

The file is attached as `store` and holds rows, definitions and labels only. Everything that can be worked out from
definitions (a view per table that hides the hidden columns, users' views, functions, information_schema) lives in the
main catalog, in memory, and is made again at each start: it may change between releases and the file need not.

Each thread works on a cursor of its own; readers see snapshots. Writers take `write_lock`: DuckDB lets two transactions
touch one table only by failing one of them, and Doris' clients do not expect that.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
import msgspec

from pipeline import clock, errors, faults

FILE_NAME = "doris.duckdb"
SETTINGS = """
    SET GLOBAL TimeZone = 'UTC';
    SET GLOBAL error_on_division_by_zero = false;
    SET GLOBAL ieee_floating_point_ops = false;
"""
# A checkpoint rewrites every row group that an upsert touched, so it is done less often than DuckDB's 16 MB would.
CHECKPOINT_WAL = "64MB"
LEAST_MEMORY = "1KB"
"""A limit that DuckDB never comes down to."""
LOCK_STEP_S = 0.1

log = logging.getLogger(__name__)


class Limits(msgspec.Struct, frozen=True):
    """What DuckDB may take of the machine."""

    threads: int = 2
    memory_mb: int = 1024


class Engine:
    """The open database.

    Raises CheckFailed if another process still has the file after `lock_wait_s`, or if it cannot be used at all.
    """

    def __init__(self, folder: Path, limits: Limits, lock_wait_s: float = 0.0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        folder = folder.resolve()
        self.write_lock = threading.RLock()
        self._limits = limits
        self._cursor_lock = threading.Lock()
        self.on_fatal: Callable[[], object] = lambda: None
        self._root = duckdb.connect(
            ":memory:",
            config={
                "threads": limits.threads,
                "memory_limit": f"{limits.memory_mb}MB",
                "checkpoint_threshold": CHECKPOINT_WAL,
                "temp_directory": str(folder / "spill"),
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            },
        )
        self._root.execute(SETTINGS)
        # Queries name no files and no function that reads one is in the list; this makes sure of it.
        self._root.execute(f"SET GLOBAL allowed_directories = [{literal(f'{folder}/')}]")
        self._root.execute("SET GLOBAL enable_external_access = false")
        self._path = folder / FILE_NAME
        self._attach(self._path, clock.monotonic_s() + lock_wait_s)
        self._written_ns = self._path.stat().st_mtime_ns
        self.scratch = folder / "scratch"
        self.scratch.mkdir(exist_ok=True)
        for left in self.scratch.iterdir():  # of a process that was killed; no other one can be at work here now
            left.unlink()

    def _attach(self, path: Path, until_s: float) -> None:
        try:
            while not self._attached(path, until_s):
                time.sleep(LOCK_STEP_S)
        except duckdb.Error as error:
            if isinstance(error, duckdb.IOException) and _is_locked(error):
                raise errors.CheckFailed(
                    "another process has this local Doris open",
                    where=str(path),
                    fix=f"Stop it or use another folder. ({str(error).splitlines()[0]})",
                ) from error
            raise self.unusable(error) from error

    def _attached(self, path: Path, until_s: float) -> bool:
        """False while another process has the file and there is time to wait for it."""
        try:
            self._root.execute(f"ATTACH {literal(str(path))} AS store")
        except duckdb.IOException as error:
            if _is_locked(error) and clock.monotonic_s() < until_s:
                return False
            raise
        return True

    def unusable(self, error: duckdb.Error) -> errors.CheckFailed:
        """What a failure to open the file or to read its catalog means for a person."""
        return errors.CheckFailed(
            f"the local Doris' file cannot be used: {str(error).splitlines()[0]}",
            where=str(self._path),
            fix="If it is damaged, move it away: what the log still has is loaded again, and the log says what is not.",
        )

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own for one thread at a time; close it."""
        with self._cursor_lock:  # DuckDB refuses a second call on a connection instead of waiting
            return self._root.cursor()

    @contextmanager
    def writing(self, cursor: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """A write transaction on `store`: all of it lasts once this returns, or nothing of it."""
        with self.write_lock:
            cursor.execute("BEGIN TRANSACTION")
            try:
                yield
                faults.point("doris_local.commit")
                cursor.execute("COMMIT")
                faults.point("doris_local.committed")
            except BaseException:
                # After a failed COMMIT there is no transaction left to roll back.
                with _ignored():
                    cursor.execute("ROLLBACK")
                raise
            if self._was_checkpointed():
                self._let_go_of_pages(cursor)

    def watch(self, error: duckdb.Error) -> None:
        """Tell `on_fatal` if the error has made the whole database unusable, as a full disk can: only a start helps."""
        if isinstance(error, duckdb.FatalException):
            log.critical("the database cannot go on: %s", error)
            self.on_fatal()

    def _was_checkpointed(self) -> bool:
        """Whether changes were brought into the file itself, and not only to its log, since this was last asked."""
        before = self._written_ns
        with suppress(FileNotFoundError):  # somebody removed it; that shows elsewhere
            self._written_ns = self._path.stat().st_mtime_ns
        return self._written_ns != before

    def _let_go_of_pages(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Frees pages of the file that nobody uses at the moment.

        A checkpoint goes through row groups of which loads and queries need little, and DuckDB would keep all of them
        until its limit: memory would grow with the file. It has no statement for this. But asked to come down to a limit
        that it cannot reach, it frees what it can before it refuses, and its limit stays as it was.
        """
        try:
            cursor.execute(f"SET GLOBAL memory_limit = '{LEAST_MEMORY}'")
        except duckdb.OutOfMemoryException:
            return
        cursor.execute(f"SET GLOBAL memory_limit = '{self._limits.memory_mb}MB'")

    def close(self) -> None:
        """Write everything into the file and let it go. No cursor may be at work."""
        with self.write_lock:
            self._root.execute("CHECKPOINT store")
            self._root.close()


def _is_locked(error: duckdb.Error) -> bool:
    return re.search(r"\block\b", str(error), re.IGNORECASE) is not None  # no "block"


@contextmanager
def _ignored() -> Iterator[None]:
    try:
        yield
    except duckdb.Error:
        pass


def name(text: str) -> str:
    """`text` as a DuckDB identifier."""
    return '"' + text.replace('"', '""') + '"'


def literal(text: str) -> str:
    """`text` as a DuckDB string."""
    return "'" + text.replace("'", "''") + "'"


def stored(database: str, table: str) -> str:
    """The table that holds the rows."""
    return f"store.{name('db_' + database)}.{name(table)}"


def visible(database: str, table: str) -> tuple[str, str, str]:
    """Catalog, schema and name of the view that queries read: without hidden columns and deleted rows. Users' views and
    information_schema are there too."""
    return "memory", f"db_{database}", table


def visible_name(database: str, table: str) -> str:
    """`visible` as SQL."""
    return ".".join(map(name, visible(database, table)))
