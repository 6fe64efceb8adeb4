"""Rows of the views as objects of the API. Pure.

The warehouse gives times as DATETIME without a zone, in UTC, truth values as 0 and 1, and sums as numbers of any kind.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from dashboards.objects import Episode, Job, JobRow, Now, Reason, Segment, Violation
from pipeline.records import words

Row = dict[str, Any]


def ms(moment: datetime | None) -> int | None:
    """Milliseconds since 1970 of a DATETIME."""
    return None if moment is None else at(moment)


def at(moment: datetime) -> int:
    """As `ms`, of a time that is never null."""
    whole = int(moment.replace(tzinfo=UTC, microsecond=0).timestamp())
    return whole * 1000 + moment.microsecond // 1000


def job(row: Row) -> Job:
    """Which job a row of any judged table is about."""
    return Job(
        row["cluster"],
        row["namespace"] or "",
        row["job_kind"] or "",
        row["job_name"] or "",
        row["job_uid"],
        row["tenant"] or "",
        row["queue"] or "",
    )


def job_row(row: Row, episodes: int, lang: str, now: Now | None = None) -> JobRow:
    """A row of `v_job_wait`."""
    return JobRow(**_of_wait(row, episodes, lang, now))


def episode(row: Row, episodes: int, lang: str, segments: list[Segment]) -> Episode:
    """A row of `v_job_wait` with its parts; what holds it now is the part that is open."""
    last = segments[-1] if segments and row["phase"] == "waiting" and segments[-1].to_ms is None else None
    return Episode(
        **_of_wait(row, episodes, lang, now_of(last)),
        segments=segments,
        promise_source=row["promise_source"],
        misconfigured=row["misconfigured"],
        first_task_ms=ms(row["first_task_at"]),
        running_ms=ms(row["running_at"]),
        startup_ms=row["startup_ms"],
        estimated_ms=row["estimated_ms"],
        gap_ms=row["gap_ms"],
    )


def segment(row: Row, lang: str) -> Segment:
    """A row of `v_wait_segment`."""
    return Segment(
        n=row["n"],
        reason=row["reason"],
        detail=row["detail"] or None,
        resource=row["resource"] or None,
        title=words.title(lang, row["reason"]),
        from_ms=at(row["from_at"]),
        to_ms=ms(row["to_at"]),
        ms=int(row["ms"] or 0),
        nodes=row["nodes"],
        total_nodes=row["total_nodes"],
        message=row["message"],
        also=texts(row["also"]),
        evidence=row["evidence"],
        estimated=bool(row["estimated"]),
    )


def now_of(part: Segment | None) -> Now | None:
    """What holds a job while this part lasts."""
    if part is None:
        return None
    return Now(
        part.reason, part.detail, part.resource, part.nodes, part.total_nodes, part.title, part.message, part.from_ms
    )


def open_now(row: Row, lang: str) -> Now:
    """A row of `open_segments`."""
    return Now(
        row["reason"],
        row["detail"] or None,
        row["resource"] or None,
        row["nodes"],
        row["total_nodes"],
        words.title(lang, row["reason"]),
        since_ms=at(row["from_at"]),
    )


def violation(row: Row, lang: str) -> Violation:
    """A row of `v_sla_violation`."""
    return Violation(
        job=job(row),
        episode=row["episode"],
        promise_ms=row["promise_ms"],
        deadline_ms=ms(row["deadline_at"]),
        violated_ms=ms(row["violated_at"]),
        resolved_ms=ms(row["resolved_at"]),
        overrun_ms=int(row["overrun_ms"] or 0),
        reason=row["reason"],
        resource=row["resource"] or None,
        title=words.title(lang, row["reason"]),
        fingerprint=row["fingerprint"] or "",
        state=row["state"],
    )


def texts(value: object) -> list[str]:
    """A JSON column that holds a list of texts, as text or already read."""
    return [str(item) for item in _json(value, [])]


def _of_wait(row: Row, episodes: int, lang: str, now: Now | None) -> dict[str, Any]:
    return {
        "job": job(row),
        "episode": row["episode"],
        "episodes": episodes,
        "phase": row["phase"],
        "cause": row["cause"] or None,
        "created_ms": ms(row["created_at"]),
        "started_ms": at(row["started_at"]),
        "scheduled_ms": ms(row["scheduled_at"]),
        "ended_ms": ms(row["ended_at"]),
        "wait_ms": int(row["wait_ms"] or 0),
        "promise_ms": row["promise_ms"],
        "deadline_ms": ms(row["deadline_at"]),
        "sla": row["sla"],
        "overrun_ms": row["overrun_ms"],
        "leading": _leading(row, lang),
        "now": now,
        "tasks": row["tasks"],
        "minimum": row["minimum"],
        "gpus": row["gpus"],
        "cpus_milli": row["cpus_milli"],
        "memory_bytes": row["memory_bytes"],
        "priority_class": row["priority_class"] or None,
        "partial": bool(row["partial"]),
    }


def _leading(row: Row, lang: str) -> Reason | None:
    reason = row["leading_reason"]
    if not reason:
        return None
    share = float(row["leading_share"] or 0.0)
    length_ms = round(share * int(row["wait_ms"] or 0))
    title = words.title(lang, reason)
    return Reason(reason, row["leading_detail"] or None, row["leading_resource"] or None, length_ms, share, title)


def _json(value: object, missing: list[Any]) -> list[Any]:
    if isinstance(value, str | bytes) and value:
        value = msgspec.json.decode(value)
    return value if isinstance(value, list) else missing
