"""`replay` and `record` as whole runs: a recording into the spool, a cluster into a recording."""

from __future__ import annotations

import queue
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from collector import app
from collector.replay.player import parse_pace
from collector.replay.recorder import Recorder
from collector.replay.recording import Recording
from collector.settings import Settings
from collector.watch.live import Live
from pipeline import clock
from pipeline.cli import progress, replays
from pipeline.config.load import Loaded
from pipeline.config.places import Places
from pipeline.errors import BadUsage, Transient, Unreachable
from pipeline.kubeapi.client import Client
from pipeline.kubeapi.credentials import Credentials
from pipeline.kubeapi.options import Options
from pipeline.records import sla
from pipeline.telemetry import logs


def replay(folder: Path, speed: str, config: Iterable[Path] | None, sets: Iterable[str] | None) -> int:
    """Plays a recording into the spool to its end; 130 when interrupted before."""
    loaded = replays.settings(folder, speed, config, sets)
    logs.setup(loaded.ground.log, cluster=loaded.ground.cluster.name)
    stage = app.Replayer(
        loaded.of(Settings),
        Places(loaded.ground.data_dir),
        loaded.ground.cluster.name,
        Recording(folder),
        parse_pace(speed),
    )
    with _interrupts() as stop:
        stage.start()
        seconds = max(1, (stage.end_ms - stage.begin_ms) // 1000)
        with progress.track("replaying", total=seconds, unit="recorded seconds") as advance:
            shown = 0
            while not (stage.done or stop.wait(0.1)):
                now = (stage.at_ms - stage.begin_ms) // 1000
                advance(now - shown)
                shown = now
        stage.stop(10.0)
    return 130 if stop.is_set() else 0


def record(folder: Path, duration: str | None, loaded: Loaded) -> int:
    """Records until the duration has passed or Ctrl-C, which is the ordinary end. Raises Unreachable without a cluster."""
    settings = loaded.of(Settings)
    logs.setup(loaded.ground.log, cluster=loaded.ground.cluster.name)
    for_s = _seconds(duration)
    client = Client(Credentials(settings.kubeconfig, settings.context), 64)
    kinds = app.kinds(settings)
    live = Live(client, kinds, Options(page_limit=settings.page_limit, watch_timeout_s=settings.watch_timeout))
    recorder = Recorder(folder, loaded.ground.cluster.name, kinds, frozenset(settings.annotations))
    try:
        live.begin()
    except Transient as error:
        recorder.close()
        raise Unreachable(
            f"the cluster does not answer: {error}", where=client.host, fix="Check --kubeconfig."
        ) from error
    until_s = clock.monotonic_s() + for_s
    with _interrupts() as stop:
        while clock.monotonic_s() < until_s and not stop.is_set():
            _take(live, recorder)
        live.stop()
        while not live.told.empty():
            _take(live, recorder)
        recorder.close()
    skipped = f", {recorder.skipped} objects that could not be read left out" if recorder.skipped else ""
    sys.stderr.write(f"{recorder.lines} lines in {folder}{skipped}\n")
    return 0


def _take(live: Live, recorder: Recorder) -> None:
    try:
        recorder.take(*live.told.get(timeout=0.2))
    except queue.Empty:
        pass


def _seconds(duration: str | None) -> float:
    if duration is None:
        return float("inf")
    try:
        return sla.parse_duration_ms(duration) / 1000
    except ValueError as error:
        raise BadUsage(f"--for {duration}: {error}", fix="Write a duration such as 30s or 10m.") from None


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Ctrl-C and SIGTERM set the event instead of raising in the middle of a write."""
    stop = threading.Event()
    old = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
