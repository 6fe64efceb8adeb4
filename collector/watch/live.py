"""A live cluster: one reflector a kind, each on a thread of its own, all telling one queue.

Which kinds the server serves is asked at start and again from time to time, since an API group may come later, go, or
be dead for a while. A kind that is not served, or refused, keeps nobody waiting.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable

from collector.kinds.base import Kind
from pipeline import clock
from pipeline.errors import Terminal, Transient
from pipeline.kubeapi import discovery
from pipeline.kubeapi.client import Client
from pipeline.kubeapi.happenings import Happening
from pipeline.kubeapi.options import Options
from pipeline.kubeapi.progress import Progress
from pipeline.kubeapi.reflector import Reflector
from pipeline.kubeapi.resources import Collection, Resource
from pipeline.telemetry import logs

log = logs.get(__name__)

Told = tuple[str, Happening]
_QUEUE = 2000
_ASK_AGAIN_S = 60.0
_PUT_S = 0.2


class Live:
    """The watches of one cluster. `told` is what they said and nobody has taken yet; when it is full, nothing is read."""

    def __init__(self, client: Client, kinds: Iterable[Kind], options: Options) -> None:
        self.told: queue.Queue[Told] = queue.Queue(_QUEUE)
        self._client = client
        self._kinds = {kind.name: kind for kind in kinds}
        self._options = options
        self._stop = threading.Event()
        self._reflectors: dict[str, Reflector] = {}
        self._threads: list[threading.Thread] = []
        self._asked_s = 0.0

    @property
    def progress(self) -> dict[str, Progress]:
        """How far each watch is, by kind."""
        return {name: reflector.progress for name, reflector in self._reflectors.items()}

    def begin(self) -> list[str]:
        """Starts a watch for each kind that is served and has none; the names of those that are not served.

        Raises Transient when the server does not answer.
        """
        self._asked_s = clock.monotonic_s()
        served, failed = self._served()
        for name, resource in served.items():
            if name not in self._reflectors:
                self._start(name, resource)
        for group, error in failed.items():
            log.warning("api_group_not_discovered", group=group, error=error)
        return [name for name in self._kinds if name not in self._reflectors]

    def ask_again(self) -> None:
        """Looks from time to time whether a kind is served now that was not before."""
        if len(self._reflectors) == len(self._kinds) or clock.monotonic_s() - self._asked_s < _ASK_AGAIN_S:
            return
        try:
            self.begin()
        except (Transient, Terminal) as error:
            log.warning("discovery_failed", error=str(error))

    def stop(self) -> None:
        """Ends all watches; returns when their threads have ended."""
        self._stop.set()
        for reflector in self._reflectors.values():
            reflector.stop()
        for thread in self._threads:
            thread.join(5.0)

    def _served(self) -> tuple[dict[str, Resource], dict[str, str]]:
        groups = {kind.group for kind in self._kinds.values()}
        found = discovery.discover(self._client.get, groups)
        served = {
            name: resource
            for name, kind in self._kinds.items()
            if (resource := found.find(kind.group, kind.plural, kind.versions)) is not None
        }
        for name, kind in self._kinds.items():
            if kind.unless in served:
                served.pop(name, None)
        return served, dict(found.failed)

    def _start(self, name: str, resource: Resource) -> None:
        reflector = Reflector(Collection(resource), self._client.connection(), self._options)
        self._reflectors[name] = reflector
        thread = threading.Thread(target=reflector.run, args=(self._teller(name),), name=f"watch {name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _teller(self, name: str) -> Callable[[Happening], None]:
        def tell(happening: Happening) -> None:
            while not self._stop.is_set():
                try:
                    self.told.put((name, happening), timeout=_PUT_S)
                    return
                except queue.Full:
                    continue

        return tell
