"""What Volcano said in a recording, beside what a session on the recorded state says.

A case is a condition: of a PodGroup (`3/3 tasks in gang unschedulable: ...`) each time it is written, of a pod each time
its words change. A session is run on the objects that had arrived before the condition did, with the recorded policy, and
its words compared. Which of its refused tasks a group quotes is Volcano's whim (it takes any), so that name is left out.

- `moment`: the words come out on what had arrived before the condition.
- `before`: on a state of the time before it, no older than a session and its writes take: Volcano opens a session, and
  writes what it decided one by one while new objects arrive.
- `assumed`: on the state after it, within `ASSUMED_MS`: Volcano had decided about pods whose change was not stored yet.
- `differs`: none of these.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pipeline.records import shapes
from pipeline.records.envelope import ObjectRecord
from scheduler_core import plugins, scheduling
from scheduler_core.cache.mirror import VOLCANO, Mirror
from scheduler_core.model.policy import Policy
from scheduler_core.session import texts
from tests.support import agreement, replayed, shadowed

SESSION_MS = 2000
ASSUMED_MS = 250
HOW = ("moment", "before", "assumed", "differs")
_NS_IN_MS = 1_000_000


class Case(NamedTuple):
    """A condition: whose it is, its words, and the place in the objects of the record that brought it."""

    kind: str
    uid: str
    name: str
    words: str
    place: int


class Compared(NamedTuple):
    case: Case
    how: str
    made: str


def folders() -> list[Path]:
    """Recordings of Volcano."""
    return [each for each in agreement.recordings() if (each / "vcjobs.ndjson.gz").exists()]


def compared(folder: Path, policy: Policy | None = None) -> list[Compared]:
    """All cases of a recording, under its own policy unless told otherwise."""
    log = [each.record for each in replayed.log_of(folder)]
    objects = [record for record in log if isinstance(record, ObjectRecord)]
    return list(_compare(folder, objects, policy or shadowed.policy_of(folder)))


# --- what was said ----------------------------------------------------------------------------------------------------------


def _cases(objects: Sequence[ObjectRecord]) -> Iterator[Case]:
    known: dict[str, tuple[str, str | None]] = {}
    for place, record in enumerate(objects):
        change = record.data
        if change.kind not in ("Pod", "PodGroup") or not isinstance(change.object, msgspec.Raw):
            continue
        said = _condition(shapes.decode(change.group, change.kind, change.object))
        if said is not None and said[0] and known.get(change.uid) != said:
            yield Case(change.kind, change.uid, change.name, said[0], place)
        if said is not None:
            known[change.uid] = said


def _condition(shape: Any) -> tuple[str, str | None] | None:
    """The words of a refusal, and for a group when it was written: there each session writes anew."""
    for each in shape.status.conditions or ():
        if each.type == "Unschedulable":
            return each.message or "", each.last_transition_time
        if each.type == "PodScheduled" and each.status == "False" and each.reason != "SchedulingGated":
            return each.message or "", None
    return None


# --- what a session says ----------------------------------------------------------------------------------------------------


def _compare(folder: Path, objects: list[ObjectRecord], policy: Policy) -> Iterator[Compared]:
    base, place = Mirror(folder.name), 0
    sessions = _Sessions(policy)
    for case in _cases(objects):
        at_ms = objects[case.place].observedms
        while objects[place].observedms < at_ms - SESSION_MS:
            base.apply(objects[place])
            place += 1
        yield _how(sessions, base.again(base.encode()), objects, place, case)


def _how(sessions: _Sessions, mirror: Mirror, objects: list[ObjectRecord], place: int, case: Case) -> Compared:
    at_ms = objects[case.place].observedms
    made, agreed = "", False
    for place in range(place, case.place):
        mirror.apply(objects[place])
        made = sessions.words(mirror, place, objects[place].observedms, case)
        agreed = agreed or _same(case.words, made)
    if _same(case.words, made):
        return Compared(case, "moment", made)
    if agreed:
        return Compared(case, "before", made)
    for place in range(case.place, len(objects)):
        if objects[place].observedms > at_ms + ASSUMED_MS:
            break
        mirror.apply(objects[place])
        if _same(case.words, sessions.words(mirror, place, objects[place].observedms, case)):
            return Compared(case, "assumed", made)
    return Compared(case, "differs", made)


class _Sessions:
    """Sessions by the place up to which the objects were taken in; each is run once."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._said: dict[int, dict[str, str]] = {}

    def words(self, mirror: Mirror, place: int, now_ms: int, case: Case) -> str:
        """The session's words about the case's object; empty if it has none."""
        said = self._said.get(place)
        if said is None:
            said = self._said[place] = self._run(mirror, now_ms)
        return said.get(case.uid if case.kind == "Pod" else case.name, "")

    def _run(self, mirror: Mirror, now_ms: int) -> dict[str, str]:
        session = scheduling.run(mirror.facts(VOLCANO), self._policy, now_ms * _NS_IN_MS, plugins.ALL)
        said: dict[str, str] = {}
        for job in session.jobs.values():
            errors = {
                uid: texts.of_refusal(refusal, session.judges.codes)
                for uid, refusal in job.refusals.items()
                if refusal.report is not None or refusal.text  # a queue that refuses leaves no words
            }
            words = texts.Words(job, session.nodes.names, errors)
            said[job.name] = f"{words.unschedulable()}/{len(job.tasks)} tasks in gang unschedulable: {words.group()}"
            said |= {uid: words.task(task).message for uid, task in job.tasks.items()}
        return said


def _same(words: str, made: str) -> bool:
    return _plain(words) == _plain(made)


def _plain(words: str) -> str:
    return re.sub(r"Origin reason is \S+: ", "Origin reason is: ", words)


# --- tables -----------------------------------------------------------------------------------------------------------------


def table(found: Iterable[Compared]) -> str:
    """For each kind of words: cases, and how they agree."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in found:
        for name in (f"all of {each.case.kind}s", *_parts(each.case.words)):
            counts[name][each.how] += 1
    lines = [f"{'':72} {'all':>5}" + "".join(f"{how:>9}" for how in HOW)]
    for name, by in sorted(counts.items(), key=lambda item: (item[0].startswith("all "), item[0])):
        lines.append(f"{name:72} {by.total():5}" + "".join(f"{by[how]:9}" for how in HOW))
    return "\n".join(lines)


def _parts(words: str) -> list[str]:
    """What the words are about: node reasons, else the kind of text."""
    nodes = words.partition("nodes are unavailable: ")[2].removesuffix(".")
    if nodes:
        return sorted({re.sub(r"^\d+ ", "", part) for part in nodes.split(", ")})
    if "possibly be assigned" in words:
        return ["a place is promised"]
    return ["a queue that refuses leaves no words" if "Pending: " in words else "victims or places of its own"]
