"""The sentences, made in one place and printed unchanged by the command line, the page and alerts.

A language is one file with the same things: a title of each reason (for charts and tables), the clause that says why a
job waits, the same for a wait (or a part of one) that is over, what would help, and what stands around an answer in a
terminal. Texts are whole sentences with places to fill; they are never put together from pieces of grammar. Errors and
help are about the program, not about a job, and are English.
"""

from __future__ import annotations

import math
import re
from types import ModuleType
from typing import Final, NamedTuple

from pipeline.records import reasons, sla
from pipeline.records.words import en, zh

_ALL: Final = 0.995
"""Share from which a reason counts as all of a wait."""
_SEAM: Final = re.compile(r"(?<=[\u4e00-\u9fff])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9%])(?=[\u4e00-\u9fff])")
LANGUAGES: Final[dict[str, ModuleType]] = {"en": en, "zh": zh}


class Told(NamedTuple):
    """What a sentence is made from. Times in milliseconds; `share` 0 to 1; `overrun_ms` > 0 if the promise is broken."""

    phase: str
    wait_ms: int
    promise_ms: int | None = None
    overrun_ms: int = 0
    left_ms: int | None = None
    """Until the deadline, of an open wait that still keeps its promise."""
    reason: str | None = None
    detail: str | None = None
    resource: str | None = None
    reason_ms: int = 0
    share: float = 0.0
    queue: str | None = None
    now_reason: str | None = None
    now_detail: str | None = None
    now_resource: str | None = None
    nodes: int | None = None
    total_nodes: int | None = None


def language(wanted: str | None) -> str:
    """`zh` for anything that begins so (`zh-CN`, `zh_Hans`), else `en`."""
    return "zh" if (wanted or "").lower().startswith("zh") else "en"


def title(lang: str, reason: str) -> str:
    """The reason's name in charts and tables; the code itself if it is not in the closed list."""
    return str(LANGUAGES[lang].TITLES.get(reason, reason))


def detail(lang: str, code: str) -> str:
    """A detail of a reason in a word or two, as tables show it beside the title; the code itself if it is unknown."""
    return str(LANGUAGES[lang].DETAILS.get(code, code))


def detail_past(lang: str, reason: str, code: str) -> str:
    """As `detail`, of a part of a wait that is over: what could never fit may have been placed since."""
    return str(LANGUAGES[lang].DETAILS_PAST.get(f"{reason}/{code}", detail(lang, code)))


def phase(lang: str, code: str) -> str:
    """Whether a job waits, in one word: `Placed`; the code itself if it is unknown."""
    return str(LANGUAGES[lang].PHASES.get(code, code))


def standing(lang: str, code: str) -> str:
    """How a job stands with its promise, in a word or two: `at risk`; the code itself if it is unknown."""
    return str(LANGUAGES[lang].STANDINGS.get(code, code))


def heading(lang: str, column: str) -> str:
    """What stands over a column of a terminal's table."""
    return str(LANGUAGES[lang].HEADINGS.get(column, column.upper()))


def cell(lang: str, code: str) -> str:
    """A code as a terminal's table shows it."""
    return str(LANGUAGES[lang].CELLS.get(code, code))


def hint(lang: str, name: str, **places: object) -> str:
    """A remark beside an answer."""
    return spaced(lang, str(LANGUAGES[lang].HINTS[name]).format(**places))


def because(
    lang: str, reason: str, detail: str | None = None, resource: str | None = None, queue: str | None = None
) -> str:
    """The clause that follows "because" while the reason holds: `no node has enough nvidia.com/gpu free`."""
    return spaced(lang, _pick(LANGUAGES[lang].BECAUSE, reason, detail).format(**_places(lang, resource, queue)))


def because_past(
    lang: str, reason: str, detail: str | None = None, resource: str | None = None, queue: str | None = None
) -> str:
    """As `because`, of a reason that no longer holds: `no node had enough nvidia.com/gpu free`."""
    return spaced(lang, _pick(LANGUAGES[lang].BECAUSE_PAST, reason, detail).format(**_places(lang, resource, queue)))


def helps(
    lang: str, reason: str, detail: str | None = None, resource: str | None = None, queue: str | None = None
) -> str:
    """What would end a wait for this reason, in one sentence; empty if nobody can say."""
    return spaced(lang, _pick(LANGUAGES[lang].HELPS, reason, detail, "").format(**_places(lang, resource, queue)))


def sentence(lang: str, told: Told) -> str:
    """One or two sentences: how long, of which promise, because of what, and what holds it now."""
    texts = LANGUAGES[lang].SENTENCES
    parts = [
        texts[_head(told)].format(
            wait=duration(told.wait_ms),
            promise=duration(told.promise_ms or 0),
            overrun=duration(told.overrun_ms),
            left=duration(told.left_ms or 0),
        )
    ]
    if told.reason is not None:
        parts.append(_leading(lang, told, told.reason))
        parts += _now(lang, told)
    return spaced(lang, str(texts["join"]).join(parts))


def spaced(lang: str, text: str) -> str:
    """The text with a blank wherever Chinese meets Latin letters or figures: names and numbers are filled in from anywhere."""
    return _SEAM.sub(" ", text) if lang == "zh" else text


def duration(millis: int) -> str:
    """`47m12s`: whole seconds from ten seconds on, a tenth below, milliseconds below one second.

    Cut, never rounded: a wait of 29.9 s has kept a promise of 30 s and must not be shown as long as it.
    """
    if abs(millis) >= 10_000:
        return sla.format_duration_ms(millis - millis % 1000 if millis > 0 else -(-millis - -millis % 1000))
    return sla.format_duration_ms(millis - millis % 100 if abs(millis) >= 1000 else millis)


def percent(share: float) -> str:
    """A share, 0 to 1, as a percentage: `66 %`. One that is not whole never reads 0 % or 100 %."""
    if 0 < share < 0.005:
        return "< 1 %"
    if 0.995 <= share < 1:
        return "> 99 %"
    return f"{_hundredths(share)} %"


def _hundredths(share: float) -> int:
    """Halves go up, as on the page."""
    return math.floor(100 * share + 0.5)


def _leading(lang: str, told: Told, reason: str) -> str:
    """What most of the wait was for: told as present only while the wait lasts and the same thing still holds it."""
    clause = because if told.phase == "waiting" and (told.now_reason is None or _still(told)) else because_past
    return str(LANGUAGES[lang].SENTENCES["all" if told.share >= _ALL else "most"]).format(
        ms=duration(told.reason_ms),
        share=_hundredths(told.share),
        because=clause(lang, reason, told.detail, told.resource, told.queue),
    )


def _now(lang: str, told: Told) -> list[str]:
    """What holds an open wait now, if that was not said already; on how many nodes, if it was."""
    texts = LANGUAGES[lang].SENTENCES
    if told.phase != "waiting" or told.now_reason is None:
        return []
    if not _still(told):
        clause = because(lang, told.now_reason, told.now_detail, told.now_resource, told.queue)
        return [str(texts["now"]).format(because=clause)]
    if told.nodes is not None and told.total_nodes:
        text = texts["nodes" if told.nodes < told.total_nodes else "nodes_all"]
        return [str(text).format(nodes=told.nodes, total=told.total_nodes)]
    return []


def _still(told: Told) -> bool:
    """Whether what led the wait is what holds it now."""
    return (told.now_reason, told.now_resource) == (told.reason, told.resource)


def _head(told: Told) -> str:
    if told.phase == "waiting":
        if told.overrun_ms > 0 or (told.left_ms is not None and told.left_ms <= 0):
            return "waiting_broken"  # exactly at the deadline is broken
        return "waiting_promise" if told.promise_ms else "waiting"
    kept = "" if not told.promise_ms else "_broken" if told.overrun_ms > 0 else "_kept"
    return f"{told.phase}{kept}"


def _pick(texts: dict[str, str], reason: str, detail: str | None, missing: str | None = None) -> str:
    for key in (f"{reason}/{detail}", reason):
        if key in texts:
            return texts[key]
    return texts[reasons.UNKNOWN] if missing is None else missing


def _places(lang: str, resource: str | None, queue: str | None) -> dict[str, str]:
    fallback = LANGUAGES[lang].FALLBACKS
    return {"resource": resource or fallback["resource"], "queue": queue or fallback["queue"]}
