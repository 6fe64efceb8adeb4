"""Records to bytes and back: one JSON object a line, unknown fields ignored, unknown types refused."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from pipeline.errors import Terminal
from pipeline.records.envelope import Record

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


class Undecodable(Terminal):
    """These bytes are no record that this version knows; they belong in the dead letter."""


def encode(record: Record) -> bytes:
    """One line without its newline."""
    return _encoder.encode(record)


def encode_lines(records: Sequence[Record]) -> bytes:
    """The lines of many, each with its newline; a quarter of the price of encoding and joining them one by one."""
    return _encoder.encode_lines(records)


def decode(line: bytes | memoryview) -> Record:
    """The record of a line. Raises Undecodable."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Undecodable(str(error)) from error
