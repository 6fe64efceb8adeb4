"""The sidecar index: one entry for every durable block of a segment.

An entry says where a block is, how many lines it has, its CRC32, the log time at its start, and a length and a CRC32 for
every line (`lines.table`), so that one flipped byte costs one line. Entries carry their own CRC32 and a magic word: a damaged entry is skipped
and the block it spoke of is made out again from the data (`pipeline.log.scan`). Appended after the data's fsync; what has
no entry yet is not readable.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

MAGIC = b"KCB2"
_HEAD = struct.Struct("<4sI")  # magic, CRC32 of what follows up to the entry's end
_BODY = struct.Struct("<QIIIIq")  # offset, length, count, crc32, derived, stamp
_LINE_BYTES = 8
ENTRY_BYTES = _HEAD.size + _BODY.size


class Block(NamedTuple):
    """A run of whole lines: `length` bytes at `offset`; `stamp` is log time before its first line.

    `derived`: made from the data later, so that its CRC32 proves nothing about its lines. `table_at`: where in the index
    file its line table lies, -1 for a block that only a reader's memory knows.
    """

    offset: int
    length: int
    line_count: int
    crc32: int
    derived: bool
    stamp: int
    table_at: int = -1

    @property
    def end(self) -> int:
        return self.offset + self.length

    @property
    def table_bytes(self) -> int:
        return 0 if self.derived else self.line_count * _LINE_BYTES


def encode(block: Block, table: bytes) -> bytes:
    """An index entry. `table` is `lines.table` of the block's lines, empty for a derived block."""
    body = _BODY.pack(block.offset, block.length, block.line_count, block.crc32, block.derived, block.stamp) + table
    return _HEAD.pack(MAGIC, zlib.crc32(body)) + body


def parse(data: bytes, base: int = 0) -> tuple[list[Block], int]:
    """The valid entries of index bytes that begin at `base` in their file, and how many bytes are settled.

    What is not valid is skipped as far as a valid entry follows; the rest may be an entry that is being written.
    """
    blocks: list[Block] = []
    at = settled = 0
    while 0 <= at < len(data):
        block = _entry(data, at, base)
        if block is None:
            at = data.find(MAGIC, at + 1)
            continue
        blocks.append(block)
        at += ENTRY_BYTES + block.table_bytes
        settled = at
    return blocks, settled


def _entry(data: bytes, at: int, base: int) -> Block | None:
    body_at = at + _HEAD.size
    table_at = body_at + _BODY.size
    if table_at > len(data) or data[at : at + 4] != MAGIC:
        return None
    offset, length, count, crc32, derived, stamp = _BODY.unpack_from(data, body_at)
    block = Block(offset, length, count, crc32, bool(derived), stamp, base + table_at)
    end = table_at + block.table_bytes
    if end > len(data) or zlib.crc32(data[body_at:end]) != _HEAD.unpack_from(data, at)[1]:
        return None
    return block
