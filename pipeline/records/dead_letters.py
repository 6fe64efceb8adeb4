"""Input that could not be used, as a row of table `dead_letter` and as a line of the collector's log of dead letters."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import msgspec

from pipeline.records import tables, times
from pipeline.records.rows import Row

KEPT_BYTES = 64 << 10
"""So much of an input is kept."""

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(dict[str, Any])


def row(stage: str, kind: str, data: bytes, error: str, *, cluster: str, observed_ms: int) -> Row:
    """The row that keeps an input. On one day the same input of a stage is one row."""
    digest = hashlib.sha256(data).hexdigest()
    values = {
        "day": times.day_ms(observed_ms),
        "cluster": cluster,
        "id": f"{stage}/{digest}",
        "stage": stage,
        "kind": kind,
        "error": error,
        "bytes": base64.b64encode(data[:KEPT_BYTES]).decode(),
        "size": len(data),
        "sha256": digest,
        "observed_at": observed_ms,
    }
    return Row(tables.DEAD_LETTER.name, observed_ms, values)


def encode(letter: Row) -> bytes:
    """One line: the row's values, and its version as `observedms`, by which a log knows the time."""
    return _encoder.encode({"observedms": letter.version, **letter.values})


def decode(line: bytes) -> Row | None:
    """The row of a line that `encode` made; None for a line that is no letter, such as a tick."""
    values = _decoder.decode(line)
    if "sha256" not in values:
        return None
    return Row(tables.DEAD_LETTER.name, values.pop("observedms"), values)
