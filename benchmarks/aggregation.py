"""The aggregation as it runs: log in, states, timers and outbox durable after each batch, every operator on.

The log holds lives of jobs as a collector writes them, with copies (one record in ten, within the object's last eight)
and late ones (one in twenty comes up to twenty seconds after its time). Ticks are in the log and are not counted.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

from aggregation import topology
from aggregation.runners.embedded import EmbeddedRunner
from aggregation.runners.store import StateStore
from aggregation.settings import Settings
from benchmarks import lives
from benchmarks.figures import Clocks, Figure, measured
from pipeline.log import LogOptions, LogReader, LogWriter, outbox
from pipeline.records import codec

JOBS = 1_000
EVERY_MS = 53
"""Between two jobs: about a thousand records a second of log time."""
WAIT_MS = 40_000
RUN_MS = 60_000
COPIES = 0.10
LATE = 0.05
LATE_MS = 20_000
BATCH = Settings().batch_records
"""As it is shipped."""
SYNC_RECORDS = 5_000
ROUNDS = 3


def run() -> Iterable[Figure]:
    """Records per CPU second, the median of three passes over one log; beside it the decoding of its lines alone."""
    lines = list(_lines())
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        _write(log, lines)
        passes = [_pass(log, Path(folder) / f"state-{number}.db") for number in range(ROUNDS)]
    clocks, rows = sorted(passes, key=lambda each: each[0].cpu_s)[ROUNDS // 2]
    yield Figure(
        name="aggregation_records", value=len(lines) / clocks.cpu_s, unit="records/cpu-s", goal=60_000,
        baseline=len(lines) / median(_decode_only(lines) for _ in range(ROUNDS)),
        setup={"records": len(lines), "jobs": JOBS, "rows": rows, "batch": BATCH, "copies": COPIES, "late": LATE,
               "wall_s": round(clocks.wall_s, 2), "baseline": "decoding the same records and nothing else"},
    )  # fmt: skip


def _lines() -> Iterator[tuple[int, bytes]]:
    """(observed, line) in the order of the log."""
    dice = random.Random(1)
    late: list[tuple[int, tuple[int, bytes]]] = []
    for record in lives.records(lives.day(JOBS, EVERY_MS, WAIT_MS, RUN_MS)):
        line = record.observedms, codec.encode(record)
        while late and late[0][0] <= record.observedms:
            yield late.pop(0)[1]
        if dice.random() < LATE:
            late.append((record.observedms + dice.randrange(LATE_MS), line))
            late.sort()
            continue
        yield line
        if dice.random() < COPIES:
            yield line
    for _, line in late:
        yield line


def _write(log: Path, lines: list[tuple[int, bytes]]) -> None:
    """The log, with a tick each second, and two minutes of nothing at its end."""
    with LogWriter(log, options=LogOptions(cluster="bench", min_free_bytes=0)) as writer:
        for observed_ms, line in lines:
            writer.tick(observed_ms)
            writer.append([line], [observed_ms])
            if writer.buffered >= SYNC_RECORDS:
                writer.sync()
        writer.tick(writer.stamp + 120_000)


def _pass(log: Path, state: Path) -> tuple[Clocks, int]:
    """One run from the log's beginning to its end; the clocks and the rows written."""
    store = StateStore(state)
    rows = 0
    try:
        with LogReader(log, f"bench-{state.stem}") as reader, measured() as clocks:
            runner = EmbeddedRunner(
                topology.JobOperator(topology.Options()), topology.job_of, store, reader, "bench",
                acked=lambda: outbox.acked(state.parent),
            )  # fmt: skip
            while (turn := runner.turn(BATCH)).moved:
                rows += turn.rows
    finally:
        store.close()
    return clocks, rows


def _decode_only(lines: list[tuple[int, bytes]]) -> float:
    with measured() as clocks:
        for _, line in lines:
            codec.decode(line)
    return clocks.cpu_s
