"""The whole collector against an API server: its own threads, its own spool; times are short.

    with Collecting(kube.kubeconfig("admin"), tmp_path / "data") as collecting:
        poll("the pod is known", lambda: collecting.saw("Pod", "a"))

It reads what the collector wrote as any consumer does. `restart` stops it in order and starts another on the same data.
Who relies on a kind's watch waits for `streaming`: it is asked for after the list, so after `ready`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from collector.app import Collector
from collector.settings import Settings, Spool
from pipeline.config.places import Places
from pipeline.kubeapi.options import Options
from pipeline.log import LogReader, Position
from pipeline.process.stage import Check
from pipeline.records import codec
from pipeline.records.envelope import EventRecord, GapRecord, ObjectRecord, Record, TickRecord
from pipeline.records.events import EventSeen
from pipeline.records.objects import ObjectChange

STOP_S = 60.0
"""An end in order takes a moment; on a machine that is busy with something else it may take much longer."""
QUICK = Options(backoff_first_s=0.05, backoff_cap_s=0.3, slow_retry_s=0.3, settled_s=0.3, believed_after_s=0.3)


class Collecting:
    """A collector in this process."""

    def __init__(self, kubeconfig: Path, data: Path, watching: Options = QUICK, **settings: Any) -> None:
        self.places = Places(data)
        self.watching = watching
        self.settings = Settings(**{"kubeconfig": kubeconfig, "spool": Spool(min_free_bytes=0), **settings})
        self.cluster = "test"
        self.collector = self._new()

    def __enter__(self) -> Collecting:
        self.collector.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends it in order: all that it was told is written."""
        self.collector.stop(STOP_S)

    def restart(self) -> None:
        self.stop()
        self.collector = self._new()
        self.collector.start()

    def check(self, name: str) -> Check | None:
        """The readiness check of that name; None while there is none."""
        return next((check for check in self.collector.checks() if check.name == name), None)

    def ready(self) -> bool:
        """All lists are complete; streams may still be opening, and what came last be on its way to the log."""
        return all(check.ok for check in self.collector.checks())

    def streaming(self) -> bool:
        """As `ready`, and every kind that is served has its stream open."""
        return self.ready() and all(each.watch_since_ms is not None for each in self.collector.progress().values())

    def records(self) -> list[Record]:
        """Everything in the log but ticks."""
        return [record for record in self.all_records() if not isinstance(record, TickRecord)]

    def ticks(self) -> list[int]:
        """Log time as it passed, in milliseconds."""
        return [record.observedms for record in self.all_records() if isinstance(record, TickRecord)]

    def all_records(self) -> list[Record]:
        found: list[Record] = []
        with LogReader(self.places.records, "test", start=Position(0, 0)) as reader:
            while entries := reader.read().entries:
                found += [codec.decode(entry.line) for entry in entries]
        return found

    def changes(self, kind: str, name: str | None = None) -> list[ObjectChange]:
        """What was written about objects of a kind, facts alone left out."""
        found = [record.data for record in self.records() if isinstance(record, ObjectRecord)]
        return [c for c in found if c.kind == kind and name in (None, c.name) and c.change != "facts"]

    def saw(self, kind: str, name: str) -> bool:
        return bool(self.changes(kind, name))

    def events(self, namespace: str | None = None) -> list[EventSeen]:
        found = [record.data for record in self.records() if isinstance(record, EventRecord)]
        return [event for event in found if namespace in (None, event.namespace)]

    def gaps(self) -> list[GapRecord]:
        return [record for record in self.records() if isinstance(record, GapRecord)]

    def _new(self) -> Collector:
        return Collector(self.settings, self.places, self.cluster, self.watching, soon_s=0.2, later_s=0.5)
