"""One pod's verdict: what its scheduler's text proves, together with the nodes it wants.

A filter names a node only at the first obstacle, so a text proves nothing about selection, cordons, taints and
readiness: one cordoned node anywhere is counted for every pod (rule P1). These are read off `nodes_wanted`; the text
says the rest. A verdict that begins with `~` is none: the pod is gated, has a place, or points to another member.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from aggregation.lifecycle import asks, counts
from aggregation.lifecycle.objects import Decided, Pod
from aggregation.lifecycle.state import JobState
from aggregation.messages import Message, Said, parse
from pipeline.records import devices, reasons
from pipeline.records.objects import NodesWanted

GATED = "~gated"
HAS_PLACE = "~place"
POINTER = "~pointer"
QUOTED = "~quoted"
"""Before a reason that a pointer quotes of another member. (Volcano's `Origin reason is` is no pointer: after one task
of a role has failed it does not try the others, so what the text quotes holds for the member that carries it.)"""
MARK = "~"
_CUT = "|"
_WHOLE_JOB = (
    reasons.NOT_ADMITTED, reasons.QUOTA, reasons.QUEUE_LIMIT, reasons.OUTRANKED, reasons.GANG_INCOMPLETE,
    reasons.WAITING_VICTIMS,
)  # fmt: skip
_DEEP = (
    reasons.POD_AFFINITY, reasons.POD_ANTI_AFFINITY, reasons.TOPOLOGY_SPREAD, reasons.TOPOLOGY, reasons.VOLUME,
    reasons.DRA, reasons.PORT_CONFLICT, reasons.INSUFFICIENT_RESOURCE, reasons.FRAGMENTATION, reasons.BINDING,
)  # fmt: skip
"""What a node refuses after selection, the deepest filter first."""
_SELECTION = (
    reasons.NODE_NOT_READY, reasons.NODE_UNSCHEDULABLE, reasons.UNTOLERATED_TAINT, reasons.NODE_AFFINITY,
)  # fmt: skip
"""Of several obstacles the easiest to lift."""
CLAIMS = (reasons.VOLUME, reasons.DRA)
_OF_FLAVORS = (*_WHOLE_JOB, reasons.TOPOLOGY, *_SELECTION, *_DEEP)
"""What a Workload's flavors refuse. That a share is used up comes before a taint or label that one of them minds: the
others are open to it, and waiting helps."""
OF_NODES = tuple(reason for reason in (*_SELECTION, *_DEEP) if reason not in CLAIMS)
"""What is found at nodes, once the claims of a pod let anybody look at them."""
CORE = ("cpu", "memory", "pods", "ephemeral-storage")


class Verdict(NamedTuple):
    """A reason with what shows it. `mark`: empty if it is the pod's own reason."""

    reason: str = ""
    detail: str = ""
    resource: str = ""
    nodes: int | None = None
    total_nodes: int | None = None
    estimated: bool = False
    mark: str = ""

    @property
    def key(self) -> str:
        """What is counted: pods with equal keys wait for the same. Empty: nobody tried the pod yet."""
        if not self.reason:
            return self.mark
        return self.mark + _CUT.join((self.reason, self.detail, self.resource))


_NONE = Verdict()


def split(key: str) -> tuple[str, str, str]:
    """Reason, detail and resource of a key."""
    reason, detail, resource = key.removeprefix(QUOTED).split(_CUT)
    return reason, detail, resource


def is_word(key: str) -> bool:
    """Whether a scheduler said it."""
    return key != GATED


def assess(state: JobState, uid: str) -> None:
    """Judges a pod anew after its texts or facts changed, and counts it under its new verdict."""
    pod = state.pods.get(uid)
    if pod is None or not pod.waits:
        return
    key = of(state, pod).key
    if key != pod.verdict:
        if pod.verdict:
            counts.tally(state, pod.verdict, -1)
        pod.verdict = key
        if key:
            counts.tally(state, key, 1)


def of(state: JobState, pod: Pod) -> Verdict:
    """The verdict on a pod that waits. A pod whose text names nothing new keeps the one it has."""
    if pod.gated:
        return Verdict(mark=GATED)
    known = decided(state, pod)
    if known is not None:
        return Verdict(known.reason, known.detail, known.resource, known.nodes, known.total_nodes)
    if pod.claim_missing:
        return Verdict(reasons.DRA)
    if not pod.text:
        return _NONE
    return _by_words(pod.text, pod.nominated, pod.wanted, pod.verdict) or _refused(state, pod)


@lru_cache(maxsize=8192)
def _by_words(text: str, nominated: bool, wanted: NodesWanted | None, before: str) -> Verdict | None:
    """What a text proves, of a pod whose verdict was `before`; None if its queue refused it. Pods of a job share texts,
    and schedulers repeat them."""
    message = parse(text)
    if _waits_for_victims(text, nominated, message):
        return Verdict(reasons.WAITING_VICTIMS, nodes=1)
    if message.queue_refused:
        return None
    if message.no_evidence:
        return _NONE
    return _of_text(message, wanted, before)


def refusal(text: str) -> Verdict | None:
    """What keeps a whole job out, by the words of its queue or of who makes its pods; None if they name nothing."""
    message = parse(text)
    if message.no_evidence:
        return None
    found = _pick(message.reasons, _WHOLE_JOB)
    return _verdict(found, message) if found is not None else None


def withheld(text: str, *, partly: bool = False) -> Verdict | None:
    """Why a Kueue Workload has no quota, by its own words; None if they name nothing.

    Victims that are being ended come first, as they do for a pod (rule P10); a share that is used up comes after one
    that can never be enough, if no flavor has enough of that resource. Of a Workload that is content with a part
    (`partly`) the text speaks of the whole: what is above the ceiling there may fit when others have ended (rule P6).
    """
    message = parse(text)
    if message.no_evidence or not text:
        return None
    if message.waiting_victims:
        return Verdict(reasons.WAITING_VICTIMS)
    order = (reasons.QUEUE_LIMIT, *_OF_FLAVORS) if message.never_fits else _OF_FLAVORS
    found = _pick(message.reasons, order)
    if found is None:
        return None
    if partly and message.never_fits and found.reason == reasons.QUEUE_LIMIT:
        return Verdict(reasons.QUOTA, resource=found.resource or "")
    return _verdict(found, message)


def decided(state: JobState, pod: Pod) -> Decided | None:
    """The scheduler's own decision about a pod, the strongest evidence: but of nodes only if its claims do not keep
    everybody from looking at them, which a shadow may not see."""
    if not state.decided:
        return None
    known = state.decided.get(pod.name) or state.decided.get(f"{state.job.namespace}/{pod.name}")
    return None if known is not None and known.reason in OF_NODES and refused_for_claims(pod) else known


def refused_for_claims(pod: Pod) -> bool:
    """Whether a pod is refused for its claims, before any node was looked at."""
    return pod.claim_missing or (bool(pod.text) and bool(_uncounted(parse(pod.text).reasons)))


def _uncounted(said: Iterable[Said]) -> list[Said]:
    """Refusals over claims that came before any node (rule P1)."""
    return [one for one in said if one.reason in CLAIMS and one.nodes is None]


def _waits_for_victims(text: str, nominated: bool, message: Message) -> bool:
    """Rule P10. Volcano never clears a nomination, so beside its texts a nomination proves nothing; beside one of
    kube-scheduler it does, unless that says that preemption helps nowhere (the node it is being bound to)."""
    if message.waiting_victims:
        return True
    if not nominated or message.pointer or "nodes are available" not in text:
        return False
    said = [one for one in message.reasons if one.category == "preemption_no_victim"]
    return not message.preemption_part or any(one.detail == "no_victims" for one in said)


def _refused(state: JobState, pod: Pod) -> Verdict:
    """Rule P9: the queue said no without a word; for ever, if its ceiling is below what the gang asks for."""
    if _above_ceiling(state, pod):
        return Verdict(reasons.QUEUE_LIMIT, "never_fits")
    return Verdict(reasons.QUOTA, "queue_refused")


def _above_ceiling(state: JobState, pod: Pod) -> bool:
    ceiling = state.queue.capability if state.queue is not None else None
    if not ceiling:
        return False
    least = state.episodes[-1].minimum if state.episodes else None
    wanted = pod.asks * (least or 1)
    limit = asks.of_amounts(ceiling)
    named = devices.devices(ceiling)
    return (
        ("cpu" in ceiling and wanted.cpus_milli > limit.cpus_milli)
        or ("memory" in ceiling and wanted.memory_bytes > limit.memory_bytes)
        or (bool(named) and wanted.gpus > limit.gpus)
    )


def _of_text(message: Message, wanted: NodesWanted | None, before: str) -> Verdict:
    if message.has_place:
        return Verdict(mark=HAS_PLACE)
    own = [one for one in message.reasons if one.category != "gang"]
    if message.pointer:
        named = _by_text(own, message)
        return named._replace(mark=QUOTED) if named is not None else Verdict(mark=POINTER)
    if not own:
        detail = next((one.reason_detail for one in message.reasons if one.reason_detail), None)
        return Verdict(reasons.GANG_INCOMPLETE, detail or "")
    return _of_nodes(own, message, wanted, before)


def _of_nodes(said: list[Said], message: Message, wanted: NodesWanted | None, before: str) -> Verdict:
    """Rule P1."""
    first = _pick(_uncounted(said), _DEEP) or _pick(said, _WHOLE_JOB)
    if first is not None:
        return _verdict(first, message)
    if wanted is not None and (wanted.total == 0 or wanted.open == 0):
        return _by_facts(wanted, said, message)
    deep = _pick(said, _DEEP)
    if deep is not None:
        return _verdict(deep, message, estimated=wanted is None)
    if wanted is not None and before and not before.startswith(MARK):
        return Verdict(*split(before), total_nodes=message.total_nodes)
    return _by_text(said, message) or Verdict(reasons.UNKNOWN, total_nodes=message.total_nodes)


def _by_facts(wanted: NodesWanted, said: list[Said], message: Message) -> Verdict:
    if wanted.total == 0:
        named = _pick(said, (reasons.NODE_AFFINITY,))
        nodes = named.nodes if named is not None and named.nodes is not None else message.total_nodes
        return Verdict(reasons.NODE_AFFINITY, nodes=nodes, total_nodes=message.total_nodes)
    for reason, nodes in (
        (reasons.NODE_NOT_READY, wanted.not_ready),
        (reasons.NODE_UNSCHEDULABLE, wanted.unschedulable),
        (reasons.UNTOLERATED_TAINT, wanted.tainted),
    ):
        if nodes:
            return Verdict(reason, nodes=nodes, total_nodes=message.total_nodes)
    return Verdict(reasons.UNKNOWN, total_nodes=message.total_nodes)


def _by_text(said: list[Said], message: Message) -> Verdict | None:
    """The text's own words, without knowledge of the nodes."""
    found = _pick(said, (*_WHOLE_JOB, *_DEEP, *_SELECTION))
    return _verdict(found, message, estimated=True) if found is not None else None


def _verdict(said: Said, message: Message, *, estimated: bool = False) -> Verdict:
    detail = said.reason_detail or ("never_fits" if _never_fits(said, message) else "")
    return Verdict(said.reason, detail, said.resource or "", said.nodes, message.total_nodes, estimated)


def _never_fits(said: Said, message: Message) -> bool:
    return message.never_fits and "never_fits" in reasons.DETAILS.get(said.reason, ())


def _pick(said: Iterable[Said], order: tuple[str, ...]) -> Said | None:
    """The reason that stands first in `order`; of one kind the one with most nodes, extended resources before CPU and
    memory (rule P16)."""
    found = [one for one in said if one.reason in order]
    if not found:
        return None
    first = min(order.index(one.reason) for one in found)
    return max((one for one in found if one.reason == order[first]), key=_weight)


def _weight(said: Said) -> tuple[int, bool]:
    return said.nodes or 0, said.resource is not None and said.resource not in CORE
