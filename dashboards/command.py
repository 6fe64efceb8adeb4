"""`kube-collector dash`, and the commands that ask: `why`, `jobs`, `queues`, `violations`, `reasons`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dashboards.asking import flags
from pipeline.cli import options, output

if TYPE_CHECKING:
    from dashboards.asking.source import Source


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
    job: Annotated[str, typer.Argument(metavar="JOB", help="Name of the job, KIND/NAME or NAMESPACE/NAME.")],
    namespace: flags.Namespace = None,
    cluster: flags.Cluster = None,
    kind: flags.Kind = None,
    uid: flags.Uid = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="As of then: -30m, 2026-03-01T10:20:00Z.")
    ] = None,
    lang: flags.Lang = None,
    watch: flags.Watch = False,
    utc: options.Utc = False,
    format_: options.OutputOfOne = "table",
    url: flags.Url = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> None:
    """Say why a job waits or waited: for how long because of what, against which promise, and what would help.

    Without -n the job is looked for in all namespaces. -30m is meant from the log time, so also in a replay. Of several
    jobs that had the name one after the other the newest is meant, with --at the one of that moment.

    Examples:
      kube-collector why train-llama -n research
      kube-collector why train-llama --at -2h -o json
    """
    from dashboards import filters as filters_
    from dashboards.asking import listing, show

    output.check(format_, ("table", "wide", "json", "yaml"))
    whom = flags.whom(url, config, sets, lang)
    filters = flags.narrowed(namespace=namespace, cluster=cluster)
    kind = filters_.kind(kind) if kind else ""
    wanted = filters_.Wanted(filters_.job_name(job), filters.cluster, filters.namespace, kind, uid or "")

    def once(source: Source) -> None:
        at_ms = None if at is None else listing.moment_ms(source, filters, at)
        with listing.local_times(utc=utc):
            answer = source.why(wanted, at_ms)
        if at_ms is None:
            listing.others(answer["others"], whom.lang)
        elif at_ms > answer["at_ms"]:
            listing.ahead(answer["at_ms"], whom.lang, utc=utc)
        if format_ in ("json", "yaml"):
            output.render_object(answer, format_)
        else:
            show.why(answer, whom.lang, utc=utc)

    flags.ask(whom, once, watch)


def jobs(
    names: Annotated[
        flags.Texts, typer.Argument(metavar="NAME", help="Jobs by name; one alone, not filtered, is shown in full.")
    ] = None,
    namespace: flags.Namespace = None,
    everywhere: flags.Everywhere = False,
    cluster: flags.Cluster = None,
    tenant: flags.Tenant = None,
    queue: flags.Queue = None,
    kind: flags.Kinds = None,
    uid: flags.Uid = None,
    phase: Annotated[
        flags.Texts, typer.Option("--phase", metavar="PHASE", help="waiting, placed or cancelled.")
    ] = None,
    sla: Annotated[
        flags.Texts, typer.Option("--sla", metavar="SLA", help="on_track, at_risk, violated, met, …")
    ] = None,
    reason: flags.Reason = None,
    search: Annotated[str, typer.Option("--search", metavar="TEXT", help="Text in name, queue or uid.")] = "",
    sort_by: options.SortBy = None,
    limit: flags.Limit = 100,
    lang: flags.Lang = None,
    watch: flags.Watch = False,
    utc: options.Utc = False,
    format_: options.Output = "table",
    no_headers: options.NoHeaders = False,
    url: flags.Url = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> None:
    """List jobs with their latest wait, the longest first, or show one with all parts of its waits.

    `--sort-by wait`, `created`, `deadline` or `name` sorts before --limit cuts; other columns sort what is shown.

    Examples:
      kube-collector jobs -n research --phase waiting
      kube-collector jobs train-llama -o yaml
    """
    from dashboards.asking import job_list

    names = job_list.typed(names)
    given = {"namespace": None if everywhere else namespace, "cluster": cluster, "tenant": tenant, "queue": queue,
             "kind": kind, "phase": phase, "sla": sla, "reason": reason}  # fmt: skip
    filters = flags.narrowed(search, **given, name=[name.rpartition("/")[2] for name in names])
    asked = job_list.Asked(names, filters, uid or "", sort_by, limit)
    wanted = options.wanted(format_, no_headers, asked.column)
    whom = flags.whom(url, config, sets, lang)
    flags.ask(whom, lambda source: job_list.show(source, asked, wanted, utc, whom.lang), watch)


def violations(
    namespace: flags.Namespace = None,
    everywhere: flags.Everywhere = False,
    cluster: flags.Cluster = None,
    tenant: flags.Tenant = None,
    queue: flags.Queue = None,
    kind: flags.Kinds = None,
    reason: flags.Reason = None,
    state: Annotated[flags.Texts, typer.Option("--state", metavar="STATE", help="open, resolved or withdrawn.")] = None,
    fail_on: Annotated[
        str | None, typer.Option("--fail-on", metavar="WHAT", help="End with code 5 if there is any, or any open one.")
    ] = None,
    sort_by: options.SortBy = None,
    limit: flags.Limit = 100,
    lang: flags.Lang = None,
    watch: flags.Watch = False,
    utc: options.Utc = False,
    format_: options.Output = "table",
    no_headers: options.NoHeaders = False,
    url: flags.Url = None,
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
    filters = flags.narrowed(namespace=None if everywhere else namespace, cluster=cluster, tenant=tenant, queue=queue, kind=kind,
                       reason=reason, state=state)  # fmt: skip
    wanted = options.wanted(format_, no_headers, sort_by)
    whom = flags.whom(url, config, sets, lang)

    def once(source: Source) -> None:
        rows = listing.pages(lambda size, cursor: source.violations(filters, size, cursor), limit, whom.lang)
        listing.render(rows, columns.violations(utc, whom.lang), wanted, whom.lang, columns.name)
        if fail_on is not None:
            listing.fail_on(source, filters, fail_on)

    flags.ask(whom, once, watch)


def queues(
    namespace: flags.Namespace = None,
    everywhere: flags.Everywhere = False,
    cluster: flags.Cluster = None,
    tenant: flags.Tenant = None,
    queue: flags.Queue = None,
    kind: flags.Kinds = None,
    sort_by: options.SortBy = None,
    lang: flags.Lang = None,
    watch: flags.Watch = False,
    format_: options.Output = "table",
    no_headers: options.NoHeaders = False,
    url: flags.Url = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
) -> None:
    """List queues: how many jobs wait, how long, because of what; the one with the most waiting first.

    LONGEST is the longest wait of a job that waits now, TOTAL the sum of all such waits so far, GPUS what those jobs ask for.

    Examples:
      kube-collector queues
      kube-collector queues --tenant vision --sort-by -longest
    """
    from dashboards.asking import columns, listing

    filters = flags.narrowed(
        namespace=None if everywhere else namespace, cluster=cluster, tenant=tenant, queue=queue, kind=kind
    )
    wanted = options.wanted(format_, no_headers, sort_by)
    whom = flags.whom(url, config, sets, lang)

    def once(source: Source) -> None:
        answer = source.queues(filters)
        listing.unknown(answer, whom.lang)
        listing.render(answer["items"], columns.queues(), wanted, whom.lang, lambda row: row["queue"] or "-")

    flags.ask(whom, once, watch)


def reasons(
    namespace: flags.Namespace = None,
    everywhere: flags.Everywhere = False,
    cluster: flags.Cluster = None,
    tenant: flags.Tenant = None,
    queue: flags.Queue = None,
    kind: flags.Kinds = None,
    reason: Annotated[flags.Texts, typer.Option("--reason", metavar="CODE", help="Only this reason.")] = None,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Begin; -24h or first data without it.")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="TIME", help="End; the log time without it.")] = None,
    unit: Annotated[
        str, typer.Option("--unit", metavar="UNIT", help="jobs, or gpus for the GPUs they ask for.")
    ] = "jobs",
    sort_by: options.SortBy = None,
    lang: flags.Lang = None,
    format_: options.Output = "table",
    no_headers: options.NoHeaders = False,
    url: flags.Url = None,
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
    filters = flags.narrowed(namespace=None if everywhere else namespace, cluster=cluster, tenant=tenant, queue=queue, kind=kind,
                       reason=reason)  # fmt: skip
    wanted = options.wanted(format_, no_headers, sort_by)
    whom = flags.whom(url, config, sets, lang)

    def once(source: Source) -> None:
        answer = source.reasons(filters, *listing.range_ms(source, filters, from_, to), unit)
        listing.unknown(answer, whom.lang)
        if wanted.format in ("json", "yaml"):
            output.render_object(answer, wanted.format)
        elif wanted.format == "table" and not sort_by and not no_headers:
            show.reasons(answer["totals"], whom.lang, jobs=True)
        else:
            listing.render(answer["totals"], columns.reasons(), wanted, whom.lang)

    flags.ask(whom, once)
