"""Waking readers in the writer's own process at once. Others, and lost wake-ups, are served by polling."""

from __future__ import annotations

import threading
from pathlib import Path

from pipeline.log.folders import Shared

POLL_S = 0.1


class Bell:
    """One for each log folder that this process writes or reads."""

    def __init__(self) -> None:
        self.condition = threading.Condition()

    def ring(self) -> None:
        with self.condition:
            self.condition.notify_all()


_shared = Shared(Bell)


def bell(directory: Path) -> Bell:
    """The bell of a folder; the same for its writer and all its readers. It lives as long as somebody holds it."""
    return _shared.of(directory)
