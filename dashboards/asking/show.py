"""One answer about one job, for a person: the sentence first, then what it is made of."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO

from dashboards.asking.columns import in_language, titled
from pipeline.cli import output, terminal, times
from pipeline.records import words

BAR_CELLS = 24
_REST_CELLS = 60
"""What the other columns of the table of reasons need; a terminal without room for a bar beside them has none."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"
STALE_MS = 60_000

_SLA_STYLES: dict[str, terminal.Style] = {
    "violated": "red", "met_late": "red", "at_risk": "yellow", "met": "green", "on_track": "green",
}  # fmt: skip


def why(answer: dict[str, Any], lang: str, *, utc: bool, out: TextIO | None = None) -> None:
    """The whole answer of `why`."""
    out = out or sys.stdout
    labels = words.LANGUAGES[lang].LABELS
    job = answer["job"]
    where = " · ".join(part for part in (job["cluster"], job["queue"], job["tenant"]) if part)
    out.write(terminal.paint(answer["sentence"], "bold", out) + "\n\n")
    out.write(terminal.paint(f"{job['kind']} {job['namespace']}/{job['name']}  ({where})", "dim", out) + "\n")
    if answer["reasons"]:
        out.write("\n")
        reasons(answer["reasons"], lang, is_over=lambda row: not _holds(answer["now"], row), out=out)
    facts = [(labels["promise"], _promise(answer, lang, utc, out))]
    if answer["now"]:
        facts.append((labels["now"], _now(answer["now"], labels, utc)))
        if answer["now"]["message"]:
            facts.append(("", terminal.paint(answer["now"]["message"], "dim", out)))
    facts += _scheduler(answer, labels, utc, out)
    facts += [(labels["helps"] if place == 0 else "", text) for place, text in enumerate(answer["helps"])]
    facts.append((labels["data"], data(answer, labels, utc, out)))
    out.write("\n")
    lines(facts, out)


def reasons(
    rows: list[dict[str, Any]],
    lang: str,
    *,
    jobs: bool = False,
    is_over: Callable[[dict[str, Any]], bool] = lambda _: False,
    out: TextIO | None = None,
) -> None:
    """Reasons with bars of their shares. `is_over`: of one job, whether a reason holds it no more."""
    cells = min(BAR_CELLS, (terminal.width(out or sys.stdout) or 1000) - _REST_CELLS)
    columns = [
        output.Column("reason", lambda row: titled(row, lang, is_over=is_over(row))),
        output.Column("waited", lambda row: words.duration(row["ms"]), right=True),
        output.Column("share", lambda row: words.percent(row["share"]), right=True),
        output.Column("", lambda row: bar(row["share"], cells), style=lambda _: "blue"),
        output.Column("resource", _resources),
    ]
    if cells < 4:
        del columns[3]
    if jobs:
        columns.insert(1, output.Column("jobs", "jobs", right=True))
    output.render(rows, in_language(columns, lang), out=out)


def _holds(now: dict[str, Any] | None, row: dict[str, Any]) -> bool:
    return now is not None and all(now.get(key) == row.get(key) for key in ("reason", "detail", "resource"))


def _resources(row: dict[str, Any]) -> str | None:
    """The resource of a reason, or of a sum all of them."""
    return ", ".join(row.get("resources") or ()) or row["resource"]


def bar(share: float, cells: int = BAR_CELLS) -> str:
    """A bar as long as the share, in eighths of a cell."""
    eighths = round(max(0.0, min(1.0, share)) * cells * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "") or "▏"


def data(answer: dict[str, Any], labels: dict[str, str], utc: bool, out: TextIO) -> str:
    """How fresh the data is; old data of a cluster that is no replay stands out."""
    now_ms, lag_ms = answer["now_ms"], answer["lag_ms"]
    if now_ms is None:
        return labels["no_data"]
    at = times.show(now_ms, utc=utc)
    if answer["replay"]:
        return labels["replay_over" if answer.get("replay_over") else "replay"].format(at=at)
    text = labels["until"].format(at=at, ago=times.ago(0, lag_ms or 0))
    return terminal.paint(text, "yellow" if (lag_ms or 0) > STALE_MS else None, out)


def lines(facts: Iterable[tuple[str, str]], out: TextIO) -> None:
    """Facts with their labels in a column."""
    facts = list(facts)
    room = max(terminal.cells(label) for label, _ in facts) + 2
    for label, text in facts:
        out.write(f"{label}{' ' * (room - terminal.cells(label))}{text}\n")


def _promise(answer: dict[str, Any], lang: str, utc: bool, out: TextIO) -> str:
    labels = words.LANGUAGES[lang].LABELS
    if answer["promise_ms"] is None:
        return str(labels["no_promise"])
    deadline = labels["deadline"].format(at=times.show(answer["deadline_ms"], utc=utc))
    standing = terminal.paint(words.standing(lang, answer["sla"]), _SLA_STYLES.get(answer["sla"]), out)
    return str(labels["comma"]).join((words.duration(answer["promise_ms"]), deadline, standing))


def _scheduler(answer: dict[str, Any], labels: dict[str, str], utc: bool, out: TextIO) -> list[tuple[str, str]]:
    """What a scheduler saw, whose word it is and since when; or why that cannot be told."""
    sees, note = answer.get("scheduler"), answer.get("scheduler_note")  # an older page has neither
    if sees is None:
        return [(labels["scheduler"], terminal.paint(note, "dim", out))] if note else []
    said = None if answer["now"] and answer["now"]["message"] == sees["message"] else sees.get("more")
    parts = [sees["sentence"], sees["ahead"], None if sees["diverged"] == sees["sentence"] else sees["diverged"]]
    whose = labels["rebuilt" if sees["rebuilt"] else "stored"].format(
        source=sees["source"], policy=sees["policy"], at=times.show(sees["session_ms"], utc=utc)
    )
    dim = [terminal.paint(text, "dim", out) for text in (said, whose) if text]
    helps = sees["helps"] if sees["helps"] != answer["helps"] else []
    return [
        (labels["scheduler"] if place == 0 else "", text)
        for place, text in enumerate([*filter(None, parts), *helps, *dim])
    ]


def _now(now: dict[str, Any], labels: dict[str, str], utc: bool) -> str:
    """What holds it, since when: its message is of then or later, so of another moment than what a scheduler decided."""
    resource = f" ({now['resource']})" if now["resource"] else ""
    counted = now["nodes"] is not None and now["total_nodes"]
    nodes = labels["nodes"].format(n=now["nodes"], all=now["total_nodes"]) if counted else ""
    since = labels["since"].format(at=times.show(now["since_ms"], utc=utc)) if now.get("since_ms") else ""
    return labels["comma"].join(part for part in (f"{now['title']}{resource}", nodes, since) if part)
