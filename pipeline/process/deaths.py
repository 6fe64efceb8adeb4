"""Threads that end by an exception: whoever answers for the process is told, whichever thread it was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def watched(tell: Callable[[str, BaseException], None]) -> Iterator[None]:
    """While it lasts `tell` gets the name of each thread that died, and of what; on that thread."""
    before = threading.excepthook

    def died(death: threading.ExceptHookArgs) -> None:
        if death.exc_value is not None and death.exc_type is not SystemExit:
            tell(death.thread.name if death.thread else "a thread", death.exc_value)

    threading.excepthook = died
    try:
        yield
    finally:
        threading.excepthook = before
