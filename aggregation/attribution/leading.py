"""Which reason leads a job's wait, now.

What keeps the whole job out comes first, since a pod cannot wait for a node before it exists: admission, the queue, the
gang's missing members, victims, pods that are not made. Then the reason of most of the pods that wait and have one.
What was observed for certain (gates, suspension, missing groups) comes before a scheduler's decision record, and that
before the texts of conditions and events.
"""

from __future__ import annotations

from aggregation.attribution import verdict
from aggregation.attribution.verdict import Verdict
from aggregation.lifecycle import minimum
from aggregation.lifecycle.groups import OUTSIDE
from aggregation.lifecycle.objects import Admission, Decided, Group, Pod
from aggregation.lifecycle.state import JobState, Segment
from aggregation.messages import parse
from pipeline.records import kinds, reasons
from pipeline.records.jobs import is_placeholder

_CLOSED = ("Closed", "Closing")
_FOR_QUOTA = ("Pending", "WaitingForQuota", "ReclaimBackoff", "ExceedsMaxQuota")
"""Reasons of Kueue, of releases before and after 0.18, that mean its quota whatever the words say."""
_RANK = {code: place for place, code in enumerate(reasons.CODES)}
_MAX_ALSO = 8
_COUNTED = ("group_missing", "members_missing", "gated", "queue_missing")
"""What the job's own objects show by the moment, and a scheduler only once a second."""


def of(state: JobState, at_ms: int, uid: str = "") -> Segment:
    """The reason that leads from `at_ms` on. `uid`: the pod whose record it was, for its words."""
    least = state.least
    found = _kept_out(state, at_ms, least) or _decided(state, at_ms) or _not_made(state, at_ms, least)
    return found or _of_pods(state, at_ms, uid)


def _kept_out(state: JobState, at_ms: int, least: int | None) -> Segment | None:
    queue = state.queue
    volcano = [group for group in state.groups.values() if group.volcano]
    if queue is not None and (volcano or state.job.group == kinds.VOLCANO_JOB.group):
        if queue.exists is False:
            return Segment(at_ms, reasons.NOT_ADMITTED, "queue_missing", evidence="count")
        if queue.state in _CLOSED:
            return Segment(at_ms, reasons.NOT_ADMITTED, "queue_closed", evidence="condition")
    gated = state.counts.gated > 0 and state.counts.alive - state.counts.gated < (least or 1)
    return (
        _by_kueue(state, at_ms, gated=gated)
        or _suspended(state, at_ms)
        or (Segment(at_ms, reasons.NOT_ADMITTED, "gated", evidence="condition") if gated else None)
        or _outside(state, at_ms, volcano)
        or _gang(state, at_ms, least)
    )


def _suspended(state: JobState, at_ms: int) -> Segment | None:
    own = state.own
    if own is None or not own.suspended:
        return None
    return Segment(at_ms, reasons.NOT_ADMITTED, "suspended", evidence="condition")


def _by_kueue(state: JobState, at_ms: int, *, gated: bool) -> Segment | None:
    """Rule P7: of a job that Kueue holds the reason is the Workload's alone."""
    own = state.own
    if own is not None and not own.suspended and not gated:
        return None
    waiting = [one for one in state.admissions.values() if not one.finished]
    if not waiting:
        if gated and state.of_plain_pods:
            return Segment(at_ms, reasons.GANG_INCOMPLETE, "members_missing", evidence="count")
        held = own is not None and own.suspended and own.kueue
        return Segment(at_ms, reasons.NOT_ADMITTED, "quota_check", evidence="count") if held else None
    if all(one.admitted for one in waiting):
        return None if gated or own is None else _pods_not_created(state, at_ms)
    return _by_workload(next(one for one in waiting if not one.admitted), at_ms)


def _by_workload(workload: Admission, at_ms: int) -> Segment:
    if workload.reserved == "True":
        return Segment(at_ms, reasons.NOT_ADMITTED, "admission_check", evidence="condition")
    found = verdict.withheld(workload.message, partly=workload.partly)
    if not workload.active and (found is None or found.reason != reasons.NOT_ADMITTED):
        return Segment(at_ms, reasons.NOT_ADMITTED, "suspended", evidence="condition")
    if found is None:
        for_quota = workload.reserved and workload.reason in _FOR_QUOTA
        found = Verdict(reasons.QUOTA) if for_quota else Verdict(reasons.NOT_ADMITTED, "quota_check")
    return _segment(at_ms, found, workload.message, "condition")


def _outside(state: JobState, at_ms: int, volcano: list[Group]) -> Segment | None:
    """Rule P8: a Volcano group that its queue has not let in. Of one that nobody said a word of a decision may know why."""
    group = next((group for group in volcano if group.phase in OUTSIDE), None)
    if group is None:
        return None
    found = verdict.refusal(group.refusal) if group.refusal else None
    if found is None:
        made = state.decided.get("")
        if made is not None and made.entry:
            return _of_decision(at_ms, made)
        return Segment(at_ms, reasons.SCHEDULER_BACKLOG, "not_enqueued", evidence="condition")
    return _segment(at_ms, found, group.refusal, "event")


def _gang(state: JobState, at_ms: int, least: int | None) -> Segment | None:
    """Rule P13: a group that does not exist, or has fewer members than it needs.

    No scheduler says a word on pods of a group that does not exist; so words of one are proof that the group is only
    not to be seen.
    """
    named = is_placeholder(state.job.uid) or state.names_group
    if named and not state.groups and state.counts.alive and not any(map(verdict.is_word, state.verdicts)):
        return Segment(at_ms, reasons.GANG_INCOMPLETE, "group_missing", evidence="count")
    if least is not None and 0 < state.counts.alive < least and minimum.is_gang(state):
        return Segment(at_ms, reasons.GANG_INCOMPLETE, "members_missing", evidence="count")
    return None


def _decided(state: JobState, at_ms: int) -> Segment | None:
    made = state.decided.get("")
    if made is None or not state.counts.alive or made.entry or made.detail in _COUNTED:
        return None
    if made.reason in verdict.OF_NODES and _claims_refuse(state):
        return None
    return _of_decision(at_ms, made)


def _claims_refuse(state: JobState) -> bool:
    """Whether claims keep every pod that has a reason of its own from being looked at."""
    own = [key for key in state.verdicts if not key.startswith(verdict.MARK)]
    if not own or any(verdict.split(key)[0] not in verdict.CLAIMS for key in own):
        return False
    return any(pod.waits and verdict.refused_for_claims(pod) for pod in state.pods.values())


def _of_decision(at_ms: int, made: Decided) -> Segment:
    return Segment(
        at_ms, made.reason, made.detail, made.resource, made.nodes, made.total_nodes, made.message,
        evidence="decision",
    )  # fmt: skip


def _not_made(state: JobState, at_ms: int, least: int | None) -> Segment | None:
    """Rules P10 and P11: victims come before pods that do not exist yet."""
    alive = state.counts.alive
    if alive and (least is None or alive >= least):
        return None
    if reasons.WAITING_VICTIMS in (key.partition("|")[0] for key in state.verdicts) and _only_victims(state):
        return None
    own = state.own
    if own is not None and not state.tasks and own.active >= (least or 1):
        return Segment(at_ms, reasons.UNKNOWN, evidence="count")  # its pods exist, but nobody sees them
    return _pods_not_created(state, at_ms)


def _only_victims(state: JobState) -> bool:
    return all(
        key.startswith((verdict.MARK, reasons.WAITING_VICTIMS)) and not key.startswith(verdict.GATED)
        for key in state.verdicts
    )


def _pods_not_created(state: JobState, at_ms: int) -> Segment:
    if state.create_failed:
        found = verdict.refusal(state.create_failed)
        if found is not None and found.reason == reasons.QUOTA:
            return _segment(at_ms, found, state.create_failed, "event")
        return Segment(at_ms, reasons.PODS_NOT_CREATED, "create_failed", message=state.create_failed, evidence="event")
    detail = "controller"
    episode = state.episode
    if state.counts.leaving:
        detail = "terminating_predecessor"
    elif episode is not None and state.last_failed_ms is not None and state.last_failed_ms >= episode.start_ms:
        detail = "back_off"
    return Segment(at_ms, reasons.PODS_NOT_CREATED, detail, evidence="count")


def _of_pods(state: JobState, at_ms: int, uid: str) -> Segment:
    own = [key for key in state.verdicts if not key.startswith(verdict.MARK)]
    refused = [key for key in own if not key.startswith(reasons.WAITING_VICTIMS)]
    keys = refused or own or [key for key in state.verdicts if key.startswith(verdict.QUOTED)]
    if keys:
        return _of_most(state, at_ms, uid, keys)
    tried = sum(state.verdicts.values())
    if tried == 0 or state.counts.alive - state.counts.placed > tried:
        return Segment(at_ms, reasons.SCHEDULER_BACKLOG, "not_tried", evidence="count")
    return Segment(at_ms, reasons.UNKNOWN, evidence="condition", message=_words(state, uid))


def _of_most(state: JobState, at_ms: int, uid: str, keys: list[str]) -> Segment:
    key = keys[0] if len(keys) == 1 else min(keys, key=lambda each: (-state.verdicts[each], *_rank(each)))
    pod = state.pods.get(uid)
    if pod is None or not pod.waits or pod.verdict != key:
        leads = state.episodes[-1].segments[-1:] if state.episodes else []
        if leads and (leads[0].reason, leads[0].detail, leads[0].resource) == verdict.split(key):
            return leads[0]  # it leads already, in words of another pod
        pod = next((pod for pod in state.pods.values() if pod.verdict == key and pod.waits), None)
    if pod is None:
        return Segment(at_ms, *verdict.split(key))
    found = verdict.of(state, pod)
    evidence = "decision" if verdict.decided(state, pod) else "count" if pod.claim_missing else pod.evidence
    made = _segment(at_ms, found, "" if pod.claim_missing else pod.text, evidence)
    made.also = _also(state, key, pod)
    return made


def _rank(key: str) -> tuple[int, bool, str, str]:
    """Of reasons held by equally many pods the one that stands first in the closed list; extended resources first."""
    reason, detail, resource = verdict.split(key)
    return _RANK.get(reason, len(_RANK)), resource in verdict.CORE, resource, detail


def _also(state: JobState, key: str, pod: Pod) -> list[str]:
    """What else was true: the verdicts on other pods, and what else the text names."""
    reason = verdict.split(key)[0]
    others = {verdict.split(each)[0] for each in state.verdicts if not each.startswith(verdict.MARK)}
    others |= {one.reason for one in parse(pod.text).reasons} if pod.text else set()
    others -= {reason, reasons.UNKNOWN, reasons.PREEMPTION_NO_VICTIM}
    return sorted(others, key=lambda code: (_RANK.get(code, len(_RANK)), code))[:_MAX_ALSO]


def _words(state: JobState, uid: str) -> str:
    pod = state.pods.get(uid)
    if pod is not None and pod.waits and pod.text:
        return pod.text
    return next((pod.text for pod in state.pods.values() if pod.waits and pod.text), "")


def _segment(at_ms: int, found: Verdict, message: str, evidence: str) -> Segment:
    return Segment(
        at_ms, found.reason, found.detail, found.resource, found.nodes, found.total_nodes, message,
        evidence=evidence, estimated=found.estimated,
    )  # fmt: skip
