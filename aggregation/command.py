"""`kube-collector aggregate` and `kube-collector explain`."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Annotated

import typer

from pipeline.cli import options, output
from pipeline.cli.output import Column
from pipeline.errors import BadUsage

app = typer.Typer(add_completion=False, rich_markup_mode=None, invoke_without_command=True)


@app.callback()
def aggregate(context: typer.Context, config: options.ConfigFiles = None, sets: options.Sets = None) -> int:
    """Turn the log of records into judged waits until stopped.

    Examples:
      kube-collector aggregate
      kube-collector aggregate --set aggregation.default_waiting_time=1h
    """
    if context.invoked_subcommand is not None:
        return 0
    from aggregation import app as wiring
    from pipeline.process import supervisor

    loaded = options.settings(config, sets)
    return supervisor.run([wiring.stage(loaded)], loaded)


@app.command()
def rebuild(yes: options.Yes = False, config: options.ConfigFiles = None, sets: options.Sets = None) -> None:
    """Judge the whole log anew: forget every state, read the log from its beginning, let the new rows win.

    Run it while the aggregation is stopped, after its logic changed.

    Examples:
      kube-collector aggregate rebuild
      kube-collector aggregate rebuild --yes
    """
    from aggregation.runners import embedded, store
    from pipeline.config.places import Places
    from pipeline.log import layout

    places = Places(options.settings(config, sets).ground.data_dir)
    if not places.records.is_dir():
        raise layout.no_log(places.records)
    options.confirm("Judge the whole log anew?", yes)
    held = store.hold(places.aggregation_db)
    try:
        with contextlib.closing(store.StateStore(places.aggregation_db)) as state:
            progress = embedded.rebuild(state)
    finally:
        os.close(held)
    typer.echo(f"generation {progress.generation} begins with the next start", err=True)


def explain(
    messages: Annotated[
        list[str] | None, typer.Argument(metavar="MESSAGE", help="What the scheduler said.", show_default=False)
    ] = None,
    output_format: options.Output = "table",
) -> None:
    """Say what a scheduler's message means: its reasons with their counts. Without arguments, a message a line on stdin.

    Examples:
      kube-collector explain '0/4 nodes are available: 4 Insufficient nvidia.com/gpu.'
      kube-collector explain -o json < messages.txt
    """
    from aggregation.messages import explain as explaining

    wanted = options.wanted(output_format)
    texts = messages or [line.rstrip("\n") for line in sys.stdin if line.strip()]
    if not texts:
        raise BadUsage("no message to explain", fix="Give one as an argument, or one a line on stdin.")
    if wanted.format in ("json", "yaml"):
        found = [explaining.explain(text) for text in texts]
        output.render_object(found[0] if len(found) == 1 else found, wanted.format)
        return
    names = ("category", "resource", "nodes", "detail", "message")
    rows = [dict(zip(names, (*said, text), strict=True)) for text in texts for said in explaining.rows(text)]
    output.render(rows, [Column(name, name, flexible=name == "message") for name in names], wanted)
