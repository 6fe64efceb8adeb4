"""An API server that does what a test says: every byte, every chunk, every way to die. On loopback, plain HTTP.

    with ScriptedApi() as api:
        api.lists.will(page("10", pod("a", "3")))
        api.watches.will(chunks(frame("ADDED", …), then=Then.SILENCE), status(410), chunks(b"", then=Then.RESET))

A script is a row of answers, one for each request of its kind; the last one repeats. Kinds of requests: `watches`,
`probes` (a list of one object not older than a version), `lists` (every other collection), and `others` by path.
"""

from __future__ import annotations

import contextlib
import enum
import http.server
import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

Json = dict[str, Any]


class Request(msgspec.Struct, frozen=True):
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


class Then(enum.Enum):
    """What follows the last chunk of a stream."""

    END = enum.auto()
    """The body ends as it should."""
    CUT = enum.auto()
    """The connection is closed in the middle of the body."""
    RESET = enum.auto()
    """The same with RST."""
    SILENCE = enum.auto()
    """Nothing more is sent; the connection stays."""


class Exchange:
    """One request on its connection; answers write to it."""

    def __init__(self, handler: http.server.BaseHTTPRequestHandler, api: ScriptedApi) -> None:
        self._handler = handler
        self._socket: socket.socket = handler.connection
        self._api = api

    def send(self, code: int, body: bytes, headers: Mapping[str, str]) -> None:
        """A whole answer."""
        self._head(code, {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers})
        self._write(body)

    def begin(self, code: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """The head of an answer in chunks."""
        self._head(code, {"Content-Type": "application/json", "Transfer-Encoding": "chunked", **(headers or {})})

    def chunk(self, data: bytes) -> None:
        """One HTTP chunk, in one packet if it is small."""
        if data:
            self._write(b"%x\r\n%b\r\n" % (len(data), data))

    def raw(self, data: bytes) -> None:
        """Bytes as they are, for bodies that are broken as such."""
        self._write(data)

    def then(self, end: Then) -> None:
        if end is Then.END:
            self._write(b"0\r\n\r\n")
            return
        if end is Then.SILENCE:
            self.wait_until_left()
        if end is Then.RESET:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._handler.close_connection = True
        self._api.disconnect(self._socket)

    def wait_until_left(self) -> None:
        """Until the client closes its side, or the test is over."""
        self._socket.settimeout(0.02)
        while not self._api.closing.is_set():
            with contextlib.suppress(TimeoutError):
                if not self._socket.recv(1):
                    return

    def _head(self, code: int, headers: Mapping[str, str]) -> None:
        self._handler.send_response(code)
        for name, value in headers.items():
            self._handler.send_header(name, value)
        self._handler.end_headers()
        self._handler.wfile.flush()

    def _write(self, data: bytes) -> None:
        self._handler.wfile.write(data)
        self._handler.wfile.flush()


Answer = Callable[[Exchange], None]


class Script:
    """The answers to one kind of request, and the requests that came."""

    def __init__(self, first: Answer) -> None:
        self._answers = [first]
        self._lock = threading.Lock()
        self.requests: list[Request] = []

    def will(self, *answers: Answer) -> None:
        """From now on: these, one a request; the last one for all that follow."""
        with self._lock:
            self._answers = list(answers)

    def next_for(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    @property
    def versions(self) -> list[str | None]:
        """The `resourceVersion` of each request."""
        return [request.query.get("resourceVersion") for request in list(self.requests)]


class ScriptedApi:
    """The server; a context manager that leaves no thread and no socket behind."""

    def __init__(self) -> None:
        self.lists = Script(page("1"))
        self.watches = Script(chunks(then=Then.SILENCE))
        self.probes = Script(page("1"))
        self.others: dict[str, Script] = {}
        self.closing = threading.Event()
        self.connections = 0
        """Connections accepted so far."""
        self._open: set[socket.socket] = set()
        self._lock = threading.RLock()
        self._server = _Server(("127.0.0.1", 0), _handler_for(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="scripted-api")

    def __enter__(self) -> ScriptedApi:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self.drop_connections()
        self._server.server_close()

    def other(self, path: str, *answers: Answer) -> Script:
        """A script for one path of its own."""
        script = self.others.setdefault(path, Script(status(404)))
        script.will(*answers)
        return script

    def kubeconfig(self, user: Json | None = None) -> Json:
        """A kubeconfig for this server; write it as JSON, which YAML contains."""
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": self.url}}],
            "users": [{"name": "test", "user": user or {"token": "secret"}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        }

    def drop_connections(self) -> None:
        """Closes every connection, in the middle of whatever it is doing; what comes on one of them now is not heard.

        All at one moment: a client that lost the first would else ask anew on the last, and be cut once more.
        """
        with self._lock:
            for connection in list(self._open):
                self.disconnect(connection)

    def heard(self, request: Request, connection: socket.socket) -> Answer | None:
        """Takes note of a request and gives its answer; None on a connection that is cut."""
        with self._lock:
            return self.script_for(request).next_for(request) if connection in self._open else None

    def script_for(self, request: Request) -> Script:
        if request.path in self.others:
            return self.others[request.path]
        if "watch" in request.query:
            return self.watches
        return self.probes if request.query.get("resourceVersionMatch") == "NotOlderThan" else self.lists

    def connected(self, connection: socket.socket) -> None:
        with self._lock:
            self.connections += 1
            self._open.add(connection)

    def disconnect(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.discard(connection)
        linger = connection.fileno() >= 0 and struct.unpack(
            "ii", connection.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)
        )
        with contextlib.suppress(OSError):
            if not linger or not linger[0]:
                connection.shutdown(socket.SHUT_RDWR)
        if linger and linger[0]:
            connection.close()


def answer(code: int, body: Any, headers: Mapping[str, str] | None = None) -> Answer:
    """A whole answer; `body` is bytes, or becomes JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda exchange: exchange.send(code, data, headers or {})


def page(version: str, *items: Any, token: str = "") -> Answer:
    """A page of a list of pods."""
    metadata = {"resourceVersion": version, "continue": token}
    return answer(200, {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items})


def status(code: int, reason: str = "", message: str = "", headers: Mapping[str, str] | None = None) -> Answer:
    """An error answer."""
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "code": code, "reason": reason, "message": message}
    return answer(code, body, headers)


def chunks(*data: bytes, then: Then = Then.END) -> Answer:
    """A stream: each piece of `data` is one HTTP chunk."""

    def send(exchange: Exchange) -> None:
        exchange.begin()
        for each in data:
            exchange.chunk(each)
        exchange.then(then)

    return send


def serve(api: ScriptedApi, uid: str, *plurals: str) -> None:
    """Makes it a whole small cluster: who it is, and that it serves these kinds of the core group."""
    verbs = ["get", "list", "watch"]
    kinds = [
        {"name": each, "kind": each.removesuffix("s").title(), "namespaced": each != "nodes", "verbs": verbs}
        for each in plurals
    ]
    api.other("/api", answer(200, {"versions": ["v1"]}))
    api.other("/apis", answer(200, {"groups": []}))
    api.other("/api/v1", answer(200, {"resources": kinds}))
    api.other("/api/v1/namespaces/kube-system", answer(200, {"metadata": {"uid": uid}}))


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle of an answer is what many tests are about."""


def _handler_for(api: ScriptedApi) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            api.connected(self.connection)

        def finish(self) -> None:
            with contextlib.suppress(OSError, ValueError):
                super().finish()

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._serve()

        def _serve(self) -> None:
            url = urlsplit(self.path)
            request = Request(self.command, url.path, dict(parse_qsl(url.query)), dict(self.headers))
            answer = api.heard(request, self.connection)
            if answer is None:
                self.close_connection = True
            else:
                answer(Exchange(self, api))

        def log_message(self, format: str, *args: Any) -> None:
            """Tests look at `requests`."""

    return Handler
