"""A command line run inside the test: for those that end by themselves."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Iterator

from pipeline.cli import main
from pipeline.telemetry import logs


def run(*arguments: str) -> tuple[int, str]:
    """Exit code, and all that was written."""
    said = io.StringIO()
    with _own_logging(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main.run(list(arguments))
    return code, said.getvalue()


def failed(*arguments: str) -> tuple[int, list[str]]:
    """Exit code and the lines that say why a command could not go on; a stack is never among what it says."""
    code, said = run(*arguments)
    assert "Traceback" not in said, said
    lines = said.splitlines()
    begins = [at for at, line in enumerate(lines) if line.startswith("Error: ")]
    assert begins, said
    return code, lines[begins[0] :]


@contextlib.contextmanager
def _own_logging() -> Iterator[None]:
    """Lines of a command go where it goes, and not where the next test looks."""
    root, own = logging.getLogger(), logging.getLogger(logs.ROOT)
    handlers, level, own_level = list(root.handlers), root.level, own.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        own.setLevel(own_level)
