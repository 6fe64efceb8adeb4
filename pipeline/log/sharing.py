"""The writer of a log, for whoever else in its process appends to it: a log has one writer, and a process may have many
parts that have something to say."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from pipeline.log.writer import LogWriter

_open: WeakValueDictionary[Path, LogWriter] = WeakValueDictionary()
_guard = threading.Lock()


def offer(writer: LogWriter) -> None:
    """A writer has opened its log."""
    with _guard:
        _open[writer.directory.resolve()] = writer


def withdraw(writer: LogWriter) -> None:
    """It closes: nobody is given it any more."""
    with _guard:
        if _open.get(writer.directory.resolve()) is writer:
            del _open[writer.directory.resolve()]


def writer_of(directory: Path) -> LogWriter | None:
    """The writer that this process has open on a log; whoever gets it may append and sync, and never closes it."""
    with _guard:
        return _open.get(directory.resolve())
