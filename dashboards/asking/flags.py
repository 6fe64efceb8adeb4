"""The options that the asking commands share, and what is done with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dashboards.asking.source import Source, Whom
    from dashboards.filters import Filters

_EVERY_S = 2.0

Texts = list[str] | None
Url = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help="Page to ask; without it $KUBE_COLLECTOR_URL, then this machine's."),
]
Namespace = Annotated[Texts, typer.Option("--namespace", "-n", metavar="NAME", help="Namespace of the jobs.")]
Everywhere = Annotated[bool, typer.Option("--all-namespaces", "-A", help="All namespaces, as without -n.")]
Cluster = Annotated[Texts, typer.Option("--cluster", metavar="NAME", help="Cluster, NAME@replay for a replay.")]
Kind = Annotated[str | None, typer.Option("--kind", metavar="KIND", help="Kind of the job.")]
Kinds = Annotated[Texts, typer.Option("--kind", metavar="KIND", help="Kind of the jobs.")]
Tenant = Annotated[Texts, typer.Option("--tenant", metavar="NAME", help="Tenant of the jobs.")]
Queue = Annotated[Texts, typer.Option("--queue", metavar="NAME", help="Queue that the jobs name.")]
Reason = Annotated[Texts, typer.Option("--reason", metavar="CODE", help="Reason that held most of the wait.")]
Uid = Annotated[
    str | None, typer.Option("--uid", metavar="UID", help="Which of several jobs of that name; the newest without it.")
]
Lang = Annotated[str | None, typer.Option("--lang", metavar="LANG", help="en or zh; without it as $LANG.")]
Watch = Annotated[bool, typer.Option("--watch", "-w", help="Ask again every 2 s until Ctrl-C.")]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=0, help="Most rows; 0 for all.")]


def whom(url: str | None, config: Iterable[Path] | None, sets: Iterable[str] | None, lang: str | None) -> Whom:
    """Whom to ask, in the language of the option or of the environment. Raises BadUsage for one that is not known."""
    from dashboards import filters
    from dashboards.asking.source import Whom
    from pipeline.records import words

    environment = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG")
    return Whom(url, config, sets, filters.language(lang) if lang else words.language(environment))


def narrowed(text: str = "", **given: Iterable[str] | None) -> Filters:
    """What the filters' options say. Raises BadUsage."""
    from dashboards import filters

    return filters.made(given, text)


def ask(whom: Whom, once: Callable[[Source], None], watch: bool = False) -> None:
    """Asks once, or again and again on a screen that is wiped before each."""
    import sys
    import time
    from contextlib import closing

    from dashboards.asking import source
    from pipeline.cli import terminal

    with closing(source.find(whom)) as found:
        once(found)
        while watch:
            sys.stdout.flush()
            time.sleep(_EVERY_S)
            if terminal.is_terminal(sys.stdout):
                sys.stdout.write("\x1b[2J\x1b[H")
            once(found)
