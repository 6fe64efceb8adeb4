"""As much of HTTP/1.1 as Stream Load needs: keep-alive, Content-Length and chunked bodies, Expect: 100-continue.

The body is left on the socket until the handler asks for it, because the frontend answers a load without reading it and
a backend must refuse a bad one before the client sends it.
"""

from __future__ import annotations

import base64
import binascii
import io
import socket
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import BinaryIO, cast
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

MAX_HEAD_BYTES = 65536
CHUNK_BYTES = 1 << 20
LINGER_S = 1.0
MAX_LINGER_BYTES = 1 << 30


class BadRequest(Exception):
    """The request cannot be understood; the connection ends."""


class Response(msgspec.Struct, kw_only=True):
    """`cut`: send nothing and close, as if the network had failed."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    location: str | None = None
    challenge: bool = False
    cut: bool = False


class Request:
    """One request. Header names are lower-case. `body_to` may be called once."""

    def __init__(self, connection: socket.socket, stream: io.BufferedReader, head: list[bytes]) -> None:
        try:
            self.method, target, _ = head[0].decode("latin-1").split(" ", 2)
        except ValueError:
            raise BadRequest("no request line") from None
        parts = urlsplit(target)
        self.path = unquote(parts.path)
        self.query = dict(parse_qsl(parts.query))
        self.headers = _headers(head[1:])
        self.body_read = False
        self._connection = connection
        self._stream = stream

    @property
    def chunked(self) -> bool:
        return "chunked" in self.headers.get("transfer-encoding", "").lower()

    @property
    def content_length(self) -> int | None:
        """None if not given."""
        value = self.headers.get("content-length")
        if value is None:
            return None
        if not value.isdigit():
            raise BadRequest("Content-Length is no number")
        return int(value)

    @property
    def has_body(self) -> bool:
        return self.chunked or bool(self.content_length)

    @property
    def keep_alive(self) -> bool:
        """Whether the next request can follow: not if this one's body still lies on the socket."""
        return self.headers.get("connection", "").lower() != "close" and (self.body_read or not self.has_body)

    def credentials(self) -> tuple[str, str] | None:
        """User and password of Basic authorization; None without (or with a broken) one."""
        scheme, _, value = self.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            user, _, password = base64.b64decode(value, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return None
        return user, password

    def body(self) -> bytes:
        """The body in memory, for the small ones. Raises BadRequest."""
        content = io.BytesIO()
        self.body_to(content)
        return content.getvalue()

    def body_to(self, file: BinaryIO) -> int:
        """Copy the body into the file, telling a waiting client to send it; returns its bytes. Raises BadRequest."""
        if self.headers.get("expect", "").lower() == "100-continue":
            self._connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        count = 0
        for chunk in self._chunks():
            file.write(chunk)
            count += len(chunk)
        self.body_read = True
        return count

    def _chunks(self) -> Iterator[bytes]:
        if not self.chunked:
            yield from self._exactly(self.content_length or 0)
            return
        while True:
            size = int(self._stream.readline(64).split(b";")[0].strip() or b"0", 16)
            if size == 0:
                while self._stream.readline(MAX_HEAD_BYTES) not in (b"\r\n", b"\n", b""):
                    pass  # trailers
                return
            yield from self._exactly(size)
            self._stream.readline(8)

    def _exactly(self, left: int) -> Iterator[bytes]:
        while left:
            chunk = self._stream.read(min(left, CHUNK_BYTES))
            if not chunk:
                raise BadRequest("the body ended early")
            left -= len(chunk)
            yield chunk


def _headers(lines: list[bytes]) -> dict[str, str]:
    headers = {}
    for line in lines:
        key, _, value = line.decode("utf-8", "surrogateescape").partition(":")
        headers[key.strip().lower()] = value.strip()
    return headers


def serve(connection: socket.socket, handle: Callable[[Request], Response]) -> None:
    """Answer requests on the connection until either side wants no more."""
    with cast(io.BufferedReader, connection.makefile("rb", buffering=CHUNK_BYTES)) as stream:
        while head := _read_head(stream):
            try:
                request = Request(connection, stream, head)
                response = handle(request)
            except BadRequest as error:
                _send(connection, Response(status=400, body=str(error).encode(), content_type="text/plain"), False)
                return
            if response.cut:
                return
            _send(connection, response, request.keep_alive)
            if not request.keep_alive:
                _linger(connection, stream)
                return


def _read_head(stream: io.BufferedReader) -> list[bytes]:
    """The request's lines up to the empty one; none when the client is gone."""
    lines: list[bytes] = []
    size = 0
    while (line := stream.readline(MAX_HEAD_BYTES)).strip():
        lines.append(line.rstrip(b"\r\n"))
        size += len(line)
        if size > MAX_HEAD_BYTES:
            return []
    return lines


def _send(connection: socket.socket, response: Response, keep_alive: bool) -> None:
    head = [
        f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}",
        f"Content-Type: {response.content_type}",
        f"Content-Length: {len(response.body)}",
        f"Connection: {'keep-alive' if keep_alive else 'close'}",
    ]
    if response.location:
        head.append(f"Location: {response.location}")
    if response.challenge:
        head.append('WWW-Authenticate: Basic realm=""')
    connection.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + response.body)


def _linger(connection: socket.socket, stream: io.BufferedReader) -> None:
    """Read on for a moment before closing: bytes left unread would make the kernel reset the client's connection, and
    the client would lose the answer."""
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(LINGER_S)
    left = MAX_LINGER_BYTES
    try:
        while left > 0 and (chunk := stream.read1(CHUNK_BYTES)):
            left -= len(chunk)
    except OSError:
        pass  # nothing more comes
