"""What kube-scheduler said in a recording, beside what its filters say of the recorded state.

Each event FailedScheduling is compared once, at its first sight: what a series counts later has the words of the first.
Words that the series swallowed stand in the pod's condition; a condition that no event tells is a case too. The message is
made anew from the objects and compared word by word. Of which moment the objects are matters, since the scheduler's view
is no one else's:

- `time`: what had arrived in the recording at the time that the event names (with the condition, if it is one). Nothing
  later is used.
- `revision`: the watches of the recording deliver some milliseconds late, each by its own. All objects carry the revision
  at which the server stored them, so the history can be put in its true order. The scheduler held the pod at the revision
  that the event names (`regarding`), and stored the event after its attempt: it saw a state between these two. (Of a
  condition: between the pod's version before it and its own.)
- `assumed`: the same with pods that it had just placed and whose binding was stored only after the event.
- `incomplete`: the pod has volume claims, and the recording has none.
- `differs`: none of these.

What preemption for a whole group found is not compared.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pipeline.records import shapes
from pipeline.records.envelope import EventRecord, ObjectRecord, Record
from scheduler_core import foreign
from scheduler_core.cache.mirror import Mirror
from tests.support import agreement, replayed

WORDS = "FailedScheduling"
ASSUMED_REVISIONS = 25
"""So many revisions after the event a binding may be stored that was assumed before."""
HOW = ("time", "revision", "assumed", "incomplete", "differs")


class Case(NamedTuple):
    """An event or a condition: the pod it is about, its words, its time (ms), and the revisions between which the scheduler
    saw the cluster."""

    uid: str
    pod: str
    words: str
    at_ms: int
    low: int
    high: int
    event: bool = True


class Compared(NamedTuple):
    """A case, how it was found to agree, and what was made of the state as of its time."""

    case: Case
    how: str
    made: str


def folders() -> list[Path]:
    """Recordings of kube-scheduler clusters: those with events of which Volcano has no part."""
    return [each for each in agreement.recordings() if not (each / "vcjobs.ndjson.gz").exists()]


@cache
def compared(folder: Path) -> tuple[Compared, ...]:
    """All cases of a recording, by time."""
    log = [each.record for each in replayed.log_of(folder) if each.record is not None]
    objects = [record for record in log if isinstance(record, ObjectRecord)]
    events = list(_cases(folder, log))
    found = sorted([*events, *_untold(objects, events)], key=lambda case: case.at_ms)
    volumes = (folder / "persistentvolumeclaims.ndjson.gz").exists()
    made = dict(_as_of_time(folder.name, objects, found))
    late = [case for case in found if _same(case.words, made[case]) is False]
    why = dict(_by_revision(folder.name, objects, late, volumes))
    return tuple(Compared(case, why.get(case, "time"), made[case]) for case in found)


# --- events -----------------------------------------------------------------------------------------------------------------


def _cases(folder: Path, log: Iterable[Record]) -> Iterator[Case]:
    held = _revisions(folder)
    told: set[str] = set()
    for record in log:
        if not isinstance(record, EventRecord) or record.data.reason != WORDS or record.data.uid in told:
            continue
        event = record.data
        told.add(event.uid)
        assert event.regarding is not None
        at_us = event.at_us if event.first_us is None else event.first_us
        yield Case(event.regarding.uid, event.regarding.name, event.message, at_us // 1000, *held[event.uid])


def _revisions(folder: Path) -> dict[str, tuple[int, int]]:
    """By uid of the event: the revision of the pod it is about, and the one at which it was first stored."""
    found: dict[str, tuple[int, int]] = {}
    with gzip.open(folder / "events.ndjson.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            for event in _objects(json.loads(line)):
                if event.get("reason") == WORDS and event["metadata"]["uid"] not in found:
                    found[event["metadata"]["uid"]] = (
                        int(event["regarding"]["resourceVersion"]), int(event["metadata"]["resourceVersion"]),
                    )  # fmt: skip
    return found


def _objects(line: dict[str, Any]) -> list[dict[str, Any]]:
    if "frame" in line:
        return [line["frame"]["object"]]
    items: list[dict[str, Any]] = (line.get("list") or {}).get("items") or []
    return items


# --- conditions -----------------------------------------------------------------------------------------------------------


def _untold(objects: list[ObjectRecord], events: list[Case]) -> Iterator[Case]:
    """Conditions of pods with words that no event has of that pod."""
    told = {(case.uid, case.words) for case in events}
    versions: dict[str, int] = {}
    for record in objects:
        change = record.data
        if change.kind != "Pod" or not isinstance(change.object, msgspec.Raw):
            continue
        words, version = _condition(change.object), int(change.version)
        if words and (change.uid, words) not in told:
            told.add((change.uid, words))
            yield Case(
                change.uid, change.name, words, record.observedms, versions.get(change.uid, 0), version - 1, event=False
            )
        versions[change.uid] = version


def _condition(pod: msgspec.Raw) -> str:
    for each in shapes.decode("", "Pod", pod).status.conditions or ():
        if (each.type, each.status, each.reason) == ("PodScheduled", "False", "Unschedulable"):
            return each.message or ""
    return ""


# --- states -----------------------------------------------------------------------------------------------------------------


def _as_of_time(cluster: str, objects: list[ObjectRecord], cases: list[Case]) -> Iterator[tuple[Case, str]]:
    mirror, place = Mirror(cluster), 0
    for case in cases:
        while place < len(objects) and objects[place].observedms <= case.at_ms:
            mirror.apply(objects[place])
            place += 1
        yield case, _message(mirror, case.uid)


def _by_revision(
    cluster: str, objects: list[ObjectRecord], cases: list[Case], volumes: bool
) -> Iterator[tuple[Case, str]]:
    history = sorted(objects, key=_revision)
    base, place = Mirror(cluster), 0
    for case in sorted(cases, key=lambda case: case.low):
        while place < len(history) and _revision(history[place]) <= case.low:
            base.apply(history[place])
            place += 1
        yield case, _how(base.again(base.encode()), history, place, case, volumes)


def _how(mirror: Mirror, history: list[ObjectRecord], place: int, case: Case, volumes: bool) -> str:
    """How the case agrees from the revision of its pod on; the mirror is at that revision."""
    while True:
        if _same(case.words, _message(mirror, case.uid)):
            return "revision"
        if place == len(history) or _revision(history[place]) > case.high:
            break
        mirror.apply(history[place])
        place += 1
    for record in history[place:]:
        if _revision(record) > case.high + ASSUMED_REVISIONS:
            break
        if mirror.again(mirror.encode()).apply(record).bound:
            mirror.apply(record)
            if _same(case.words, _message(mirror, case.uid)):
                return "assumed"
    seen = mirror.pod(case.uid)
    return "incomplete" if seen is not None and seen.claims and not volumes else "differs"


def _revision(record: ObjectRecord) -> int:
    return int(record.data.version)


def _message(mirror: Mirror, uid: str) -> str:
    """What the scheduler writes of a pod that it has tried; empty if it is not there yet, or a node takes it."""
    known = foreign.of_mirror(mirror)
    if all(seen.facts.uid != uid for seen in known.waiting):
        return ""
    tried = [msgspec.structs.replace(seen, tried=True) if seen.facts.uid == uid else seen for seen in known.waiting]
    return foreign.message(known._replace(waiting=tried), uid)


def _same(words: str, made: str) -> bool:
    return words.split(", pod group preemption: ")[0] == made


# --- tables -----------------------------------------------------------------------------------------------------------------


def parts(words: str) -> list[str]:
    """The reasons that a message names before its part about preemption, without their counts."""
    said = words.split(". preemption: ")[0].split(", pod group preemption: ")[0].removesuffix(".")
    if "nodes are available: " not in said:
        return ["minCount cannot be satisfied"]
    said = said.partition("nodes are available: ")[2]
    return [each.split(" ", 1)[1] if each[0].isdigit() else each for each in said.split(", ")]


def table(found: Iterable[Compared]) -> str:
    """For each reason that messages name: the messages, and how they agree."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in found:
        kind = "all events" if each.case.event else "all other conditions"
        for name in (kind, *(_short(part) for part in parts(each.case.words))):
            counts[name][each.how] += 1
    lines = [f"{'':72} {'all':>5}" + "".join(f"{how:>11}" for how in HOW)]
    for name, by in sorted(counts.items(), key=lambda item: (item[0].startswith("all "), item[0])):
        lines.append(f"{name:72} {by.total():5}" + "".join(f"{by[how]:11}" for how in HOW))
    return "\n".join(lines)


def _short(part: str) -> str:
    return 'persistentvolumeclaim "..." not found' if part.startswith("persistentvolumeclaim") else part
