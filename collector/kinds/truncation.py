"""What is done with an object that stays too large after projection: it is cut by rule, never refused.

Step by step, until it fits: long texts are shortened, long lists and maps keep their first entries, each step harder
than the one before. What identifies an object (names, uids, versions, times) is short and survives every step.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from pipeline.records.shapes.base import Shape

_STEPS: Final = ((4096, 512), (1024, 64), (256, 16), (256, 4))
"""(longest text in characters, most entries of a list or map), mildest first."""
MARK: Final = "…"
"""Ends every text that was shortened."""

_encode = msgspec.json.Encoder().encode


def cut(shape: Shape, max_bytes: int) -> bytes:
    """The JSON of a shape in at most `max_bytes`, as far as the hardest step allows."""
    whole = msgspec.to_builtins(shape)
    body = b""
    for longest, most in _STEPS:
        body = _encode(_shorten(whole, longest, most))
        if len(body) <= max_bytes:
            break
    return body


def cut_text(text: str, max_chars: int) -> str:
    """A text of at most `max_chars`, marked if it was longer."""
    return text if len(text) <= max_chars else text[: max_chars - len(MARK)] + MARK


def _shorten(value: Any, longest: int, most: int) -> Any:
    if isinstance(value, str):
        return cut_text(value, longest)
    if isinstance(value, list):
        return [_shorten(each, longest, most) for each in value[:most]]
    if isinstance(value, dict):
        kept = list(value.items())[:most]
        return {cut_text(key, longest): _shorten(each, longest, most) for key, each in kept}
    return value
