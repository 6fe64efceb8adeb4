"""Volcano: the group's text, the task's text, the refusals at enqueue, and what its controller passes on.

The group's text is a histogram of the states of its tasks, with the text of one failed task behind `Origin reason is`.
Which task that is is arbitrary. Without an origin, tasks counted Unschedulable were refused by the queue, which leaves
no other trace (`queue_refused`), unless something of the group is being released. The histogram of a group without
tasks, or of a gang that has just been bound, is a warning about nothing (`no_evidence`).
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from aggregation.messages import filters, node_list
from aggregation.messages.message import Message, said, together
from aggregation.messages.rules import ANY_CASE, Inner, Reading, count, resource_name, rule, says
from pipeline.records import reasons

_ITEM = re.compile(r"(\d+) (\w+)")
_ORIGIN = re.compile(r"[.;]?\s*Origin reason is(?: [^:\s]+)?: ", ANY_CASE)
_DIMENSIONS = re.compile(r";\s*(?=(?:HyperNode|Node): )")
_PENDING = re.compile(r"[;.]?\s*Pending: ", ANY_CASE)
_SHORT_OF = re.compile(r"(?:insufficient|overused|requested:) ([\w./-]+)", ANY_CASE)
_PLACED = ("running", "bound", "binding", "allocated", "succeeded")


def _group(match: re.Match[str], inner: Inner) -> Message:
    head, origin = _cut(match["states"], _ORIGIN)
    head, dimensions = _cut(head, _DIMENSIONS)
    head, pending = _cut(head, _PENDING)
    states, tried = _histogram(head), _histogram(pending)
    ready = (match["ready"] or match["ready_job"]).lower() == "ready"
    group = Message(
        reasons=(said("gang", _group_detail(states, tried, ready)),),
        queue_refused=not (ready or origin or dimensions) and _refused_by_queue(states, tried),
        no_evidence=_says_nothing(states, ready),
    )
    return together(group, *(_quoted(part, inner) for part in (origin, dimensions) if part))


def _histogram(text: str) -> dict[str, int]:
    return {state.lower(): count(tasks) or 0 for tasks, state in _ITEM.findall(text)}


def _cut(text: str, at: re.Pattern[str]) -> tuple[str, str]:
    found = at.search(text)
    return (text[: found.start()], text[found.end() :]) if found else (text, "")


def _quoted(text: str, inner: Inner) -> Message:
    """The text quoted for one task, without a second `gang`; else it is a filter's, or at least the words are kept."""
    quoted = inner(text)
    if not quoted.reasons and "nodes are" not in text:
        return Message(reasons=filters.meaning(text))
    return msgspec.structs.replace(quoted, reasons=tuple(one for one in quoted.reasons if one.category != "gang"))


def _group_detail(states: dict[str, int], tried: dict[str, int], ready: bool) -> str:
    minimum = states.get("minavailable")
    tasks = {state: number for state, number in states.items() if state != "minavailable"}
    words = [f"{state}={number}" for state, number in tasks.items()] or ([] if ready else ["no_tasks"])
    words += [f"min={minimum}"] if minimum is not None else []
    words += [f"{state}={number}" for state, number in tried.items()]
    placed = sum(tasks.get(state, 0) for state in _PLACED[:-1])
    if ready or (minimum is not None and 0 < minimum <= placed):
        words.append("gang_already_satisfied")
    return " ".join(words)


def _refused_by_queue(states: dict[str, int], tried: dict[str, int]) -> bool:
    """`Undetermined` is a word of releases that never told an origin: its absence says nothing there."""
    return "unschedulable" in tried and "undetermined" not in tried and "releasing" not in states


def _says_nothing(states: dict[str, int], ready: bool) -> bool:
    waiting = any(state in states for state in ("pending", "pipelined", "allocated"))
    return not waiting and (ready or set(states) <= {"minavailable", "binding"})


def _gang(match: re.Match[str], inner: Inner) -> Message:
    """`3/6 tasks in gang unschedulable: ...` around anything but the histogram."""
    rest = match["rest"]
    head, pending = _cut(rest, _PENDING)
    if pending and not head.strip(" .…"):
        tried = " ".join(f"{state}={tasks}" for state, tasks in _histogram(pending).items())
        return Message(reasons=(said("gang", f"{tried} elided"),))
    if re.match(r"0 nodes are available", rest, ANY_CASE):
        return Message(reasons=(said("gang", "no_nodes"),))
    return together(Message(reasons=(said("gang"),)), _quoted(rest, inner) if rest else Message())


def _possible(match: re.Match[str], inner: Inner) -> Message:
    """A task that could be placed: on free room, or on room that victims still hold."""
    waits = "resource is released" in match.string
    reason = reasons.WAITING_VICTIMS if waits else None
    one = said("gang", "schedulable_member_waiting", reason=reason)
    return Message(reasons=(one,), has_place=True, waiting_victims=waits)


def _refused(detail: str, reason: str, reason_detail: str | None = None) -> Reading:
    """Refused at enqueue: one reason for each resource named, or one without."""

    def reading(match: re.Match[str], inner: Inner) -> Message:
        names: list[str | None] = [*_SHORT_OF.findall(match["rest"])] or [None]
        return Message(
            reasons=tuple(said("quota", detail, resource_name(name), reason, reason_detail) for name in names)
        )

    return reading


def _hyper_nodes(match: re.Match[str], inner: Inner) -> Message:
    topology = Message(reasons=(said("topology", match["summary"][:120]),))
    return together(topology, inner(match["rest"])) if match["rest"] else topology


def _in_hyper_node(match: re.Match[str], inner: Inner) -> Message:
    quoted = inner(match["rest"])
    named = tuple(
        msgspec.structs.replace(one, detail=f"{one.detail or ''} hypernode={match['name']}".strip())
        for one in quoted.reasons
    )
    return msgspec.structs.replace(quoted, reasons=named)


RULES: Final = (
    rule(r"^PodGroup \S+ unschedulable,? reason: (?P<rest>.*)", lambda match, inner: inner(match["rest"])),
    rule(r"(?:pod group is (?P<ready>ready|not ready)\b[,.]?|\bjob is (?P<ready_job>not ready|ready), (?=\d))(?P<states>.*)",
         _group),
    rule(r"\d+/\d+ tasks in gang unschedulable:?\s*(?P<rest>.*)", _gang),
    rule(r"^In hyperNode (?P<name>[^\s:]+): (?P<rest>.*)", _in_hyper_node),
    rule(r"^HyperNode: (?P<summary>.*?)(?:; Node: (?P<rest>.*))?$", _hyper_nodes),
    rule(r"^(?:subJob \S+: )?\d+/\d+ hyperNodes available", says("topology", "hypernodes")),
    rule(r"^Node: " + node_list.FRAME, node_list.reading),
    rule(r"can possibly be ass(?:igned|gined) to", _possible),
    rule(r"^Task \S+ (?:with role spec .*)?has already predicated failed",
         says("gang", "same_role_failed", pointer=True)),
    rule(r"queue resource quota insufficient(?P<rest>.*)", _refused("queue_limit", reasons.QUEUE_LIMIT)),
    rule(r"resource in cluster is overused(?P<rest>.*)",
         _refused("cluster_enqueue_limit", reasons.QUOTA, "cluster_enqueue_limit")),
    rule(r"^queue\b.*\boverused\b", says("quota", "queue_overused")),
    rule(r"resource ?quota insufficient(?P<rest>.*)", _refused("resource_quota", reasons.QUOTA)),
    rule(r"not enough valid (?:tasks|pods)|NotEnoughPods|NotEnoughTasks",
         says("gang", "members_missing", reason_detail="members_missing")),
    rule(r"\bqueue \W?(?P<queue>[\w.-]+)\W? (?:does ?n[o']t exist|not found)|unable to find (?:job )?queue",
         says("queue", "queue_missing", reason_detail="queue_missing")),
    rule(r"submit job to queue with state|queue \S* ?(?:status|state) is (?:closed|closing)|queue \S+ is (?:closed|"
         r"closing|not open)", says("queue", "queue_closed", reason_detail="queue_closed")),
    rule(r"failed to bind to node", says("other", "bind_failed")),
    rule(r"evicted,? because of reclaim|^reclaim$", says("quota", "victim reclaim", no_evidence=True)),
    rule(r"evicted,? because of|^preempt$", says("priority", "victim", no_evidence=True)),
)  # fmt: skip
