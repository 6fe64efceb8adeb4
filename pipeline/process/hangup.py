"""A terminal that is closed, as the processes that were started from it see it.

What counts is the controlling terminal, not what stdin is: the kernel and the shell tell (SIGHUP) whoever belongs to the
terminal, also a process whose stdin is a file, and never a service that has none, whatever its stdin is.
"""

from __future__ import annotations

import os
import signal

STREAMS = (1, 2)


def ends() -> bool:
    """Whether SIGHUP means the end: a terminal is closed, rather than a service told to read its settings again."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def ignored() -> bool:
    """Whether whoever started this process wants it to outlive its terminal, as nohup does."""
    return signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def terminals() -> tuple[int, ...]:
    """Those of stdout and stderr that are a terminal."""
    return tuple(each for each in STREAMS if os.isatty(each))


def leave(streams: tuple[int, ...]) -> None:
    """Lets what is still written to a terminal that is gone go nowhere, rather than fail. Fit for a signal handler."""
    for each in streams:
        if not os.isatty(each):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, each)
            os.close(nowhere)
