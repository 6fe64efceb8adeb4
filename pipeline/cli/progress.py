"""Progress of something long, on stderr, and only when a person looks at it.

with progress.track("replaying", total=frames, unit="frames") as advance:
    advance(1)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pipeline.cli import terminal


@contextmanager
def track(what: str, total: int | None = None, *, unit: str = "") -> Iterator[Callable[[int], None]]:
    """Gives a function that is told how much more is done; `total` None shows that it is busy, not how far it is."""
    if terminal.wishes.quiet or not terminal.is_terminal(sys.stderr):
        yield lambda done: None
        return
    from rich import console, progress  # 0.1 s, needed on a terminal only

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn(unit),
        progress.TimeRemainingColumn(),
    )
    screen = console.Console(file=sys.stderr, force_terminal=True, no_color=not terminal.colored(sys.stderr))
    with progress.Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)
