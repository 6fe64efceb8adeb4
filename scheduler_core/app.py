"""How the scheduler's rooms are wired: the log's reader, the shadow, the writer that is shared in the process."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pipeline import faults
from pipeline.config.load import Loaded
from pipeline.config.places import Places
from pipeline.errors import Transient, UserError
from pipeline.log import LogOptions, LogWriter, layout, readers, sharing, steps
from pipeline.process.loop import Loop
from pipeline.process.stage import Check
from pipeline.records.envelope import Record
from pipeline.telemetry import catalogue, logs
from scheduler_core.model.policy import Policy
from scheduler_core.settings import Settings
from scheduler_core.shadow import building
from scheduler_core.shadow.runner import BUDGET_S, PATIENCE_S, READER, Runner, Turn

log = logs.get(__name__)
_IDLE_S = 0.5
_IDLE_IN_STEP_S = 0.05
_IN_STEP_S = 3600.0
"""What the sessions of a turn may take while a replay waits for them: no second is passed over."""
_IN_STEP_PATIENCE_S = 30.0
"""A replay that is in step is never a batch ahead; one that is has waited long enough and gone on."""
_RETRY_S = 2.0
_STALE_S = 600.0
"""One session over thousands of pods of all shapes and thousands of nodes takes minutes: slow is not dead."""
_FOR_EVER_S = 10 * 365 * 86_400.0


class _NoWriter(Transient):
    """Before the log's writer has begun, and after it has ended."""


class Scheduler:
    """The stage: one thread that opens sessions over the log and appends their decisions.

    It rests as long as its sessions took, so that it never has more than half of a core. A replay waits for it at each
    second, so there it neither rests nor passes seconds over.
    """

    name = "scheduler"

    def __init__(self, settings: Settings, places: Places, cluster: str, *, alone: bool = False) -> None:
        """`alone`: nobody else in this process writes the log, so this stage does."""
        self.at_end: Callable[[], None] = lambda: None
        """Called when all that is in the log is decided; again after more has come."""
        self._settings = settings
        self._places = places
        self._cluster = cluster
        self._loop = Loop(self.name, self._run, stale_after_s=_STALE_S)
        self._alone = alone
        self._own: LogWriter | None = None
        self._policy: Policy | None = None
        self._steps = steps.of(places.records)
        self._trouble = ""
        self._sessions = self._skipped = self._passed_over = 0
        self._ahead_ms = 0
        self._at_ms = -1

    def start(self) -> None:
        """Raises UserError for a policy that cannot be used; alone also for a log that is not there, or has a writer."""
        self._policy = building.policy_of(self._settings)
        if self._alone:
            self._own = _open(self._places.records, self._cluster)
        self._steps.join(self.name)
        self._loop.start()

    def stop(self, deadline_s: float) -> None:
        """Ends after the turn in hand; what is not decided by then is at the next start."""
        self._loop.stop(deadline_s)
        self._steps.leave(self.name)
        if self._own is not None:
            self._own.close()

    def reload(self, loaded: Loaded) -> None:
        """Reads the policy's file again; it counts from the next session on. One that cannot be used never replaces the one
        that is in force."""
        try:
            policy = building.policy_of(loaded.of(Settings))
        except UserError as error:
            log.error("policy_refused", problems=str(error).splitlines(), now="the one of before stays in force")
            return
        if policy != self._policy:
            self._policy = policy
            log.info("policy_taken", policy=policy.name)

    def checks(self) -> list[Check]:
        """Alive while its loop turns; ready while the log takes its decisions."""
        return [self._loop.check(), Check("decisions", not self._trouble, self._trouble or "the log takes them")]

    def state(self) -> dict[str, Any]:
        """How far it has come."""
        return {
            "log_ms": self._at_ms, "sessions": self._sessions, "skipped_seconds": self._skipped,
            "log_time_ahead_ms": self._ahead_ms,
        }  # fmt: skip

    def _run(self, loop: Loop) -> None:
        while not loop.stopping.is_set():
            try:
                self._turns(loop)
            except Transient as error:
                self._blocked(error)
                loop.stopping.wait(_RETRY_S)
            loop.beat()

    def _turns(self, loop: Loop) -> None:
        """Turns until it is told to stop. After an error everything begins again from the last snapshot, by the policy in force:
        its file may be half written by now, or gone."""
        self._await_writer(loop)
        policy = self._policy
        machine = building.machine(self._settings, self._cluster, policy)
        with Runner(machine, self._places.records, self._places.snapshots, self._append) as runner:
            while not loop.stopping.is_set():
                if self._policy is not None and self._policy is not policy:
                    policy = self._policy
                    machine.adopt(policy)
                question = self._steps.asked
                turn = runner.turn(_IN_STEP_S if question else BUDGET_S, self._patience_s(question))
                self._well()
                self._count(turn, machine.stamp)
                loop.beat()
                if turn.moved:
                    loop.stopping.wait(0.0 if question else turn.spent_s)
                    continue
                self._steps.answer(self.name, question)
                self.at_end()
                runner.reader.wait(_IDLE_IN_STEP_S if question else _IDLE_S)

    def _patience_s(self, question: int) -> float:
        """A log that nobody else writes waits for as long as it takes."""
        return math.inf if self._alone else _IN_STEP_PATIENCE_S if question else PATIENCE_S

    def _await_writer(self, loop: Loop) -> None:
        """A writer that begins makes readable what a kill has left without an index; a close may be in there.

        Who looks for closed sessions before that opens some of them again.
        """
        while self._own is None and sharing.writer_of(self._places.records) is None:
            if loop.stopping.wait(_IDLE_IN_STEP_S):
                return
            loop.beat()

    def _append(self, records: Sequence[Record]) -> None:
        writer = self._own or sharing.writer_of(self._places.records)
        if writer is None:
            raise _NoWriter("the log has no writer at the moment")
        writer.put(records)
        faults.point("scheduler.append")
        writer.sync()
        faults.point("scheduler.appended")

    def _count(self, turn: Turn, stamp: int) -> None:
        self._sessions += turn.sessions
        self._skipped += turn.skipped
        self._at_ms = stamp
        catalogue.records.labels(self.name, "all").inc(turn.records)
        catalogue.scheduler_behind.set(turn.behind)
        self._tell_skipped(turn)
        self._tell_ahead(turn.ahead_ms)
        if turn.lost_bytes:
            log.error("damaged_log", lost_bytes=turn.lost_bytes, fix="run `kube-collector spool check`")

    def _tell_skipped(self, turn: Turn) -> None:
        """One line for all seconds that were passed over on the way to the log's end."""
        self._passed_over += turn.skipped
        if self._passed_over and not turn.behind:
            log.warning("seconds_skipped", seconds=self._passed_over, why="sessions are slower than log time")
            self._passed_over = 0

    def _tell_ahead(self, ahead_ms: int) -> None:
        """One line when a clock was set ahead and back: sessions wait until log time is reached again."""
        catalogue.scheduler_ahead.set(ahead_ms / 1000)
        if ahead_ms and not self._ahead_ms:
            log.warning(
                "log_time_ahead", by_s=ahead_ms // 1000, why="a clock was ahead and went back",
                fix="no session opens before that time has come again; a new data_dir begins at once",
            )  # fmt: skip
        elif self._ahead_ms and not ahead_ms:
            log.info("log_time_reached")
        self._ahead_ms = ahead_ms

    def _blocked(self, error: Transient) -> None:
        if not (self._trouble or isinstance(error, _NoWriter)):
            log.error("scheduler_blocked", error=str(error), again_in_s=_RETRY_S)
        self._trouble = str(error)

    def _well(self) -> None:
        if self._trouble:
            log.info("scheduler_goes_on")
        self._trouble = ""


class Absent:
    """In the scheduler's place where it is turned off: it holds nothing of the log back."""

    name = "scheduler"

    def __init__(self, places: Places) -> None:
        self._places = places

    def start(self) -> None:
        """Takes the reader of an earlier run off the list."""
        readers.forget(self._places.records, READER)

    def stop(self, deadline_s: float) -> None:
        """Nothing runs."""

    def checks(self) -> list[Check]:
        return []


def stage(loaded: Loaded) -> Scheduler | Absent:
    """The stage as the settings want it."""
    settings, places = loaded.of(Settings), Places(loaded.ground.data_dir)
    return Scheduler(settings, places, loaded.ground.cluster.name) if settings.enabled else Absent(places)


def _open(directory: Path, cluster: str) -> LogWriter:
    """Becomes the log's writer, which removes nothing of it: how long it is kept is its collector's affair."""
    if not directory.is_dir():
        raise layout.no_log(directory)
    return LogWriter(
        directory, options=LogOptions(cluster=cluster, source="kube-collector/scheduler", keep_s=_FOR_EVER_S)
    )
