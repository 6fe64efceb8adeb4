"""State that a stage keeps from run to run: a struct that carries the number of its own form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import msgspec

from pipeline.errors import Terminal


class Numbered(Protocol):
    """`schema` goes up when code that reads the older form would read it wrongly."""

    schema: int


S = TypeVar("S", bound=Numbered)


def read(decode: Callable[[bytes], S], data: bytes, schema: int, what: str) -> S:
    """What was stored. Raises Terminal, which calls it `what`, when it is damaged or another version of the code wrote it."""
    try:
        found = decode(data)
    except msgspec.DecodeError as error:
        raise Terminal(f"the stored {what} cannot be read: {error}") from error
    if found.schema != schema:
        raise Terminal(f"the stored {what} has schema {found.schema}, this version reads {schema}")
    return found
