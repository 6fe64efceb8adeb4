"""How long after a record is durable in the log its row can be asked for, at a thousand records a second.

Everything runs as in `up`: aggregation and loader in one process, the local Doris its child. Rows become visible in the
order of the log, so the number of rows that a query counts tells which records it sees.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks import lives, stack
from benchmarks.figures import Figure, percentile
from benchmarks.stack import Logged
from pipeline.doris.sql import Sql
from pipeline.records.envelope import ObjectRecord, Record

PER_S = 1_000
SECONDS = 30
EVERY_MS = 53
WAIT_MS = 40_000
RUN_MS = 60_000
POLL_S = 0.04
LIMIT_S = 60.0
_COUNT = "SELECT COUNT(*) FROM object_change"


def run() -> Iterable[Figure]:
    """The 99th percentile over all objects' records."""
    wanted = PER_S * SECONDS
    moments = lives.day(wanted // lives.FRAMES + 1, EVERY_MS, WAIT_MS, RUN_MS)
    records = list(itertools.islice(lives.records(moments), wanted))
    with tempfile.TemporaryDirectory() as name, stack.running(Path(name)) as doris:
        sql = Sql(doris)
        with stack.Stream(Path(name), records, PER_S) as stream:
            seen = _watch(sql, sum(isinstance(record, ObjectRecord) for record in records))
        sql.close()
    waits_s = _waits(records, stream.logged, seen)
    yield Figure(
        name="freshness_p99", value=percentile(waits_s, 0.99), unit="s", goal=2.0, higher_is_better=False,
        setup={"records_a_second": PER_S, "seconds": SECONDS, "rows": len(waits_s), "median": round(percentile(waits_s, 0.5), 3),
               "most": round(max(waits_s), 3), "stream_late_s": round(stream.late_s, 3), "load_interval_s": 0.5},
    )  # fmt: skip


def _watch(sql: Sql, wanted: int) -> list[Logged]:
    """How many rows were visible when, until all are."""
    seen: list[Logged] = []
    deadline_s = time.perf_counter() + SECONDS + LIMIT_S
    while time.perf_counter() < deadline_s:
        ((count,),) = sql.query(_COUNT).rows
        seen.append(Logged(count, time.perf_counter()))
        if count >= wanted:
            return seen
        time.sleep(POLL_S)
    raise RuntimeError(f"{seen[-1].total} of {wanted} rows came within {LIMIT_S:.0f} s of the last record")


def _waits(records: Sequence[Record], logged: Sequence[Logged], seen: Sequence[Logged]) -> list[float]:
    """For each object's record the seconds from its fsync to the end of the first query that saw it."""
    waits: list[float] = []
    written, shown, rows = iter(logged), iter(seen), 0
    turn, look = next(written), next(shown)
    for number, record in enumerate(records):
        while turn.total <= number:
            turn = next(written)
        if not isinstance(record, ObjectRecord):
            continue
        rows += 1
        while look.total < rows:
            look = next(shown)
        waits.append(look.at_s - turn.at_s)
    return waits
