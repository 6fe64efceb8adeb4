"""What a person asks for, as parameters of the questions. Pure.

Every question that can be narrowed takes the same filters by the same names; a filter with several values means any of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from pipeline.config.suggest import did_you_mean
from pipeline.errors import BadUsage
from pipeline.records import reasons, sla, times, words

if TYPE_CHECKING:
    from dashboards.queries.statements import Value

PHASES = {"waiting": "waiting", "placed": "scheduled", "cancelled": "cancelled"}
"""As people say it, and as rows and answers have it; both are taken."""
SLAS = ("none", "on_track", "at_risk", "violated", "met", "met_late", "cancelled")
STATES = ("open", "resolved", "withdrawn")
SORTS = ("wait", "created", "deadline", "name")
UNITS = ("jobs", "gpus")
_CLOSED = {"sla": SLAS, "state": STATES, "reason": reasons.CODES}
"""Filters whose values come from a closed list."""
NONE = "-"
"""Stands for "without one" in the filters by queue and tenant, as tables print it; no object can be called so."""
MOST_KNOWN = 20
"""So many names are told where one that was asked for is nobody's."""
LAST_MS = 253_402_300_799_999
"""The last millisecond of the year 9999, beyond which no database counts."""

_DIGITS = re.compile("[0-9]{1,15}")
_KIND = re.compile("[A-Za-z][A-Za-z0-9]{0,62}")
_PLUS = re.compile(r" (\d\d:?\d\d)$")
"""A + that was not escaped reads as a blank; the offset is the only place where one can stand behind the seconds."""

IDENTITY = ("cluster", "namespace", "tenant", "queue", "kind")
"""Filters that every judged row can be narrowed by."""


class NoSuchValue(BadUsage):
    """A value that cannot be, as against one that nothing has: the list of what can be is closed, or it is no name."""


class Named(NamedTuple):
    """A job as its address names it; `uid` "" is the newest of that name."""

    cluster: str
    namespace: str
    kind: str
    name: str
    uid: str = ""


class Wanted(NamedTuple):
    """A job as a person names it: NAME, KIND/NAME or NAMESPACE/NAME, and where to look for it; empty means anywhere."""

    text: str
    cluster: tuple[str, ...] = ()
    namespace: tuple[str, ...] = ()
    kind: str = ""
    uid: str = ""

    @property
    def name(self) -> str:
        return self.text.rpartition("/")[2]


class Filters(NamedTuple):
    """Empty means all. `text` is looked for in names, queues and uids, without regard to case in the first two."""

    cluster: tuple[str, ...] = ()
    namespace: tuple[str, ...] = ()
    tenant: tuple[str, ...] = ()
    queue: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    name: tuple[str, ...] = ()
    phase: tuple[str, ...] = ()
    sla: tuple[str, ...] = ()
    reason: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    text: str = ""

    def parameters(self, *names: str) -> dict[str, Value]:
        """`any_NAME` and `NAME` for each of these filters, in the form in which the statements compare them."""
        made: dict[str, Value] = {}
        for name in names:
            values: tuple[str, ...] = getattr(self, name)
            made[f"any_{name}"] = 0 if values else 1
            if name in ("queue", "tenant"):
                values = tuple("" if value == NONE else value for value in values)
            made[name] = tuple(value.lower() for value in values) if name == "kind" else values
        return made

    def like(self) -> str:
        """The pattern for `text`, empty for none; its own % and _ stand for themselves."""
        return f"%{literal(self.text.lower())}%" if self.text else ""


def literal(text: str) -> str:
    """Text inside a LIKE pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def made(values: Mapping[str, Iterable[str] | None], text: str | None = None) -> Filters:
    """Filters as they were typed: each value may hold several, with commas between. Raises NoSuchValue."""
    split = {
        name: tuple(part for value in given or () for part in value.split(",") if part)
        for name, given in values.items()
    }
    if "phase" in split:
        split["phase"] = tuple(map(_phase, split["phase"]))
    for name, known in _CLOSED.items():
        for value in split.get(name, ()):
            one_of(name, value, known)
    for value in split.get("kind", ()):
        kind(value)
    return Filters(**split, text=text or "")


def one_of(name: str, value: str, known: Iterable[str]) -> str:
    """The value, if it is in the closed list. Raises NoSuchValue."""
    if value not in known:
        raise NoSuchValue(
            f"{name} {value!r} does not exist{did_you_mean(value, known)}", fix=f"Use one of {', '.join(known)}."
        )
    return value


def kind(text: str) -> str:
    """The name of a kind in any case. Which kinds jobs have only the data knows. Raises NoSuchValue for what is no name."""
    if not _KIND.fullmatch(text):
        raise NoSuchValue(
            f"kind {text!r} cannot exist", fix="Write it as Kubernetes does, in letters and figures, such as Job."
        )
    return text


def job_name(text: str) -> str:
    """NAME, KIND/NAME or NAMESPACE/NAME as typed. Raises BadUsage if there is no name in it."""
    if not text.rpartition("/")[2].strip():
        raise BadUsage(
            f"{text!r} names no job",
            fix="Write NAME, KIND/NAME or NAMESPACE/NAME; `kube-collector jobs` lists those that are known.",
        )
    return text


def is_called(text: str, kind: str, namespace: str, name: str) -> bool:
    """Whether the job is NAME, KIND/NAME (the kind in any case) or NAMESPACE/NAME."""
    before, slash, last = text.rpartition("/")
    return name == last and (not slash or before.lower() == kind.lower() or before == namespace)


def language(text: str) -> str:
    """The language that was asked for: `zh`, `zh-CN`, `en_US`. Raises BadUsage for one there are no words for."""
    return one_of("lang", re.split("[-_]", text.lower())[0], words.LANGUAGES)


def _phase(text: str) -> str:
    folded = text.lower()
    return folded if folded in PHASES.values() else PHASES[one_of("phase", folded, PHASES)]


def moment(name: str, text: str) -> int:
    """Milliseconds of a time in an address: RFC 3339, or milliseconds themselves. Raises BadUsage."""
    found = int(text) if _DIGITS.fullmatch(text) else times.parse_ms(_PLUS.sub(r"+\1", text))
    if found is None or not 0 <= found <= LAST_MS:
        raise BadUsage(
            f"{name} {text!r} is no time", fix="Write RFC 3339, such as 2026-03-01T10:20:00Z, or milliseconds."
        )
    return found


def bucket_ms(text: str) -> int | None:
    """The width of buckets; None for `auto`. Raises BadUsage."""
    if text == "auto":
        return None
    try:
        found = sla.parse_duration_ms(text)
    except ValueError:
        found = 0
    if found < 1000:
        raise BadUsage(
            f"bucket {text!r} is no width", fix="Write auto, or a duration of at least 1s such as 30s or 1h."
        )
    return found
