"""The data folder, made and tried before a process begins: a folder that cannot be used is one clear error at the start,
not a failure of whichever stage comes to write first."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import UserError

_FIX = "Name a folder that this user may write, with --set data_dir=PATH; `up` and `demo` take --data-dir PATH too."


def prepare(folder: Path) -> None:
    """Makes the folder and tries a write in it; nothing else is left there. Raises UserError."""
    with failures_named(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


@contextmanager
def failures_named(folder: Path) -> Iterator[None]:
    """What the system refuses about the folder or something in it, as a UserError."""
    try:
        yield
    except OSError as error:
        why = "a file is in its place" if isinstance(error, FileExistsError) else error.strerror or str(error)
        raise UserError(f"the data folder cannot be used: {why}", where=str(folder), fix=_FIX) from error
