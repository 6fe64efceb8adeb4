"""One job: all its waits with their parts, and why it waits or waited."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import structs

from dashboards import answers, decisions, waits
from dashboards.figures import naming
from dashboards.figures.asked import Asked, fresh
from dashboards.objects import Episode, JobDetail, Life, Scheduler, SeenEvent, Segment, Why
from dashboards.waits import Row
from pipeline.errors import NotFound, UserError
from pipeline.records import reasons, times, words
from pipeline.records.jobs import JobRef

MOST_EVENTS = 200
MOST_LIVES = 50
_MOST_SIGHTS = 2000
_MOST_DECISIONS = 500
_OF_OTHERS = (
    reasons.NOT_ADMITTED, reasons.QUOTA, reasons.QUEUE_LIMIT, reasons.GANG_INCOMPLETE, reasons.PODS_NOT_CREATED,
)  # fmt: skip
_OF_SCHEDULERS = ("queue_refused", "cluster_enqueue_limit")
"""Details of a quota that schedulers keep themselves; Kueue and the API server, which have others, stand before them."""


def detail(asked: Asked, rows: Sequence[Row]) -> JobDetail:
    """Every wait of the newest job of these rows (`naming`), latest first."""
    rows = [row for row in rows if row["job_uid"] == rows[0]["job_uid"]]
    parts = _parts(asked, rows[0], 0)
    episodes = [waits.episode(row, len(rows), asked.lang, parts.get(row["episode"], [])) for row in rows]
    return JobDetail(
        job=waits.job(rows[0]),
        api_group=_group(asked, rows[0]),
        episodes=[_measured(episode) for episode in episodes],
        events=_events(asked, rows[0]),
        lives=_lives(asked, rows[0]),
        scheduler=_stored(asked, rows[0], waits.at(rows[0]["now_at"])) if rows[0]["phase"] == answers.WAITING else None,
        **structs.asdict(fresh(asked, (rows[0]["cluster"],))),
    )


def why(
    asked: Asked, rows: Sequence[Row], at_ms: int | None = None, episode: int | None = None, *, rebuild: bool = False
) -> Why:
    """Why the job of these rows (`naming`) waits, or waited at `at_ms`; a moment behind the log time means now.

    `episode`: which wait is meant, without it the one of the moment. `rebuild`: where no decision of a scheduler is stored
    for `at_ms`, the log is asked for one. Raises NotFound.
    """
    name, uids = rows[0]["job_name"], naming.uids(rows)
    now_ms = max(waits.at(row["now_at"]) for row in rows)
    moment_ms = now_ms if at_ms is None else min(at_ms, now_ms)
    if episode is not None:
        rows = _only(rows, episode)
    stored = [waits.job_row(row, len(rows), asked.lang) for row in rows]
    wait = answers.choose(stored, moment_ms)
    if wait is None or (episode is not None and moment_ms < wait.started_ms):
        first_ms = min(row.started_ms for row in stored)
        raise NotFound(
            f"job {name} did not {'exist' if episode is None else 'wait'} yet at {times.format_ms(moment_ms)}",
            fix=f"It is known from {times.format_ms(first_ms)} on; ask for a later moment.",
        )
    row = next(row for row, each in zip(rows, stored, strict=True) if each is wait)
    parts: Sequence[Segment] = _parts(asked, row, wait.episode).get(wait.episode, [])
    sees, note = None, None
    if wait.ended_ms is None or wait.ended_ms > moment_ms:
        sees = _stored(asked, row, moment_ms)
        if sees is None and rebuild and at_ms is not None:
            sees, note = _rebuilt(asked, row, moment_ms, answers.part_at(parts, moment_ms))
    if moment_ms < now_ms:
        parts = _as_of(asked, row, parts, moment_ms, sees)
    answer = answers.why(wait, parts, moment_ms, asked.lang, fresh(asked, (wait.job.cluster,)), sees, note)
    answer.others = [uid for uid in uids if uid != wait.job.uid]
    return answer


def _as_of(
    asked: Asked, row: Row, parts: Sequence[Segment], moment_ms: int, sees: Scheduler | None
) -> Sequence[Segment]:
    """The parts as far as they were known at a moment of the past."""
    part = answers.part_at(parts, moment_ms)
    if part is None:
        return parts
    known = answers.as_known(part, sees, is_said=_is_said(asked, row, part.message, moment_ms))
    return [known if each is part else each for each in parts]


def _is_said(asked: Asked, row: Row, message: str | None, moment_ms: int) -> bool:
    """Whether these words about the job were said by then; of words that nobody is known to have said it is taken so."""
    if not message:
        return True
    said = asked.store.rows(
        "first_said",
        from_day=row["day"].isoformat(),
        cluster=row["cluster"],
        uid=row["job_uid"],
        message=message,
        quoted=msgspec.json.encode(message).decode(),  # as it stands in JSON
    )
    return not said or waits.at(said[0]["said_at"]) <= moment_ms


def _only(rows: Sequence[Row], episode: int) -> list[Row]:
    """The one wait of that number, of the newest job. Raises NotFound."""
    newest = [row for row in rows if row["job_uid"] == rows[0]["job_uid"]]
    found = [row for row in newest if row["episode"] == episode]
    if not found:
        raise NotFound(
            f"job {rows[0]['job_name']} has no wait {episode}",
            fix=f"Its waits are {', '.join(str(row['episode']) for row in reversed(newest))}.",
        )
    return found


def _parts(asked: Asked, row: Row, episode: int) -> dict[int, list[Segment]]:
    """The parts of one wait of the row's job, or of all (0), by wait."""
    rows = asked.store.rows(
        "segments",
        day=row["day"].isoformat(),
        cluster=row["cluster"],
        uid=row["job_uid"],
        episode=episode,
        limit=asked.store.max_rows,
    )
    parts: dict[int, list[Segment]] = {}
    for each in rows:
        parts.setdefault(each["episode"], []).append(waits.segment(each, asked.lang))
    return parts


def _lives(asked: Asked, row: Row) -> list[Life]:
    rows = asked.store.rows(
        "lives",
        cluster=row["cluster"],
        namespace=row["namespace"],
        kind=row["job_kind"],
        name=row["job_name"],
        limit=MOST_LIVES,
    )
    return [
        Life(row["job_uid"], waits.ms(row["created_at"]), waits.at(row["started_at"]), row["phase"], row["sla"])
        for row in rows
    ]


def _group(asked: Asked, row: Row) -> str | None:
    found = asked.store.rows("group", from_day=row["day"].isoformat(), cluster=row["cluster"], uid=row["job_uid"])
    return found[0]["api_group"] if found else None


def _stored(asked: Asked, row: Row, at_ms: int) -> Scheduler | None:
    """What a scheduler's stored decisions say of the wait at a moment."""
    rows = asked.store.rows(
        "decisions",
        from_day=row["day"].isoformat(),
        to_day=times.sql_date(at_ms),
        cluster=row["cluster"],
        uid=row["job_uid"],
        until_at=times.sql_datetime(at_ms),
        limit=_MOST_DECISIONS,
    )
    holds = decisions.standing(map(decisions.of_row, rows), waits.at(row["started_at"]))
    return decisions.told(asked.lang, holds, row["queue"] or "")


def _rebuilt(asked: Asked, row: Row, at_ms: int, part: Segment | None) -> tuple[Scheduler | None, str | None]:
    """What a scheduler would have seen at a moment, made from the log; or why that cannot be told.

    That it saw nothing is not said of a part whose reason others gave: the job was not its to place yet.
    """
    texts = words.LANGUAGES[asked.lang].SEES
    if asked.explain is None:
        return None, texts["no_log"]
    job = JobRef(row["job_kind"], row["namespace"] or "", row["job_name"], row["job_uid"])
    try:
        made = asked.explain(row["cluster"], job, at_ms)
    except UserError as error:
        return None, texts["unread"].format(why=error.what)
    holds = decisions.standing(made, waits.at(row["started_at"]))
    sees = decisions.told(asked.lang, holds, row["queue"] or "", rebuilt=True)
    return sees, None if sees or _is_of_others(part) else texts["nothing"]


def _is_of_others(part: Segment | None) -> bool:
    """Whether somebody before the scheduler holds the job: a queue, a gate, its gang, its controller."""
    return part is not None and part.reason in _OF_OTHERS and part.detail not in _OF_SCHEDULERS


def _events(asked: Asked, row: Row) -> list[SeenEvent]:
    """The newest sight of each Event, newest first."""
    rows = asked.store.rows(
        "events",
        from_day=row["day"].isoformat(),
        cluster=row["cluster"],
        uid=row["job_uid"],
        limit=min(_MOST_SIGHTS, asked.store.max_rows),
    )
    newest: dict[str, SeenEvent] = {}
    for each in rows:
        if each["uid"] not in newest:
            newest[each["uid"]] = _event(each)
    return sorted(newest.values(), key=lambda event: -event.at_ms)[:MOST_EVENTS]


def _event(row: Row) -> SeenEvent:
    at_ms = row["last_us"] // 1000 if row["last_us"] else waits.at(row["observed_at"])
    regarding = "/".join(row[part] or "" for part in ("regarding_kind", "regarding_namespace", "regarding_name"))
    return SeenEvent(
        at_ms, row["reason"] or "", row["message"] or "", row["component"] or "", int(row["count"] or 1), regarding
    )


def _measured(episode: Episode) -> Episode:
    """With the leading reason of the parts themselves: the stored one may be a minute old while the wait is open."""
    end_ms = episode.started_ms + episode.wait_ms
    found = answers.shares(episode.segments, episode.started_ms, end_ms)
    return structs.replace(episode, leading=found[0]) if found else episode
