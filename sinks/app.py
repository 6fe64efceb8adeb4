"""How the rooms of the sinks are wired: sources, loader, warehouse."""

from __future__ import annotations

import random
from typing import Any

from pipeline import clock
from pipeline.config.load import Loaded
from pipeline.config.places import Places
from pipeline.doris.errors import QueryFailed
from pipeline.doris.settings import Settings as Doris
from pipeline.errors import Transient, Unreachable
from pipeline.process.loop import Loop
from pipeline.process.stage import Check
from pipeline.records import tables
from pipeline.retry import Backoff
from pipeline.telemetry import logs
from sinks.doris.child import Child, launcher
from sinks.doris.warehouse import Warehouse
from sinks.runner import Limits, Loader
from sinks.settings import Settings
from sinks.sources import DeadLetterSource, LogSource, OutboxSource

INTERVAL_S = 5.0
LOCAL_INTERVAL_S = 0.5
DRAIN_SHARE = 0.8
"""Of the time to stop; the rest is for ending the local Doris in order."""
STALE_S = 300.0
"""One load may wait for its time-out and then for the state of its label."""

_JUDGE_ANEW = (
    "stop, run `kube-collector aggregate rebuild`, start again: the log is judged anew as far as it reaches back"
)

log = logs.get(__name__)


class Sink:
    """The stage: one thread that loads rows. Stops after it has loaded all that its sources hold."""

    name = "sinks"

    def __init__(self, settings: Settings, doris: Doris, places: Places, cluster: str) -> None:
        is_local = not doris.frontend
        default_s = LOCAL_INTERVAL_S if is_local else INTERVAL_S
        limits = Limits(
            interval_s=default_s if doris.load_interval is None else doris.load_interval,
            max_rows=settings.batch.max_rows,
            max_bytes=settings.batch.max_bytes,
        )
        self._warehouse = Warehouse(doris, Child(places.doris, launcher()) if is_local else None, self._making)
        self._sources = (
            OutboxSource(places.aggregation_db),
            LogSource(places.records),
            DeadLetterSource(places.dead_letters),
        )
        self._has_loaded = any(source.begun for source in self._sources)
        self._loader = Loader(self._sources, self._warehouse.target, cluster, limits)
        self._loop = Loop("loader", self._run, stale_after_s=STALE_S)
        self._loader.beat = self._loop.beat
        self._backoff = Backoff(first_s=0.5, max_s=15.0)
        self._failure: str | None = "not opened yet"
        self._drain_s = 0.0

    def start(self) -> None:
        """Opens the warehouse, if it answers, and begins. Raises CheckFailed for a schema that needs a person."""
        self._open()
        self._loop.start()

    def stop(self, deadline_s: float) -> None:
        """Loads what is left, as far as the time allows, then ends the local Doris; the rest is loaded at the next start."""
        self._drain_s = deadline_s * DRAIN_SHARE
        self._loop.stop(deadline_s)
        self._warehouse.close()

    def checks(self) -> list[Check]:
        """Ready while the warehouse takes rows."""
        failure = self._failure or self._loader.failure
        detail = failure or f"rows go to {self._warehouse.address}"
        return [self._loop.check(), Check("doris", failure is None, detail)]

    def state(self) -> dict[str, Any]:
        """For /debug/state."""
        loaded_s = self._loader.loaded_s
        return {
            "warehouse": self._warehouse.address,
            "failure": self._failure or self._loader.failure,
            "last_turn_s_ago": None if loaded_s is None else round(clock.monotonic_s() - loaded_s, 1),
        }

    def _run(self, loop: Loop) -> None:
        wait_s = 0.0
        while not loop.stopping.wait(wait_s):
            loop.beat()
            wait_s = self._turn()
        if self._open() == 0.0 and not self._loader.drain(self._drain_s):
            log.warning("rows_left", why="the time to stop was over", now="they are loaded at the next start")
        for source in self._sources:
            source.close()

    def _turn(self) -> float:
        """Seconds to wait before the next."""
        wait_s = self._open()
        if wait_s:
            return wait_s
        wait_s = self._loader.try_turn()
        if self._loader.failure is None:
            self._warehouse.well()
        return wait_s

    def _open(self) -> float:
        """Makes sure that there is a warehouse; 0, or the seconds to wait before asking again."""
        try:
            self._warehouse.open()
        except (Transient, Unreachable, QueryFailed) as error:
            if str(error) != self._failure:
                log.warning("warehouse_missing", error=error, now="rows wait")
            self._failure = str(error)
            return self._backoff.next_s(random.random(), getattr(error, "retry_after_s", None))
        self._has_loaded = True
        self._failure = None
        self._backoff.reset()
        return 0.0

    def _making(self, missing: list[str]) -> None:
        """Tables have to be made although rows were loaded before: they were dropped, the files are gone, or an older
        version did not have them.

        The sources begin anew before there is any such table: whoever dies in between finds them still missing. Of raw
        tables alone the log gives what it has, and nobody can judge that anew: no row of them is called lost.
        """
        if not self._has_loaded:
            return
        log.warning("tables_were_missing", tables=missing, now="what the log has is loaded once more")
        if self._loader.again() and not all(tables.TABLES[name].raw for name in missing):
            log.error("rows_lost", tables=missing, fix=_JUDGE_ANEW)
        self._has_loaded = False


def stage(loaded: Loaded) -> Sink:
    """The stage as the settings want it."""
    ground = loaded.ground
    return Sink(loaded.of(Settings), loaded.of(Doris), Places(ground.data_dir), ground.cluster.name)
