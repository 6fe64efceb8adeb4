"""`kube-collector dash`, and the commands that ask: `why`, `jobs`, `queues`, `violations`, `reasons`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli import options, output
from pipeline.errors import CheckFailed

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
Lang = Annotated[str | None, typer.Option("--lang", metavar="LANG", help="en or zh; without it as $LANG.")]
Watch = Annotated[bool, typer.Option("--watch", "-w", help="Ask again every 2 s until Ctrl-C.")]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=0, help="Most rows; 0 for all.")]


def dash(
    port: Annotated[int | None, typer.Option("--port", "-p", metavar="PORT", help="Port of the page.")] = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> int:
    """Serve the page and the HTTP API until stopped.

    They read the Doris of the settings, or the local one that `up` or `sink` runs on the same data folder.

    Examples:
      kube-collector dash --port 9000
      kube-collector dash --set doris.frontend=doris-fe:8030 --set dashboards.address=0.0.0.0
    """
    from dashboards import app
    from pipeline.process import supervisor

    loaded = options.settings(config, sets, {"dashboards.port": port})
    return supervisor.run([app.stage(loaded)], loaded)


def why(
    job: Annotated[str, typer.Argument(metavar="JOB", help="Name of the job, or KIND/NAME.")],
    namespace: Namespace = None,
    cluster: Cluster = None,
    kind: Kind = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="As of then: -30m, 2026-03-01T10:20:00Z.")
    ] = None,
    lang: Lang = None,
    watch: Watch = False,
    utc: options.Utc = False,
    format_: options.Output = "table",
    url: Url = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> None:
    """Say why a job waits or waited: for how long because of what, against which promise, and what would help.

    Without -n the job is looked for in all namespaces. -30m is meant from the log time, so also in a replay.

    Examples:
      kube-collector why train-llama -n research
      kube-collector why train-llama --at -2h -o json
    """
    from dashboards.asking import finding, show
    from pipeline.cli import times

    output.check(format_, ("table", "wide", "json", "yaml"))
    whom = _whom(url, config, sets, lang)
    filters = _filters(namespace=namespace, cluster=cluster)

    def once(source: Source) -> None:
        found = finding.one(source, job, filters, kind)
        at_ms = None if at is None else times.parse(at, found.now_ms or 0)
        answer = source.why(found.named, at_ms)
        if format_ in ("json", "yaml"):
            output.render_object(answer, format_)
        else:
            show.why(answer, whom.lang, utc=utc)

    _ask(whom, once, watch)


def jobs(
    names: Annotated[
        Texts, typer.Argument(metavar="[list|NAME...]", help="Jobs by name; one alone is shown in full.")
    ] = None,
    namespace: Namespace = None,
    everywhere: Everywhere = False,
    cluster: Cluster = None,
    tenant: Tenant = None,
    queue: Queue = None,
    kind: Kinds = None,
    phase: Annotated[Texts, typer.Option("--phase", metavar="PHASE", help="waiting, scheduled or cancelled.")] = None,
    sla: Annotated[Texts, typer.Option("--sla", metavar="SLA", help="on_track, at_risk, violated, met, …")] = None,
    reason: Reason = None,
    search: Annotated[str, typer.Option("--search", metavar="TEXT", help="Text in name, queue or uid.")] = "",
    sort_by: options.SortBy = None,
    limit: Limit = 100,
    lang: Lang = None,
    watch: Watch = False,
    utc: options.Utc = False,
    format_: options.Output = "table",
    no_headers: options.NoHeaders = False,
    url: Url = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> None:
    """List jobs with their latest wait, the longest first, or show one with all parts of its waits.

    `--sort-by wait`, `created`, `deadline` or `name` sorts before --limit cuts; other columns sort what is shown.

    Examples:
      kube-collector jobs -n research --phase waiting
      kube-collector jobs train-llama -o yaml
    """
    from dashboards.asking import columns, listing
    from dashboards.filters import SORTS

    names = [] if names == ["list"] else names or []
    given = {"namespace": None if everywhere else namespace, "cluster": cluster, "tenant": tenant, "queue": queue,
             "kind": kind, "phase": phase, "sla": sla, "reason": reason}  # fmt: skip
    filters = _filters(search, **given, name=names)
    ours = sort_by is not None and sort_by.removeprefix("-") in SORTS
    wanted = options.wanted(format_, no_headers, None if ours else sort_by)

    def once(source: Source) -> None:
        if len(names) == 1:
            listing.detail(source, names[0], filters, wanted, utc)
            return
        sort = sort_by if ours and sort_by else "-wait"
        rows = listing.pages(lambda size, cursor: source.jobs(filters, sort, size, cursor), limit)
        output.render(rows, columns.jobs(utc), wanted, name=lambda row: f"{row['job']['kind']}/{row['job']['name']}")

    _ask(_whom(url, config, sets, lang), once, watch)


def violations(
    namespace: Namespace = None,
    everywhere: Everywhere = False,
    cluster: Cluster = None,
    tenant: Tenant = None,
    queue: Queue = None,
    kind: Kinds = None,
    reason: Reason = None,
    state: Annotated[Texts, typer.Option("--state", metavar="STATE", help="open, resolved or withdrawn.")] = None,
    fail_on: Annotated[
        str | None, typer.Option("--fail-on", metavar="WHAT", help="End with code 5 if there is any, or any open one.")
    ] = None,
    sort_by: options.SortBy = None,
    limit: Limit = 100,
    lang: Lang = None,
    watch: Watch = False,
    utc: options.Utc = False,
    format_: options.Output = "table",
    no_headers: options.NoHeaders = False,
    url: Url = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> None:
    """List broken promises, the latest first.

    Examples:
      kube-collector violations --state open
      kube-collector violations -n research --fail-on open -o json
    """
    from dashboards.asking import columns, listing
    from dashboards.filters import one_of

    if fail_on is not None:
        one_of("--fail-on", fail_on, tuple(listing.FAILS))
    filters = _filters(namespace=None if everywhere else namespace, cluster=cluster, tenant=tenant, queue=queue, kind=kind,
                       reason=reason, state=state)  # fmt: skip
    wanted = options.wanted(format_, no_headers, sort_by)

    def once(source: Source) -> None:
        rows = listing.pages(lambda size, cursor: source.violations(filters, size, cursor), limit)
        output.render(rows, columns.violations(utc), wanted, name=lambda row: str(row["job"]["name"]))
        if fail_on is not None:
            _fail(listing.count_violations(source, filters, fail_on))

    _ask(_whom(url, config, sets, lang), once, watch)


def queues(
    namespace: Namespace = None,
    everywhere: Everywhere = False,
    cluster: Cluster = None,
    tenant: Tenant = None,
    queue: Queue = None,
    kind: Kinds = None,
    sort_by: options.SortBy = None,
    lang: Lang = None,
    watch: Watch = False,
    format_: options.Output = "table",
    no_headers: options.NoHeaders = False,
    url: Url = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> None:
    """List queues: how many jobs wait, how long, because of what; the one with the most waiting first.

    Examples:
      kube-collector queues
      kube-collector queues --tenant vision --sort-by -longest
    """
    from dashboards.asking import columns

    filters = _filters(
        namespace=None if everywhere else namespace, cluster=cluster, tenant=tenant, queue=queue, kind=kind
    )
    wanted = options.wanted(format_, no_headers, sort_by)

    def once(source: Source) -> None:
        output.render(source.queues(filters)["items"], columns.queues(), wanted)

    _ask(_whom(url, config, sets, lang), once, watch)


def reasons(
    namespace: Namespace = None,
    everywhere: Everywhere = False,
    cluster: Cluster = None,
    tenant: Tenant = None,
    queue: Queue = None,
    kind: Kinds = None,
    reason: Annotated[Texts, typer.Option("--reason", metavar="CODE", help="Only this reason.")] = None,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Begin; -24h or first data without it.")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="TIME", help="End; the log time without it.")] = None,
    unit: Annotated[
        str, typer.Option("--unit", metavar="UNIT", help="jobs, or gpus for the GPUs they ask for.")
    ] = "jobs",
    sort_by: options.SortBy = None,
    lang: Lang = None,
    format_: options.Output = "table",
    no_headers: options.NoHeaders = False,
    url: Url = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> None:
    """Sum up waiting time by reason, the most first; -o json adds the curve over time.

    Examples:
      kube-collector reasons --tenant vision
      kube-collector reasons --from -6h --unit gpus -o json
    """
    from dashboards.asking import columns, listing, show
    from dashboards.filters import UNITS, one_of

    one_of("unit", unit, UNITS)
    filters = _filters(namespace=None if everywhere else namespace, cluster=cluster, tenant=tenant, queue=queue, kind=kind,
                       reason=reason)  # fmt: skip
    wanted = options.wanted(format_, no_headers, sort_by)
    whom = _whom(url, config, sets, lang)

    def once(source: Source) -> None:
        answer = source.reasons(filters, *listing.range_ms(source, filters, from_, to), unit)
        if wanted.format in ("json", "yaml"):
            output.render_object(answer, wanted.format)
        elif wanted.format == "table" and not sort_by and not no_headers:
            show.reasons(answer["totals"], whom.lang, jobs=True)
        else:
            output.render(answer["totals"], columns.reasons(), wanted)

    _ask(whom, once)


def _whom(url: str | None, config: Iterable[Path] | None, sets: Iterable[str] | None, lang: str | None) -> Whom:
    from dashboards.asking.source import Whom
    from pipeline.records import words

    lang = lang or os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG")
    return Whom(url, config, sets, words.language(lang))


def _filters(text: str = "", **given: Iterable[str] | None) -> Filters:
    from dashboards import filters

    return filters.made(given, text)


def _fail(count: int) -> None:
    if count:
        what = f"{count} promise{'s are' if count > 1 else ' is'} broken"
        raise CheckFailed(what, fix="`kube-collector why JOB` says why.")


def _ask(whom: Whom, once: Callable[[Source], None], watch: bool = False) -> None:
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
