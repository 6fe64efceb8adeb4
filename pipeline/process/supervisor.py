"""Starts the stages of a process, watches over them, and ends them in order.

    start first to last → wait for a signal, a finish, a death → drain last to first, within one deadline

Stages are given in the order in which data flows from end to end of a start: what others need comes first. Draining goes the
other way, so that whatever is upstream still has somewhere to put what it holds.

The process ends by itself when a stage's thread dies: a pipeline of which one part is silently missing is worse than one that
is started again from its checkpoint. A stage that can go on after an error catches the error.

SIGHUP reads the settings again in a service, ends a process whose terminal is closed, and stays ignored under nohup.

Codes: SIGTERM 0, SIGINT 130 and SIGHUP 129 (as a shell reports a program that a signal ended), a death or a drain that
took too long 1, otherwise what `finish` was given. A second signal ends the process at once, unless it comes together with
the first: whoever ends a process often tells it twice, itself and its group.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import metadata
from typing import Any

from pipeline import clock, extensions
from pipeline.config import effective
from pipeline.config.load import Loaded
from pipeline.errors import UserError
from pipeline.process import deaths, hangup, reload
from pipeline.process.admin import Admin
from pipeline.process.stage import Check, Reloads, Shows, Stage
from pipeline.telemetry import catalogue, logs

DRAIN_S = 25.0
"""Longest drain: below the 30 s that Kubernetes waits before it kills."""
TOGETHER_S = 0.5
"""A signal so soon after another says the same thing, not that it is urgent now."""
_GRACE_S = 1.0
"""What a stage gets on top of its deadline to return, before it is left behind."""

_log = logs.get(__name__)


def run(
    stages: Sequence[Stage],
    loaded: Loaded,
    *,
    drain_s: float = DRAIN_S,
    colors: bool | None = None,
    started: Callable[[], None] = lambda: None,
) -> int:
    """Sets up the log, runs the stages until they end, and answers the exit code. What `app.py` of a stage calls.

    `started` is called once all of them run.
    """
    logs.setup(loaded.ground.log, cluster=loaded.ground.cluster.name, colors=colors)
    catalogue.build_info.labels(metadata.version(extensions.OWN)).set(1)
    return Supervisor(stages, loaded, drain_s=drain_s, started=started).run()


class Supervisor:
    """One process's life. `run` blocks until all is over."""

    def __init__(
        self,
        stages: Sequence[Stage],
        loaded: Loaded,
        *,
        drain_s: float = DRAIN_S,
        exit_now: Callable[[int], Any] = os._exit,
        started: Callable[[], None] = lambda: None,
    ) -> None:
        self._stages = stages
        self._tell_started = started
        self._loaded = loaded
        self._drain_s = drain_s
        self._exit_now = exit_now
        self._code: int | None = None
        self._failure: UserError | None = None
        # Signal handlers may only do what is reentrant: an Event's lock is not, a SimpleQueue's put is.
        self._told: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._signalled_s: float | None = None
        self._terminals = hangup.terminals()
        self._reloading = threading.Lock()
        self._phase = "starting"

    def run(self) -> int:
        """The exit code, after everything has ended.

        Raises what a stage's `start` raises, or the UserError that a stage's thread ended by, after ending the others.
        """
        settings = self._loaded.ground.admin
        admin = Admin(self, settings.address, settings.port) if settings.port else None
        started: list[Stage] = []
        with self._signals(), deaths.watched(self._died):
            if admin:
                admin.start()
            try:
                try:
                    self._start(started)
                    self._watch()
                finally:
                    in_time = self._drain(started)
            finally:
                if admin:
                    admin.stop()
        code = self._end(in_time)
        if self._failure is not None:
            raise self._failure
        return code

    def finish(self, code: int = 0) -> None:
        """Asks the process to end with this code; the first asker's code counts. From any thread."""
        if self._code is None:
            self._code = code
        self._told.put("end")

    def checks(self) -> list[Check]:
        """The process's own check and those of every stage; a stage that cannot say how it is counts as unwell."""
        checks = [Check("process", self._phase == "running", self._phase)]
        for stage in self._stages:
            try:
                checks += stage.checks()
            except Exception as error:
                checks.append(Check(stage.name, False, f"its checks failed: {error}"))
        return checks

    def shown_settings(self) -> list[dict[str, Any]]:
        return [setting._asdict() for setting in effective.settings(self._loaded)]

    def shown_state(self) -> dict[str, Any]:
        return {stage.name: stage.state() for stage in self._stages if isinstance(stage, Shows)}

    def reload(self) -> dict[str, Any]:
        """Takes over what is live in the settings as they are now. Raises UserError; the old settings then stay."""
        with self._reloading:
            try:
                new = self._loaded.again()
            except UserError as error:
                catalogue.reloads.labels("refused").inc()
                _log.error("settings_refused", problems=str(error).splitlines(), now="the old ones stay in use")
                raise
            ground, change = reload.take_over(self._loaded.ground, new.ground)
            self._loaded = replace(self._loaded, ground=ground, origins=new.origins)
            logs.set_level(ground.log.level)
            for stage in self._stages:
                if isinstance(stage, Reloads):
                    stage.reload(self._loaded)
            catalogue.reloads.labels("taken").inc()
            _log.info("settings_read_again", taken=change.taken, waiting_for_restart=change.waiting)
            return {"taken": change.taken, "waiting_for_restart": change.waiting}

    def _start(self, started: list[Stage]) -> None:
        for stage in self._stages:
            if self._code is not None:
                return
            began_s = clock.monotonic_s()
            started.append(stage)  # before the start: a half-started stage is stopped too
            stage.start()
            _log.debug("stage_started", stage=stage.name, took_s=round(clock.monotonic_s() - began_s, 3))
        self._phase = "running"
        _log.info("started", stages=[stage.name for stage in self._stages])
        self._tell_started()

    def _watch(self) -> None:
        while self._code is None:
            try:
                told = self._told.get(timeout=1.0)
            except queue.Empty:
                told = ""
            if told == "reload":
                try:
                    self.reload()
                except UserError:
                    pass  # logged; a bad reload changes nothing
            logs.flush_repeats()

    def _drain(self, started: list[Stage]) -> bool:
        """Stops what was started, last first; whether all of it ended in time and without an error."""
        self._phase = "draining"
        ends_s = clock.monotonic_s() + self._drain_s
        well = True
        for stage in reversed(started):
            stopper = _Stopper(stage, max(0.0, ends_s - clock.monotonic_s()))
            well &= stopper.finish()
        return well

    def _end(self, in_time: bool) -> int:
        code = self._code or 0
        code = code if in_time or code else 1
        _log.info("ended", code=code)
        logs.flush_repeats(everything=True)
        if not in_time:  # threads that did not end would keep the interpreter from ending
            sys.stderr.flush()
            self._exit_now(code)
        return code

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Takes the signals for the time of the run; off the main thread (tests) there are none to take."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        taken: dict[signal.Signals, Callable[[int, Any], None]]
        taken = {signal.SIGINT: self._told_to_end, signal.SIGTERM: self._told_to_end}
        if not hangup.ignored():
            taken[signal.SIGHUP] = self._told_to_end if hangup.ends() else self._told_to_reload
        before = {number: signal.signal(number, handler) for number, handler in taken.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _told_to_end(self, number: int, _: object) -> None:
        now_s = clock.monotonic_s()
        if number == signal.SIGHUP:
            hangup.leave(self._terminals)
        if self._signalled_s is None:
            self._signalled_s = now_s
            self.finish(0 if number == signal.SIGTERM else 128 + number)
        elif number != signal.SIGHUP and now_s - self._signalled_s >= TOGETHER_S:
            os.write(2, b"ended at once, on the second signal\n")
            self._exit_now(128 + number)

    def _told_to_reload(self, _: int, __: object) -> None:
        self._told.put("reload")

    def _died(self, thread: str, error: BaseException) -> None:
        """What a person can mend is told as such when all has ended; anything else is a fault, with its stack."""
        if isinstance(error, UserError):
            self._failure = self._failure or error
            _log.error("stage_cannot_go_on", thread=thread, error=error.what, where=error.where, now="the process ends")
            self.finish(error.exit_code)
        else:
            _log.exception("thread_died", error=error, thread=thread, now="the process ends")
            self.finish(1)


class _Stopper:
    """Stops one stage on a thread, so that a stage that hangs does not keep the others from being stopped."""

    def __init__(self, stage: Stage, left_s: float) -> None:
        self._stage = stage
        self._left_s = left_s
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._stop, name=f"stop {stage.name}", daemon=True)
        self._thread.start()

    def finish(self) -> bool:
        self._thread.join(self._left_s + _GRACE_S)
        if self._thread.is_alive():
            _log.error("stage_left_behind", stage=self._stage.name, why="it did not stop in time")
            return False
        if self._error:
            _log.exception("stage_stop_failed", error=self._error, stage=self._stage.name)
        return self._error is None

    def _stop(self) -> None:
        try:
            self._stage.stop(self._left_s)
        except Exception as error:
            self._error = error
