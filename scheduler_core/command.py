"""`kube-collector schedule`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli import options, output, terminal, times
from pipeline.cli.output import Column
from pipeline.config.suggest import closest
from pipeline.errors import BadUsage, NotFound

if TYPE_CHECKING:
    from pipeline.config.load import Loaded
    from pipeline.records.decisions import Decision
    from scheduler_core.shadow.machine import Machine


def _nodes(decision: Decision) -> str | None:
    return None if decision.total_nodes is None else f"{decision.nodes or 0}/{decision.total_nodes}"


def _message(decision: Decision) -> str:
    return "; ".join(map(_said, decision.message.split("; ")))


def _helps(decision: Decision) -> str:
    return "; ".join(map(_said, decision.helps))


def _said(text: str) -> str:
    """A sentence of the log in the right number: `1 job of the queue`."""
    from pipeline.records.words import scheduler

    return scheduler.said("en", text)


COLUMNS = (
    Column("JOB", "job"),
    Column("TASK", "task"),
    Column("KIND", "kind"),
    Column("REASON", "reason"),
    Column("DETAIL", "detail", wide=True),
    Column("RESOURCE", "resource"),
    Column("NODE", "node"),
    Column("NODES", _nodes, right=True, sort="nodes", code="nodes"),
    Column("TOTAL_NODES", "total_nodes", only_csv=True),
    Column("MESSAGE", _message, flexible=True, sort="message", code="message"),
    Column("HELPS", _helps, wide=True),
)


def schedule(
    shadow: Annotated[
        bool, typer.Option("--shadow", help="Decide what the cluster's scheduler would, and bind nothing.")
    ] = False,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="Print what a session would have decided then.", show_default=False),
    ] = None,
    job: Annotated[
        str | None,
        typer.Option("--job", metavar="[NAMESPACE/]NAME", help="With --at: of this job alone.", show_default=False),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End with the log instead of following it.")] = False,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            help="A volcano-scheduler.conf for pods of Volcano; its own default without it.",
            show_default=False,
        ),
    ] = None,
    output_format: options.Output = "table",
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> int:
    """Run the scheduler over the log of records, to say why jobs wait. `up` does so by itself.

    The log has one writer: beside a running `up` only --at can be asked.

    Examples:
      kube-collector schedule --shadow --once --policy volcano-scheduler.conf
      kube-collector schedule --at -10m --job ml/train -o json
    """
    loaded = options.settings(config, sets, {"scheduler.policy": policy})
    if at is not None:
        _tell(loaded, at, job, options.wanted(output_format))
        return 0
    if not shadow:
        raise BadUsage("how to schedule?", fix="Add --shadow to run over the log, or --at TIME to ask about a moment.")
    return _run(loaded, once=once)


def _run(loaded: Loaded, *, once: bool) -> int:
    from pipeline.config.places import Places
    from pipeline.process import data_folder
    from pipeline.process.supervisor import Supervisor
    from pipeline.telemetry import logs
    from scheduler_core.app import Scheduler
    from scheduler_core.settings import Settings

    cluster = _cluster(loaded)
    data_folder.prepare(loaded.ground.data_dir)
    logs.setup(loaded.ground.log, cluster=cluster)
    stage = Scheduler(loaded.of(Settings), Places(loaded.ground.data_dir), cluster, alone=True)
    supervisor = Supervisor([stage], loaded)
    if once:
        stage.at_end = supervisor.finish
    return supervisor.run()


def _tell(loaded: Loaded, at: str, job: str | None, wanted: output.Wanted) -> None:
    from pipeline.records import words
    from scheduler_core.shadow import travel

    end_ms = travel.end_ms(loaded)
    at_ms = times.parse(at, end_ms)
    if at_ms > end_ms:
        terminal.hint(words.hint("en", "ahead", at=times.show(end_ms)))
    machine = travel.machine_at(loaded, _cluster(loaded), at_ms)
    found = machine.ask(at_ms)
    if job is not None:
        named = whole_name(job, {name for each in found if (name := _name(each))} | _waiting(machine))
        found = [each for each in found if _name(each) == named]
    if wanted.format in ("json", "yaml"):
        output.render_object(found, wanted.format)
    else:
        output.render(found, COLUMNS, wanted)


def whole_name(job: str, waiting: set[str]) -> str:
    """The NAMESPACE/NAME that is meant: itself, or the only waiting job of a bare name.

    Raises NotFound for a job of which no pod waited: a slip must not read as "nothing to say".
    """
    same = sorted(each for each in waiting if each.partition("/")[2] == job)
    if job in waiting or len(same) == 1:
        return job if job in waiting else same[0]
    if same:
        fix = f"Did you mean {', '.join(same[:-1])} or {same[-1]}?"
        raise NotFound(f"several jobs of the name {job} waited for a scheduler at that moment", fix=fix)
    near = closest(job, waiting) if "/" in job else _closest_bare(job, waiting)
    fix = f"Did you mean {near}?" if near else "`kube-collector jobs --phase waiting` lists the jobs that wait."
    raise NotFound(f"no pod of a job {job} waited for a scheduler at that moment", fix=fix)


def _closest_bare(name: str, waiting: set[str]) -> str | None:
    names = {each.partition("/")[2]: each for each in sorted(waiting)}
    near = closest(name, names)
    return None if near is None else names[near]


def _waiting(machine: Machine) -> set[str]:
    from scheduler_core.cache.mirror import OTHERS, VOLCANO

    seen = (each.job for view in (VOLCANO, OTHERS) for each in machine.mirror.waiting(view))
    return {f"{each.namespace}/{each.name}" for each in seen if each is not None}


def _name(decision: Decision) -> str | None:
    return None if decision.job is None else f"{decision.job.namespace}/{decision.job.name}"


def _cluster(loaded: Loaded) -> str:
    """The cluster that is named, else the one that the log is of: a replay's has a name of its own."""
    from pipeline.config.origins import DEFAULT
    from pipeline.config.places import Places
    from pipeline.log import layout
    from scheduler_core.shadow import travel

    if loaded.origin(("cluster", "name")) != DEFAULT:
        return loaded.ground.cluster.name
    found = travel.cluster_of(loaded)
    if found is None:
        raise layout.no_log(Places(loaded.ground.data_dir).records)
    return found
