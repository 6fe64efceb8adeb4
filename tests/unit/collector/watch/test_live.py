"""The watches of one cluster as they are begun and ended."""

from __future__ import annotations

import threading
from typing import Any

from collector.kinds.catalog import KINDS
from collector.watch.live import Live
from pipeline.kubeapi.options import DEFAULTS
from pipeline.kubeapi.progress import Progress
from pipeline.kubeapi.resources import Resource


class Endless:
    """A reflector that runs until it is stopped."""

    def __init__(self) -> None:
        self.progress = Progress()
        self._over = threading.Event()

    def run(self, consumer: Any) -> None:
        self._over.wait()

    def stop(self) -> None:
        self._over.set()


def test_a_watch_that_begins_while_all_are_ended_is_ended_too(monkeypatch: Any) -> None:
    live = Live(None, KINDS, DEFAULTS)  # type: ignore[arg-type]  # nobody is asked

    def made(*_: object) -> Endless:
        live.stop(0.0)
        return Endless()

    monkeypatch.setattr(live, "_reflector", made)
    live._follow("pods", Resource("", "v1", "pods", "Pod"))
    (watch,) = live._threads
    watch.join(60)
    assert not watch.is_alive()
