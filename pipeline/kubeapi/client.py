"""HTTP to the API server: one pool of connections, raw bytes, and one place where every way to fail gets its name.

The official client brings credentials, TLS and proxies; bodies are read from its connection directly, since its models
cost a hundred times what a decoder of our own costs, and its watch hides what we must see. One watch is one HTTP/1.1
connection, so that one dead connection stalls one watch.

No call waits for ever: connecting has a limit, and so has every read. The kernel looks after connections that nobody
reads: keepalive finds a dead peer within a minute, and what we sent must be acknowledged within half of one.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import urllib3
from kubernetes import client as official
from kubernetes import config

from pipeline import clock
from pipeline.errors import Transient
from pipeline.kubeapi import statuses, transport
from pipeline.kubeapi.credentials import Credentials

CONNECT_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 30.0
_CHUNK_BYTES = 64 * 1024
_MAX_ERROR_BYTES = 64 * 1024
_KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
_UNACKNOWLEDGED_MS = 30_000
_REFRESH_INTERVAL_S = 1.0


class Client:
    """One per process and cluster. Calls may come from many threads; each takes a connection of its own."""

    def __init__(self, credentials: Credentials, max_connections: int = 32) -> None:
        """`max_connections`: at least two for each watch (its stream, and a list or a probe beside it)."""
        self._credentials = credentials
        self._max_connections = max_connections
        self._lock = threading.Lock()
        self._refreshed_s = float("-inf")
        self._api = self._build()

    @property
    def host(self) -> str:
        return self._credentials.host

    def connection(self) -> Connection:
        """A transport for one reflector."""
        return Connection(self)

    def get(
        self, path: str, query: Mapping[str, str] | None = None, *, read_timeout_s: float = READ_TIMEOUT_S
    ) -> bytes:
        """The body of an answer below 400. Raises what `transport` names."""
        with self.request("GET", path, query, read_timeout_s=read_timeout_s) as response, failures_named():
            return bytes(response.read())

    def get_json(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """As `get`, decoded; raises Transient when the answer is no JSON."""
        return _decoded(self.get(path, query))

    def post_json(self, path: str, body: Mapping[str, Any]) -> Any:
        """Creates what `body` says, and returns the server's answer. Raises as `get_json`."""
        with self.request("POST", path, body=body) as response, failures_named():
            return _decoded(response.read())

    @contextlib.contextmanager
    def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        body: Mapping[str, Any] | None = None,
        read_timeout_s: float = READ_TIMEOUT_S,
    ) -> Iterator[urllib3.HTTPResponse]:
        """An answer below 400 whose body is not read yet; it is closed on every way out, unless it was read to its end."""
        headers = {"Accept": "application/json", "User-Agent": "kube-collector"}
        authorization = self._credentials.authorization()
        if authorization:
            headers["Authorization"] = authorization
        if body is not None:
            headers["Content-Type"] = "application/json"
        url = self._credentials.host + path + (f"?{urlencode(query)}" if query else "")
        with failures_named():
            answer = self._api.call_api(
                method,
                url,
                headers,
                dict(body) if body is not None else None,
                _request_timeout=(CONNECT_TIMEOUT_S, read_timeout_s),
            )
        response: urllib3.HTTPResponse = answer.response
        try:
            if response.status >= 300:
                raise _refusal(response)
            yield response
        finally:
            response.close()

    def refresh(self) -> None:
        """Reads the credentials again; requests from now on use them, open streams go on as they are.

        Many watches are refused together: those that come within a second of a refresh use what it brought.
        """
        with self._lock:
            if clock.monotonic_s() - self._refreshed_s < _REFRESH_INTERVAL_S:
                return
            self._credentials.read_again()
            self._api = self._build()
            self._refreshed_s = clock.monotonic_s()

    def close(self) -> None:
        """Closes connections that nobody uses."""
        self._api.close()

    def _build(self) -> Any:
        configuration = self._credentials.configuration
        configuration.connection_pool_maxsize = self._max_connections
        configuration.retries = False  # who repeats a call decides that, and tells of it
        configuration.socket_options = _socket_options()
        return official.ApiClient(configuration)


class Connection:
    """The requests of one reflector, one at a time, and a way to end the one that is waiting (a `Transport`)."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._reading: urllib3.HTTPResponse | None = None
        self._aborted = False

    def get(self, path: str, query: Mapping[str, str], *, read_timeout_s: float) -> bytes:
        with self._opened(path, query, read_timeout_s) as response, failures_named():
            return bytes(response.read())

    @contextlib.contextmanager
    def stream(self, path: str, query: Mapping[str, str], *, read_timeout_s: float) -> Iterator[Iterator[bytes]]:
        with self._opened(path, query, read_timeout_s) as response:
            yield _chunks(response)

    def refresh(self) -> None:
        self._client.refresh()

    def abort(self) -> None:
        """Ends the read that another thread waits in; every later request fails at once."""
        with self._lock:
            self._aborted = True
            if self._reading is not None:
                # Nothing to shut down: the answer is at its end, or its connection is gone already.
                with contextlib.suppress(ValueError, RuntimeError, OSError):
                    self._reading.shutdown()

    @contextlib.contextmanager
    def _opened(self, path: str, query: Mapping[str, str], read_timeout_s: float) -> Iterator[urllib3.HTTPResponse]:
        self._refuse_if_aborted()
        with self._client.request("GET", path, query, read_timeout_s=read_timeout_s) as response:
            with self._lock:
                self._reading = response
            try:
                self._refuse_if_aborted()
                yield response
            finally:
                with self._lock:
                    self._reading = None

    def _refuse_if_aborted(self) -> None:
        if self._aborted:
            raise transport.ConnectionLost("stopped")


@contextlib.contextmanager
def failures_named() -> Iterator[None]:
    """The one place that knows what the libraries below raise; everything leaves as one of `transport`'s errors."""
    try:
        yield
    except (urllib3.exceptions.ReadTimeoutError, TimeoutError) as error:
        raise transport.StreamSilent(f"nothing came in time: {error}") from error
    except (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError) as error:
        raise transport.ConnectFailed(f"{type(error).__name__}: {error}") from error
    except official.ApiException as error:  # how the official client wraps what TLS raises
        raise _tls_failure(error, error.__context__) from error
    except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, config.ConfigException) as error:
        raise _tls_failure(error, error) from error


def _tls_failure(error: Exception, cause: BaseException | None) -> transport.ConnectionLost | transport.Untrusted:
    text = f"{type(error).__name__}: {error}".strip()
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return transport.Untrusted(f"the server's certificate does not verify: {cause.verify_message}")
        cause = cause.__cause__ or cause.__context__
    return transport.ConnectionLost(text)


def _refusal(response: urllib3.HTTPResponse) -> transport.ServerBusy | transport.Refused:
    """The error that an answer states; a body that cannot be read leaves the code."""
    body = b""
    with contextlib.suppress(Transient), failures_named():
        body = response.read(_MAX_ERROR_BYTES)
    return transport.refusal(statuses.read_status(body, response.status, _retry_after_s(response)))


def _retry_after_s(response: urllib3.HTTPResponse) -> float | None:
    """The header in seconds; its other form, a date, is not what API servers send."""
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isascii() and value.isdigit() else None


def _chunks(response: urllib3.HTTPResponse) -> Iterator[bytes]:
    """The body as it comes. An answer that is not chunked (some proxies) is read as bytes arrive, too."""
    with failures_named():
        if response.chunked:
            yield from response.stream(_CHUNK_BYTES)
            return
        while chunk := response.read1(_CHUNK_BYTES):
            yield chunk


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise Transient(f"the answer is no JSON ({len(body)} bytes): {error}") from error


def _socket_options() -> list[tuple[int, int, int]]:
    """What the platform has of: no delay, keepalive, and a limit for bytes that nobody acknowledges."""
    options = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    wanted = {**_KEEPALIVE, "TCP_USER_TIMEOUT": _UNACKNOWLEDGED_MS}
    return options + [
        (socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in wanted.items() if hasattr(socket, name)
    ]
