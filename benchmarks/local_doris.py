"""The local Doris: rows a second of wall time, in loads of 50,000, into a table that holds a million already.

The table is UNIQUE with a sequence and has twelve columns. Half the rows of a load replace rows that are there, as rows of
open waits do.
"""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Iterable
from pathlib import Path
from statistics import median

import msgspec

from benchmarks.figures import Figure
from pipeline.doris import local
from pipeline.doris.settings import Settings
from pipeline.doris.sql import Sql
from pipeline.doris.streamload import StreamLoad
from sinks.doris_local import launch

HELD = 1_000_000
LOAD = 50_000
LOADS = 8
TABLE = """CREATE TABLE held (day DATE NOT NULL, cluster VARCHAR(64) NOT NULL, uid VARCHAR(64) NOT NULL,
    namespace VARCHAR(64), name VARCHAR(128), reason VARCHAR(64), started_at DATETIME(3), ended_at DATETIME(3),
    wait_ms BIGINT, gpus INT, share DOUBLE, version BIGINT NOT NULL)
    UNIQUE KEY(day, cluster, uid) DISTRIBUTED BY HASH(uid) BUCKETS 1
    PROPERTIES ("replication_num" = "1", "function_column.sequence_col" = "version")"""


def run() -> Iterable[Figure]:
    """The median load."""
    with tempfile.TemporaryDirectory() as folder:
        running = launch.start(Path(folder))
        settings = local.at(Settings(), local.Address(running.http_port, running.mysql_port))
        server, within = Sql(settings, database=""), Sql(settings)
        try:
            server.execute(f"CREATE DATABASE {settings.database}")
            within.execute(TABLE)
            with StreamLoad(settings) as client:
                for begin in range(0, HELD, LOAD):
                    _load(client, begin, 1)
                rates = [_load(client, HELD + begin * LOAD // 2 - LOAD // 2, 2 + begin) for begin in range(LOADS)]
            ((held,),) = within.query("SELECT COUNT(*) FROM held").rows
        finally:
            server.close()
            within.close()
            running.stop()
    if held != HELD + LOADS * LOAD // 2:
        raise RuntimeError(f"the table holds {held} rows")
    yield Figure(
        name="local_doris_rows", value=median(rates), unit="rows/s", goal=100_000,
        setup={"held": HELD, "rows_a_load": LOAD, "loads": LOADS, "columns": 12, "replaced": 0.5, "clock": "wall",
               "best": round(max(rates))},
    )  # fmt: skip


def _load(client: StreamLoad, begin: int, version: int) -> float:
    """Loads the rows of `LOAD` keys; rows a second."""
    body = b"\n".join([_row(number, version) for number in range(begin, begin + LOAD)])
    began_s = time.perf_counter()
    client.load("held", body, rows=LOAD, label=uuid.uuid4().hex)
    return LOAD / (time.perf_counter() - began_s)


def _row(number: int, version: int) -> bytes:
    return msgspec.json.encode(
        {
            "day": "2027-01-15", "cluster": "bench", "uid": f"{number * 2654435761 % (1 << 48):012x}-{number}",
            "namespace": f"team-{number % 20}", "name": f"train-{number}", "reason": "insufficient_resource",
            "started_at": "2027-01-15 08:00:00.123", "ended_at": None, "wait_ms": number, "gpus": 8, "share": 0.5,
            "version": version,
        }
    )  # fmt: skip
