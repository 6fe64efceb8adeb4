"""A second judge of waits: slow, plain, and with no line in common with the product but records, shapes and messages.

It keeps the last state of every object and works everything out anew at each record, by loops over all pods. It knows
no gaps, no late evidence and no job whose object never comes; what it says of the rest the product must say too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from aggregation.messages import Message, parse
from pipeline.records import reasons, shapes, times
from pipeline.records.envelope import DecisionRecord, EventRecord, ObjectRecord, Record
from pipeline.records.jobs import JobRef, is_placeholder

Reason = tuple[str, str, str]
"""Code, detail, resource; empty where there is none."""
WHOLE = ("not_admitted", "quota", "queue_limit", "outranked", "gang_incomplete", "waiting_victims")
DEEP = (
    "pod_affinity", "pod_anti_affinity", "topology_spread", "topology", "volume", "dra", "port_conflict",
    "insufficient_resource", "fragmentation", "binding",
)  # fmt: skip
SELECTION = ("node_not_ready", "node_unschedulable", "untolerated_taint", "node_affinity")
OF_NODES = {*DEEP, *SELECTION} - {"volume", "dra"}
CORE = ("cpu", "memory", "pods", "ephemeral-storage")
GROUPS = ("scheduling.volcano.sh", "scheduling.k8s.io")
GROUP_NOTES = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")


class Wait(NamedTuple):
    """An episode as this judge sees it."""

    start_ms: int
    end_ms: int | None
    phase: str
    cause: str


class Judge:
    """One job's records in, the leading reason and the waits out."""

    def __init__(self, job: JobRef) -> None:
        self.job = job
        self.at = 0
        self.seen: set[str] = set()
        self.shapes: dict[str, tuple[str, str, Any]] = {}
        self.born: dict[str, int] = {}
        self.ever: dict[str, int] = {}
        self.placed: dict[str, int] = {}
        self.lost: dict[str, tuple[int, str]] = {}
        self.wanted: dict[str, Any] = {}
        self.by_event: dict[str, str] = {}
        self.before: dict[str, Reason | str] = {}
        self.refusals: dict[str, tuple[str, int]] = {}
        self.decided: dict[str, tuple[int, Reason]] = {}
        self.at_the_door = False
        self.succeeded: set[str] = set()
        self.create_failed = ""
        self.queue: Any = None
        self.done: tuple[str, int] | None = None
        self.stopped = False
        self.last_failed = -1
        self.waits: list[Wait] = []
        self.loss = (0, "")
        self.asked: int | None = None
        self.claimless: set[str] = set()
        self.lowered = 0
        self._renewed = False

    # what is known

    def take(self, record: Record) -> None:
        """One record."""
        self.at = record.observedms
        lost = None
        if isinstance(record, ObjectRecord):
            if record.id in self.seen:
                return
            self.seen.add(record.id)
            lost = self._object(record.data)
        elif isinstance(record, EventRecord):
            self._event(record.data)
        elif isinstance(record, DecisionRecord):
            self._decision(record.data)
        for uid in self.pods():
            self._remember_verdict(uid)
        self._episodes(lost)

    def pods(self) -> dict[str, Any]:
        return {uid: shape for uid, (_, kind, shape) in self.shapes.items() if kind == "Pod"}

    def alive(self) -> list[str]:
        return [uid for uid in self.pods() if uid not in self.lost] + sorted(self.succeeded - set(self.pods()))

    def waiting(self) -> list[str]:
        return [uid for uid in self.pods() if uid not in self.lost and uid not in self.placed]

    def placed_now(self) -> list[str]:
        return [uid for uid in self.alive() if uid in self.placed or uid in self.succeeded]

    def groups(self, volcano: bool | None = None) -> dict[str, Any]:
        return {
            uid: shape
            for uid, (group, kind, shape) in self.shapes.items()
            if kind == "PodGroup" and (volcano is None or (group == GROUPS[0]) is volcano)
        }

    def minimum(self) -> int | None:
        known = [m for m in map(_group_minimum, self.groups().values()) if m is not None]
        if known:
            return sum(known)
        own = self.shapes.get(self.job.uid)
        if own is None:
            return None
        group, kind, shape = own
        if (group, kind) == ("batch", "Job"):
            return _batch_minimum(shape)
        if (group, kind) == ("batch.volcano.sh", "Job"):
            return shape.spec.min_available if shape.spec.min_available is not None else 1
        return 1

    def is_gang(self) -> bool:
        if any(_group_minimum(shape) is not None for shape in self.groups().values()):
            return True
        own = self.shapes.get(self.job.uid)
        return own is not None and own[0] == "batch.volcano.sh" and own[2].spec.min_available is not None

    # records

    def _object(self, change: Any) -> tuple[int, str] | None:
        if change.facts is not None:
            self.queue = change.facts.queue or self.queue
            if change.facts.nodes_wanted is not None:
                self.wanted[change.uid] = change.facts.nodes_wanted
        if change.kind == "Pod" and (change.facts is not None or change.change != "facts"):
            self.claimless = self.claimless - {change.uid}
            if change.facts is not None and change.facts.claim_missing:
                self.claimless = self.claimless | {change.uid}
        if change.change == "facts":
            return None
        shape = shapes.decode(change.group, change.kind, change.object)
        first = change.uid not in self.born
        if first:
            self.born[change.uid] = self._held(shape.metadata.creation_timestamp, change.first_seen)
            self.ever[change.uid] = self.at
        before = self.shapes.get(change.uid)
        self.shapes[change.uid] = (change.group, change.kind, shape)
        lost = self._pod(change.uid, shape, first) if change.kind == "Pod" else self._other(change, shape, before)
        if change.change == "deleted":
            lost = self._deleted(change, shape) or lost
        return lost

    def _pod(self, uid: str, shape: Any, first: bool) -> tuple[int, str] | None:
        if first:
            self.create_failed = ""
            if self.waits and self.waits[-1].end_ms is None and self.born[uid] >= self.waits[-1].start_ms:
                self._renewed = True
        was_placed = uid in self.placed and uid not in self.lost
        said = {one.type: one for one in shape.status.conditions or ()}
        if shape.spec.node_name and uid not in self.placed:
            bound = said.get("PodScheduled")
            self.placed[uid] = self._held(bound.last_transition_time if bound and bound.status == "True" else None)
        if shape.status.phase == "Succeeded":
            if uid not in self.lost:
                self.succeeded.add(uid)
        elif uid not in self.lost and (shape.metadata.deletion_timestamp or shape.status.phase == "Failed"):
            at = (
                self.at
                if not shape.metadata.deletion_timestamp
                else max(self._second(shape.metadata.deleted_ms), self.born[uid])
            )
            self.lost[uid] = (at, self._why(shape, said))
            if shape.status.phase == "Failed":
                self.last_failed = at
        if uid == self.job.uid and self.done is None:
            if shape.status.phase == "Succeeded":
                self.done = ("completed", self.at)
            elif uid in self.lost:
                self.done = ("failed" if shape.status.phase == "Failed" else "deleted", self.lost[uid][0])
        return self.lost[uid] if was_placed and uid in self.lost else None

    def _why(self, shape: Any, said: dict[str, Any]) -> str:
        disrupted = said.get("DisruptionTarget")
        if disrupted is not None and disrupted.status == "True":
            return str(disrupted.reason)
        if shape.status.phase == "Failed":
            return "Failed"
        return "suspended" if self.stopped else "deleted"

    def _other(self, change: Any, shape: Any, before: Any) -> tuple[int, str] | None:
        if (
            change.kind == "PodGroup"
            and change.group == GROUPS[0]
            and (shape.status.phase or "") not in ("", "Pending")
        ):
            self.refusals.pop(change.uid, None)
        if change.uid != self.job.uid:
            return None
        for one in (shape.status.conditions or ()) if (change.group, change.kind) == ("batch", "Job") else ():
            if one.status == "True" and one.type in ("Complete", "Failed") and self.done is None:
                self.done = ("completed" if one.type == "Complete" else "failed", self._held(one.last_transition_time))
            if one.status == "True" and one.type == "Suspended" and not self.stopped and before is not None:
                self.stopped = True
                return self._held(one.last_transition_time), "suspended"
        if (change.group, change.kind) == ("batch", "Job"):
            self.stopped = any(o.type == "Suspended" and o.status == "True" for o in shape.status.conditions or ())
        return None

    def _deleted(self, change: Any, shape: Any) -> tuple[int, str] | None:
        uid, lost = change.uid, None
        if change.kind == "Pod" and uid not in self.lost and uid not in self.succeeded:
            self.lost[uid] = (self.at, "deleted")
            lost = self.lost[uid] if uid in self.placed else None
        if uid == self.job.uid and self.done is None:
            self.done = ("deleted", self.lost[uid][0] if uid in self.lost else self.at)
        if uid != self.job.uid or change.kind in ("Pod", "PodGroup"):
            del self.shapes[uid]
        return lost

    def _event(self, event: Any) -> None:
        about = event.regarding
        if about.kind == "Pod" and about.uid in self.waiting():
            if event.reason == "FailedScheduling":
                self.by_event[about.uid] = event.message
        elif about.kind == "PodGroup" and event.reason == "Unschedulable" and about.uid in self.groups(volcano=True):
            outside = (self.groups()[about.uid].status.phase or "") in ("", "Pending")
            old = self.refusals.get(about.uid, ("", 0))[1]
            message = parse(event.message)
            refuses = any(one.reason in ("quota", "queue_limit", "not_admitted") for one in message.reasons)
            if outside and event.at_us >= old and refuses and not message.no_evidence:
                self.refusals[about.uid] = (event.message, event.at_us)
        elif event.reason == "FailedCreate":
            self.create_failed = event.message

    def _decision(self, decision: Any) -> None:
        task = decision.task or ""
        if task in self.decided and decision.session_ms < self.decided[task][0]:
            return
        if decision.kind == "diverged" and not task:
            self.decided.clear()
        elif decision.kind in ("bind", "discard", "diverged") or (
            decision.kind in ("attribution", "enqueue") and decision.reason is None
        ):
            self.decided.pop(task, None)
        elif decision.kind == "pipeline":
            self.decided[task] = (
                decision.session_ms,
                ("waiting_victims", decision.detail or "", decision.resource or ""),
            )
            self.at_the_door = self.at_the_door and bool(task)
        elif decision.kind in ("attribution", "enqueue"):
            resource = "" if decision.detail == "queue_refused" else decision.resource or ""
            self.decided[task] = (decision.session_ms, (decision.reason, decision.detail or "", resource))
            if not task:
                self.at_the_door = decision.kind == "enqueue"

    def _held(self, text: str | None, first: int | None = None) -> int:
        return self._second(times.parse_ms(text), first)

    def _second(self, second: int | None, first: int | None = None) -> int:
        at = self.at if first is None else first
        return at if second is None else min(max(at, second), second + 999)

    # waits

    def _episodes(self, lost: tuple[int, str] | None) -> None:
        least = self.minimum()
        placed = self.placed_now()
        end = self._end_of_job()
        if self.waits and self.waits[-1].end_ms is None and self.asked is not None and least is not None:
            self.lowered = self.at if least < self.asked else self.lowered
        self.asked = least
        if not self.waits:
            if end is None and (
                self.groups() or self.job.uid in self.shapes or set(self.waiting()) | set(placed) - self.succeeded
            ):
                self.waits.append(Wait(min(self.born.values()), None, "waiting", ""))
            else:
                return
        wait = self.waits[-1]
        if wait.end_ms is None:
            if len(self.waits) == 1:
                wait = self.waits[-1] = wait._replace(start_ms=min(self.born.values()))
            if least is not None and len(placed) >= least and not self._suspended():
                when = sorted(self.placed[uid] for uid in placed if uid in self.pods())
                needed = least - (len(placed) - len(when))
                ended = when[needed - 1] if needed > 0 else wait.start_ms
                self.waits[-1] = wait._replace(end_ms=max(ended, wait.start_ms, self.lowered), phase="scheduled")
            elif end is not None:
                self._cut(wait, *end)
        self._again(lost, placed, least)

    def _cut(self, wait: Wait, how: str, at: int) -> None:
        new = [uid for uid, when in self.placed.items() if when >= wait.start_ms]
        none = not self._renewed and wait.cause in ("deleted", "suspended") if how == "deleted" else not new
        if len(self.waits) > 1 and none:
            self.waits.pop()
        else:
            self.waits[-1] = wait._replace(end_ms=max(at, wait.start_ms), phase="cancelled")

    def _again(self, lost: tuple[int, str] | None, placed: list[str], least: int | None) -> None:
        wait = self.waits[-1]
        if wait.end_ms is None:
            return
        below = len(placed) < (least or 1)
        if lost is not None and (below or self._suspended()):
            self.loss = lost
        elif not (below and self.loss[0] > wait.end_ms and self.waiting()):
            return
        if self._end_of_job() is None:
            self._renewed = False
            self.waits.append(Wait(max(self.loss[0], wait.end_ms), None, "waiting", self.loss[1]))

    def _end_of_job(self) -> tuple[str, int] | None:
        if self.done is not None:
            return self.done
        own = self.shapes.get(self.job.uid)
        if self.job.kind != "PodGroup":
            return None
        if own is not None and own[0] == GROUPS[0] and own[2].status.phase == "Completed":
            return "completed", self.at
        failed = [uid for uid in self.pods() if uid in self.lost and self.pods()[uid].status.phase == "Failed"]
        ended = set(self.alive()) <= self.succeeded and (self.succeeded or failed)
        return ("completed", self.at) if ended else None

    def _suspended(self) -> bool:
        own = self.shapes.get(self.job.uid)
        return own is not None and (own[0], own[1]) == ("batch", "Job") and bool(own[2].spec.suspend)

    # the leading reason

    def leading(self) -> Reason:
        """Of a job that waits."""
        return (
            self._queue_gone() or self._held_back() or self._not_let_in() or self._gang() or self._decided_for_all()
            or self._no_pods() or self._of_pods()
        )  # fmt: skip

    def _queue_gone(self) -> Reason | None:
        if self.queue is None or not (self.groups(volcano=True) or self.job.group == "batch.volcano.sh"):
            return None
        if self.queue.exists is False:
            return "not_admitted", "queue_missing", ""
        return ("not_admitted", "queue_closed", "") if self.queue.state in ("Closed", "Closing") else None

    def _held_back(self) -> Reason | None:
        if self._suspended():
            return "not_admitted", "suspended", ""
        gated = [uid for uid in self.waiting() if self.pods()[uid].spec.scheduling_gates]
        if gated and len(self.alive()) - len(gated) < (self.minimum() or 1):
            return "not_admitted", "gated", ""
        return None

    def _not_let_in(self) -> Reason | None:
        for uid, shape in self.groups(volcano=True).items():
            if (shape.status.phase or "") in ("", "Pending"):
                text, _ = self.refusals.get(uid, ("", 0))
                decided = self.decided[""][1] if "" in self.decided and self.at_the_door else None
                return (text and _first(parse(text), WHOLE)) or decided or ("scheduler_backlog", "not_enqueued", "")
        return None

    def _gang(self) -> Reason | None:
        names = is_placeholder(self.job.uid) or any(map(_names_group, self.pods().values()))
        spoken = any(self._verdict(uid) not in ("", "gated") for uid in self.waiting())
        if names and not self.groups() and self.alive() and not spoken:
            return "gang_incomplete", "group_missing", ""
        least = self.minimum()
        if least is not None and 0 < len(self.alive()) < least and self.is_gang():
            return "gang_incomplete", "members_missing", ""
        return None

    def _decided_for_all(self) -> Reason | None:
        if "" not in self.decided or self.at_the_door or not self.alive():
            return None
        found = self.decided[""][1]
        seen_by_all = ("group_missing", "members_missing", "gated", "queue_missing")
        if found[1] in seen_by_all or (found[0] in OF_NODES and self._claims_refuse()):
            return None
        return found

    def _claims_refuse(self) -> bool:
        own = [one for one in map(self._verdict, self.waiting()) if isinstance(one, tuple)]
        refused = any(self._refused_for_claims(uid, self.pods()[uid]) for uid in self.waiting())
        return bool(own) and all(one[0] in ("volume", "dra") for one in own) and refused

    def _refused_for_claims(self, uid: str, shape: Any) -> bool:
        text = self._text(uid, shape)
        uncounted = [one for one in parse(text).reasons if one.reason in ("volume", "dra") and one.nodes is None]
        return uid in self.claimless or bool(text and uncounted)

    def _no_pods(self) -> Reason | None:
        said = [self._verdict(uid) for uid in self.waiting()]
        own = [one for one in said if isinstance(one, tuple)]
        if own and all(one[0] == "waiting_victims" for one in own) and "gated" not in said:
            return None
        least = self.minimum()
        if self.alive() and (least is None or len(self.alive()) >= least):
            return None
        if self.create_failed:
            refusal = _first(parse(self.create_failed), WHOLE)
            if refusal is not None and refusal[0] == "quota":
                return refusal
            return "pods_not_created", "create_failed", ""
        if any(self.pods()[uid].status.phase != "Failed" for uid in self.pods() if uid in self.lost):
            return "pods_not_created", "terminating_predecessor", ""
        back_off = self.last_failed >= self.waits[-1].start_ms
        return "pods_not_created", "back_off" if back_off else "controller", ""

    def _of_pods(self) -> Reason:
        said = [self._verdict(uid) for uid in self.waiting()]
        own = [one for one in said if isinstance(one, tuple)]
        most = [one for one in own if one[0] != "waiting_victims"] or own
        if most:
            return min(
                set(most),
                key=lambda one: (-most.count(one), reasons.CODES.index(one[0]), one[2] in CORE, one[2], one[1]),
            )
        return ("scheduler_backlog", "not_tried", "") if "" in said or not said else ("unknown", "", "")

    def _remember_verdict(self, uid: str) -> None:
        if uid in self.waiting():
            self.before[uid] = self._verdict(uid)

    def _verdict(self, uid: str) -> Reason | str:
        """The pod's own reason, or a word for none: empty (nobody tried it), gated, place, pointer."""
        shape = self.pods()[uid]
        if shape.spec.scheduling_gates:
            return "gated"
        for task in (shape.metadata.name, f"{self.job.namespace}/{shape.metadata.name}"):
            if task in self.decided:
                found = self.decided[task][1]
                if not (found[0] in OF_NODES and self._refused_for_claims(uid, shape)):
                    return found
        if uid in self.claimless:
            return "dra", "", ""
        text = self._text(uid, shape)
        return self._of_text(uid, shape, text) if text else ""

    def _text(self, uid: str, shape: Any) -> str:
        for one in shape.status.conditions or ():
            if one.type == "PodScheduled" and one.status != "True" and one.reason != "SchedulingGated":
                return str(one.message or one.reason or "")
        return self.by_event.get(uid, "")

    def _of_text(self, uid: str, shape: Any, text: str) -> Reason | str:
        message = parse(text)
        if message.waiting_victims or self._nominated(shape, message, text):
            return "waiting_victims", "", ""
        if message.queue_refused:
            return "quota", "queue_refused", ""
        if message.no_evidence:
            return ""
        if message.has_place:
            return "place"
        if message.pointer:
            return "pointer"
        said = [one for one in message.reasons if one.category != "gang"]
        if not said:
            details = [one.reason_detail for one in message.reasons if one.reason_detail]
            return "gang_incomplete", details[0] if details else "", ""
        return self._of_nodes(uid, said, message)

    def _nominated(self, shape: Any, message: Message, text: str) -> bool:
        if not shape.status.nominated_node_name or message.pointer or "nodes are available" not in text:
            return False
        details = [one.detail for one in message.reasons if one.category == "preemption_no_victim"]
        return not message.preemption_part or "no_victims" in details

    def _of_nodes(self, uid: str, said: list[Any], message: Message) -> Reason:
        sure = [one for one in said if one.reason in ("volume", "dra") and one.nodes is None]
        first = _best(sure, DEEP) or _best(said, WHOLE)
        if first is not None:
            return _told(first, message)
        wanted = self.wanted.get(uid)
        if wanted is not None and wanted.total == 0:
            return "node_affinity", "", ""
        if wanted is not None and wanted.open == 0:
            for reason, count in zip(SELECTION, (wanted.not_ready, wanted.unschedulable, wanted.tainted), strict=False):
                if count:
                    return reason, "", ""
        deep = _best(said, DEEP)
        if deep is not None:
            return _told(deep, message)
        before = self.before.get(uid, "")
        if wanted is not None and isinstance(before, tuple):
            return before
        selection = _best(said, SELECTION)
        return _told(selection, message) if selection is not None else ("unknown", "", "")


def _best(said: list[Any], order: tuple[str, ...]) -> Any | None:
    for reason in order:
        same = [one for one in said if one.reason == reason]
        if same:
            most = max(one.nodes or 0 for one in same)
            top = [one for one in same if (one.nodes or 0) == most]
            return next((one for one in top if one.resource and one.resource not in CORE), top[0])
    return None


def _first(message: Message, order: tuple[str, ...]) -> Reason | None:
    found = None if message.no_evidence else _best(list(message.reasons), order)
    return _told(found, message) if found is not None else None


def _told(said: Any, message: Message) -> Reason:
    never = message.never_fits and "never_fits" in reasons.DETAILS.get(said.reason, ())
    return said.reason, said.reason_detail or ("never_fits" if never else ""), said.resource or ""


def _group_minimum(shape: Any) -> int | None:
    if hasattr(shape.spec, "min_member"):
        return shape.spec.min_member
    policy = shape.spec.scheduling_policy
    return policy.gang.min_count if policy is not None and policy.gang is not None else None


def _batch_minimum(shape: Any) -> int:
    parallelism = 1 if shape.spec.parallelism is None else shape.spec.parallelism
    completions = parallelism if shape.spec.completions is None else shape.spec.completions
    return max(min(parallelism, completions), 1)


def _names_group(shape: Any) -> bool:
    if shape.spec.scheduling_group is not None and shape.spec.scheduling_group.pod_group_name:
        return True
    return any((shape.metadata.annotations or {}).get(key) for key in GROUP_NOTES)
