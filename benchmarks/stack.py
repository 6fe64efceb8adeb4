"""What several benchmarks measure against: aggregation, loader and local Doris as `up` runs them, and a steady stream."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from aggregation.app import Aggregation
from aggregation.settings import Settings as AggregationSettings
from pipeline.config.places import Places
from pipeline.doris import local
from pipeline.doris.settings import Settings as Doris
from pipeline.log import LogOptions, LogWriter
from pipeline.records.envelope import Record
from sinks.app import Sink
from sinks.settings import Settings as SinkSettings

CLUSTER = "bench"
TURN_S = 0.05
"""So often the collector makes durable what came."""


@contextmanager
def running(folder: Path) -> Iterator[Doris]:
    """Aggregation and loader in this process, a local Doris as their child; where that is."""
    places = Places(folder)
    LogWriter(places.records, options=LogOptions(cluster=CLUSTER)).close()
    stages = Sink(SinkSettings(), Doris(), places, CLUSTER), Aggregation(AggregationSettings(), places, CLUSTER)
    for stage in stages:
        stage.start()
    try:
        yield local.locate(Doris(), places.doris)
    finally:
        for stage in reversed(stages):
            stage.stop(20.0)


class Logged(NamedTuple):
    """So many records were durable in the log at that moment (`perf_counter`)."""

    total: int
    at_s: float


class Stream:
    """Writes records into the log at a steady rate, on a thread of its own, until they are written or the block ends."""

    def __init__(self, folder: Path, records: Sequence[Record], per_s: int) -> None:
        self._writer = LogWriter(Places(folder).records, options=LogOptions(cluster=CLUSTER))
        self._records = records
        self._per_turn = round(per_s * TURN_S)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stream")
        self.logged: list[Logged] = []
        self.late_s = 0.0
        """The most that a turn came after its time: the machine's own delay."""

    def __enter__(self) -> Stream:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()
        self._writer.close()

    def wait(self) -> None:
        """Until all is written."""
        self._thread.join()

    def _run(self) -> None:
        due_s = time.perf_counter()
        for begin in range(0, len(self._records), self._per_turn):
            part = self._records[begin : begin + self._per_turn]
            if self._stopping.wait(max(0.0, due_s - time.perf_counter())):
                return
            self.late_s = max(self.late_s, time.perf_counter() - due_s)
            self._writer.tick(part[0].observedms)
            self._writer.put(part)
            self._writer.sync()
            self.logged.append(Logged(begin + len(part), time.perf_counter()))
            due_s += TURN_S
