"""A day of a scheduler: 24 hours of churn on 5,000 nodes, a session every ten minutes; what it keeps, and whether it is sure.

Jobs come, wait, run and end; nodes are cordoned, break, vanish and come back; sessions bind, promise and evict, and the
next one finds what came of it. The tables stand and are told what has changed, as in the shadow. A second process, with
another seed of its hashes, does the same day and makes everything anew for each session, from nodes, pods and groups in
another order every time; every session must decide the same.

Memory is looked at on the hour, when a session is over. What is resident must not grow any more once the fleet is full,
hours 7 to 12; it follows what lives and the largest session so far, so a small leak would hide in it. Therefore a copy of
the process (a fork) is told on the hour that all jobs and pods are gone, and what it still holds is counted: Python's
objects, of which a job that is not forgotten leaves at least one. Not counted are the ways in which pods can ask, of which
tables that stand remember up to some thousands whoever asked so.
"""

from __future__ import annotations

import gc
import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Protocol

import msgspec

from benchmarks import fleets
from benchmarks.figures import Clocks, Figure, measured, percentile, rss_bytes
from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model import facts as f
from scheduler_core.model import snapshot
from scheduler_core.model.classes import Classes
from scheduler_core.model.jobs import COMPLETED
from scheduler_core.model.snapshot import Snapshot
from scheduler_core.model.standing import Standing
from scheduler_core.session.session import Session

HOURS = 24
STEP_S = 600
NODES = 5000
JOBS_A_STEP = 80
FULL_AFTER_H = 6
PATIENCE_S = 7200
"""A job that has not begun by then is withdrawn."""
_SECOND_PROCESS = "from benchmarks import scheduler_day; scheduler_day.tell()"
_encode = msgspec.json.Encoder().encode

POLICY = msgspec.structs.replace(fleets.FULL, actions=("enqueue", "allocate", "preempt", "backfill"))


def run() -> Iterable[Figure]:
    """Memory, what is left of jobs that are gone, time, then sameness."""
    tables = Stands()
    day = Day(NODES, JOBS_A_STEP, tables)
    mine: list[str] = []
    took: list[float] = []
    hours: list[Hour] = []
    for step, (digest, clocks) in enumerate(day.sessions(HOURS)):
        mine.append(digest)
        took.append(1000 * clocks.cpu_s)
        if (step + 1) * STEP_S % 3600 == 0:
            hours.append(Hour.of(day, tables))
    setup = {
        "nodes": NODES, "hours": HOURS, "sessions": len(mine), "jobs": day.made, "bound": day.bound, "evicted": day.evicted,
        "refused_tasks": day.refused, "policy": "full, with preempt", "tables": "stand", "builds": tables.standing.builds,
    }  # fmt: skip
    yield from _memory(hours, setup)
    yield Figure(
        name="scheduler_day_session_p99", value=percentile(took, 0.99), unit="ms cpu", goal=1000, higher_is_better=False,
        setup={**setup, "measured": "opening, actions, decision records", "median_ms": round(percentile(took, 0.5), 1)},
    )  # fmt: skip
    other = _in_second_process()
    assert len(other) == len(mine)
    yield Figure(
        name="scheduler_day_differences", value=sum(a != b for a, b in zip(mine, other, strict=True)), unit="sessions",
        goal=0, higher_is_better=False,
        setup={**setup, "second": "another process, hash seed and order of input, everything made anew for each session"},
    )  # fmt: skip


def _memory(hours: list[Hour], setup: dict[str, object]) -> Iterator[Figure]:
    """What is resident, and what is left of jobs that are gone."""
    early, late = hours[FULL_AFTER_H : HOURS // 2], hours[HOURS // 2 :]
    yield Figure(
        name="scheduler_day_memory", value=max(each.resident for each in late) / max(each.resident for each in early),
        unit="x of hours 7 to 12", goal=1.05, higher_is_better=False,
        setup={**setup, "rss_mb_by_hour": [round(each.resident / 2**20) for each in hours],
               "blocks_by_hour": [each.blocks for each in hours], "pods_by_hour": [each.pods for each in hours],
               "groups_by_hour": [each.groups for each in hours]},
    )  # fmt: skip
    noon, end = early[-1], late[-1]
    yield Figure(
        name="scheduler_day_left_behind", value=(end.left - noon.left) / (end.made - noon.made),
        unit="objects a job, hours 13 to 24", goal=0.5, higher_is_better=False,
        setup={**setup, "left_by_hour": [each.left for each in hours], "jobs_by_hour": [each.made for each in hours],
               "classes_by_hour": [each.classes for each in hours]},
    )  # fmt: skip


def tell() -> None:
    """What the second process does: a digest of each session, everything made anew in an order of its own."""
    for digest, _ in Day(NODES, JOBS_A_STEP, Anew(random.Random(2))).sessions(HOURS):
        sys.stdout.write(digest + "\n")


def _in_second_process() -> list[str]:
    environment = os.environ | {"PYTHONHASHSEED": "20260302"}
    found = subprocess.run(
        [sys.executable, "-c", _SECOND_PROCESS], check=True, capture_output=True, text=True, env=environment
    )
    return found.stdout.split()


class Hour(msgspec.Struct):
    """What is held at the end of an hour: resident bytes, Python's blocks, and those `left` without any pod or group.

    `classes` are the ways in which pods have asked so far, as far as the tables remember.
    """

    resident: int
    blocks: int
    left: int
    classes: int
    pods: int
    groups: int
    made: int

    @staticmethod
    def of(day: Day, tables: Stands) -> Hour:
        """Looks, when the last session of the hour is over."""
        classes = len(tables.snapshot().classes.all)
        gc.collect()
        resident, blocks = rss_bytes(), sys.getallocatedblocks()
        return Hour(resident, blocks, _left(day, tables), classes, len(day.pods), len(day.groups), day.made)


def _left(day: Day, tables: Stands) -> int:
    """Python's blocks in a copy of this process in which all pods and groups have gone."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, str(emptied(day, tables)).encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as answer:  # noqa: PTH123
        told = answer.read()
    os.waitpid(child, 0)
    return int(told)


def emptied(day: Day, tables: Stands) -> int:
    """Python's blocks when all pods and groups have gone."""
    day.clear()
    tables.clear()
    gc.collect()
    return sys.getallocatedblocks()


class Tables(Protocol):
    """Where a day's sessions get their snapshots from."""

    def take(self, facts: f.ClusterFacts) -> None:
        """The cluster as it is now."""

    def snapshot(self) -> Snapshot:
        """For one session."""


class Stands:
    """Tables that stand, and are told what has changed."""

    def __init__(self) -> None:
        self._pods: dict[str, f.PodFacts] = {}
        self._groups: dict[str, f.GroupFacts] = {}
        self._nodes: tuple[f.NodeFacts, ...] = ()
        self.standing = Standing(f.ClusterFacts())

    def take(self, facts: f.ClusterFacts) -> None:
        pods = {each.uid: each for each in facts.pods}
        groups = {f"{each.namespace}/{each.name}": each for each in facts.groups}
        if not self._nodes:
            self.standing.replace(facts)
        else:
            self.standing.put(*(each for uid, each in pods.items() if self._pods.get(uid) is not each))
            self.standing.put(*(each for name, each in groups.items() if self._groups.get(name) is not each))
            self.standing.drop_pods(self._pods.keys() - pods.keys())
            self.standing.drop_groups(self._groups.keys() - groups.keys())
            self.standing.put_nodes(facts.nodes)
        self._pods, self._groups, self._nodes = pods, groups, facts.nodes

    def snapshot(self) -> Snapshot:
        return self.standing.snapshot()

    def clear(self) -> None:
        """All pods and groups are gone, a session has seen that, and how pods asked is forgotten."""
        self.standing.drop_pods(self._pods)
        self.standing.drop_groups(self._groups)
        self._pods, self._groups = {}, {}
        self.snapshot()
        self.standing.put_nodes(self._nodes)
        taken = self.snapshot()
        taken.classes = Classes(taken.axis)
        scheduling.act(scheduling.on_snapshot(taken, POLICY, fleets.START_NS, plugins.ALL))
        self.snapshot()


class Anew:
    """Everything is made anew for each session, from facts in an order that `dice` draw."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._facts = f.ClusterFacts()

    def take(self, facts: f.ClusterFacts) -> None:
        nodes, groups, pods = list(facts.nodes), list(facts.groups), list(facts.pods)
        for each in (nodes, groups, pods):
            self._dice.shuffle(each)
        self._facts = msgspec.structs.replace(facts, nodes=tuple(nodes), groups=tuple(groups), pods=tuple(pods))

    def snapshot(self) -> Snapshot:
        return snapshot.build(self._facts)


class Day:
    """The cluster over a day, and what was decided of it."""

    def __init__(self, nodes: int, jobs_a_step: int, tables: Tables, *, seed: int = 1) -> None:
        start = fleets.Mixed(nodes, 0, seed=seed).facts
        self.dice = random.Random(seed)
        self.tables = tables
        self.jobs_a_step = jobs_a_step
        self.now_ns = fleets.START_NS
        self.rest = msgspec.structs.replace(start, nodes=(), groups=(), pods=())
        self.nodes = {each.name: each for each in start.nodes}
        self.gone: dict[str, f.NodeFacts] = {}
        self.groups = {f"{each.namespace}/{each.name}": each for each in start.groups}
        self.pods = {each.uid: each for each in start.pods}
        self.ends_ns = {uid: self.now_ns + self.dice.randrange(7200) * fleets.SECOND_NS for uid in self.groups}
        self.begun = set(self.groups)
        self.leaving: list[str] = []
        self.made = self.bound = self.evicted = self.refused = 0

    def sessions(self, hours: int, step_s: int = STEP_S) -> Iterator[tuple[str, Clocks]]:
        """A digest of each session's decisions, and what it took."""
        for _ in range(hours * 3600 // step_s):
            self.now_ns += step_s * fleets.SECOND_NS
            self._end_jobs()
            self._change_nodes()
            for _ in range(self.dice.randrange(2 * self.jobs_a_step)):
                self._add_job()
            self.tables.take(self._facts())
            with measured() as clocks:
                session = scheduling.on_snapshot(self.tables.snapshot(), POLICY, self.now_ns, plugins.ALL)
                scheduling.act(session)
                records = _encode(decisions.of_session(session, "simulate"))
            self._carry_out(session)
            del session
            yield hashlib.blake2b(records, digest_size=16).hexdigest(), clocks

    def _facts(self) -> f.ClusterFacts:
        nodes, groups, pods = self.nodes.values(), self.groups.values(), self.pods.values()
        return msgspec.structs.replace(self.rest, nodes=tuple(nodes), groups=tuple(groups), pods=tuple(pods))

    def clear(self) -> None:
        """All jobs and pods are gone."""
        self.groups, self.pods, self.ends_ns = {}, {}, {}
        self.begun.clear()
        self.leaving.clear()

    # what happens between sessions

    def _end_jobs(self) -> None:
        for uid in self.leaving:
            self.pods.pop(uid, None)
        self.leaving.clear()
        over = {uid for uid, at_ns in self.ends_ns.items() if at_ns <= self.now_ns}
        for uid in over:
            del self.ends_ns[uid], self.groups[uid]
        self.begun -= over
        self.pods = {uid: pod for uid, pod in self.pods.items() if pod.group not in over}

    def _change_nodes(self) -> None:
        """Of a thousand nodes about one each is cordoned, opened, broken, mended, taken away; those away come back."""
        self.nodes |= self.gone
        self.gone = {}
        for name in self.dice.sample(sorted(self.nodes), max(len(self.nodes) // 200, 1)):
            kind = self.dice.randrange(5)
            if kind == 4:
                self.gone[name] = self.nodes.pop(name)
            else:
                change = {"unschedulable": kind == 0} if kind < 2 else {"ready": kind == 3}
                self.nodes[name] = msgspec.structs.replace(self.nodes[name], **change)
        self.pods = {uid: pod for uid, pod in self.pods.items() if pod.node not in self.gone}

    def _add_job(self) -> None:
        dice, number = self.dice, self.made
        self.made += 1
        tenant = f"t{dice.randrange(fleets.TENANTS):02d}"
        size, gpus = dice.choice(fleets.SIZES), dice.choice((1, 2, 4, 8, 16 if number % 50 == 0 else 8))
        group = f.GroupFacts(
            namespace=tenant, name=f"day{number:06d}", queue=f"{tenant}-q{dice.randrange(fleets.QUEUES_EACH)}",
            min_member=max(size - dice.randrange(3), 1), priority_class=dice.choice(("low", "", "high")),
            min_resources={fleets.GPU: size * gpus} if dice.random() < 0.5 else None,
            topology=f.TopologyFacts("soft") if size > 4 and dice.random() < 0.2 else None,
            annotations={"sla-waiting-time": "2h"} if number % 4 == 0 else {}, created_ns=self.now_ns,
        )  # fmt: skip
        self.groups[f"{tenant}/{group.name}"] = group
        self.ends_ns[f"{tenant}/{group.name}"] = self.now_ns + PATIENCE_S * fleets.SECOND_NS
        asked = f.ContainerFacts(
            {"cpu": gpus * dice.choice((4, 8)), "memory": f"{gpus * 32 + number % 97}Gi", fleets.GPU: gpus}
        )
        selector = {"model": dice.choice(fleets.MODELS)} if dice.random() < 0.6 else {}
        for at in range(size):
            name = f"{group.name}-w-{at}"
            self.pods[f"{tenant}-{name}"] = f.PodFacts(
                uid=f"{tenant}-{name}", namespace=tenant, name=name, group=f"{tenant}/{group.name}", containers=(asked,),
                node_selector=selector, priority=10, created_ns=self.now_ns,
            )  # fmt: skip

    # what a session decided

    def _carry_out(self, session: Session) -> None:
        for uid, (_, node) in sorted(session.binds.items()):
            self.pods[uid] = msgspec.structs.replace(self.pods[uid], phase="Running", node=node)
        for each in session.evictions:
            uid = each.task.uid
            self.pods[uid] = msgspec.structs.replace(self.pods[uid], deleting=True)
            self.leaving.append(uid)
        for uid, job in sorted(session.jobs.items()):
            group = self.groups[uid]
            if job.phase != group.phase and job.phase != COMPLETED:
                self.groups[uid] = msgspec.structs.replace(group, phase=job.phase)
            if uid not in self.begun and job.ready >= job.min_member:
                self.begun.add(uid)
                self.ends_ns[uid] = self.now_ns + self.dice.randrange(600, 21_600) * fleets.SECOND_NS
        self.bound += len(session.binds)
        self.evicted += len(session.evictions)
        self.refused += sum(len(job.refusals) for job in session.jobs.values())
