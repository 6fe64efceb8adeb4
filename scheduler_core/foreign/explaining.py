"""Every pod that waits for another scheduler than Volcano, with why: the decisions of this room.

A pod that is promised a node whose pods are still leaving waits for them. A pod behind a scheduling gate, and one whose
gang does not exist or is not complete, is told by what it lacks; no node was looked at. A member that would fit carries
the reason of the first member that does not. All others have the nodes by the filters that refuse them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from pipeline.records import reasons
from pipeline.records.decisions import Decision, FailureSet
from pipeline.records.jobs import JobRef
from scheduler_core.cache.reading import PodSeen
from scheduler_core.foreign import gangs, lacking, preemption, texts
from scheduler_core.foreign.cluster import NAME, Cluster
from scheduler_core.foreign.filters import Filters, place_of
from scheduler_core.foreign.gangs import Gang
from scheduler_core.foreign.judged import Judged
from scheduler_core.foreign.reasons import Leading, Reasons
from scheduler_core.foreign.world import World
from scheduler_core.model.tasks import Task
from scheduler_core.model.why import Why
from scheduler_core.session.codes import FITS

_MOST_KNOWN = 50_000
"""Explanations that are kept, of pods alike and of gangs."""


def explain(known: World, session_ms: int) -> list[Decision]:
    """One attribution for each pod that waits, in the order of their names; none while nothing waits."""
    return Explaining(Cluster(known)).at(session_ms) if known.waiting else []


def message(known: World, uid: str) -> str:
    """What kube-scheduler would write about a pod that waits, after an attempt at it on what is known; empty if a node
    takes it, or if it would not be tried."""
    return Explaining(Cluster(known)).message(uid)


class Explaining:
    """The explanation of one cluster, at one time after another; what nothing has touched is not explained again."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.filters = Filters(cluster)
        self.reasons = Reasons(cluster, self.filters)
        self.session_ms = 0
        self._alike: Counter[tuple[str, int]] = Counter()
        self._known: dict[tuple[object, ...], Decision] = {}
        self._gangs: dict[str, tuple[tuple[object, ...], list[Decision]]] = {}
        self._known_of: tuple[object, ...] = ()

    def at(self, session_ms: int) -> list[Decision]:
        """One attribution for each pod that waits now, in the order of their names."""
        cluster = self.cluster
        self.session_ms = session_ms
        self._alike = Counter(_kind_of(cluster.tasks[uid], seen) for uid, seen in cluster.seen.items())
        now = (cluster.version, cluster.promises)
        if now != self._known_of or len(self._known) + len(self._gangs) > _MOST_KNOWN:
            self.forget()
            self._known_of = now
        found = {each.task: each for each in self._all()}
        return [found[task] for task in sorted(found, key=str)]

    def forget(self) -> None:
        """Something beside the pods has changed: everything is explained again."""
        self._known.clear()
        self._gangs.clear()

    def _all(self) -> Iterator[Decision]:
        """Decisions on all pods that wait; members of one group one after the other."""
        groups = gangs.of_cluster(self.cluster)
        for uid, seen in self.cluster.seen.items():
            gang = groups.get(seen.native_group)
            if seen.facts.gates:
                message = f"waits behind the scheduling gates {', '.join(seen.facts.gates)}"
                yield self._decision(seen, Why(reasons.NOT_ADMITTED, "gated", message=message))
            elif gang is None or (gang.facts is None and seen.tried) or (gang.facts is not None and not gang.minimum):
                yield self._alone(self.cluster.tasks[uid])
        for gang in groups.values():
            yield from self._of_gang(gang)

    def message(self, uid: str) -> str:
        """The words of kube-scheduler about one pod."""
        task, seen = self.cluster.tasks[uid], self.cluster.seen[uid]
        gang = gangs.of_cluster(self.cluster).get(seen.native_group)
        if gang is None or (gang.facts is not None and not gang.minimum):
            judged = self.filters.judge(task)
            return "" if judged.any_fits else texts.of_pod(self.cluster, self.filters, task, judged)
        if gang.incomplete or gang.facts is None or seen.facts.gates:
            return ""
        return self._message_of_member(gang, task)

    def _message_of_member(self, gang: Gang, task: Task) -> str:
        with gangs.tried(self.cluster, self.filters, gang) as attempt:
            for other, judged in attempt.refused:
                if other is task:
                    return texts.of_filters(self.filters, judged)
            if attempt.scheduled >= gang.minimum:
                return ""
            fits = task in attempt.fitting
            return texts.of_member(gang.minimum, attempt.scheduled, len(attempt.left), fits=fits)

    # --- pods of no gang -----------------------------------------------------------------------------------------------

    def _alone(self, task: Task) -> Decision:
        """Pods that nobody can tell apart are explained once."""
        seen = self.cluster.seen[task.uid]
        key = self._key(task, seen)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._by_nodes(task, self.filters.judge(task), self._alike[_kind_of(task, seen)])
        return msgspec.structs.replace(known, job=_job_of(seen), task=task.key, session_ms=self.session_ms)

    def _key(self, task: Task, seen: PodSeen) -> tuple[object, ...]:
        labels = frozenset(task.labels.items()) if self.cluster.session.relations.active else None
        promised = task.uid if task.nominated else ""  # its own place is no other's
        return (
            task.cls.number, task.namespace, labels, task.pod_priority, promised, seen.tried, seen.claims,
            seen.devices, self._alike[_kind_of(task, seen)],
        )  # fmt: skip

    def _by_nodes(self, task: Task, judged: Judged, alike: int) -> Decision:
        """What nodes say of a task. `alike`: tasks of its job, with it, that ask the same and have no place."""
        seen = self.cluster.seen[task.uid]
        victims = self._victims(task)
        if victims is not None:
            return self._decision(seen, victims, node=task.nominated)
        leading = self.reasons.of(task, judged, alike)
        if leading is None:
            nodes = sum(nodes for code, nodes in judged.firsts if code == FITS)
            said = "1 node takes it as it is" if nodes == 1 else f"{nodes} nodes take it as they are"
            why = Why(reasons.SCHEDULER_BACKLOG, "not_tried", message=said)
            return self._decision(seen, why)
        return self._refused(task, judged, leading, alike)

    def _refused(self, task: Task, judged: Judged, leading: Leading, alike: int) -> Decision:
        why, said = leading.why, texts.of_filters(self.filters, judged)
        message = f"{why.message}; {said}" if why.message and not judged.early else said
        found = self._decision(self.cluster.seen[task.uid], msgspec.structs.replace(why, message=message))
        found.nodes, found.total_nodes = leading.nodes, judged.total
        if not judged.early:
            found.failure_sets = tuple(self._sets(judged))
            found.helps = (*self._room(task, why, alike), *lacking.helps(self.cluster, self.filters, task, judged, why))
        return found

    def _room(self, task: Task, why: Why, alike: int) -> tuple[str, ...]:
        return lacking.room(self.cluster, self.reasons, task, why, alike)

    def _sets(self, judged: Judged) -> list[FailureSet]:
        """Nodes by what refuses them, most nodes first, then in the order of the filters."""
        found = [
            FailureSet(tuple(check.name for check in self.filters.failed(code)), nodes) for code, nodes in judged.firsts
        ]
        return sorted(found, key=lambda each: (-each.nodes, place_of(each.filters[0]), each.filters))

    def _victims(self, task: Task) -> Why | None:
        """Who has to go before the pod gets the node that it was promised."""
        row = self.cluster.table.rows.get(task.nominated, -1)
        going = preemption.leaving(self.cluster, task, row) if row >= 0 else []
        if not going:
            return None
        names = ", ".join(sorted(each.key for each in going))
        return Why(reasons.WAITING_VICTIMS, message=f"it gets {task.nominated} when {names} {_have(going)} gone")

    # --- gangs -----------------------------------------------------------------------------------------------------------

    def _of_gang(self, gang: Gang) -> Iterator[Decision]:
        if gang.facts is None:
            for task in gang.waiting:
                seen = self.cluster.seen[task.uid]
                if not seen.tried:  # no scheduler says a word on pods of a group that is not there
                    why = Why(reasons.GANG_INCOMPLETE, "group_missing", message=f"PodGroup {gang.name} does not exist")
                    yield self._decision(seen, why)
        elif gang.incomplete:
            said = f"{gang.alive} of {gang.minimum} members of {gang.name} exist"
            for task in gang.waiting:
                why = Why(reasons.GANG_INCOMPLETE, "members_missing", message=said)
                yield self._decision(self.cluster.seen[task.uid], why)
        elif gang.minimum:
            members = tuple(self.cluster.seen[task.uid] for task in gang.waiting)
            now = (gang.facts, gang.bound, members)
            before, told = self._gangs.get(gang.name, ((), []))
            if before != now:
                told = list(self._complete(gang))
                self._gangs[gang.name] = (now, told)
            yield from (msgspec.structs.replace(each, session_ms=self.session_ms) for each in told)

    def _complete(self, gang: Gang) -> Iterator[Decision]:
        kinds = Counter(task.cls.number for task in gang.waiting)
        with gangs.tried(self.cluster, self.filters, gang) as attempt:
            for task in attempt.fitting:
                kinds[task.cls.number] -= 1
            told = [self._by_nodes(task, judged, kinds[task.cls.number]) for task, judged in attempt.refused]
        yield from told
        other = told[0] if told and attempt.scheduled < gang.minimum else None
        for task in (*attempt.fitting, *attempt.left):
            said = texts.of_member(
                gang.minimum, attempt.scheduled, len(attempt.left), fits=task in attempt.fitting
            )  # fmt: skip
            yield self._member(task, said, other)

    def _member(self, task: Task, said: str, other: Decision | None) -> Decision:
        """A member that is not refused itself: its gang waits for another, or it is about to get its place."""
        seen = self.cluster.seen[task.uid]
        if other is None or other.reason is None:
            why = Why(reasons.SCHEDULER_BACKLOG, "not_tried", message="its gang fits as it is")
            return self._decision(seen, why)
        why = Why(other.reason, other.detail or "", other.resource or "", f"{said}; see {other.task}")
        found = self._decision(seen, why)
        found.nodes, found.total_nodes = other.nodes, other.total_nodes
        return found

    # --- records ---------------------------------------------------------------------------------------------------------

    def _decision(self, seen: PodSeen, why: Why, node: str | None = None) -> Decision:
        facts = seen.facts
        return Decision(
            source="shadow",
            policy=NAME,
            session_ms=self.session_ms,
            kind="attribution",
            job=_job_of(seen),
            task=f"{facts.namespace}/{facts.name}",
            node=node,
            reason=why.reason,
            detail=why.detail or None,
            resource=why.resource or None,
            message=why.message,
        )


def _job_of(seen: PodSeen) -> JobRef:
    facts = seen.facts
    return seen.job or JobRef("Pod", facts.namespace, facts.name, facts.uid)


def _kind_of(task: Task, seen: PodSeen) -> tuple[str, int]:
    """The job of a pod, and what it asks: equal for pods that need as many places together."""
    return _job_of(seen).uid, task.cls.number


def _have(tasks: list[Task]) -> str:
    return "has" if len(tasks) == 1 else "have"
