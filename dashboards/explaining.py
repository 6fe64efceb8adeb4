"""The way to what a scheduler saw in the past and nobody stored: an installed explainer that rebuilds it from the log.

A rebuild reads much more than a question to the warehouse, so it is made only on demand, one at a time, and kept: the log
before a moment does not change. Few may wait for their turn, since each that does holds a thread that others need.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable

from pipeline import extensions
from pipeline.config.load import Loaded
from pipeline.config.places import Places
from pipeline.errors import NotFound, UserError
from pipeline.records.decisions import Decision
from pipeline.records.jobs import JobRef

Explain = Callable[[str, JobRef, int], list[Decision]]
"""(cluster, job, at_ms) → what would have been decided about the job. Raises UserError if that cannot be told."""
_KEPT = 64
MOST_AT_ONCE = 4
"""Questions about the past that are worked on or wait; more are told to come again."""


def explainer(loaded: Loaded) -> Explain | None:
    """The first that is installed, on the log of the settings' data folder; None if none is."""
    installed = extensions.found(extensions.EXPLAINERS)
    if not installed:
        return None
    lock, places = threading.Lock(), threading.BoundedSemaphore(MOST_AT_ONCE)
    log = Places(loaded.ground.data_dir).records

    @functools.lru_cache(_KEPT)
    def explain(cluster: str, job: JobRef, at_ms: int) -> list[Decision]:
        try:
            made = installed[0].load()
        except ImportError as error:
            raise UserError(
                f"{installed[0].target} cannot be used: {error}", fix="pip install 'kube-collector[schedule]'"
            ) from error
        found: list[Decision] = made(loaded, cluster, job, at_ms)
        return found

    def one_at_a_time(cluster: str, job: JobRef, at_ms: int) -> list[Decision]:
        if not log.is_dir():
            raise NotFound("no log of records is at hand here", where=str(log))
        if not places.acquire(blocking=False):
            raise UserError("too many moments of the past are asked for at once", fix="Ask again in a few seconds.")
        try:
            with lock:
                return explain(cluster, job, at_ms)
        finally:
            places.release()

    return one_at_a_time
