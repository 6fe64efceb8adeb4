"""Where a page of a list ends: an opaque text for clients, the sort key of the page's last row for us. Pure."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, TypeVar

import msgspec

from dashboards.filters import LAST_MS
from pipeline.errors import BadUsage

C = TypeVar("C", bound=msgspec.Struct)
Moment = Annotated[int, msgspec.Meta(ge=0, le=LAST_MS)]
"""Bounds hold against cursors that nobody was given."""
Key = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]


def encode(cursor: msgspec.Struct) -> str:
    """The text that stands in `next`."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(cursor)).decode().rstrip("=")


def decode(text: str, kind: type[C]) -> C:
    """The cursor of a text from `next`. Raises BadUsage."""
    try:
        return msgspec.msgpack.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=kind)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise BadUsage(
            "the cursor cannot be read", fix="Give `next` of the page before unchanged, or none for the first page."
        ) from None
