"""How the dashboards' rooms are wired: the way to the warehouse, the API, the server, a probe."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any
from urllib.parse import urlsplit

import uvicorn

from dashboards import address
from dashboards.api.answering import Service
from dashboards.api.app import create
from dashboards.explaining import Explain, explainer
from dashboards.figures.asked import Status
from dashboards.settings import Settings
from dashboards.store import Store, open_store
from pipeline import clock, extensions
from pipeline.config.load import Loaded
from pipeline.doris.errors import QueryFailed
from pipeline.errors import Unreachable
from pipeline.process import ports
from pipeline.process.loop import Loop
from pipeline.process.stage import Check, Shows, Stage
from pipeline.telemetry import logs

PROBE_S = 5.0
"""How often the warehouse is asked when nobody else asks: readiness must not wait for a viewer."""
BEAT_S = 2
START_S = 10.0
CLOSE_S = 3
"""So long requests under way may take to end when the server stops."""

log = logs.get(__name__)


class Dashboards:
    """The stage: an HTTP server on a thread of its own. Ready while the warehouse answers; it answers people without it too."""

    name = "dashboards"

    def __init__(
        self, settings: Settings, store: Store, status: Status | None = None, explain: Explain | None = None
    ) -> None:
        self._settings = settings
        self._store = store
        version = metadata.version(extensions.OWN)
        self._status = status
        service = Service(store, version, settings.lag_alarm, self._shown, explain)
        made = create(service, root_path=settings.root_path, hosts=_names(settings))
        self._server = _Server(made, self._beat)
        self._socket: socket.socket | None = None
        self._serving = Loop(self.name, self._serve)
        self._probing = Loop("dashboards probe", self._probe)

    @property
    def url(self) -> str:
        """Where the page is; with port 0 only after the start."""
        port = self._socket.getsockname()[1] if self._socket else self._settings.port
        return address.url(self._settings.address, port, self._settings.root_path)

    def observe(self, stages: Sequence[Stage]) -> None:
        """The other stages of this process are shown by the pipeline's page, also while the warehouse is away."""
        shows = [stage for stage in stages if isinstance(stage, Shows) and stage.name != self.name]
        self._status = lambda: {stage.name: stage.state() for stage in shows}

    def start(self) -> None:
        """Listens and begins to answer. Raises UserError when the port cannot be had."""
        self._socket = listen(self._settings.address, self._settings.port)
        self._serving.start()
        self._probing.start()
        if not self._server.await_start(START_S):
            raise Unreachable("the HTTP server did not start in time", where=self.url)
        log.info("page_on", url=f"{self.url}/")

    def stop(self, deadline_s: float) -> None:
        """Takes no more requests and ends those under way."""
        until_s = clock.monotonic_s() + deadline_s
        self._serving.stopping.set()
        self._server.should_exit = True
        self._probing.stop(deadline_s)
        self._serving.stop(max(0.0, until_s - clock.monotonic_s()))
        self._store.close()

    def checks(self) -> list[Check]:
        """Alive while the server turns; ready while the warehouse answers."""
        failure = self._store.failure
        asked = Check("dashboards warehouse", failure is None, failure or self._store.address or "not asked yet")
        return [self._serving.check(), self._probing.check(), asked]

    def state(self) -> dict[str, Any]:
        """For /debug/state."""
        return {"url": self.url, "warehouse": self._store.address, "failure": self._store.failure}

    def _shown(self) -> Mapping[str, Any] | None:
        return self._status() if self._status else None

    def _serve(self, loop: Loop) -> None:
        assert self._socket is not None, "start opens it before the thread"
        self._server.run(sockets=[self._socket])

    async def _beat(self) -> None:
        self._serving.beat()

    def _probe(self, loop: Loop) -> None:
        well = self._asked(True)
        while not loop.stopping.wait(PROBE_S):
            loop.beat()
            well = self._asked(well)

    def _asked(self, was_well: bool) -> bool:
        """Whether the warehouse answers; says so when that has changed."""
        try:
            self._store.rows("progress")
        except (Unreachable, QueryFailed) as error:
            if was_well:
                log.warning("warehouse_silent", error=error, now="the page says so")
            return False
        if not was_well:
            log.info("warehouse_answers_again", address=self._store.address)
        return True


def _names(settings: Settings) -> list[str]:
    """By which the page may be asked for, beside those of this machine."""
    return [*settings.hosts, settings.address, urlsplit(settings.url).hostname or ""]


class _Server(uvicorn.Server):
    """The server without signals and without a log of its own, on a socket that is open already."""

    def __init__(self, app: Any, beat: Any) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # nothing here depends on who asks
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=CLOSE_S,
                timeout_notify=BEAT_S,
                callback_notify=beat,
            )
        )

    def await_start(self, limit_s: float) -> bool:
        """Waits until it answers; whether it does."""
        until_s = clock.monotonic_s() + limit_s
        while not self.started and clock.monotonic_s() < until_s:
            time.sleep(0.01)
        return bool(self.started)


def listen(host: str, port: int) -> socket.socket:
    """An open socket. Raises UserError, the same for every way in which a port cannot be had."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(place)
            made.listen(1024)
        except OSError:
            made.close()
            raise
    except OSError as error:
        raise ports.refused(error, host, port, "dashboards.port") from error
    return made


def stage(loaded: Loaded, status: Status | None = None) -> Dashboards:
    """The stage as the settings want it. `status`: what the other stages of this process show of themselves."""
    return Dashboards(loaded.of(Settings), open_store(loaded), status, explainer(loaded))
