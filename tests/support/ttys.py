"""A terminal that a process is started from, and that is closed under it."""

from __future__ import annotations

import os
import pty
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TAKE = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
LAUNCHER = (sys.executable, "-c", _TAKE)
"""Before a command: makes its stdin the terminal of its session, which must be a new one."""


class Terminal:
    """`inside` is what a process has as stdin, stdout, stderr; `text` is what was written there and read so far."""

    def __init__(self) -> None:
        self._outside, self.inside = pty.openpty()
        self._open = True
        self.text = ""

    def read(self) -> str:
        """Takes what is there, so that no writer waits for room; the text from the beginning."""
        while self._open and select.select([self._outside], [], [], 0)[0]:
            try:
                self.text += os.read(self._outside, 65536).decode(errors="replace")
            except OSError:  # nobody has the other side any more
                break
        return self.text

    def close(self) -> None:
        """The window is closed: the kernel tells the session."""
        if self._open:
            self._open = False
            os.close(self.inside)
            os.close(self._outside)


@contextmanager
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    try:
        yield made
    finally:
        made.close()
