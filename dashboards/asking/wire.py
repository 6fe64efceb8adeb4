"""One GET over a socket of its own.

`http.client` reads headers with the standard library's e-mail parser and always imports TLS: that alone takes as long as
half an answer. A question needs the status, one header and the body, so they are read here. TLS is imported for https only.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from typing import NamedTuple

CONNECT_S = 5.0
"""Longest time until somebody takes the connection."""
QUIET_S = 1.5
"""After so long without a byte it is asked whether anybody is there."""
_READ_BYTES = 1 << 16
_BEGIN = b"HTTP/1."


class Got(NamedTuple):
    """An answer; names of `headers` are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class Place(NamedTuple):
    """Where to ask; `shown_host` is what the `Host` header says."""

    host: str
    port: int
    tls: bool
    shown_host: str


def get(place: Place, target: str, timeout_s: float, somebody: Callable[[], bool] | None = None) -> Got:
    """Asks and reads to the end; the connection is closed then. Raises OSError, also for an answer that is no HTTP.

    A long answer and a port that will never answer are silent alike: after QUIET_S without a byte `somebody` is asked
    whether anybody is there to wait for.
    """
    with _connected(place, min(timeout_s, CONNECT_S)) as connection:
        connection.sendall(
            f"GET {target} HTTP/1.1\r\nHost: {place.shown_host}\r\nAccept: application/json\r\nConnection: close\r\n\r\n".encode()
        )
        answer = bytearray(_first(connection, timeout_s, somebody))
        connection.settimeout(timeout_s)
        while _may_be_http(answer) and (part := connection.recv(_READ_BYTES)):
            answer += part
    return parse(bytes(answer))


def _first(connection: socket.socket, timeout_s: float, somebody: Callable[[], bool] | None) -> bytes:
    if somebody is not None:
        connection.settimeout(min(timeout_s, QUIET_S))
        try:
            return connection.recv(_READ_BYTES)
        except TimeoutError:
            if not somebody() and not select.select([connection], [], [], 0)[0]:
                raise OSError("it takes the connection and says nothing, so it may be no page at all") from None
    connection.settimeout(timeout_s)
    return connection.recv(_READ_BYTES)


def _may_be_http(answer: bytearray) -> bool:
    """Who greets in another language may wait for our answer for ever, so no more of his is waited for."""
    return answer[: len(_BEGIN)] == _BEGIN[: len(answer)]


def parse(answer: bytes) -> Got:
    """Everything that came until the end of the connection. Raises OSError if it is no HTTP or not whole."""
    head, end, body = answer.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    status = lines[0].split(" ")[1:2]
    if not answer:
        raise OSError("the connection was closed without an answer")
    if not (end and answer.startswith(_BEGIN) and status and status[0].isdigit()):
        raise OSError("what answers there does not speak HTTP")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return Got(int(status[0]), headers, _joined(body))
    length = headers.get("content-length", "")
    if length.isdigit() and len(body) < int(length):
        raise OSError("the answer was cut off")
    return Got(int(status[0]), headers, body)


def _connected(place: Place, timeout_s: float) -> socket.socket:
    connection = socket.create_connection((place.host, place.port), timeout_s)
    if not place.tls:
        return connection
    import ssl

    return ssl.create_default_context().wrap_socket(connection, server_hostname=place.host)


def _joined(body: bytes) -> bytes:
    """The chunks of a body without their lengths."""
    parts: list[bytes] = []
    while True:
        line, end, body = body.partition(b"\r\n")
        try:
            length = int(line.split(b";")[0], 16)
        except ValueError:
            length = -1
        if not end or length < 0 or len(body) < length:
            raise OSError("the answer was cut off")
        if length == 0:
            return b"".join(parts)
        parts.append(body[:length])
        body = body[length + 2 :]
