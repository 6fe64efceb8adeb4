"""Tables of the listing commands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pipeline.cli import terminal, times
from pipeline.cli.output import Column, lookup
from pipeline.records import words

Row = dict[str, Any]
_STYLES: dict[str, terminal.Style] = {
    "violated": "red", "met_late": "red", "at_risk": "yellow", "open": "red", "met": "green", "on_track": "green",
}  # fmt: skip


def name(row: Row) -> str:
    """A job as `-o name` prints it, and as other commands take it."""
    return f"{row['job']['kind']}/{row['job']['name']}"


def jobs(utc: bool, lang: str) -> list[Column]:
    """One row a job."""
    return [
        Column("namespace", "job.namespace"),
        Column("name", "job.name"),
        Column("kind", "job.kind"),
        Column("queue", "job.queue"),
        Column("phase", lambda row: words.phase(lang, row["phase"]), code="phase"),
        _duration("wait", "wait_ms"),
        _duration("promise", "promise_ms"),
        _cell("sla", lang),
        Column("reason", _holding, flexible=True, code=lambda row: _reason(row).get("reason")),
        Column("gpus", "gpus", right=True),
        Column("cluster", "job.cluster", wide=True),
        Column("tenant", "job.tenant", wide=True),
        Column("resource", lambda row: _reason(row).get("resource"), wide=True),
        Column("waits", "episodes", wide=True, right=True),
        _time("created", "created_ms", utc, wide=True),
        _time("deadline", "deadline_ms", utc, wide=True),
    ]


def segments(utc: bool, lang: str) -> list[Column]:
    """One row a part of a wait; `#` is the number of the wait."""
    return [
        Column("#", "episode", right=True, csv="episode"),
        Column("n", "n", right=True),
        _time("from", "from_ms", utc),
        _duration("lasted", "ms"),
        Column("reason", lambda row: titled(row, lang, is_over=row["to_ms"] is not None), code="reason"),
        Column("detail", "detail", wide=True),
        Column("resource", "resource"),
        Column("nodes", _nodes, sort="nodes", code="nodes"),
        Column("total_nodes", "total_nodes", only_csv=True),
        Column("message", "message", flexible=True),
        Column("evidence", "evidence", wide=True),
    ]


def violations(utc: bool, lang: str) -> list[Column]:
    """One row a broken promise."""
    return [
        Column("namespace", "job.namespace"),
        Column("name", "job.name"),
        Column("queue", "job.queue"),
        _cell("state", lang),
        _duration("promise", "promise_ms"),
        _duration("overrun", "overrun_ms"),
        Column("reason", "title", flexible=True, code="reason"),
        _time("since", "violated_ms", utc),
        Column("cluster", "job.cluster", wide=True),
        Column("kind", "job.kind", wide=True),
        Column("fingerprint", "fingerprint", wide=True),
    ]


def queues() -> list[Column]:
    """One row a queue."""
    return [
        Column("queue", "queue"),
        Column("tenant", "tenant"),
        Column("jobs", "jobs", right=True),
        Column("waiting", "waiting", right=True),
        Column("violated", "violated", right=True, style=lambda row: "red" if row["violated"] else None),
        _duration("longest", "longest_wait_ms"),
        _duration("total", "waiting_ms"),
        Column("gpus", "gpus_waiting", right=True),
        Column("reason", "leading.title", flexible=True, code="leading.reason"),
    ]


def reasons() -> list[Column]:
    """One row a reason, for CSV and the like; tables with bars are `show.reasons`."""
    return [
        Column("reason", "reason"),
        Column("title", "title"),
        Column("resource", lambda row: row["resources"] or row["resource"]),
        Column("jobs", "jobs", right=True),
        Column("ms", "ms", right=True),
        Column("share", "share", right=True),
    ]


def titled(row: Row, lang: str, *, is_over: bool = False) -> str:
    """A reason with its detail, which tells apart two of one title; `is_over`: it holds the job no more."""
    code = row["detail"]
    if not code:
        return str(row["title"])
    detail = words.detail_past(lang, row["reason"], code) if is_over else words.detail(lang, code)
    return f"{row['title']} ({detail})"


def in_language(columns: Iterable[Column], lang: str) -> list[Column]:
    """The columns with headings in a reader's language."""
    return [replace(column, heading=words.heading(lang, column.title)) for column in columns]


def _duration(title: str, key: str) -> Column:
    """Go's form for people; in CSV the field of the JSON, under its name."""

    def text(row: Row) -> str | None:
        found = lookup(row, key)
        return None if found is None else words.duration(found)

    return Column(title, text, right=True, sort=key, code=key, csv=key)


def _cell(key: str, lang: str) -> Column:
    """A code that a filter takes."""
    return Column(key, lambda row: words.cell(lang, row[key]), code=key, style=lambda row: _STYLES.get(row[key]))


def _time(title: str, key: str, utc: bool, *, wide: bool = False) -> Column:
    """A moment for people; in CSV the field of the JSON, under its name."""
    return Column(title, lambda row: times.show(row[key], utc=utc), wide=wide, sort=key, code=key, csv=key)


def _reason(row: Row) -> Row:
    """What holds the job now, else what held it most; empty if nothing did."""
    return row["now"] or row["leading"] or {}


def _holding(row: Row) -> str | None:
    reason = _reason(row)
    if not reason:
        return None
    return f"{reason['title']} ({reason['resource']})" if reason["resource"] else str(reason["title"])


def _nodes(row: Row) -> str | None:
    return f"{row['nodes']}/{row['total_nodes']}" if row["nodes"] is not None and row["total_nodes"] else None
