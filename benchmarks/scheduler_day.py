"""A day of a scheduler: 24 hours of churn on 5,000 nodes, a session every ten minutes; what it keeps, and whether it is sure.

Jobs come, wait, run and end; nodes are cordoned, break, vanish and come back; sessions bind, promise and evict, and the
next one finds what came of it. Memory is looked at on the hour, when the session is over: once the fleet is full, hours 7
to 12, it must not grow any more. A second process, with another seed of its hashes, does the same day and is given nodes,
pods and groups in another order every time; every session must decide the same.
"""

from __future__ import annotations

import gc
import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator

import msgspec

from benchmarks import fleets
from benchmarks.figures import Clocks, Figure, measured, percentile, rss_bytes
from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model import facts as f
from scheduler_core.model.jobs import COMPLETED
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
    """Memory, then sameness."""
    day = Day(NODES, JOBS_A_STEP)
    mine: list[str] = []
    resident: list[int] = []
    took: list[float] = []
    for step, (digest, clocks) in enumerate(day.sessions(HOURS)):
        mine.append(digest)
        took.append(1000 * clocks.cpu_s)
        if (step + 1) * STEP_S % 3600 == 0:
            gc.collect()
            resident.append(rss_bytes())
    setup = {
        "nodes": NODES, "hours": HOURS, "sessions": len(mine), "jobs": day.made, "bound": day.bound, "evicted": day.evicted,
        "refused_tasks": day.refused, "policy": "full, with preempt",
    }  # fmt: skip
    early, late = resident[FULL_AFTER_H : HOURS // 2], resident[HOURS // 2 :]
    yield Figure(
        name="scheduler_day_memory", value=max(late) / max(early), unit="x of hours 7 to 12", goal=1.05, higher_is_better=False,
        setup={**setup, "rss_mb_by_hour": [round(each / 2**20) for each in resident]},
    )  # fmt: skip
    yield Figure(
        name="scheduler_day_session_p99", value=percentile(took, 0.99), unit="ms cpu", goal=1000, higher_is_better=False,
        setup={**setup, "measured": "opening, actions, decision records", "median_ms": round(percentile(took, 0.5), 1)},
    )  # fmt: skip
    other = _in_second_process()
    assert len(other) == len(mine)
    yield Figure(
        name="scheduler_day_differences", value=sum(a != b for a, b in zip(mine, other, strict=True)), unit="sessions",
        goal=0, higher_is_better=False, setup={**setup, "second": "another process, hash seed and order of input"},
    )  # fmt: skip


def tell() -> None:
    """What the second process does: a digest of each session, in an order of input of its own."""
    for digest, _ in Day(NODES, JOBS_A_STEP, shuffle=random.Random(2)).sessions(HOURS):
        sys.stdout.write(digest + "\n")


def _in_second_process() -> list[str]:
    environment = os.environ | {"PYTHONHASHSEED": "20260302"}
    found = subprocess.run(
        [sys.executable, "-c", _SECOND_PROCESS], check=True, capture_output=True, text=True, env=environment
    )
    return found.stdout.split()


class Day:
    """The cluster over a day, and what was decided of it. `shuffle` draws the order in which facts are given."""

    def __init__(self, nodes: int, jobs_a_step: int, *, seed: int = 1, shuffle: random.Random | None = None) -> None:
        start = fleets.Mixed(nodes, 0, seed=seed).facts
        self.dice = random.Random(seed)
        self.shuffle = shuffle
        self.jobs_a_step = jobs_a_step
        self.now_ns = fleets.START_NS
        self.start = start
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
            facts = self._facts()
            with measured() as clocks:
                session = scheduling.run(facts, POLICY, self.now_ns, plugins.ALL)
                records = _encode(decisions.of_session(session, "simulate"))
            self._carry_out(session)
            del session, facts
            yield hashlib.blake2b(records, digest_size=16).hexdigest(), clocks

    def _facts(self) -> f.ClusterFacts:
        nodes, groups, pods = list(self.nodes.values()), list(self.groups.values()), list(self.pods.values())
        for each in (nodes, groups, pods) if self.shuffle else ():
            self.shuffle.shuffle(each)  # type: ignore[union-attr]
        return msgspec.structs.replace(self.start, nodes=tuple(nodes), groups=tuple(groups), pods=tuple(pods))

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
        for uid, job in session.jobs.items():
            group = self.groups[uid]
            if job.phase != group.phase and job.phase != COMPLETED:
                self.groups[uid] = msgspec.structs.replace(group, phase=job.phase)
            if uid not in self.begun and job.ready >= job.min_member:
                self.begun.add(uid)
                self.ends_ns[uid] = self.now_ns + self.dice.randrange(600, 21_600) * fleets.SECOND_NS
        self.bound += len(session.binds)
        self.evicted += len(session.evictions)
        self.refused += sum(len(job.refusals) for job in session.jobs.values())
