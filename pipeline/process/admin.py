"""The admin server of a process: `/healthz`, `/readyz`, `/metrics`, `/version`, `/debug/config`, `/debug/state`, `/-/reload`.

Small on purpose: it must answer when everything else is stuck, so it takes nothing from any framework, and each answer is made
from memory. `?verbose` on the two checks lists every one of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qs, urlsplit

import msgspec
from prometheus_client.exposition import choose_encoder

from pipeline import extensions
from pipeline.errors import UserError
from pipeline.process import ports
from pipeline.process.stage import Check
from pipeline.telemetry import logs
from pipeline.telemetry.metrics import REGISTRY

_log = logs.get(__name__)


class Asked(Protocol):
    """Whom the server asks; the supervisor."""

    def checks(self) -> list[Check]:
        """All checks of all stages and of the process itself."""

    def shown_settings(self) -> list[dict[str, Any]]:
        """Effective settings with their origins, secrets masked."""

    def shown_state(self) -> dict[str, Any]:
        """The inside of each stage that shows it."""

    def reload(self) -> dict[str, Any]:
        """Reads the settings again; raises UserError when they cannot be used."""


class Answer(NamedTuple):
    """What a path answers."""

    status: int
    body: bytes
    content_type: str = "text/plain; charset=utf-8"


class Admin:
    """Serves on threads of its own from `start` to `stop`. Port 0 takes any free one (`port` says which)."""

    def __init__(self, asked: Asked, address: str, port: int) -> None:
        self._asked = asked
        self._address = address
        self._port = port
        self._server: ThreadingHTTPServer | None = None

    @property
    def port(self) -> int:
        return self._server.server_address[1] if self._server else self._port

    def start(self) -> None:
        """Listens. Raises UserError when the port cannot be had."""
        try:
            self._server = ThreadingHTTPServer((self._address, self._port), _handler(self._asked))
        except OSError as error:
            raise ports.refused(error, self._address, self._port, "admin.port") from error
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.2,), name="admin", daemon=True).start()

    def stop(self) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()


def answer(asked: Asked, method: str, target: str, accept: str = "") -> Answer:
    """What the server says to a request: pure but for what it asks."""
    parts = urlsplit(target)
    if parts.path == "/-/reload":
        return _reload(asked) if method == "POST" else Answer(405, b"use POST\n")
    if method not in {"GET", "HEAD"}:
        return Answer(405, b"use GET\n")
    made = _PATHS.get(parts.path)
    if made is None:
        return Answer(404, ("no such page; there are " + ", ".join(sorted([*_PATHS, "/-/reload"])) + "\n").encode())
    return made(asked, "verbose" in parse_qs(parts.query, keep_blank_values=True), accept)


def _healthz(asked: Asked, verbose: bool, _: str) -> Answer:
    return _verdict([check for check in asked.checks() if check.live], verbose)


def _readyz(asked: Asked, verbose: bool, _: str) -> Answer:
    return _verdict(asked.checks(), verbose)


def _metrics(_: Asked, __: bool, accept: str) -> Answer:
    encode, content_type = choose_encoder(accept)
    return Answer(200, encode(REGISTRY), content_type)


def _version(_: Asked, __: bool, ___: str) -> Answer:
    return _json({"version": metadata.version(extensions.OWN)})


def _config(asked: Asked, _: bool, __: str) -> Answer:
    return _json(asked.shown_settings())


def _state(asked: Asked, _: bool, __: str) -> Answer:
    return _json(asked.shown_state())


_PATHS: dict[str, Callable[[Asked, bool, str], Answer]] = {
    "/healthz": _healthz,
    "/readyz": _readyz,
    "/metrics": _metrics,
    "/version": _version,
    "/debug/config": _config,
    "/debug/state": _state,
}


def _verdict(checks: list[Check], verbose: bool) -> Answer:
    failed = [check for check in checks if not check.ok]
    lines = [f"failed: {', '.join(check.name for check in failed)}" if failed else "ok"]
    if verbose:
        lines = [f"[{'+' if c.ok else '-'}] {c.name}{f': {c.detail}' if c.detail else ''}" for c in checks] + lines
    return Answer(503 if failed else 200, ("\n".join(lines) + "\n").encode())


def _reload(asked: Asked) -> Answer:
    try:
        return _json(asked.reload())
    except UserError as error:
        return Answer(400, f"{error}\nThe settings in use are unchanged.\n".encode())


def _json(value: object) -> Answer:
    return Answer(200, msgspec.json.encode(value) + b"\n", "application/json")


def _handler(asked: Asked) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30  # a connection that says nothing must not hold a thread for ever

        def _answer(self) -> None:
            try:
                made = answer(asked, self.command, self.path, self.headers.get("Accept", ""))
            except Exception as error:
                _log.exception("request_failed", error=error, path=self.path)
                made = Answer(500, b"failed; the log says why\n")
            self.close_connection = self.command == "POST"  # its body is not read
            self.send_response(made.status)
            self.send_header("Content-Type", made.content_type)
            self.send_header("Content-Length", str(len(made.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(made.body)

        do_GET = do_HEAD = do_POST = _answer  # noqa: N815  the names that http.server calls

        def log_message(self, format: str, *args: object) -> None:
            """Probes ask every few seconds; their lines would be all there is to read."""

    return Handler
