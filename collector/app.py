"""How the collector's rooms are wired, in its two forms: a live cluster, and a recording in its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.kinds import projection
from collector.kinds.base import Kind
from collector.kinds.catalog import kinds as catalog
from collector.kinds.mirror import Mirror, MirrorOptions
from collector.replay.player import Beat, Pace, beats, parse_pace
from collector.replay.recording import Recording
from collector.settings import Settings
from collector.spool.spool import Spool
from collector.watch import reports, resume
from collector.watch.follower import Follower
from collector.watch.inbox import Inbox, Told
from collector.watch.live import Identified, Live
from collector.watch.scribe import REPLAY, Scribe
from pipeline import clock
from pipeline.config.load import Loaded
from pipeline.config.places import Places
from pipeline.errors import Transient, UserError
from pipeline.kubeapi.client import Client
from pipeline.kubeapi.credentials import Credentials
from pipeline.kubeapi.options import Options
from pipeline.log import LogOptions, steps
from pipeline.process.loop import Loop
from pipeline.process.stage import Check
from pipeline.records import times
from pipeline.telemetry import logs

log = logs.get(__name__)

_TURN_S = 0.05
"""How long a turn gathers before it makes durable what came: the price of one fsync is shared by its records."""
_CHECKPOINT_S = 0.5
_LONG_TURN_S = 0.25
"""How long it goes on gathering while there is a backlog: then records must not pile up in memory."""
_BLOCKED_S = 1.0
_LEAST_SEGMENTS = 4
"""Of a small log: only a segment that has ended can be removed."""
_STOP_S = 1.0
"""For all watches together; one that waits for the head of an answer cannot be ended sooner, and is left behind."""
_STEP_S = 60.0
"""How long a replay waits at a second for its answers: its log is the same on a machine that is slow or stands still for a
while. Somebody who needs longer is not waited for there."""
_BEHIND_MS = 10_000
"""How far the clock may be behind the log: so much it may be set right by at any time."""
CONNECTIONS = 64
SOURCE = "kube-collector/collector"


def kinds(settings: Settings) -> tuple[Kind, ...]:
    """The kinds to watch, further ones included. Raises UserError for a name that is no kind."""
    names = {kind.name for kind in catalog.KINDS}
    unknown = set(settings.disabled_kinds) - names
    if unknown:
        raise UserError(
            f"no kind is called {', '.join(sorted(unknown))}",
            where="collector.disabled_kinds",
            fix=f"Kinds are {', '.join(sorted(names))}.",
        )
    wanted = [kind for kind in catalog.KINDS if kind.name not in settings.disabled_kinds]
    more = [
        catalog.extra(each.group, each.version, each.plural, each.kind, namespaced=each.namespaced)
        for each in settings.extra_kinds
    ]
    return (*wanted, *more)


class _Writing:
    """What both forms share: the spool, and the mirror that its records come from."""

    def __init__(self, settings: Settings, places: Places, cluster: str) -> None:
        spool = settings.spool
        self.kinds = kinds(settings)
        self.cluster = cluster
        self.spool = Spool(
            places,
            options=LogOptions(
                cluster=cluster,
                source=SOURCE,
                segment_bytes=min(spool.segment_bytes, spool.max_bytes // _LEAST_SEGMENTS),
                keep_s=spool.keep_log,
                max_bytes=spool.max_bytes,
                min_free_bytes=spool.min_free_bytes,
            ),
        )
        limits = projection.Limits(annotations=frozenset(settings.annotations))
        options = MirrorOptions(kinds=self.kinds, tenant_label=settings.tenant_label, limits=limits)
        self.mirror = Mirror(cluster, SOURCE, options)

    def close(self) -> None:
        """Gives the spool back. What a full disk did not take is asked for again: the checkpoint is before it."""
        try:
            self.spool.close()
        except Transient as error:
            log.error("spool_not_synced", error=str(error))


class Collector:
    """The stage for a live cluster. An API server that does not answer is asked again; the rest goes on meanwhile."""

    name = "collector"

    def __init__(
        self, settings: Settings, places: Places, cluster: str, watching: Options | None = None, **asking: float
    ) -> None:
        """`watching` and `asking` (`soon_s`, `later_s` of `Live`) stand for those of a real cluster; tests shorten them.

        Reads the credentials, so that a way to the cluster that leads nowhere is known before any stage starts. Raises
        UserError.
        """
        self._settings = settings
        self._places = places
        self._cluster = cluster
        self._watching = watching or options(settings)
        self._asking = asking
        self._loop = Loop(self.name, self._run)
        self._behind = ""
        self._live: Live | None = None
        self._scribe: Scribe | None = None
        self._client = Client(Credentials(settings.kubeconfig, settings.context), CONNECTIONS)

    def start(self) -> None:
        """Opens the spool. Raises UserError when it cannot be had."""
        self._writing = _Writing(self._settings, self._places, self._cluster)
        self._loop.start()

    def stop(self, deadline_s: float) -> None:
        """Ends the watches, then writes what they have told."""
        self._loop.stop(deadline_s)

    def checks(self) -> list[Check]:
        """Alive; connected; taken in by the spool; each watch within its time; each kind's group answers."""
        found = [self._loop.check()]
        live, scribe = self._live, self._scribe
        if live is None or scribe is None:
            return [*found, Check("cluster", False, "not connected yet")]
        found.append(Check("cluster", not live.trouble, live.trouble or self._client.host))
        found.append(Check("spool", not scribe.blocked, scribe.blocked or "takes records"))
        found.append(Check("clock", not self._behind, self._behind or "not behind the log"))
        found += reports.checks(live.progress, clock.now_ms(), self._settings.silent_after)
        return found + [Check(f"watch {name}", False, error) for name, error in sorted(live.unanswered.items())]

    def progress(self) -> dict[str, Any]:
        """How far each watch is, by kind."""
        return dict(self._live.progress) if self._live is not None else {}

    def state(self) -> dict[str, Any]:
        """Watches as the pipeline page shows them."""
        return {"cluster": self._cluster, "watches": reports.rows(self.progress(), clock.now_ms())}

    def _run(self, loop: Loop) -> None:
        writing = self._writing
        live = Live(self._client, writing.kinds, self._watching, **self._asking)
        try:
            saved = writing.spool.checkpoint.load()
            ahead = resume.changes_of(writing.spool.tail(), writing.kinds, saved.watches)
            writing.mirror.restore(resume.brought_up(writing.spool.checkpoint.known(), ahead))
            follower = Follower(writing.mirror, saved.watches, saved.gaps)
            self._scribe = scribe = Scribe(writing.spool, writing.mirror, follower, known=ahead)
            scribe.disabled(resume.disabled(saved, writing.kinds), clock.now_ms())
            self._live = live
            live.start()
            self._follow(loop, live, scribe, follower)
            live.stop(_STOP_S)
            while (told := live.told.take()) is not None:
                self._hear(loop, scribe, told)
            scribe.checkpoint(clock.now_ms())
        finally:
            live.stop(0.0)
            writing.close()

    def _follow(self, loop: Loop, live: Live, scribe: Scribe, follower: Follower) -> None:
        checkpoint_s = clock.monotonic_s()
        while not loop.stopping.is_set():
            loop.beat()
            if scribe.blocked:
                loop.stopping.wait(_BLOCKED_S)
            else:
                for told in _gathered(live.told):
                    self._hear(loop, scribe, told)
            scribe.tick(clock.now_ms())
            self._compare_clock(clock.now_ms())
            if clock.monotonic_s() - checkpoint_s >= _CHECKPOINT_S:
                scribe.checkpoint(clock.now_ms())
                checkpoint_s = clock.monotonic_s()
            else:
                scribe.flush()
            reports.measure(follower, live.progress, clock.now_ms())

    def _compare_clock(self, now_ms: int) -> None:
        """Log time never goes back. Where the clock has, it stands still until that has caught up with it."""
        behind_ms = self._writing.spool.log.stamp - now_ms
        if behind_ms <= _BEHIND_MS:
            self._behind = ""
            return
        until = times.format_ms(self._writing.spool.log.stamp)
        if not self._behind:
            why = "the clock was set back, or was wrong before; until then waits are judged as of that moment"
            log.error("clock_behind_log", behind_s=behind_ms // 1000, until=until, why=why)
        self._behind = f"{behind_ms // 1000} s behind the log, whose time stands still until {until}"

    def _hear(self, loop: Loop, scribe: Scribe, told: Told) -> None:
        watch, happening = told
        if isinstance(happening, Identified):
            self._claim(loop, happening.uid)
        else:
            scribe.hear(watch, happening)

    def _claim(self, loop: Loop, uid: str) -> None:
        """Before anything of the cluster is written: its name must be its own. Raises UserError when it is another's."""
        while uid:
            try:
                self._writing.spool.checkpoint.claim(uid)
            except Transient as error:
                log.error("spool_blocked", error=str(error))
                loop.beat()
                if loop.stopping.wait(_BLOCKED_S):
                    return
            else:
                return


class Replayer:
    """The stage that plays a recording in a cluster's place.

    A replay that is started again on the same data goes on where its log ends: what is in there is not written again.
    """

    name = "collector"

    def __init__(self, settings: Settings, places: Places, cluster: str, recording: Recording, pace: Pace) -> None:
        self._settings = settings
        self._places = places
        self._recording = recording
        self._pace = pace
        self._loop = Loop(self.name, self._run)
        self._cluster = cluster
        self.begin_ms, self.end_ms = self._recording.bounds()
        self.at_ms = self.begin_ms
        self.done = False
        self._blocked = ""
        self._steps = steps.of(places.records)
        self._second = -1

    def start(self) -> None:
        """Opens the spool. Raises UserError when another process has it."""
        self._writing = _Writing(self._settings, self._places, self._cluster)
        self._loop.start()

    def stop(self, deadline_s: float) -> None:
        """Ends the replay where it is."""
        self._loop.stop(deadline_s)

    def checks(self) -> list[Check]:
        """Alive, and taken in by the spool."""
        share = (self.at_ms - self.begin_ms) / max(1, self.end_ms - self.begin_ms)
        said = "done" if self.done else f"{min(1.0, share):.0%} of the recording"
        return [self._loop.check(), Check("spool", not self._blocked, self._blocked or said)]

    def state(self) -> dict[str, Any]:
        """Where the replay is."""
        return {
            "cluster": self._cluster,
            "replay": {"begin_ms": self.begin_ms, "end_ms": self.end_ms, "at_ms": self.at_ms, "done": self.done},
            "watches": [{"watch": watch, "state": "replay"} for watch in self._recording.watches],
        }

    def _run(self, loop: Loop) -> None:
        writing = self._writing
        saved = writing.spool.checkpoint.load().watches.get(REPLAY)
        follower = Follower(writing.mirror)
        replayed, tail = int(saved.version) if saved else 0, writing.spool.tail()
        scribe = Scribe(writing.spool, writing.mirror, follower, replayed=replayed, tail=tail)
        watched = set(self._recording.watches)
        try:
            self._in_step(loop, scribe)
            scribe.absent([kind.name for kind in writing.kinds if kind.name not in watched], self.begin_ms)
            self._play(loop, scribe, {kind.name for kind in writing.kinds})
            scribe.checkpoint(self.at_ms)
            self.done = not loop.stopping.is_set()
            if self.done:
                log.info("recording_over", until=times.format_ms(self.at_ms))
            while not loop.stopping.wait(_BLOCKED_S):
                loop.beat()
                scribe.checkpoint(self.at_ms)
        finally:
            writing.close()

    def _play(self, loop: Loop, scribe: Scribe, known: set[str]) -> None:
        began_s, flushed_s = clock.monotonic_s(), clock.monotonic_s()
        for beat in beats(self._recording):
            if scribe.skipping:  # what is in the log already costs no time, and the pace goes on from there
                began_s = clock.monotonic_s() - self._pace.due_s(beat.t - self.begin_ms)
            due_s = began_s + self._pace.due_s(beat.t - self.begin_ms)
            if due_s - clock.monotonic_s() > _TURN_S or clock.monotonic_s() - flushed_s > _CHECKPOINT_S:
                scribe.checkpoint(self.at_ms)
                flushed_s = clock.monotonic_s()
            while (scribe.blocked or clock.monotonic_s() < due_s) and not loop.stopping.is_set():
                loop.beat()
                loop.stopping.wait(min(_BLOCKED_S, max(0.01, due_s - clock.monotonic_s())))
                if scribe.blocked:
                    self._try_again(loop, scribe)
                self._blocked = scribe.blocked
            if loop.stopping.is_set():
                return
            loop.beat()
            self.at_ms = beat.t
            self._perform(loop, scribe, beat, known)
        scribe.end(self.at_ms)

    def _perform(self, loop: Loop, scribe: Scribe, beat: Beat, known: set[str]) -> None:
        scribe.tick(beat.t)
        if beat.t // 1000 > self._second and not scribe.skipping:
            self._second = beat.t // 1000
            self._in_step(loop, scribe)
        if beat.happening is not None and beat.watch in known:
            scribe.hear(beat.watch, beat.happening)
        scribe.beat()

    def _try_again(self, loop: Loop, scribe: Scribe) -> None:
        """Once there is space again, what nobody could answer meanwhile is answered before anything more is told."""
        scribe.checkpoint(self.at_ms)
        if not scribe.blocked:
            self._in_step(loop, scribe)

    def _in_step(self, loop: Loop, scribe: Scribe) -> None:
        """Lets those who answer in the log (the shadow scheduler) answer what it has, before anything more is told."""
        scribe.flush()
        question, until_s = self._steps.ask(), clock.monotonic_s() + _STEP_S
        while not (scribe.blocked or loop.stopping.is_set()) and clock.monotonic_s() < until_s:
            loop.beat()
            if self._steps.wait(question, _TURN_S):
                return


def stage(loaded: Loaded) -> Collector | Replayer:
    """The stage as the settings want it. Raises UserError for a recording, or a kubeconfig, that is none."""
    settings, places = loaded.of(Settings), Places(loaded.ground.data_dir)
    cluster = loaded.ground.cluster.name
    if settings.replay is None:
        return Collector(settings, places, cluster)
    return Replayer(settings, places, cluster, Recording(settings.replay), parse_pace(settings.speed))


def _gathered(told: Inbox) -> Iterator[Told]:
    """What comes within a turn, longer while there is a backlog."""
    began_s = clock.monotonic_s()
    while (past_s := clock.monotonic_s() - began_s) < _LONG_TURN_S:
        each = told.take(max(0.0, _TURN_S - past_s))
        if each is None:
            return
        yield each


def options(settings: Settings) -> Options:
    """How watches are kept, as the settings say."""
    return Options(
        page_limit=settings.page_limit,
        streamed_list=settings.streamed_list,
        watch_timeout_s=settings.watch_timeout,
        silent_s=settings.silent_after,
    )
