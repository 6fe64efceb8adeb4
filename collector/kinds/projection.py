"""An object's bytes to a `Sight`: what is kept of it, as it goes into the log, and what joins need of it.

The decoded object lives only inside `read`. What waits (for a list, for an owner) is a sight: the projected JSON and a
few short fields, a fraction of the object.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, Literal

import msgspec

from collector.kinds import truncation
from collector.kinds.base import LINK, SURROUNDINGS, Kind, Link, QueueName
from pipeline.errors import Terminal
from pipeline.records import matching, shapes
from pipeline.records.shapes.base import Shape
from pipeline.records.shapes.pod import Pod

SURROGATE: Final = "surrogate:"
"""Begins the uid of an object that has none."""
_MOST_PATHS: Final = 256
_MOST_KIND_CHARS: Final = 60

Change = Literal["added", "modified", "deleted"]
_NO_BODY: Final = msgspec.Raw(b"")
_encode = msgspec.json.Encoder().encode


class Sight(msgspec.Struct, gc=False):
    """One state of one object, as it was received."""

    kind: Kind
    change: Change
    uid: str
    version: str
    namespace: str
    name: str
    received_ms: int
    body: msgspec.Raw
    api_version: str = ""
    created: str | None = None
    deleted: str | None = None
    links: tuple[Link, ...] = ()
    waits: bool = False
    redacted: tuple[str, ...] = ()
    queue: QueueName | None = None
    wants: matching.Wants | None = None
    claims: tuple[str, ...] = ()
    """Device claims that a waiting pod names itself; those made for it from a template are not among them."""
    learned: object | None = None
    digest: bytes | None = None
    truncated: bool = False
    lossy: bool = False
    surrogate: bool = False
    start_observed: bool = True
    synthetic: bool = False
    unseen_since: int | None = None
    group_unseen: bool = False
    first_ms: int = 0
    """When the object was first received, as far as its job may still change; 0: not known."""
    retold: bool = False
    """This state may have been told before: the cluster went back to it."""

    @property
    def unusual(self) -> bool:
        """Whether any flag is to be written."""
        ordinary = self.start_observed and not (self.truncated or self.lossy or self.surrogate)
        return not ordinary or self.synthetic or self.group_unseen


class _UidOnly(msgspec.Struct):
    uid: str = ""


class _Identified(msgspec.Struct):
    metadata: _UidOnly


class Arrival(msgspec.Struct, frozen=True, gc=False):
    """How an object came. Items of a list leave out their `api_version`; without it the kind's best one is assumed."""

    received_ms: int
    lossy: bool = False
    api_version: str = ""
    size_bytes: int = 0
    """Of the frame it came in, for an object that is decoded already."""


Json = bytes | msgspec.Raw
"""An object that nobody has decoded."""


class Limits(msgspec.Struct, frozen=True):
    """`annotations` are keys whose values are kept besides those of the kind."""

    max_object_bytes: int = 256 * 1024
    annotations: frozenset[str] = frozenset()


def read(kind: Kind, found: Json | Shape, change: Change, arrival: Arrival, limits: Limits) -> Sight:
    """One object of a watch or list. Raises Terminal if it is no object of this kind, or has no name."""
    shape = shape_of(kind, found)
    meta = shape.metadata
    uid, surrogate = (meta.uid, False) if meta.uid and meta.name else identity_of(shape, kind.kind)
    if not shape.kind:
        shape.kind = kind.kind
        shape.api_version = arrival.api_version or kind.api_version
    redacted = shapes.redact(shape, kind.annotations | limits.annotations if limits.annotations else kind.annotations)
    surroundings = kind.role is SURROUNDINGS
    sight = Sight(
        kind,
        change,
        uid,
        meta.resource_version,
        meta.namespace,
        meta.name,
        arrival.received_ms,
        _NO_BODY if kind.role is LINK else msgspec.Raw(_body(shape)),
        shape.api_version,
        meta.creation_timestamp,
        meta.deletion_timestamp,
        () if surroundings else kind.links(shape),
        kind.waits(shape),
        redacted,
    )
    if surrogate or arrival.lossy:
        sight.surrogate, sight.lossy = surrogate, arrival.lossy
    if surroundings:
        sight.learned = kind.learn(shape)
    elif sight.waits:
        sight.queue = kind.queue(shape)
        if isinstance(shape, Pod):
            sight.wants = matching.wants_of(shape.spec)
            named = (claim.resource_claim_name for claim in shape.spec.resource_claims or ())
            sight.claims = tuple(name for name in named if name)
    if (arrival.size_bytes or size_of(found, arrival)) > limits.max_object_bytes:
        _fit(sight, shape, limits.max_object_bytes)
    if kind.noisy:
        sight.digest = _digest(shape)
    return sight


def shape_of(kind: Kind, found: Json | Shape) -> Shape:
    """The object decoded. Raises Terminal if it is none of this kind, be it a mere part of one (PartialObjectMetadata)."""
    shape = found if isinstance(found, Shape) else shapes.decode(kind.group, kind.kind, found)
    if shape.kind and shape.kind != kind.kind and shape.kind.lower() != kind.kind.lower():
        raise Terminal(f"{kind.kind}: an object of kind {shape.kind[:_MOST_KIND_CHARS]}")
    return shape


def size_of(found: Json | Shape, arrival: Arrival) -> int:
    """Bytes of an object as it came."""
    return arrival.size_bytes or (0 if isinstance(found, Shape) else memoryview(found).nbytes)


def _body(shape: Shape) -> bytes:
    """One line, also where a list came through a proxy that lays JSON out for people."""
    body = _encode(shape)
    return msgspec.json.format(body, indent=-1) if b"\n" in body else body


def identity_of(shape: Shape, kind: str) -> tuple[str, bool]:
    """The uid, and whether it had to be made up from namespace, name and creation. Raises Terminal without a name."""
    meta = shape.metadata
    if not meta.name:
        raise Terminal(f"{kind}: an object without metadata.name")
    if meta.uid:
        return meta.uid, False
    return f"{SURROGATE}{meta.namespace}/{meta.name}/{meta.creation_timestamp or ''}", True


def uid_of(found: Json | Shape) -> str:
    """The uid of an object that cannot be read as its kind; empty if that cannot be read either."""
    if isinstance(found, Shape):
        return found.metadata.uid
    try:
        return msgspec.json.decode(found, type=_Identified).metadata.uid
    except msgspec.MsgspecError:
        return ""


def _fit(sight: Sight, shape: Shape, max_bytes: int) -> None:
    sight.truncated = True
    sight.redacted = sight.redacted[:_MOST_PATHS]
    if len(memoryview(sight.body)) > max_bytes:
        sight.body = msgspec.Raw(truncation.cut(shape, max_bytes))


def _digest(shape: Shape) -> bytes:
    """Equal for two states of an object that differ in their version only, in whichever version of its API."""
    shape.metadata.resource_version, shape.metadata.generation = "", None
    shape.api_version = ""
    return blake2b(_encode(shape), digest_size=8).digest()
