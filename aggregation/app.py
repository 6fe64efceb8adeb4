"""How the aggregation's rooms are wired: the log's reader, the runner, the operators, the outbox."""

from __future__ import annotations

import os
from contextlib import closing

from aggregation import topology
from aggregation.runners import embedded, store
from aggregation.runners.embedded import EmbeddedRunner
from aggregation.runners.store import Progress, StateStore
from aggregation.settings import Settings
from pipeline import clock
from pipeline.config.load import Loaded
from pipeline.config.places import Places
from pipeline.errors import Transient
from pipeline.log import LogReader, Position, layout, outbox, readers
from pipeline.log.positions import BEGINNING
from pipeline.process.loop import Loop
from pipeline.process.stage import Check
from pipeline.telemetry import catalogue, logs

READER = "aggregation"
log = logs.get(__name__)
_IDLE_S = 0.5
_RETRY_S = 2.0


class Aggregation:
    """The stage: one thread that turns the log into rows. Stops after it has read all that is durable."""

    name = "aggregation"

    def __init__(self, settings: Settings, places: Places, cluster: str) -> None:
        self._settings = settings
        self._places = places
        self._cluster = cluster
        self._loop = Loop(self.name, self._run)
        self._trouble = ""
        self._lock_fd = -1

    def start(self) -> None:
        """Begins to read where the last commit ended. Raises UserError when another process has the state."""
        self._lock_fd = store.hold(self._places.aggregation_db)
        self._loop.start()

    def stop(self, deadline_s: float) -> None:
        """Reads what is left and ends; what is not read within `deadline_s` is read at the next start."""
        if self._loop.stop(deadline_s) and self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1

    def checks(self) -> list[Check]:
        """Alive while its loop turns; ready while the disk takes its commits."""
        return [self._loop.check(), Check("aggregation state", not self._trouble, self._trouble or "takes commits")]

    def _run(self, loop: Loop) -> None:
        while not self._work(loop):
            until_s = clock.monotonic_s() + _RETRY_S
            while clock.monotonic_s() < until_s and not loop.stopping.wait(_IDLE_S):
                loop.beat()
            if loop.stopping.is_set():
                return

    def _work(self, loop: Loop) -> bool:
        """Turns until it is told to stop; False when the disk did not take a commit: then everything begins from the last."""
        try:
            self._turns(loop)
        except Transient as error:
            if not self._trouble:
                log.error("aggregation_blocked", error=str(error), again_in_s=_RETRY_S)
            self._trouble = str(error)
            return False
        return True

    def _turns(self, loop: Loop) -> None:
        with closing(StateStore(self._places.aggregation_db)) as state:
            found = self._fitting(state)
            with LogReader(self._places.records, READER, start=found.position if found else BEGINNING) as reader:
                runner = self._runner(state, reader)
                lost = 0
                while True:
                    stopping = loop.stopping.is_set()
                    moved = self._turn(runner)
                    if reader.lost_segments > lost:
                        log.error("segments_missing", segments=reader.lost_segments - lost, before=str(reader.position))
                        lost = reader.lost_segments
                    self._well()
                    loop.beat()
                    if moved:
                        continue
                    if stopping:
                        return
                    catalogue.state_keys.set(state.count())
                    reader.wait(_IDLE_S)

    def _fitting(self, state: StateStore) -> Progress | None:
        """How far the state is in the log. One that was lost, or that is ahead of the log, begins anew, and that is told.

        A state is ahead when an older copy of the log was put in the place of the one it has read.
        """
        records, found = self._places.records, state.progress()
        if found is None:
            if readers.read(records, READER, Position) is not None:
                self._tell_anew("state_lost")
        elif (segments := layout.segments(records)) and Position(
            segments[-1].number, segments[-1].data_bytes
        ) < found.position:
            self._tell_anew("state_ahead_of_log")
            return embedded.rebuild(state)
        return found

    def _tell_anew(self, event: str) -> None:
        path = str(self._places.aggregation_db)
        first = layout.first(self._places.records)
        if first == layout.FIRST:
            log.warning(event, path=path, now="the whole log is judged anew")
        else:
            now = "what is left of the log is judged anew; waits that began before it are told from there on"
            log.error(event, path=path, now=now, first_segment=first)

    def _well(self) -> None:
        if self._trouble:
            log.info("aggregation_goes_on")
        self._trouble = ""

    def _turn(self, runner: EmbeddedRunner) -> bool:
        turn = runner.turn(self._settings.batch_records)
        catalogue.records.labels(self.name, "all").inc(turn.records)
        catalogue.dead_letters.labels(self.name, "operator").inc(turn.dead)
        if turn.lost_bytes:
            catalogue.spool_dropped.labels("records", "damaged").inc(turn.lost_bytes)
            log.error("damaged_log", lost_bytes=turn.lost_bytes, fix="run `kube-collector spool check`")
        catalogue.watermark_age.set(max(0.0, clock.now_ms() - runner.now) / 1000)
        return turn.moved

    def _runner(self, state: StateStore, reader: LogReader) -> EmbeddedRunner:
        options = topology.Options(
            default_waiting_ms=self._settings.default_waiting_time,
            at_risk_share=self._settings.at_risk_share,
            drop_after_ms=self._settings.keep_finished,
        )
        folder = self._places.aggregation_db.parent
        return EmbeddedRunner(
            topology.JobOperator(options),
            topology.job_of,
            state,
            reader,
            self._cluster,
            acked=lambda: outbox.acked(folder),
        )


def stage(loaded: Loaded) -> Aggregation:
    """The stage as the settings want it."""
    ground = loaded.ground
    return Aggregation(loaded.of(Settings), Places(ground.data_dir), ground.cluster.name)
