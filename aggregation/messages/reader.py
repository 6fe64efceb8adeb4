"""From a text to what it says: the dialects in order, the first that reads it wins."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec

from aggregation.messages.dialects import DIALECTS
from aggregation.messages.message import Message, said
from aggregation.messages.rules import first

_MERGED: Final = "(combined from similar events): "
TABLE: Final = tuple(rule for dialect in DIALECTS for rule in dialect.RULES)
_MAX_NESTING: Final = 4
_MAX_READ_CHARS: Final = 8192
"""What is read of a text; a note has at most 1,024, and no known condition comes near. The text is kept whole."""


@lru_cache(maxsize=8192)
def parse(text: str) -> Message:
    """All that `text` says. Never raises; a text nobody knows has the one reason `other`, code `unknown`."""
    bare = text.strip()
    aggregated = bare.startswith(_MERGED)
    found = _read(bare.removeprefix(_MERGED)[:_MAX_READ_CHARS], 0)
    reasons = found.reasons or (said("other"),)
    return msgspec.structs.replace(found, text=text, aggregated=aggregated, reasons=reasons)


def _read(text: str, nesting: int) -> Message:
    """What the text says, or a message that says nothing; texts within texts only so deep."""
    if nesting == _MAX_NESTING or not text:
        return Message()
    return first(TABLE, text, lambda quoted: _read(quoted.strip(), nesting + 1)) or Message()
