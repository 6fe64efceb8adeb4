"""A day in an hour: 24 hours of a cluster of 2,000 nodes and 20,000 jobs, replayed 24 times as fast through `up`.

The command runs as a person runs it, on a recording that is made first. Each minute, and again at the end, one JSON line on
stderr tells the resident memory of its processes, the aggregation's states and timers, the bytes of the log, and how far
loaded rows lie behind the pace; the figures are made of these lines. That lag is time on the wall, from when a second of
the recording was due (each lasts 42 ms) to the look that finds its rows, raw and judged, in the tables.

`KC_DAY_HOURS` shortens the day, and jobs with it; `KC_DAY_FOLDER` names an empty folder that keeps recording and data;
`KC_DAY_SCHEDULER=false` leaves the shadow scheduler out, whose sessions follow the log's seconds and are 24 times as many
here as they would be.
"""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from benchmarks import recorded
from benchmarks.figures import Figure, percentile, rss_bytes
from benchmarks.objects import BEGIN_MS
from pipeline.config.places import Places
from pipeline.doris import local
from pipeline.doris.settings import Settings as Doris
from pipeline.doris.sql import Sql
from pipeline.errors import KubeCollectorError

HOURS = float(os.environ.get("KC_DAY_HOURS", "24"))
JOBS_A_DAY = 20_000
NODES = 2_000
SPEED = 24
KEEP_LOG_S = 300
SEGMENT_BYTES = 4 << 20
LOOK_S = 0.5
"""So often the lag is taken."""
TELL_S = 60.0
WARM = 0.25
"""Memory is compared from this share of the run on: until then the interpreters and DuckDB fill what they keep."""
PACE_S = 10.0
"""So long the begin of the pace is listened for."""
START_S, END_S, STOP_S = 120.0, 60.0, 90.0
_STATES = "select timers from state"
_LOADED = "SELECT MIN(`log_at`) FROM `progress` WHERE `log_at` IS NOT NULL HAVING COUNT(DISTINCT `stage`) > 2"


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One look. `jobs`: how many must have a state at `log_ms`; `lag_s`: the most since the look before."""

    wall_s: float
    log_ms: int
    lag_s: float
    replay_late_s: float
    up_bytes: int
    doris_bytes: int
    states: int
    jobs: int
    timers: int
    log_bytes: int


def run() -> Iterable[Figure]:
    """Makes the recording, plays it to its end, and says what was seen."""
    day = recorded.Day(HOURS, round(JOBS_A_DAY * HOURS / 24), NODES)
    with _folder() as folder:
        frames = recorded.write(folder / "recording", day)
        places = Places(folder / "data")
        with _up(folder, places) as up:
            followed = Followed(up, places, day)
            followed.follow()
        left = _timers(places)
    setup: dict[str, object] = {"hours": HOURS, "jobs": day.jobs, "nodes": NODES, "frames": frames, "speed": SPEED}
    yield from _figures(followed, {**setup, "samples": len(followed.samples)})
    yield Figure(name="day_states_left", value=len(left), unit="states", goal=0, higher_is_better=False, setup=setup)
    yield Figure(name="day_timers_left", value=sum(left), unit="timers", goal=0, higher_is_better=False, setup=setup)


def _figures(followed: Followed, setup: dict[str, object]) -> Iterator[Figure]:
    samples, lags_s = followed.samples, followed.lags_s
    yield Figure(
        name="day_lag_p99", value=percentile(lags_s, 0.99), unit="s", goal=2.0, higher_is_better=False,
        setup={**setup, "looks": len(lags_s), "median": round(median(lags_s), 3), "most": round(max(lags_s), 3),
               "replay_late_most": round(max(sample.replay_late_s for sample in samples), 3)},
    )  # fmt: skip
    yield _flat("day_memory_up", [sample.up_bytes for sample in samples], 1.1, setup)
    yield _flat("day_memory_doris", [sample.doris_bytes for sample in samples], 1.1, setup)
    yield _flat("day_log", [sample.log_bytes for sample in samples], 1.2, {**setup, "keep_log_s": KEEP_LOG_S})
    yield Figure(
        name="day_states", value=max(sample.states / max(1, sample.jobs) for sample in samples), unit="states a job",
        goal=1.1, higher_is_better=False, setup={**setup, "most": max(sample.states for sample in samples)},
    )  # fmt: skip


def _flat(name: str, sizes: Sequence[int], goal: float, setup: dict[str, object]) -> Figure:
    """How much more it is at the end than at the begin, once warm: median of the last third by that of the first."""
    warm = sizes[round(WARM * len(sizes)) :]
    third = max(1, len(warm) // 3)
    first, last = median(warm[:third]), median(warm[-third:])
    mib = {"first_mib": round(first / 2**20), "last_mib": round(last / 2**20), "most_mib": max(sizes) >> 20}
    return Figure(
        name=name,
        value=last / first,
        unit="last/first third",
        goal=goal,
        higher_is_better=False,
        setup={**setup, **mib},
    )


class Followed:
    """A running `up`, looked at until its recording is over and loaded."""

    def __init__(self, up: Up, places: Places, day: recorded.Day) -> None:
        self._up = up
        self._places = places
        self._day = day
        self._sql = Sql(local.locate(Doris(), places.doris))
        self._began_s = pace_begin_s(self._looks())
        self._told_s = time.monotonic()
        self._most_s = 0.0
        self.samples: list[Sample] = []
        self.lags_s: list[float] = []

    def follow(self) -> None:
        """Looks and tells, until the last record is loaded. Raises RuntimeError if it never is."""
        last_ms = self._day.end_ms - 2 * recorded.REPORT_MS // self._day.nodes - 1000
        until_s = self._began_s + (self._day.end_ms - BEGIN_MS) / 1000 / SPEED + END_S
        loaded_ms = 0
        while loaded_ms < last_ms:
            if time.monotonic() > until_s:
                raise RuntimeError(f"rows came to {loaded_ms - last_ms} ms of the end only")
            time.sleep(LOOK_S)
            loaded_ms = self._look()
            if time.monotonic() - self._told_s >= min(TELL_S, TELL_S * HOURS / 4):
                self._tell(loaded_ms)
        self._tell(loaded_ms)
        self._sql.close()

    def _look(self) -> int:
        """Takes the lag; the log time up to which everything is loaded."""
        loaded_ms = self._loaded_ms()
        lag_s = time.monotonic() - self._due_s(loaded_ms)
        if self._due_s(self._day.end_ms) > time.monotonic():
            self.lags_s.append(lag_s)
            self._most_s = max(self._most_s, lag_s)
        return loaded_ms

    def _loaded_ms(self) -> int:
        found = self._sql.query(_LOADED).rows
        return round(found[0][0].replace(tzinfo=UTC).timestamp() * 1000) if found else BEGIN_MS

    def _due_s(self, log_ms: int) -> float:
        return self._began_s + (log_ms - BEGIN_MS) / 1000 / SPEED

    def _tell(self, loaded_ms: int) -> None:
        timers = _timers(self._places)
        sample = Sample(
            wall_s=round(time.monotonic() - self._began_s, 1), log_ms=loaded_ms, lag_s=round(self._most_s, 3),
            replay_late_s=round(max(0.0, time.monotonic() - self._due_s(self._up.played_ms())), 3),
            up_bytes=rss_bytes(self._up.process.pid), doris_bytes=sum(map(rss_bytes, self._up.children())),
            states=len(timers), jobs=self._day.known(loaded_ms), timers=sum(timers),
            log_bytes=sum(file.stat().st_size for file in self._places.records.iterdir()),
        )  # fmt: skip
        self.samples.append(sample)
        sys.stderr.write(msgspec.json.encode(sample).decode() + "\n")
        self._told_s, self._most_s = time.monotonic(), 0.0

    def _looks(self) -> Iterator[tuple[float, int]]:
        until_s = time.monotonic() + PACE_S
        while time.monotonic() < until_s:
            played_ms = self._up.played_ms()
            yield time.monotonic(), played_ms
            time.sleep(0.05)


def pace_begin_s(looks: Iterable[tuple[float, int]]) -> float:
    """When the recording's first moment was due, of looks (when, moment played last): the earliest begin that fits all.

    Before the player's first move nothing was played: that it stands at the recording's begin says nothing of the pace.
    Raises RuntimeError if it never moved.
    """
    begins_s = [at_s - (played_ms - BEGIN_MS) / 1000 / SPEED for at_s, played_ms in looks if played_ms > BEGIN_MS]
    if not begins_s:
        raise RuntimeError(f"nothing was played within {PACE_S:.0f} s")
    return min(begins_s)


class Up:
    """The command's process."""

    def __init__(self, process: subprocess.Popen[bytes], admin_port: int) -> None:
        self.process = process
        self._admin_port = admin_port

    def played_ms(self) -> int:
        """The recorded moment that was played last. Raises OSError before the admin port answers."""
        with urllib.request.urlopen(f"http://{local.HOST}:{self._admin_port}/debug/state", timeout=30) as answer:
            state: dict[str, Any] = msgspec.json.decode(answer.read())
        return int(state["collector"]["replay"]["at_ms"])

    def wait(self, places: Places) -> None:
        """Until it plays and its Doris has rows. Raises RuntimeError if it ends before, or never does."""
        until_s = time.monotonic() + START_S
        while time.monotonic() < until_s and self.process.poll() is None:
            try:
                self.played_ms()
                local.locate(Doris(), places.doris)
            except (OSError, KubeCollectorError):
                time.sleep(0.05)
            else:
                return
        raise RuntimeError(f"`up` did not start within {START_S:.0f} s; exit code {self.process.poll()}")

    def children(self) -> list[int]:
        """Its child processes: the local Doris."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        found: list[int] = []
        for task in tasks:
            with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended since
                found += map(int, (task / "children").read_text(encoding="ascii").split())
        return found

    def stop(self) -> None:
        """As Ctrl-C does; killed if it does not end."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def _up(folder: Path, places: Places) -> Iterator[Up]:
    """`up` on the recording; its output goes to `up.log` in the folder."""
    page, admin = _free_ports(2)
    sets = {
        "admin.port": admin,
        "collector.spool.keep_log": f"{KEEP_LOG_S}s",
        "collector.spool.segment_bytes": SEGMENT_BYTES,
        "scheduler.enabled": os.environ.get("KC_DAY_SCHEDULER", "true"),
        "aggregation.keep_finished": f"{recorded.KEEP_FINISHED_MS // 1000}s",
    }
    command = [str(Path(sys.executable).with_name("kube-collector")), "up", "--replay", str(folder / "recording")]
    command += ["--speed", f"{SPEED}x", "--port", str(page), "--data-dir", str(places.data_dir)]
    for key, value in sets.items():
        command += ["--set", f"{key}={value}"]
    with (folder / "up.log").open("wb") as log:
        up = Up(subprocess.Popen(command, stdout=log, stderr=log), admin)
    try:
        up.wait(places)
        yield up
    finally:
        up.stop()


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    with ExitStack() as stack:
        servers = [stack.enter_context(socket.create_server((local.HOST, 0))) for _ in range(count)]
        return [server.getsockname()[1] for server in servers]


def _timers(places: Places) -> list[int]:
    """How many timers each of the aggregation's states has."""
    with closing(sqlite3.connect(f"file:{places.aggregation_db}?mode=ro", uri=True)) as db:
        return [len(msgspec.msgpack.decode(timers)) for (timers,) in db.execute(_STATES)]


@contextmanager
def _folder() -> Iterator[Path]:
    kept = os.environ.get("KC_DAY_FOLDER")
    if kept:
        Path(kept).mkdir(parents=True, exist_ok=True)
        yield Path(kept)
        return
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)
