"""What the listing commands have in common: pages, one job in full, ranges of time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dashboards.asking import columns
from dashboards.asking.source import Answer, Source
from dashboards.filters import MOST_KNOWN, Filters, Wanted, is_called
from pipeline.cli import output, terminal, times
from pipeline.errors import CheckFailed, NotFound
from pipeline.records import words

PAGE = 500
_MOST_OTHERS = 20
FAILS = {"any": ("open", "resolved"), "open": ("open",)}
"""Of `--fail-on`: states that count. A withdrawn violation was none."""


def pages(ask: Callable[[int, str | None], Answer], limit: int, lang: str) -> list[dict[str, Any]]:
    """The first `limit` rows (0: all) of a list that is asked for by (size, cursor). Says so when some are left out, and
    which filters name what nobody has."""
    rows: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        left = limit - len(rows) if limit else PAGE
        answer = ask(min(PAGE, left), cursor)
        if cursor is None:
            unknown(answer, lang)
        rows += answer["items"]
        cursor = answer["next"]
        if cursor is None:
            return rows
        if limit and len(rows) >= limit:
            terminal.hint(words.hint(lang, "left_out", shown=len(rows), total=answer["total"]))
            return rows


def unknown(answer: Answer, lang: str) -> None:
    """Warns of each filter that names what no job has: an empty list would look like good news."""
    for each in answer.get("unknown", ()):  # an older page has none
        near = words.hint(lang, "near", near=each["near"]) if each["near"] else ""
        name = words.LANGUAGES[lang].HEADINGS.get(each["filter"], each["filter"])
        more = ["…"] if len(each["known"]) >= MOST_KNOWN else []
        known = ", ".join(each["known"] + more) or "-"
        terminal.warn(words.hint(lang, "unknown", filter=name, value=each["value"], near=near, known=known))


def render(
    rows: list[dict[str, Any]],
    made: list[output.Column],
    wanted: output.Wanted,
    lang: str,
    name: Callable[[Any], str] | None = None,
) -> None:
    """The rows under headings in the reader's language."""
    made = columns.in_language(made, lang)
    output.render(rows, made, wanted, name=name, nothing=words.hint(lang, "nothing"))


def called(names: list[str], ask: Callable[[int, str | None], Answer], limit: int, lang: str) -> list[dict[str, Any]]:
    """The jobs of a list that are called so, each by one of the names. Raises NotFound if one of them is nobody's."""
    known = pages(ask, limit, lang)
    rows = [row for row in known if not names or any(_is_called(row, name) for name in names)]
    missing = [name for name in names if not any(_is_called(row, name) for row in rows)]
    if missing:
        raise NotFound(f"there is no job {' and no job '.join(missing)}", fix="`kube-collector jobs` lists the others.")
    return rows


def moment_ms(source: Source, filters: Filters, text: str) -> int:
    """A time as typed; one that is meant from now is meant from the log time. Raises BadUsage."""
    now_ms = 0
    if times.is_relative(text):
        now_ms = source.jobs(Filters(cluster=filters.cluster), "-created", 1, None)["now_ms"] or 0
    return times.parse(text, now_ms)


def ahead(end_ms: int, lang: str, *, utc: bool) -> None:
    """Says that a question about the future was answered as of the last moment that is known."""
    terminal.hint(words.hint(lang, "ahead", at=times.show(end_ms, utc=utc)))


def others(uids: list[str], lang: str) -> None:
    """Says that the name meant other jobs before, and how to ask about one."""
    if uids:
        shown = "".join(f"\n  {uid}" for uid in uids[:_MOST_OTHERS])
        terminal.hint(words.hint(lang, "others", jobs=len(uids) + 1) + shown)


@contextmanager
def local_times(*, utc: bool) -> Iterator[None]:
    """What is said of moments in an error, in the zone in which all else is printed: who answers does not know it."""
    try:
        yield
    except NotFound as error:
        fix = None if error.fix is None else times.in_zone(error.fix, utc=utc)
        raise NotFound(times.in_zone(error.what, utc=utc), where=error.where, fix=fix) from error


def detail(source: Source, job: Wanted, wanted: output.Wanted, utc: bool, lang: str) -> None:
    """One job in full: the API's object, or a table of all parts of its waits."""
    answer = source.job(job)
    if not job.uid:
        others([life["uid"] for life in answer["lives"] if life["uid"] != answer["job"]["uid"]], lang)
    if wanted.format in ("json", "yaml"):
        output.render_object(answer, wanted.format)
        return
    if wanted.format == "name":
        sys.stdout.write(f"{answer['job']['kind']}/{answer['job']['name']}\n")
        return
    parts = [
        {**part, "episode": episode["episode"]}
        for episode in answer["episodes"]
        for part in reversed(episode["segments"])
    ]
    if wanted.format != "csv":
        render(answer["episodes"], columns.jobs(utc, lang), output.Wanted(wanted.format, wanted.headers), lang)
        sys.stdout.write("\n")
    render(parts, columns.segments(utc, lang), wanted, lang)


def fail_on(source: Source, filters: Filters, what: str) -> None:
    """Raises CheckFailed if any violation of the filters counts for `--fail-on`."""
    states = tuple(state for state in FAILS[what] if not filters.state or state in filters.state)
    if not states:
        return
    count = int(source.violations(filters._replace(state=states), 1, None)["total"])
    if count:
        raise CheckFailed(
            f"{count} promise{'s are' if count > 1 else ' is'} broken", fix="`kube-collector why JOB` says why."
        )


def range_ms(source: Source, filters: Filters, from_: str | None, to: str | None) -> tuple[int | None, int | None]:
    """The range as typed; `-6h` is meant from the log time. Raises BadUsage."""
    return (
        None if from_ is None else moment_ms(source, filters, from_),
        None if to is None else moment_ms(source, filters, to),
    )


def _is_called(row: dict[str, Any], text: str) -> bool:
    job = row["job"]
    return is_called(text, job["kind"], job["namespace"], job["name"])
