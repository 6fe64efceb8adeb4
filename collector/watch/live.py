"""A live cluster: one reflector a kind, each on a thread of its own, all telling one inbox.

One more thread asks the server who it is and what it serves, at the start and again from time to time: a kind may come
later, go, come back in another version of its API, or belong to a group that does not answer for a while. So whoever
takes from the inbox never waits for a server. A kind that is not served, or refused, keeps nobody waiting.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

from collector.kinds.base import Kind
from collector.watch.inbox import Inbox
from pipeline import clock
from pipeline.errors import Terminal, Transient
from pipeline.kubeapi import discovery, server, transport
from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.client import Client
from pipeline.kubeapi.happenings import Happening, Why
from pipeline.kubeapi.options import Options
from pipeline.kubeapi.progress import Progress, State
from pipeline.kubeapi.reflector import Reflector
from pipeline.kubeapi.resources import Collection, Discovery, Resource
from pipeline.kubeapi.statuses import Action
from pipeline.records import shapes
from pipeline.telemetry import logs

log = logs.get(__name__)

CLUSTER: Final = ""
"""Stands for the cluster where a watch has its name."""
SOON_S: Final = 5.0
"""Between tries while the cluster, or one of its API groups, does not answer."""
LATER_S: Final = 60.0
"""Between looks at what is served."""
_GROUP_TIMEOUT_S: Final = 10.0
"""An API group that takes longer is dead for now; the others are not kept waiting."""
_FORBIDDEN: Final = (403, 404)


class Identified(Happening, frozen=True):
    """The cluster says who it is; told before anything of it, and again if it becomes another."""

    uid: str


class Live:
    """The watches of one cluster. `told` is what they said; while it is full, nothing is read."""

    def __init__(
        self,
        client: Client,
        kinds: Iterable[Kind],
        options: Options,
        *,
        soon_s: float = SOON_S,
        later_s: float = LATER_S,
    ) -> None:
        self.told = Inbox()
        self.trouble = "not connected yet"
        """Why nothing was heard of the cluster so far; empty once it has answered."""
        self.unanswered: Mapping[str, str] = {}
        """Kinds that cannot be looked for, since their API group does not answer: why."""
        self._client = client
        self._kinds = {kind.name: kind for kind in kinds}
        self._options = options
        self._soon_s, self._later_s = soon_s, later_s
        self._stop = threading.Event()
        self._reflectors: dict[str, Reflector] = {}
        self._threads: list[threading.Thread] = []
        self._absent: set[str] = set()
        self._uid: str | None = None

    @property
    def progress(self) -> dict[str, Progress]:
        """How far each watch is, by kind."""
        return {name: reflector.progress for name, reflector in self._reflectors.items()}

    def start(self) -> None:
        """Connects, and looks again from time to time, on a thread of its own."""
        self._run(self._keep_asking, "cluster")

    def begin(self) -> None:
        """Looks once: starts a watch for each kind that is served and has none, tells which are not served.

        Raises Transient or Terminal when the server does not answer, or not to us.
        """
        self._identify()
        found, served = self._look()
        self.unanswered = {
            kind.name: error
            for kind in self._kinds.values()
            if kind.name not in served.keys() | self._reflectors.keys() and (error := _failure_of(found, kind.group))
        }
        for name, resource in served.items():
            self._follow(name, resource)
        for name in self._kinds.keys() - served.keys() - self._reflectors.keys() - self._absent:
            self._absent.add(name)
            self.told.put(
                name, tell.NotServed(clock.now_ms(), self.unanswered.get(name, "the server does not serve it"))
            )
        self.trouble = ""

    def stop(self, limit_s: float) -> None:
        """Ends all watches; returns when their threads have ended, or at the limit: they tell nothing any more."""
        self._stop.set()
        self.told.close()
        for reflector in self._reflectors.values():
            reflector.stop()
        until_s = clock.monotonic_s() + limit_s
        for thread in self._threads:
            thread.join(max(0.0, until_s - clock.monotonic_s()))

    def _keep_asking(self) -> None:
        while not self._stop.is_set():
            try:
                self.begin()
            except (Transient, Terminal) as error:
                self._failed(error)
            soon = self.trouble or self.unanswered
            self._stop.wait(self._soon_s if soon else self._later_s)

    def _failed(self, error: Transient | Terminal) -> None:
        if self.trouble and str(error) != self.trouble:
            log.error("cluster_unreachable", host=self._client.host, error=str(error), again_in_s=self._soon_s)
            self.trouble = str(error)
        elif not self.trouble:
            log.warning("discovery_failed", error=str(error))
        if transport.action_of(error) is Action.REFRESH_TOKEN:
            try:
                self._client.refresh()
            except Transient as unreadable:
                log.warning("credentials_unreadable", error=str(unreadable))

    def _identify(self) -> None:
        """Who the cluster is; one that may not tell us goes by its name alone."""
        try:
            uid = server.cluster_uid(self._client)
        except transport.Refused as error:
            if error.problem.code not in _FORBIDDEN:
                raise
            if self._uid is None:
                log.warning("cluster_identity_unknown", error=str(error), fix="Apply `kube-collector rbac`.")
            uid = ""
        if uid != self._uid:
            self._uid = uid
            self.told.put(CLUSTER, Identified(clock.now_ms(), uid))

    def _look(self) -> tuple[Discovery, dict[str, Resource]]:
        """What is served, and of it what is wanted."""
        get = partial(self._client.get, read_timeout_s=_GROUP_TIMEOUT_S)
        found = discovery.discover(get, {kind.group for kind in self._kinds.values()})
        for group, error in found.failed.items():
            log.warning("api_group_not_discovered", group=group, error=error)
        served = {
            name: resource
            for name, kind in self._kinds.items()
            if (resource := found.find(kind.group, kind.plural, kind.versions)) is not None
        }
        for name, kind in self._kinds.items():
            better = self._kinds.get(kind.unless)
            if better is not None and (better.name in served or not found.answered(better.group)):
                served.pop(name, None)
        return found, served

    def _follow(self, name: str, resource: Resource) -> None:
        """Starts a watch; one whose version is not served any more gives way to the version that is."""
        old = self._reflectors.get(name)
        if self._stop.is_set():
            return
        if old is None:
            self._start(name, self._reflector(resource, Why.START))
        elif old.collection.resource != resource and old.progress.state is State.NOT_SERVED:
            log.info("kind_served_in_another_version", kind=name, version=resource.version)
            old.stop()
            self._start(name, self._reflector(resource, Why.SERVED_AGAIN))

    def _reflector(self, resource: Resource, why: Why) -> Reflector:
        shape = shapes.shape_of(resource.group, resource.kind)
        return Reflector(Collection(resource), self._client.connection(), self._options, shape=shape, why=why)

    def _start(self, name: str, reflector: Reflector) -> None:
        self._reflectors = {**self._reflectors, name: reflector}  # read by other threads meanwhile

        def put(happening: Happening) -> None:
            if isinstance(happening, tell.Forbidden):
                log.warning("kind_forbidden", kind=name, error=happening.message, fix="Apply `kube-collector rbac`.")
            if self._reflectors.get(name) is reflector:
                self.told.put(name, happening)

        self._run(partial(reflector.run, put), f"watch {name}")
        if self._stop.is_set():  # `stop` may have come when this one was not there yet
            reflector.stop()

    def _run(self, work: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=work, name=name, daemon=True)
        thread.start()  # before it is listed: `stop` joins what is listed, from another thread
        self._threads = [*(each for each in self._threads if each.is_alive()), thread]


def _failure_of(found: Discovery, group: str) -> str:
    """Why a group did not answer; empty if it did."""
    return next((error for name, error in found.failed.items() if name.rpartition("/")[0] == group), "")
