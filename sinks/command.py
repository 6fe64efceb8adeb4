"""`kube-collector sink` and `kube-collector schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from pipeline.cli import options
from pipeline.errors import CheckFailed

if TYPE_CHECKING:
    from pipeline.cli.checks import CheckResult
    from pipeline.config.load import Loaded
    from pipeline.config.places import Places
    from pipeline.doris.settings import Settings

schema = options.group(
    """Compare the warehouse's tables and views with this version, and bring them up to date.

    Examples:
      kube-collector schema plan
      kube-collector schema apply
    """
)


def sink(config: options.ConfigFiles = None, sets: options.Sets = None) -> int:
    """Load records and judged rows into Doris until stopped.

    Without a configured Doris a local one is started, in the data folder.

    Examples:
      kube-collector sink
      kube-collector sink --set doris.frontend=doris-fe:8030 --set 'doris.backends=["*.doris-be"]'
    """
    from pipeline.process import supervisor
    from sinks import app

    loaded = options.settings(config, sets)
    return supervisor.run([app.stage(loaded)], loaded)


@schema.command()
def plan(config: options.ConfigFiles = None, sets: options.Sets = None) -> None:
    """Print what `schema apply` would do; ends with code 5 if there is anything.

    Examples:
      kube-collector schema plan
      kube-collector schema plan -c production.yaml
    """
    from sinks.doris import warehouse

    doris = _doris(options.settings(config, sets))
    made = warehouse.plan_schema(doris)
    typer.echo(str(made))
    if made.changes or made.conflicts:
        raise CheckFailed(
            f"the schema differs: {len(made.changes)} changes, {len(made.conflicts)} conflicts",
            fix=f"run `kube-collector schema apply{doris.option}`" if not made.conflicts else "see the lines with `!`",
        )


@schema.command()
def apply(config: options.ConfigFiles = None, sets: options.Sets = None) -> None:
    """Make missing tables, columns and views; nothing is dropped but views that are made anew.

    Raw tables that are missing although rows were loaded from this data folder are left to `sink`, and nothing is made:
    when it starts it makes them and loads what the log has; made here they would stay empty.

    Examples:
      kube-collector schema apply
      kube-collector schema apply -c production.yaml
    """
    from pipeline.config.places import Places
    from sinks.doris import warehouse

    loaded = options.settings(config, sets)
    places = Places(loaded.ground.data_dir)
    typer.echo(str(warehouse.apply_schema(_doris(loaded), lambda missing: _leave_to_the_sink(missing, places))))


def _leave_to_the_sink(missing: list[str], places: Places) -> None:
    """Raises CheckFailed for raw tables that only a loader that begins anew can fill: it may be at work now, so that cannot
    be made to begin anew from here."""
    from pipeline.records import tables
    from sinks import sources

    raw = [name for name in missing if tables.TABLES[name].raw]
    if raw and any(map(sources.has_given, (places.records, places.dead_letters))):
        raise CheckFailed(
            f"missing, although rows were loaded before: {', '.join(raw)}; nothing was made",
            where=str(places.data_dir),
            fix="start the sink (`sink` or `up`) again: it makes them and loads what the log has",
        )


def check(loaded: Loaded) -> list[CheckResult]:
    """For `doctor`: Doris answers, and its schema is that of this version."""
    from pipeline.cli.checks import CheckResult
    from pipeline.doris.errors import QueryFailed
    from pipeline.errors import Unreachable
    from sinks.doris import warehouse

    try:
        settings = _doris(loaded)
        made = warehouse.plan_schema(settings)
    except Unreachable as error:
        return [CheckResult("doris", "answers", "fail", error.what, error.fix or "")]
    except QueryFailed as error:
        return [CheckResult("doris", "answers", "fail", str(error), "Check the rights of doris.user.")]
    answers = CheckResult("doris", "answers", "ok", f"{settings.host}:{settings.query_port}")
    if made.conflicts:
        fix = f"Run `kube-collector schema plan{settings.option}`."
        return [answers, CheckResult("doris", "schema", "fail", "; ".join(made.conflicts), fix)]
    if made.changes:
        cause = f"{len(made.changes)} tables, columns or views are missing or old"
        fix = f"Run `kube-collector schema apply{settings.option}`."
        return [answers, CheckResult("doris", "schema", "warn", cause, fix)]
    return [answers, CheckResult("doris", "schema", "ok", f"database {settings.database} is up to date")]


def _doris(loaded: Loaded) -> Settings:
    """Where Doris is: as set, or the local one that runs. Raises Unreachable."""
    from pipeline.config.places import Places
    from pipeline.doris import local
    from pipeline.doris.settings import Settings as Doris

    return local.locate(loaded.of(Doris), Places(loaded.ground.data_dir).doris)
