"""`kube-collector doctor`: every check of everything installed, grouped, each failure with its cause and fix."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TextIO

import typer

from pipeline import extensions
from pipeline.cli import checks, options, output, terminal
from pipeline.cli.checks import CheckResult
from pipeline.config.load import Loaded
from pipeline.errors import BadUsage, CheckFailed, ConfigInvalid

_MARKS: dict[str, tuple[str, terminal.Style]] = {
    "ok": ("ok", "green"),
    "warn": ("warn", "yellow"),
    "fail": ("FAIL", "red"),
}


def doctor(
    categories: Annotated[list[str] | None, typer.Argument(metavar="CATEGORY", help="Only these categories.")] = None,
    pre: Annotated[
        bool, typer.Option("--pre", help="Before the first start: leave out what needs a running pipeline.")
    ] = False,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
    output_format: options.OutputOfOne = "table",
) -> None:
    """Check settings, connections and disk.

    Each failure comes with its cause and what to do. Ends with code 5 if a check fails; warnings do not count.

    Examples:
      kube-collector doctor --pre
      kube-collector doctor cluster doris -o json
    """
    output.check(output_format, ("table", "json", "yaml"))
    results = [each for each in examine(config, sets) if not (pre and each.category == "pipeline")]
    chosen = _chosen(results, categories)
    if output_format == "table":
        _print(chosen, sys.stdout)
    else:
        output.render_object([each._asdict() for each in chosen], output_format)
    failed = sum(each.outcome == "fail" for each in chosen)
    if failed:
        raise CheckFailed(f"{failed} of {len(chosen)} checks failed")


def examine(config: Iterable[Path] | None, sets: Iterable[str] | None) -> list[CheckResult]:
    """All results, in the order of the categories. Settings that cannot be used are one failure each, and the only ones."""
    try:
        loaded = options.settings(config, sets)
    except ConfigInvalid as error:
        return [
            CheckResult("config", "settings", "fail", problem, "Mend it; `kube-collector config docs` lists every key.")
            for problem in error.problems
        ]
    results = [result for extension in extensions.found(extensions.CHECKS) for result in _results(extension, loaded)]
    order = {category: at for at, category in enumerate(checks.CATEGORIES)}
    return sorted(results, key=lambda each: (order.get(each.category, len(order)), each.category))


def _results(extension: extensions.Extension, loaded: Loaded) -> list[CheckResult]:
    """What one entry point's checks find; checks that break are a failure, not the end of all others."""
    try:
        found: list[CheckResult] = extension.load()(loaded)
        return found
    except Exception as error:
        cause = f"the check itself failed: {type(error).__name__}: {error}"
        return [
            CheckResult(extension.name, extension.target, "fail", cause, "Install the extra it needs, or report this.")
        ]


def _chosen(results: list[CheckResult], categories: list[str] | None) -> list[CheckResult]:
    known = {each.category for each in results}
    for wanted in categories or ():
        if wanted not in known | set(checks.CATEGORIES):
            raise BadUsage(f"no category {wanted!r}", fix=f"There are {', '.join(sorted(known))}.")
    return [each for each in results if not categories or each.category in categories]


def _print(results: list[CheckResult], out: TextIO) -> None:
    category = None
    for each in results:
        if each.category != category:
            out.write(("\n" if category else "") + terminal.paint(each.category, "bold", out) + "\n")
            category = each.category
        mark, style = _MARKS[each.outcome]
        out.write(
            f"  {terminal.paint(f'{mark:<5}', style, out)} {each.name}{f': {each.cause}' if each.cause else ''}\n"
        )
        if each.outcome != "ok" and each.fix:
            out.write(f"        {each.fix}\n")
    counts = {outcome: sum(each.outcome == outcome for each in results) for outcome in _MARKS}
    warnings = f"{counts['warn']} warning{'' if counts['warn'] == 1 else 's'}"
    out.write(f"\n{counts['ok']} ok, {warnings}, {counts['fail']} failed\n")
