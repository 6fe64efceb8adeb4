"""MySQL's client/server protocol as Doris' frontend speaks it: packets, the handshake, result sets in text.

Offered are just the capabilities Doris offers; DEPRECATE_EOF is not among them, so results end with EOF packets.
Source: the protocol description in MySQL's manual.
"""

from __future__ import annotations

import secrets
import socket
import struct
from collections.abc import Sequence

import msgspec

from sinks.doris_local.results import Column, Table

MAX_PACKET_BYTES = 0xFFFFFF
FLUSH_BYTES = 1 << 16
SERVER_VERSION = "5.7.99"
PLUGIN = "mysql_native_password"
UTF8 = 33
BINARY = 63
AUTOCOMMIT = 2

LONG_PASSWORD = 1
FOUND_ROWS = 1 << 1
LONG_FLAG = 1 << 2
CONNECT_WITH_DB = 1 << 3
LOCAL_FILES = 1 << 7
PROTOCOL_41 = 1 << 9
SECURE_CONNECTION = 1 << 15
PLUGIN_AUTH = 1 << 19
PLUGIN_AUTH_LENENC = 1 << 21
CAPABILITIES = LONG_FLAG | CONNECT_WITH_DB | LOCAL_FILES | PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH


class Gone(ConnectionError):
    """The client closed the connection."""


class Login(msgspec.Struct, frozen=True):
    """What a client says of itself: `answer` is the scrambled password, `plugin` how it was scrambled."""

    user: str
    answer: bytes
    database: str
    plugin: str


class Packets:
    """Packets over one connection, sequence numbers kept; what is written is sent at `flush`."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._stream = connection.makefile("rb", buffering=1 << 16)
        self._out = bytearray()
        self._sequence = 0

    def read(self) -> bytes:
        """The next message whole. Raises Gone."""
        parts = []
        while True:
            head = self._stream.read(4)
            if len(head) < 4:
                raise Gone("the client closed the connection")
            size = int.from_bytes(head[:3], "little")
            self._sequence = (head[3] + 1) & 0xFF
            parts.append(self._stream.read(size))
            if len(parts[-1]) < size:
                raise Gone("the client closed the connection")
            if size < MAX_PACKET_BYTES:
                return parts[0] if len(parts) == 1 else b"".join(parts)

    def write(self, payload: bytes) -> None:
        start = 0
        while True:
            part = payload[start : start + MAX_PACKET_BYTES]
            self._out += len(part).to_bytes(3, "little") + bytes((self._sequence,)) + part
            self._sequence = (self._sequence + 1) & 0xFF
            start += len(part)
            if len(part) < MAX_PACKET_BYTES:
                break
        if len(self._out) >= FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        self._connection.sendall(self._out)
        self._out.clear()

    def close(self) -> None:
        self._stream.close()


def integer(value: int) -> bytes:
    """A length-encoded integer."""
    if value < 251:
        return bytes((value,))
    if value < 1 << 16:
        return b"\xfc" + value.to_bytes(2, "little")
    if value < 1 << 24:
        return b"\xfd" + value.to_bytes(3, "little")
    return b"\xfe" + value.to_bytes(8, "little")


def text(value: bytes) -> bytes:
    """A length-encoded string."""
    return integer(len(value)) + value


def new_salt() -> bytes:
    """20 bytes without a zero, which would end the string early for some clients."""
    return bytes(1 + secrets.randbelow(127) for _ in range(20))


def greeting(connection_id: int, salt: bytes) -> bytes:
    return b"".join(
        (
            b"\x0a" + SERVER_VERSION.encode() + b"\0",
            struct.pack("<I", connection_id),
            salt[:8] + b"\0",
            struct.pack("<HBHH", CAPABILITIES & 0xFFFF, UTF8, AUTOCOMMIT, CAPABILITIES >> 16),
            bytes((len(salt) + 1,)) + bytes(10),
            salt[8:] + b"\0",
            PLUGIN.encode() + b"\0",
        )
    )


def read_login(payload: bytes) -> Login:
    """The client's answer to the greeting. Raises ValueError if it is not one of the 4.1 protocol."""
    capabilities = int.from_bytes(payload[:4], "little")
    if not capabilities & PROTOCOL_41 or len(payload) < 33:
        raise ValueError("the client does not speak protocol 4.1")
    user, rest = _to_zero(payload[32:])
    # One byte of length serves both encodings: a native password's answer has 20 bytes.
    size, rest = rest[0], rest[1:]
    answer, rest = rest[:size], rest[size:]
    return _login(user, answer, rest, bool(capabilities & CONNECT_WITH_DB), bool(capabilities & PLUGIN_AUTH))


def read_change_user(payload: bytes) -> Login:
    user, rest = _to_zero(payload)
    size, rest = rest[0], rest[1:]
    answer, rest = rest[:size], rest[size:]
    database, rest = _to_zero(rest)
    plugin = _to_zero(rest[2:])[0] if len(rest) > 2 else b""
    return Login(user.decode(), answer, database.decode(), plugin.decode() or PLUGIN)


def _login(user: bytes, answer: bytes, rest: bytes, with_database: bool, with_plugin: bool) -> Login:
    database = plugin = b""
    if with_database:
        database, rest = _to_zero(rest)
    if with_plugin:
        plugin, rest = _to_zero(rest)
    return Login(user.decode(), answer, database.decode(), plugin.decode() or PLUGIN)


def _to_zero(data: bytes) -> tuple[bytes, bytes]:
    head, _, rest = data.partition(b"\0")
    return head, rest


def switch_plugin(salt: bytes) -> bytes:
    return b"\xfe" + PLUGIN.encode() + b"\0" + salt + b"\0"


def ok(affected: int = 0, info: str = "") -> bytes:
    return b"\x00" + integer(affected) + b"\x00" + struct.pack("<HH", AUTOCOMMIT, 0) + info.encode()


def error(errno: int, sqlstate: str, message: str) -> bytes:
    return b"\xff" + struct.pack("<H", errno) + b"#" + sqlstate.encode() + message.encode()


def eof() -> bytes:
    return b"\xfe" + struct.pack("<HH", 0, AUTOCOMMIT)


def column(definition: Column, *, for_field_list: bool = False) -> bytes:
    kind, label = definition.kind, definition.name.encode()
    fixed = struct.pack(
        "<BHIBHBH",
        12,
        BINARY if kind.binary else UTF8,
        kind.length,
        kind.code,
        0x80 if kind.binary else 0,
        kind.decimals,
        0,
    )
    payload = text(b"def") + text(b"") * 3 + text(label) + text(label) + fixed
    return payload + b"\xfb" if for_field_list else payload


def send_table(packets: Packets, table: Table) -> None:
    """A whole result set; rows are sent as they come."""
    packets.write(integer(len(table.columns)))
    for definition in table.columns:
        packets.write(column(definition))
    packets.write(eof())
    for row in table.rows:
        packets.write(row_payload(row))
    packets.write(eof())


_SHORT = [bytes((size,)) for size in range(251)]


def row_payload(row: Sequence[bytes | None]) -> bytes:
    return b"".join(
        [
            b"\xfb" if cell is None else (_SHORT[len(cell)] if len(cell) < 251 else integer(len(cell))) + cell
            for cell in row
        ]
    )
