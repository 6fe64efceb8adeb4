"""One GET over a socket of its own.

`http.client` reads headers with the standard library's e-mail parser and always imports TLS: that alone takes as long as
half an answer. A question needs the status, one header and the body, so they are read here. TLS is imported for https only.
"""

from __future__ import annotations

import socket
from typing import NamedTuple

_READ_BYTES = 1 << 16


class Got(NamedTuple):
    """An answer; names of `headers` are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


def get(host: str, port: int, target: str, *, tls: bool, shown_host: str, timeout_s: float) -> Got:
    """Asks and reads to the end; the connection is closed then. Raises OSError, also for an answer that is no HTTP."""
    with _connected(host, port, tls, timeout_s) as connection:
        connection.sendall(
            f"GET {target} HTTP/1.1\r\nHost: {shown_host}\r\nAccept: application/json\r\nConnection: close\r\n\r\n".encode()
        )
        parts = []
        while part := connection.recv(_READ_BYTES):
            parts.append(part)
    return parse(b"".join(parts))


def parse(answer: bytes) -> Got:
    """Everything that came until the end of the connection. Raises OSError if it is no HTTP or not whole."""
    head, end, body = answer.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    status = lines[0].split(" ")[1:2]
    if not answer:
        raise OSError("the connection was closed without an answer")
    if not (end and lines[0].startswith("HTTP/1.") and status and status[0].isdigit()):
        raise OSError("what answers there does not speak HTTP")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return Got(int(status[0]), headers, _joined(body))
    length = headers.get("content-length", "")
    if length.isdigit() and len(body) < int(length):
        raise OSError("the answer was cut off")
    return Got(int(status[0]), headers, body)


def _connected(host: str, port: int, tls: bool, timeout_s: float) -> socket.socket:
    connection = socket.create_connection((host, port), timeout_s)
    if not tls:
        return connection
    import ssl

    return ssl.create_default_context().wrap_socket(connection, server_hostname=host)


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
