"""Lines of a block: log time without decoding whole records, and which lines of a damaged block are still good.

Two paths. A block whose CRC32 fits is exactly what the writer wrote, so one search a line is enough. A block that does
not fit is taken line by line against the lengths and CRC32s that its index entry holds; a block that was never indexed
when it was written has none, so there a line is good when it is JSON with an `observedms`.
"""

from __future__ import annotations

import re
import struct
import zlib
from typing import NamedTuple

import msgspec

_OBSERVED = re.compile(rb'"observedms":(\d+)[,}]')


class _Observed(msgspec.Struct, gc=False):
    observedms: int


_decoder = msgspec.json.Decoder(_Observed)


class Lines(NamedTuple):
    """The good lines of a block: for each its log time and the offset behind its newline."""

    lines: list[bytes]
    stamps: list[int]
    ends: list[int]


def observed_ms(line: bytes) -> int | None:
    """`observedms` of a line; None when the line is not a JSON object that has one."""
    try:
        return _decoder.decode(line).observedms
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def table(data: memoryview, ends: list[int]) -> tuple[bytes, int]:
    """What an index entry holds of the lines of a block, and the block's CRC32.

    Of each line its length and the CRC32 of all bytes of the block up to and with its newline: one pass over the data
    tells both whether the block is whole and, starting from the entry before, whether a line is.
    """
    begin = crc32 = 0
    flat: list[int] = []
    for end in ends:
        crc32 = zlib.crc32(data[begin:end], crc32)
        flat.append(end - begin - 1)
        flat.append(crc32)
        begin = end
    return struct.pack(f"<{len(flat)}I", *flat), crc32


def whole(data: bytes, offset: int, stamp: int) -> Lines:
    """The lines of a block that is as it was written."""
    lines, stamps, ends = made = Lines([], [], [])
    search, find = _OBSERVED.search, data.find
    begin = 0
    while (end := find(b"\n", begin)) >= 0:
        line = data[begin:end]
        begin = end + 1
        found = search(line)
        seen = int(found[1]) if found else observed_ms(line)
        if seen is None:
            return checked(data, offset, stamp)
        if seen > stamp:
            stamp = seen
        lines.append(line)
        stamps.append(stamp)
        ends.append(offset + begin)
    return made


def checked(data: bytes, offset: int, stamp: int) -> Lines:
    """The lines that are JSON with an `observedms`; a last line without newline is torn."""
    kept = Lines([], [], [])
    lines = data.split(b"\n")
    for line in lines[:-1]:
        offset += len(line) + 1
        seen = observed_ms(line)
        if seen is not None:
            stamp = max(stamp, seen)
            _keep(kept, line, stamp, offset)
    return kept


def by_table(data: bytes, offset: int, stamp: int, known: bytes) -> Lines:
    """The lines that are still as they were written, wherever newlines are now."""
    kept = Lines([], [], [])
    at = before = 0
    for length, crc32 in struct.iter_unpack("<II", known):
        line = data[at : at + length]
        at += length + 1
        seen = observed_ms(line) if zlib.crc32(b"\n", zlib.crc32(line, before)) == crc32 else None
        before = crc32
        if seen is not None:
            stamp = max(stamp, seen)
            _keep(kept, line, stamp, offset + at)
    return kept


def _keep(kept: Lines, line: bytes, stamp: int, end: int) -> None:
    kept.lines.append(line)
    kept.stamps.append(stamp)
    kept.ends.append(end)
