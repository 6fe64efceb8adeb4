"""Rows that changed: what is to be written again, and what is to be removed, of all that was written before.

An operator makes its rows anew from its state, with absolute values. `Written` remembers for each key a fingerprint of
the last row; only rows that differ go out, and keys that are no longer made get a delete row. So a correction, however
late, reaches every row it touches and no other.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from operator import itemgetter
from typing import Any

import msgspec

Key = tuple[str | int, ...]
"""Table, then whatever tells its rows apart within the state; the operator makes the key columns of it."""
Written = dict[Key, int]
"""Key → fingerprint of the row last written."""

_encode = msgspec.msgpack.Encoder().encode
_still: dict[tuple[str | int, frozenset[str]], itemgetter[Any]] = {}
"""By table and moving columns what picks the rest: rows are compared far more often than they change."""


class Made(msgspec.Struct, frozen=True, gc=False):
    """A row as the state has it now. Columns in `moving` do not make it a changed row; `grows`: they grow with time."""

    key: Key
    values: dict[str, Any]
    moving: frozenset[str] = frozenset()
    grows: bool = False


def fingerprint(table: str | int, values: dict[str, Any], moving: frozenset[str] = frozenset()) -> int:
    """64 bits of all values but the moving ones, the same in every process. All rows of a table have the same columns."""
    still = _still.get((table, moving))
    if still is None:
        still = _still[table, moving] = itemgetter(*(name for name in values if name not in moving))
    return int.from_bytes(blake2b(_encode(still(values)), digest_size=8).digest(), "big")


def changed(written: Written, made: Iterable[Made], *, refresh: bool = False) -> list[Made]:
    """The rows to write, and remembers them. `refresh`: rows that grow are written too, changed or not."""
    out = []
    for one in made:
        number = fingerprint(one.key[0], one.values, one.moving)
        if written.get(one.key) != number or (refresh and one.grows):
            written[one.key] = number
            out.append(one)
    return out


def gone(written: Written, scope: Iterable[Key], made: Iterable[Made]) -> list[Key]:
    """The keys of `scope` that were written and are no longer made; forgets them."""
    kept = {one.key for one in made}
    lost = [key for key in scope if key in written and key not in kept]
    for key in lost:
        del written[key]
    return lost


def next_version(last: int, now: int) -> int:
    """Greater than the last one, and than those of a state that was dropped: versions follow log time."""
    return max(last + 1, now)
