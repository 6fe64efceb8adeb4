"""How the collector's rooms are wired, in its two forms: a live cluster, and a recording in its place."""

from __future__ import annotations

import queue
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
from collector.watch.live import Live, Told
from collector.watch.scribe import REPLAY, Scribe
from pipeline import clock
from pipeline.config.load import Loaded
from pipeline.config.places import Places
from pipeline.errors import Terminal, Transient, UserError
from pipeline.kubeapi import server
from pipeline.kubeapi.client import Client
from pipeline.kubeapi.credentials import Credentials
from pipeline.kubeapi.options import Options
from pipeline.log import LogOptions
from pipeline.process.loop import Loop
from pipeline.process.stage import Check
from pipeline.telemetry import logs

log = logs.get(__name__)

_TURN_S = 0.05
"""How long a turn gathers before it makes durable what came: the price of one fsync is shared by its records."""
_TURN_HAPPENINGS = 500
_CHECKPOINT_S = 0.5
_RETRY_S = 5.0
_BLOCKED_S = 1.0
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
        self.cluster = cluster
        self.spool = Spool(
            places,
            options=LogOptions(
                cluster=cluster,
                source=SOURCE,
                segment_bytes=spool.segment_bytes,
                keep_s=spool.keep_log,
                max_bytes=spool.max_bytes,
                min_free_bytes=spool.min_free_bytes,
            ),
        )
        self.kinds = kinds(settings)
        limits = projection.Limits(annotations=frozenset(settings.annotations))
        options = MirrorOptions(kinds=self.kinds, tenant_label=settings.tenant_label, limits=limits)
        self.mirror = Mirror(cluster, SOURCE, options)


class Collector:
    """The stage for a live cluster. An API server that does not answer is asked again; the rest goes on meanwhile."""

    name = "collector"

    def __init__(self, settings: Settings, places: Places, cluster: str) -> None:
        self._settings = settings
        self._places = places
        self._cluster = cluster
        self._loop = Loop(self.name, self._run)
        self._live: Live | None = None
        self._scribe: Scribe | None = None
        self._trouble = "not connected yet"

    def start(self) -> None:
        """Opens the spool and reads the credentials. Raises UserError when either cannot be had."""
        self._client = Client(Credentials(self._settings.kubeconfig, self._settings.context), 64)
        self._writing = _Writing(self._settings, self._places, self._cluster)
        self._loop.start()

    def stop(self, deadline_s: float) -> None:
        """Ends the watches, then writes what they have told."""
        self._loop.stop(deadline_s)

    def checks(self) -> list[Check]:
        """Alive; connected; taken in by the spool; and each watch within its time."""
        found = [self._loop.check(), Check("cluster", not self._trouble, self._trouble or self._client.host)]
        if self._scribe is not None:
            found.append(Check("spool", not self._scribe.blocked, self._scribe.blocked or "takes records"))
        return found + reports.checks(self.progress(), clock.now_ms(), self._settings.silent_after)

    def progress(self) -> dict[str, Any]:
        """How far each watch is, by kind."""
        return dict(self._live.progress) if self._live is not None else {}

    def state(self) -> dict[str, Any]:
        """Watches as the pipeline page shows them."""
        return {"cluster": self._cluster, "watches": reports.rows(self.progress(), clock.now_ms())}

    def _run(self, loop: Loop) -> None:
        writing = self._writing
        saved = writing.spool.checkpoint.load()
        ahead = resume.changes_of(writing.spool.tail(), writing.kinds, saved.watches)
        writing.mirror.restore(resume.brought_up(writing.spool.checkpoint.known(), ahead))
        follower = Follower(writing.mirror, saved.watches)
        self._scribe = scribe = Scribe(writing.spool, writing.mirror, follower, known=ahead)
        live = Live(self._client, writing.kinds, self._options())
        try:
            self._connect(loop, live, scribe)
            self._follow(loop, live, scribe, follower)
        finally:
            live.stop()
            for watch, happening in _drained(live.told):
                scribe.hear(watch, happening)
            scribe.checkpoint(clock.now_ms())
            writing.spool.close()

    def _connect(self, loop: Loop, live: Live, scribe: Scribe) -> None:
        """Until the server answers: time passes, the process is alive and not ready."""
        while not loop.stopping.is_set():
            try:
                self._claim()
                absent = live.begin()
            except (Transient, Terminal) as error:
                if str(error) != self._trouble:
                    log.error("cluster_unreachable", host=self._client.host, error=str(error), again_in_s=_RETRY_S)
                self._trouble = str(error)
            else:
                self._trouble, self._live = "", live
                scribe.absent(absent, clock.now_ms())
                return
            until_s = clock.monotonic_s() + _RETRY_S
            while clock.monotonic_s() < until_s and not loop.stopping.wait(_CHECKPOINT_S):
                loop.beat()
                scribe.tick(clock.now_ms())
                scribe.flush()

    def _claim(self) -> None:
        try:
            uid = server.cluster_uid(self._client)
        except Terminal as error:
            log.warning("cluster_identity_unknown", error=str(error))
            return
        self._writing.spool.checkpoint.claim(uid)

    def _follow(self, loop: Loop, live: Live, scribe: Scribe, follower: Follower) -> None:
        checkpoint_s = clock.monotonic_s()
        while not loop.stopping.is_set():
            loop.beat()
            if scribe.blocked:
                loop.stopping.wait(_BLOCKED_S)
            else:
                for watch, happening in _gathered(live.told):
                    scribe.hear(watch, happening)
            scribe.tick(clock.now_ms())
            if clock.monotonic_s() - checkpoint_s >= _CHECKPOINT_S:
                scribe.checkpoint(clock.now_ms())
                checkpoint_s = clock.monotonic_s()
            else:
                scribe.flush()
            reports.measure(follower, self.progress(), clock.now_ms())
            live.ask_again()

    def _options(self) -> Options:
        return Options(
            page_limit=self._settings.page_limit,
            streamed_list=self._settings.streamed_list,
            watch_timeout_s=self._settings.watch_timeout,
            silent_s=self._settings.silent_after,
        )


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
            scribe.absent([kind.name for kind in writing.kinds if kind.name not in watched], self.begin_ms)
            self._play(loop, scribe, {kind.name for kind in writing.kinds})
            scribe.checkpoint(self.at_ms)
            self.done = not loop.stopping.is_set()
            while not loop.stopping.wait(_BLOCKED_S):
                loop.beat()
                scribe.checkpoint(self.at_ms)
        finally:
            writing.spool.close()

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
                    scribe.checkpoint(self.at_ms)
                self._blocked = scribe.blocked
            if loop.stopping.is_set():
                return
            loop.beat()
            self.at_ms = beat.t
            _perform(scribe, beat, known)


def stage(loaded: Loaded) -> Collector | Replayer:
    """The stage as the settings want it. Raises UserError for a recording that is none."""
    settings, places = loaded.of(Settings), Places(loaded.ground.data_dir)
    cluster = loaded.ground.cluster.name
    if settings.replay is None:
        return Collector(settings, places, cluster)
    return Replayer(settings, places, cluster, Recording(settings.replay), parse_pace(settings.speed))


def _perform(scribe: Scribe, beat: Beat, known: set[str]) -> None:
    scribe.tick(beat.t)
    if beat.happening is not None and beat.watch in known:
        scribe.hear(beat.watch, beat.happening)
    scribe.beat()


def _gathered(told: queue.Queue[Told]) -> Iterator[Told]:
    """What comes within a turn; at least a turn's time passes only when nothing comes."""
    deadline_s = clock.monotonic_s() + _TURN_S
    for _ in range(_TURN_HAPPENINGS):
        left_s = deadline_s - clock.monotonic_s()
        try:
            yield told.get(timeout=left_s) if left_s > 0 else told.get_nowait()
        except queue.Empty:
            return


def _drained(told: queue.Queue[Told]) -> Iterator[Told]:
    while True:
        try:
            yield told.get_nowait()
        except queue.Empty:
            return
