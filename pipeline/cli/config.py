"""`kube-collector config`: check the settings, show where each value comes from, print schema and reference."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from pipeline.cli import options, output, terminal
from pipeline.cli.output import Column
from pipeline.config import effective, reference
from pipeline.config.suggest import did_you_mean
from pipeline.errors import NotFound

app = options.group(
    """Check the settings, show where each value comes from, print their schema or reference.

    Examples:
      kube-collector config check
      kube-collector config show --changed
    """
)

_COLUMNS = (
    Column("key", "key"),
    Column("value", lambda row: effective.written(row["value"]), flexible=True),
    Column("origin", "origin", style=lambda row: "dim" if row["origin"] == "default" else "blue"),
)


@app.command()
def check(config: options.ConfigFiles = None, sets: options.Sets = None) -> None:
    """Find every mistake, each with its line and column.

    Examples:
      kube-collector config check -c kube-collector.yaml
      kube-collector config check -c /etc/kube-collector --set log.level=debug
    """
    loaded = options.settings(config, sets)
    read = ", ".join(str(path) for path in loaded.files) or "no file"
    given = sum(setting.origin != "default" for setting in effective.settings(loaded))
    terminal.hint(f"The settings are valid ({read}, {given} value{'' if given == 1 else 's'} set).")


@app.command()
def show(
    keys: Annotated[list[str] | None, typer.Argument(metavar="KEY", help="Only these keys and sections.")] = None,
    changed: Annotated[bool, typer.Option("--changed", help="Only what is not a default.")] = False,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
    output_format: options.Output = "table",
    no_headers: options.NoHeaders = False,
) -> None:
    """Show each value and where it comes from.

    Secrets are shown as `***`.

    Examples:
      kube-collector config show --changed
      kube-collector config show log admin -o json
    """
    wanted = options.wanted(output_format, no_headers)
    rows = [setting._asdict() for setting in effective.settings(options.settings(config, sets))]
    _require_known(keys or [], [row["key"] for row in rows])
    rows = [row for row in rows if not (changed and row["origin"] == "default")]
    output.render([row for row in rows if _selected(row["key"], keys)], _COLUMNS, wanted)


@app.command()
def schema() -> None:
    """Print the JSON schema, for completion in an editor.

    Examples:
      kube-collector config schema > config.schema.json
      kube-collector config schema | jq '.properties | keys'
    """
    output.render_object(reference.schema(), "json")


@app.command()
def docs() -> None:
    """Print the reference of all settings as Markdown.

    Examples:
      kube-collector config docs | less
      kube-collector config docs > settings.md
    """
    sys.stdout.write(reference.page())


def _require_known(wanted: list[str], keys: list[str]) -> None:
    parents = {key[:at] for key in keys for at, letter in enumerate(key) if letter in ".["}
    for each in wanted:
        if not any(_selected(key, [each]) for key in keys):
            raise NotFound(
                f"there is no setting {each}{did_you_mean(each, {*keys, *parents})}",
                fix="`kube-collector config show` lists every key.",
            )


def _selected(key: str, keys: list[str] | None) -> bool:
    return not keys or any(key == wanted or key.startswith((f"{wanted}.", f"{wanted}[")) for wanted in keys)
