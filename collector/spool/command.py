"""`kube-collector spool`: look into the spool, check it, mend it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli import options, output, replays, terminal, times
from pipeline.cli.output import Column
from pipeline.errors import BadUsage, CheckFailed, NotFound

if TYPE_CHECKING:
    from collector.spool.picking import Shown, Wanted
    from collector.spool.survey import ClusterSurvey, ReaderLag
    from pipeline.config.places import Places
    from pipeline.log.repair import Report

app = options.group(
    """Look into the spool on disk, check it and mend it.

    Examples:
      kube-collector spool info
      kube-collector spool check
    """
)

Directory = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="PATH", help="Data folder, instead of the one in the settings.", show_default=False
    ),
]


@app.command()
def info(
    data_dir: Directory = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
    output_format: options.OutputOfOne = "table",
    utc: options.Utc = False,
) -> None:
    """Show size, log time, readers and watches; safe while a collector runs.

    Examples:
      kube-collector spool info
      kube-collector spool info -o json | jq '.records.readers'
    """
    from collector.spool import survey

    output.check(output_format, ("table", "json", "yaml"))
    found = survey.survey(_places(data_dir, config, sets))
    if output_format != "table":
        output.render_object(found, output_format)
        return
    output.render(_facts(found, utc), (Column("what", "what"), Column("value", "value")), output.Wanted(headers=False))


@app.command()
def check(
    data_dir: Directory = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
    output_format: options.OutputOfOne = "table",
) -> None:
    """Read every segment against its index; ends with code 5 when anything is damaged. Safe while a collector runs.

    Examples:
      kube-collector spool check
      kube-collector spool check --data-dir /var/lib/kube-collector -o json
    """
    from pipeline.log import repair

    reports = [repair.check(path) for path in _logs(_places(data_dir, config, sets))]
    _print(reports, output_format)
    if not all(report.sound for report in reports):
        raise CheckFailed(
            "the spool is damaged; its good records are read all the same",
            fix="Run `kube-collector spool repair` with the collector stopped to keep the bytes and mend the indexes.",
        )


@app.command()
def repair(
    data_dir: Directory = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
    output_format: options.OutputOfOne = "table",
) -> None:
    """Make indexes anew, cut torn tails, copy damaged bytes to `quarantine/`. No good record is changed.

    The collector must be stopped.

    Examples:
      kube-collector spool repair
      kube-collector spool repair --data-dir /var/lib/kube-collector
    """
    from pipeline.log import repair as mending

    _print([mending.repair(path) for path in _logs(_places(data_dir, config, sets))], output_format)


@app.command()
def cat(
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type", metavar="TYPE", help="object, event, decision, figures, gap or tick; may be given several times."
        ),
    ] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Kind of the object, such as Pod.")] = None,
    job: Annotated[str | None, typer.Option("--job", metavar="NAMESPACE/NAME", help="Records of one job.")] = None,
    since: Annotated[str | None, typer.Option("--from", metavar="TIME", help="Observed at or after.")] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Observed before.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="At most so many records; 0 for all.")] = 0,
    data_dir: Directory = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
    output_format: Annotated[
        str, typer.Option("--output", "-o", metavar="FORMAT", help="ndjson (the lines as they are) or table.")
    ] = "ndjson",
    no_headers: options.NoHeaders = False,
    utc: options.Utc = False,
) -> None:
    """Print records in log order; safe while a collector runs.

    Examples:
      kube-collector spool cat --from -10m -o table
      kube-collector spool cat --job research/train-llama --type event --type decision
    """
    from itertools import islice

    from collector.spool import picking

    output.check(output_format, ("ndjson", "table"))
    wanted = _wanted(types, kind, job, since, until)
    picked = picking.pick(_places(data_dir, config, sets).records, wanted)
    if limit:
        picked = islice(picked, limit)
    if output_format == "table":
        rows = [picking.show(each.record) for each in picked]
        output.render(rows, _record_columns(utc), output.Wanted(headers=not no_headers))
        return
    for each in picked:
        sys.stdout.write(each.line.decode(errors="replace") + "\n")


@app.command()
def forget(
    reader: Annotated[str, typer.Argument(metavar="READER", help="Name of a reader, as `spool info` shows it.")],
    data_dir: Directory = None,
    config: options.ConfigFiles = None,
    sets: options.Sets = None,
    yes: options.Yes = False,
) -> None:
    """Forget a reader that will not come back, so that it holds no segments any more.

    Examples:
      kube-collector spool forget scheduler
      kube-collector spool forget doris --yes
    """
    from pipeline.log import readers

    logs = [path for path in _logs(_places(data_dir, config, sets)) if reader in readers.registered(path)]
    if not logs:
        raise NotFound(f"no reader {reader!r} in the spool", fix="`kube-collector spool info` lists them.")
    options.confirm(f"Segments that {reader} has not read may then be removed. Forget it?", yes)
    for path in logs:
        readers.forget(path, reader)


def _places(data_dir: Path | None, config: list[Path] | None, sets: list[str] | None) -> Places:
    from pipeline.config.places import Places

    found = Places(data_dir or options.settings(config, sets).ground.data_dir)
    if not found.spool.is_dir():
        raise NotFound(
            "there is no spool",
            where=str(found.spool),
            fix="Name the data folder with --data-dir; the demo's is data/demo.",
        )
    return found


def _logs(places: Places) -> list[Path]:
    return [path for path in (places.records, places.dead_letters) if path.is_dir()]


def _wanted(types: list[str] | None, kind: str | None, job: str | None, since: str | None, until: str | None) -> Wanted:
    from collector.spool import picking
    from pipeline import clock

    for name in types or ():
        if name not in picking.TYPES:
            raise BadUsage(f"--type {name}: no such type", fix=f"Use one of {', '.join(picking.TYPES)}.")
    if job is not None and job.count("/") != 1:
        raise BadUsage(f"--job {job}: not a job", fix="Write NAMESPACE/NAME, such as research/train-llama.")
    now_ms = clock.now_ms()
    return picking.Wanted(
        types=frozenset(types) if types else None,
        kind=kind,
        job=job,
        from_ms=times.parse(since, now_ms) if since else None,
        to_ms=times.parse(until, now_ms) if until else None,
    )


def _record_columns(utc: bool) -> tuple[Column, ...]:
    def observed(row: Shown) -> str:
        return times.show(row.observed_ms, utc=utc)

    return (
        Column("observed", observed),
        Column("type", "type"),
        Column("kind", "kind"),
        Column("name", "name"),
        Column("job", "job"),
        Column("what", "what", flexible=True),
    )


def _print(reports: list[Report], format_: str) -> None:
    output.check(format_, ("table", "wide", "json", "yaml"))
    if format_ in {"json", "yaml"}:
        output.render_object(reports, format_)
        return
    rows = [_segment_row(report, at) for report in reports for at in range(len(report.segments))]
    output.render(rows, _SEGMENT_COLUMNS, format_)
    for report in reports:
        for number in report.missing:
            terminal.hint(f"{report.directory}: segment {number} is missing; what was in it is lost")
        for name in report.orphans:
            terminal.hint(f"{report.directory}: {name} is the index of no segment")
        for name, ack in report.readers.items():
            if ack is None:
                terminal.hint(f"{report.directory}: how far reader {name} is cannot be read; it holds every segment")


_SEGMENT_COLUMNS = (
    Column("log", "log"),
    Column("segment", "segment", right=True),
    Column("lines", "lines", right=True),
    Column("size", "size", right=True),
    Column("unindexed", "unindexed", right=True),
    Column("damaged", "damaged", right=True, style=lambda row: "red" if row["damaged"] else None),
    Column("from", "from", wide=True),
    Column("to", "to", wide=True),
)


def _segment_row(report: Report, at: int) -> dict[str, Any]:
    segment = report.segments[at]
    return {
        "log": Path(report.directory).name,
        "segment": segment.number,
        "lines": segment.lines,
        "size": segment.data_bytes,
        "unindexed": segment.unindexed_bytes,
        "damaged": segment.damaged_bytes,
        "from": times.show(segment.first_stamp),
        "to": times.show(segment.last_stamp),
    }


def _facts(found: Any, utc: bool) -> list[dict[str, str]]:
    from pipeline import clock

    records, dead = found.records, found.dead_letters
    facts = [
        ("collector", "running" if found.running else "not running"),
        ("records", f"{_size(records.total_bytes)} in {_count(records.segments, 'segment')}"),
        ("log time", f"{times.show(records.first_ms, utc=utc)} to {times.show(records.last_ms, utc=utc)}"),
        ("dead letters", f"{_size(dead.total_bytes)} in {_count(dead.segments, 'segment')}"),
    ]
    for reader in records.readers:
        facts.append((f"reader {reader.name}", _behind(reader)))
    for cluster in found.clusters:
        facts.append((f"cluster {cluster.name}", _watched(cluster)))
        facts += [(f"gap in {cluster.name}", key) for key in cluster.gaps]
    # Log time of a replay lies in its recording: how long ago that was says nothing.
    if records.last_ms is not None and not any(_is_replay(cluster) for cluster in found.clusters):
        facts.insert(3, ("last record", f"{times.ago(records.last_ms, clock.now_ms())} ago"))
    return [{"what": what, "value": value} for what, value in facts]


def _behind(reader: ReaderLag) -> str:
    """How far a reader is; the scheduler is further than it says."""
    from pipeline.log import readers

    if reader.behind_bytes is None:
        return "its ack cannot be read"
    size = _size(reader.behind_bytes)
    return f"{size} since its last snapshot" if reader.name == readers.SCHEDULER else f"{size} behind"


def _watched(cluster: ClusterSurvey) -> str:
    if _is_replay(cluster):
        return "plays a recording"
    known = ", ".join(f"{count} {key}" for key, count in sorted(cluster.known.items())) or "no objects yet"
    return f"{len(cluster.watches)} {'watch' if len(cluster.watches) == 1 else 'watches'}; {known}"


def _is_replay(cluster: ClusterSurvey) -> bool:
    return cluster.name.endswith(replays.SUFFIX)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _size(count: int) -> str:
    """About how much, for a person."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count} B"
