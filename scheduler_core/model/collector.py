"""Python's collector of cycles, and when it has to wait.

It comes when many objects have been made, and then walks through all that lives. While something large is made that stays,
that is work for nothing, several times over.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def waits() -> Iterator[None]:
    """The collector waits until the block is left, if it is not held back already."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
