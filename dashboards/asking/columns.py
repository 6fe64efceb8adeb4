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
        _time("created", "created_ms", utc),
        _time("deadline", "deadline_ms", utc),
    ]


def segments(utc: bool) -> list[Column]:
    """One row a part of a wait."""
    return [
        Column("wait", "episode", right=True),
        Column("n", "n", right=True),
        Column("from", lambda row: times.show(row["from_ms"], utc=utc), sort="from_ms"),
        _duration("lasted", "ms"),
        Column("reason", "title", code="reason"),
        Column("resource", "resource"),
        Column("nodes", _nodes),
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
        Column("since", lambda row: times.show(row["violated_ms"], utc=utc), sort="violated_ms"),
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


def _time(title: str, key: str, utc: bool) -> Column:
    return Column(title, lambda row: times.show(row[key], utc=utc), wide=True, sort=key)


def _reason(row: Row) -> Row:
    """What holds the job now, else what held it most; empty if nothing did."""
    return row["now"] or row["leading"] or {}


def _holding(row: Row) -> str | None:
    reason = _reason(row)
    if not reason:
        return None
    return f"{reason['title']} ({reason['resource']})" if reason["resource"] else str(reason["title"])


def _nodes(row: Row) -> str | None:
    return f"{row['nodes']}/{row['total_nodes']}" if row["total_nodes"] else None
