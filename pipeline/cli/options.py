"""The options that commands share, as types of their parameters, and what commands do with them.

    def jobs(config: options.ConfigFiles = None, sets: options.Sets = None, output: options.Output = "table") -> None:
        loaded = options.settings(config, sets)

`-q`, `-v`, `--color` and `--debug` are added to every command by the loader.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli import output, terminal
from pipeline.errors import BadUsage

if TYPE_CHECKING:
    from pipeline.config.load import Loaded

CONFIG_VARIABLE = "KUBE_COLLECTOR_CONFIG"
DEFAULT_FILE = Path("kube-collector.yaml")

ConfigFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--config",
        "-c",
        metavar="PATH",
        help=f"Settings file or folder; may be given several times. Without it ${CONFIG_VARIABLE}, then ./{DEFAULT_FILE}.",
        show_default=False,
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="One setting, such as log.level=debug.", show_default=False),
]
Output = Annotated[str, typer.Option("--output", "-o", metavar="FORMAT", help="table, wide, json, yaml, csv or name.")]
OutputOfOne = Annotated[str, typer.Option("--output", "-o", metavar="FORMAT", help="table, json or yaml.")]
"""Of a command that answers with one thing instead of rows."""
NoHeaders = Annotated[bool, typer.Option("--no-headers", help="Leave out the heading of a table.")]
SortBy = Annotated[
    str | None, typer.Option("--sort-by", metavar="COLUMN", help="Sort by a column; -COLUMN turns it round.")
]
Utc = Annotated[bool, typer.Option("--utc", help="Print times in UTC.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]


def group(help: str) -> typer.Typer:
    """A command with commands of its own, as this program wants it."""
    return typer.Typer(help=help, add_completion=False, rich_markup_mode=None, no_args_is_help=True)


def settings(
    config: Iterable[Path] | None, sets: Iterable[str] | None, flags: Mapping[str, object] | None = None
) -> Loaded:
    """The effective settings. `flags` are values of a command's own options by dotted path, those of None left out.

    Raises BadUsage for a `--set` without `=`, ConfigInvalid for the rest.
    """
    from pipeline.config.environment import Flag
    from pipeline.config.load import load

    overrides: dict[str, object] = {path: value for path, value in (flags or {}).items() if value is not None}
    if terminal.wishes.verbose:
        overrides["log.level"] = Flag("-v", "debug")
    elif terminal.wishes.quiet:
        overrides["log.level"] = Flag("-q", "error")
    for given in sets or ():
        path, equals, value = given.partition("=")
        if not (path and equals):
            raise BadUsage(f"--set {given}: no value", fix="Write --set KEY=VALUE, such as --set log.level=debug.")
        overrides[path.strip()] = value
    return load(files(config), os.environ, overrides)


def files(config: Iterable[Path] | None) -> list[Path]:
    """The settings files that apply: those named, else those of the variable, else the default file if it is there."""
    if config:
        return list(config)
    named = os.environ.get(CONFIG_VARIABLE)
    if named:
        return [Path(part) for part in named.split(os.pathsep) if part]
    return [DEFAULT_FILE] if DEFAULT_FILE.exists() else []


def wanted(format_: str, no_headers: bool = False, sort_by: str | None = None) -> output.Wanted:
    """How to print, checked. Raises BadUsage."""
    return output.Wanted(output.check(format_), headers=not no_headers, sort_by=sort_by)


def confirm(question: str, yes: bool) -> None:
    """Asks before something that cannot be undone; not on a terminal, `--yes` is needed. Raises BadUsage when refused."""
    import sys

    if yes:
        return
    if not terminal.is_terminal(sys.stdin):
        raise BadUsage(f"{question} Not done.", fix="Add --yes to do it without being asked.")
    if not typer.confirm(question, err=True):
        raise BadUsage("Not done.")
