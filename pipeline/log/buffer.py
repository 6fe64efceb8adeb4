"""Lines on their way to disk, as they will lie there: bytes, and of each line its length and its time.

Records are encoded many at a time, straight into the bytes that are written; no line is an object of its own, and none is
copied or looked at twice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, islice
from typing import NamedTuple


class Piece(NamedTuple):
    """The first lines of a buffer; `ends` are offsets behind each line's newline, from the piece's begin."""

    data: memoryview
    ends: list[int]
    observed_ms: list[int]


class Buffer:
    """Lines in order. `add` at the end, `piece` from the front, `drop` when that is durable."""

    def __init__(self) -> None:
        self._parts: list[bytes | memoryview] = []
        self._lengths: list[int] = []
        self._observed_ms: list[int] = []

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, data: bytes, observed_ms: Sequence[int]) -> None:
        """Lines that end with a newline each. Raises ValueError unless there is one for every time, and none is empty."""
        lengths = _lengths(data)
        if len(lengths) != len(observed_ms) or 1 in lengths:
            raise ValueError(
                f"{len(observed_ms)} times for {len(lengths)} lines; a record is one line that is not empty"
            )
        self._parts.append(data)
        self._lengths += lengths
        self._observed_ms += observed_ms

    def put_first(self, line: bytes, observed_ms: int) -> None:
        """A line, newline included, before all others."""
        self._parts.insert(0, line)
        self._lengths.insert(0, len(line))
        self._observed_ms.insert(0, observed_ms)

    def piece(self, max_bytes: int, max_lines: int) -> Piece:
        """The first lines: about so many, at least one if there is any."""
        if len(self._parts) > 1:
            self._parts = [b"".join(self._parts)]
        ends = list(accumulate(islice(self._lengths, max_lines)))
        count = min(bisect_left(ends, max_bytes) + 1, len(ends))
        del ends[count:]
        return Piece(memoryview(self._parts[0])[: ends[-1]], ends, self._observed_ms[:count])

    def drop(self, piece: Piece) -> None:
        """Takes a piece off the front."""
        rest = memoryview(self._parts[0])[len(piece.data) :]
        self._parts = [rest] if rest else []
        del self._lengths[: len(piece.ends)], self._observed_ms[: len(piece.ends)]


def _lengths(data: bytes) -> list[int]:
    """Bytes of each line with its newline; what follows the last newline is no line."""
    found: list[int] = []
    begin = 0
    while end := data.find(b"\n", begin) + 1:
        found.append(end - begin)
        begin = end
    return found
