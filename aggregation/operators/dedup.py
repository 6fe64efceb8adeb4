"""Copies: a record whose identity is among the last few of its object was seen before.

Versions of an object are opaque, so order is the log's order and only equality can be asked. Eight identities an object
are enough for a writer that repeats its last batch; 64 bits of each are kept.
"""

from __future__ import annotations

from hashlib import blake2b

KEPT = 8


def digest(identity: str) -> int:
    """64 bits that stand for an identity, the same in every process."""
    return int.from_bytes(blake2b(identity.encode(), digest_size=8).digest(), "big")


def is_copy(recent: list[int], identity: str) -> bool:
    """Whether it was seen; if not it is remembered in `recent`, of which the last eight stay."""
    number = digest(identity)
    if number in recent:
        return True
    recent.append(number)
    if len(recent) > KEPT:
        del recent[0]
    return False
