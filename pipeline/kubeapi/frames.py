"""Frames out of lines, objects out of list pages. Pure.

The server's bytes stay as they are: a frame holds its object undecoded (`msgspec.Raw`, a view of the line), and only
what steers the reflector is read: the frame's type and the object's version. What the object means is decoded once,
by whoever knows its kind; a `Reader` that is told the kind's shape does it in the same pass over the bytes.

Nothing a line contains can end a stream. Bytes that are not UTF-8 are replaced and the frame is marked `lossy`; two
JSON values on one line are two frames; whatever is no frame (broken JSON, no type, a null object, an unknown type) is a
`BadLine` with its bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final, Literal

import msgspec

from pipeline.errors import Transient
from pipeline.kubeapi import statuses
from pipeline.records.shapes import Shape

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"
BOOKMARK: Final = "BOOKMARK"
ERROR: Final = "ERROR"
OBJECT_TYPES: Final = frozenset({ADDED, MODIFIED, DELETED})
_ObjectType = Literal["ADDED", "MODIFIED", "DELETED"]

_INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One frame of a watch stream.

    `object` is the object's JSON (`bytes(frame.object)` or straight into a decoder), empty where a `Reader` has put the
    object itself into `shape`; `version` is its resourceVersion (empty in an ERROR frame, or if the server gave none),
    `raw` the whole frame's JSON.
    """

    type: str
    object: msgspec.Raw
    version: str
    raw: bytes
    lossy: bool = False
    problem: statuses.Problem | None = None
    """In an ERROR frame: what the server complains of."""
    initial_events_end: bool = False
    """In a BOOKMARK: the objects that existed at the start have all been sent (watch-list)."""
    shape: Shape | None = None


class BadLine(msgspec.Struct, frozen=True):
    """Bytes that are no frame, or an item of a list that is no object, and why."""

    raw: bytes
    error: str


class Page(msgspec.Struct, frozen=True):
    """One page of a list. `kind` and `api_version` are the items' own, which items leave out; `token` is empty at the end."""

    items: list[msgspec.Raw]
    bad: list[BadLine]
    kind: str
    api_version: str
    version: str
    token: str
    lossy: bool


class _Envelope(msgspec.Struct, gc=False):
    type: str
    object: msgspec.Raw


class _Version(msgspec.Struct, gc=False, rename="camel"):
    resource_version: str | None = None


class _Versioned(msgspec.Struct, gc=False):
    metadata: _Version | None = None


class _MarkMetadata(msgspec.Struct, rename="camel"):
    resource_version: str | None = None
    annotations: dict[str, str] | None = None


class _Mark(msgspec.Struct):
    metadata: _MarkMetadata | None = None


class _Bare(msgspec.Struct):
    kind: str = ""
    status: str = ""


class _ListMetadata(msgspec.Struct, rename={"token": "continue", "resource_version": "resourceVersion"}):
    resource_version: str | None = None
    token: str | None = None


class _List(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    metadata: _ListMetadata | None = None
    items: list[msgspec.Raw] | None = None


_envelope = msgspec.json.Decoder(_Envelope)
_versioned = msgspec.json.Decoder(_Versioned)
_mark = msgspec.json.Decoder(_Mark)
_list = msgspec.json.Decoder(_List)
_bare = msgspec.json.Decoder(_Bare)
_any_value = json.JSONDecoder()
_DECODED: Final = msgspec.Raw(b"")
_blanks = re.compile(r"\s*")
_BROKEN = (msgspec.MsgspecError, RecursionError)


class Reader:
    """Reads the lines of one watch. With a `shape` it gives objects of that shape; one that does not fit stays JSON."""

    def __init__(self, shape: type[Shape] | None = None) -> None:
        self._decoder = None if shape is None else msgspec.json.Decoder(_envelope_of(shape))

    def decode(self, line: bytes) -> list[Frame | BadLine]:
        """As `decode` of this module."""
        return self.read([line])

    def read(self, lines: Iterable[bytes]) -> list[Frame | BadLine]:
        """Everything the lines hold, in order."""
        found: list[Frame | BadLine] = []
        decoder = self._decoder
        for line in lines:
            if decoder is None:
                found += decode(line)
                continue
            text, lossy = (line, False) if line.isascii() else _as_utf8(line)
            try:
                envelope = decoder.decode(text)
            except _BROKEN:
                found += decode(line)  # no frame of an object, or none that fits
                continue
            shape: Shape = envelope.object
            found.append(Frame(envelope.type, _DECODED, shape.metadata.resource_version, text, lossy, shape=shape))
        return found


def _envelope_of(shape: type[Shape]) -> Any:
    return msgspec.defstruct("TypedEnvelope", [("type", _ObjectType), ("object", shape)], gc=False)


def decode(line: bytes) -> list[Frame | BadLine]:
    """Everything one line holds, in order; never empty, never raises."""
    line, lossy = _as_utf8(line)
    try:
        return [_frame(line, lossy)]
    except _BROKEN as error:
        found = [_frame_or_bad(value, lossy) for value in _split_values(line)]
        return found if any(isinstance(each, Frame) for each in found) else [BadLine(line, str(error))]


def decode_page(body: bytes, kind: str = "") -> Page:
    """One page of a list; `kind` stands in where the server's `…List` does not tell the kind of its items.

    Raises Transient when the body is no list with a version: a cut answer, or a proxy's page.
    """
    body, lossy = _as_utf8(body)
    try:
        found = _list.decode(body)
    except _BROKEN as error:
        raise Transient(f"the list cannot be decoded ({len(body)} bytes): {error}") from error
    if found.items is None and not found.kind.endswith("List"):
        raise Transient(f"the answer is no list but {found.kind[:40] or 'something without a kind'}")
    metadata = found.metadata or _ListMetadata()
    if not metadata.resource_version:
        raise Transient("the list has no resourceVersion")
    items = found.items or []
    return Page(
        items=[item for item in items if _is_object(item)],
        bad=[BadLine(bytes(item), "an item of the list is no object") for item in items if not _is_object(item)],
        kind=found.kind.removesuffix("List") or kind,
        api_version=found.api_version,
        version=metadata.resource_version,
        token=metadata.token or "",
        lossy=lossy,
    )


def _frame_or_bad(line: bytes, lossy: bool) -> Frame | BadLine:
    try:
        return _frame(line, lossy)
    except _BROKEN as error:
        return _bare_status(line, lossy) or BadLine(line, str(error))


def _bare_status(line: bytes, lossy: bool) -> Frame | None:
    """A refusal that stands in the stream without an envelope around it."""
    try:
        found = _bare.decode(line)
    except _BROKEN:
        return None
    if (found.kind, found.status) != ("Status", "Failure"):
        return None
    return Frame(ERROR, msgspec.Raw(line), "", line, lossy, statuses.read_status(line))


def _frame(line: bytes, lossy: bool) -> Frame:
    """Raises msgspec.MsgspecError for what is no frame."""
    envelope = _envelope.decode(line)
    if envelope.type in OBJECT_TYPES:
        metadata = _versioned.decode(envelope.object).metadata
        version = metadata.resource_version if metadata else None
        return Frame(envelope.type, envelope.object, version or "", line, lossy)
    if envelope.type == BOOKMARK:
        return _bookmark(envelope, line, lossy)
    if envelope.type == ERROR:
        problem = statuses.read_status(bytes(envelope.object))
        return Frame(ERROR, envelope.object, "", line, lossy, problem)
    raise msgspec.ValidationError(f"unknown frame type `{envelope.type[:40]}`")


def _bookmark(envelope: _Envelope, line: bytes, lossy: bool) -> Frame:
    metadata = _mark.decode(envelope.object).metadata
    if metadata is None or not metadata.resource_version:
        raise msgspec.ValidationError("a bookmark without a resourceVersion")
    at_end = (metadata.annotations or {}).get(_INITIAL_EVENTS_END) == "true"
    return Frame(BOOKMARK, envelope.object, metadata.resource_version, line, lossy, initial_events_end=at_end)


def _as_utf8(data: bytes) -> tuple[bytes, bool]:
    """The same bytes, or with a replacement character where they are not UTF-8, and whether that was needed."""
    if data.isascii():
        return data, False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode(), True
    return data, False


def _split_values(line: bytes) -> list[bytes]:
    """The JSON values of a line one by one; whatever is left behind the last whole value comes last, as it is."""
    text = line.decode("utf-8").strip()
    values: list[bytes] = []
    at = 0
    while at < len(text):
        try:
            _, end = _any_value.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = len(text)
        values.append(text[at:end].encode())
        at = _blanks.match(text, end).end()  # type: ignore[union-attr]  # it matches everywhere
    return values


def _is_object(item: msgspec.Raw) -> bool:
    return bytes(memoryview(item)[:1]) == b"{"
