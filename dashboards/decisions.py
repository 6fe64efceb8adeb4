"""What a scheduler sees of a job: which of its decisions hold at a moment, and how they are told. Pure.

A decision stands until the next about the same job or task; a `discard` takes one back, an entry into the queue takes back
what kept the job out, and a `diverged` everything that was said of the job before. So nothing needs to be repeated in the
log, and one is right as of any moment by reading the last ones before it. The word about the whole job speaks for it; where
there is none, that about one of its tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from dashboards import waits
from dashboards.objects import NodeSet, Scheduler
from dashboards.waits import Row
from pipeline.records import words
from pipeline.records.decisions import Decision, FailureSet
from pipeline.records.words import scheduler

_PLACED = "bind"
_HOLDS = ("attribution", "enqueue", "pipeline", _PLACED)


class Standing(NamedTuple):
    """What holds: by task, the whole job under the empty name; and the last disagreement, if nothing was said since."""

    said: dict[str, Decision]
    diverged: Decision | None


def of_row(row: Row) -> Decision:
    """A row of `decisions.sql`. The job is left out: it is the one that was asked about."""
    return Decision(
        source=row["source"],
        policy=row["policy"] or "",
        session_ms=waits.at(row["session_at"]),
        kind=row["kind"],
        task=row["task"],
        node=row["node"],
        reason=row["reason"],
        detail=row["detail"] or None,
        resource=row["resource"] or None,
        nodes=row["nodes"],
        total_nodes=row["total_nodes"],
        message=row["message"] or "",
        failure_sets=_sets(row["failure_sets"]),
        helps=tuple(waits.texts(row["helps"])),
    )


def standing(decisions: Iterable[Decision], started_ms: int) -> Standing:
    """What holds after all of these. Binds from before the wait began were carried out, or it would not wait."""
    made = [each for each in decisions if each.kind != _PLACED or each.session_ms >= started_ms]
    live = [each for each in made if each.source == "live"]
    said: dict[str, Decision] = {}
    diverged = None
    for each in sorted(live or made, key=lambda each: (each.session_ms, each.kind != "diverged")):
        task = each.task or ""
        if each.kind == "diverged":
            said, diverged = {}, each
        elif each.kind == "discard" or (each.kind == "enqueue" and each.reason is None):
            said.pop(task, None)
        elif each.kind in _HOLDS:
            said[task] = each
    newest = max((each.session_ms for each in said.values()), default=-1)
    return Standing(said, diverged if diverged is not None and diverged.session_ms >= newest else None)


def told(lang: str, holds: Standing, queue: str, *, rebuilt: bool = False) -> Scheduler | None:
    """What holds, in words; None if nothing does."""
    speaks = _speaking(holds.said)
    made = speaks or holds.diverged
    if made is None:
        return None
    diverged = None if holds.diverged is None else scheduler.said(lang, holds.diverged.message)
    before = scheduler.ahead(made.message)
    return Scheduler(
        sentence=_sentence(lang, made, holds.said, queue) if speaks else diverged or "",
        source=made.source,
        policy=made.policy,
        session_ms=made.session_ms,
        rebuilt=rebuilt,
        kind=made.kind,
        task=made.task,
        reason=made.reason,
        detail=made.detail,
        resource=made.resource,
        title=None if made.reason is None else words.title(lang, made.reason),
        nodes=made.nodes,
        total_nodes=made.total_nodes,
        node_sets=_node_sets(lang, made.failure_sets),
        helps=[scheduler.said(lang, text) for text in made.helps],
        ahead=None if before is None else scheduler.said(lang, before),
        more="" if made is holds.diverged else _more(lang, made),
        diverged=diverged,
        message=made.message,
    )


def _speaking(said: dict[str, Decision]) -> Decision | None:
    """The whole job's word; else one of the reason that keeps most tasks waiting, with counts if one has them, the newest;
    else of one to be placed."""
    if "" in said:
        return said[""]
    waiting = [each for each in said.values() if each.kind != _PLACED]
    tasks = Counter(each.reason for each in waiting)
    return max(
        waiting or said.values(),
        key=lambda each: (tasks[each.reason], bool(each.failure_sets), each.session_ms, each.task or ""),
        default=None,
    )


def _sentence(lang: str, made: Decision, said: dict[str, Decision], queue: str) -> str:
    texts = words.LANGUAGES[lang].SEES
    if made.kind == _PLACED:
        if made.node is None:
            return str(texts["room"]).format(task=made.task)
        more = sum(each.kind == _PLACED for each in said.values()) - 1
        return str(texts["bind_more" if more else "bind"]).format(task=made.task, node=made.node, more=more)
    counted = scheduler.counts(lang, made.failure_sets)
    if counted:
        return counted
    if made.reason is None:
        return scheduler.said(lang, made.message)
    because = words.because(lang, made.reason, made.detail, made.resource, queue or None)
    return str(texts["because"]).format(because=because)


def _more(lang: str, made: Decision) -> str:
    """A message whose counts are not told otherwise is given whole; that of a place is the sentence itself."""
    return "" if made.reason is None else scheduler.beside(lang, made.message, counted=bool(made.failure_sets))


def _node_sets(lang: str, sets: Sequence[FailureSet]) -> list[NodeSet]:
    return [
        NodeSet(
            nodes=each.nodes,
            filters=list(each.filters),
            reason=scheduler.reason_of(each.filters),
            text=scheduler.nodes_that(lang, each.filters, each.nodes),
        )
        for each in sorted(sets, key=lambda each: -each.nodes)
    ]


def _sets(value: object) -> tuple[FailureSet, ...]:
    if isinstance(value, str | bytes):
        return msgspec.json.decode(value, type=tuple[FailureSet, ...]) if value else ()
    return msgspec.convert(value or (), tuple[FailureSet, ...])
