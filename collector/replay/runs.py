"""`replay` and `record` as whole runs: a recording into the spool, a cluster into a recording."""

from __future__ import annotations

import contextlib
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
from pipeline.cli import progress, replays, times
from pipeline.config.load import Loaded
from pipeline.config.places import Places
from pipeline.errors import Terminal, Transient, Unreachable, UserError
from pipeline.kubeapi.client import Client
from pipeline.kubeapi.credentials import Credentials
from pipeline.process import data_folder, deaths
from pipeline.telemetry import logs

_TURN_S = 0.2
_STOP_S = 1.0
_FLUSH_S = 2.0
"""What a recorder that is killed loses at most; more often, and the files would be larger."""


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
    data_folder.prepare(loaded.ground.data_dir)
    with _interrupts() as stop, _deaths(stop) as dead:
        stage.start()
        seconds = max(1, (stage.end_ms - stage.begin_ms) // 1000)
        with progress.track("replaying", total=seconds, unit="recorded seconds") as advance:
            shown = 0
            while not (stage.done or stop.wait(0.1)):
                now = (stage.at_ms - stage.begin_ms) // 1000
                advance(now - shown)
                shown = now
        stage.stop(10.0)
    if dead:
        raise dead[0]
    return 130 if stop.is_set() else 0


def record(folder: Path, duration: str | None, loaded: Loaded) -> int:
    """Records until the duration has passed or Ctrl-C, which is the ordinary end.

    Raises Unreachable without a cluster, UserError when the folder or the disk takes nothing.
    """
    settings = loaded.of(Settings)
    logs.setup(loaded.ground.log, cluster=loaded.ground.cluster.name)
    for_s = float("inf") if duration is None else times.duration_ms(duration, "--for") / 1000
    kinds = app.kinds(settings)
    client = Client(Credentials(settings.kubeconfig, settings.context), app.CONNECTIONS)
    live = Live(client, kinds, app.options(settings))
    recorder = Recorder(folder, loaded.ground.cluster.name, kinds, frozenset(settings.annotations))
    _connect(live, client.host, recorder)
    with _interrupts() as stop, _deaths(stop) as dead, _disk(folder), contextlib.closing(recorder):
        live.start()
        _listen(live, recorder, clock.monotonic_s() + for_s, stop)
    if dead:
        raise dead[0]
    skipped = f", {recorder.skipped} objects that could not be read left out" if recorder.skipped else ""
    sys.stderr.write(f"{recorder.lines} lines in {folder}{skipped}\n")
    return 0


def _connect(live: Live, host: str, recorder: Recorder) -> None:
    try:
        live.begin()
    except (Transient, Terminal) as error:
        live.stop(0.0)
        recorder.discard()
        raise Unreachable(
            f"the cluster does not answer: {error}", where=host, fix="`kube-collector doctor cluster` says more."
        ) from error


def _listen(live: Live, recorder: Recorder, until_s: float, stop: threading.Event) -> None:
    """Until the time is up; then what was told before."""
    flushed_s = clock.monotonic_s()
    try:
        while (now_s := clock.monotonic_s()) < until_s and not stop.is_set():
            told = live.told.take(_TURN_S)
            if told is not None:
                recorder.take(*told)
            if now_s - flushed_s >= _FLUSH_S:
                recorder.flush()
                flushed_s = now_s
        live.stop(_STOP_S)
        while (told := live.told.take()) is not None:
            recorder.take(*told)
    finally:
        live.stop(0.0)


@contextmanager
def _deaths(stop: threading.Event) -> Iterator[list[BaseException]]:
    """What a thread ended by; it sets the event."""
    found: list[BaseException] = []

    def tell(_: str, error: BaseException) -> None:
        found.append(error)
        stop.set()

    with deaths.watched(tell):
        yield found


@contextmanager
def _disk(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        fix = "What was written before can be replayed; free space, or name a folder on another disk."
        raise UserError(f"the recording ended: {error.strerror or error}", where=str(folder), fix=fix) from error


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
