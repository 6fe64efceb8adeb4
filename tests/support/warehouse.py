"""What tests of the loader share: records of objects, a log and an outbox to write them to, a local Doris with faults."""

from __future__ import annotations

import sqlite3
import urllib.request
from pathlib import Path

import msgspec

from pipeline import clock
from pipeline.log import LogOptions, LogWriter, outbox
from pipeline.records import codec
from pipeline.records.envelope import ObjectRecord
from pipeline.records.objects import ObjectChange
from pipeline.records.rows import Row

CLUSTER = "test"


def pod_record(number: int, observed_ms: int | None = None, cluster: str = CLUSTER) -> ObjectRecord:
    """A pod that changed."""
    body = msgspec.json.encode({"spec": {"nodeName": f"node-{number % 7}"}, "status": {"phase": "Pending"}})
    change = ObjectChange(
        change="modified",
        kind="Pod",
        name=f"pod-{number}",
        namespace="team-a",
        uid=f"uid-{number:06}",
        version=str(number),
        object=msgspec.Raw(body),
    )
    return ObjectRecord(
        id=f"{cluster}/{number}",
        source="test",
        cluster=cluster,
        partitionkey=str(number % 256),
        observedms=clock.now_ms() if observed_ms is None else observed_ms,
        data=change,
    )


class Written:
    """A log that a test writes: `add(n)` appends n further pods, durably."""

    def __init__(self, directory: Path) -> None:
        self.writer = LogWriter(directory, options=LogOptions(cluster=CLUSTER, min_free_bytes=0))
        self.count = 0

    def add(self, count: int) -> None:
        records = [pod_record(self.count + n) for n in range(count)]
        self.writer.append([codec.encode(record) for record in records], [record.observedms for record in records])
        self.writer.sync()
        self.count += count

    def line(self, line: bytes) -> None:
        """A line as it is."""
        self.writer.append([line], [clock.now_ms()])
        self.writer.sync()


class Outbox:
    """The aggregation's file as the loader sees it."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("pragma journal_mode=wal")
        outbox.create(self._db)

    def add(self, *rows: Row) -> None:
        """One item for each run of rows of a table."""
        for row in rows:
            outbox.append(self._db, row.table, outbox.encode([row]), 1)

    def raw(self, table: str, data: bytes) -> None:
        """An item as it is."""
        outbox.append(self._db, table, data, 1)

    def close(self) -> None:
        self._db.close()


def arm(http_port: int, name: str, left: int = 1, table: str | None = None) -> None:
    """Lets a local Doris that was started with --faults misbehave so many times."""
    body = msgspec.json.encode({"name": name, "left": left, "table": table})
    request = urllib.request.Request(f"http://127.0.0.1:{http_port}/_fault", data=body, method="POST")
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status == 200
