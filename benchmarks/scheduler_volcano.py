"""The scheduler core on the workload on which a real Volcano was measured (`fleets.volcano`), under Volcano's own policy.

A session is opening, all actions and closing; the tables stand, as Volcano's cache does. Volcano's figures are of another
run, its commit ed72c7c8 in one process on two such cores with its binder and events doing nothing: 114 placements and 32
refused gangs a CPU second, scoring a tenth of the nodes. The baseline is of this run: a loop over all nodes for each task,
as one writes it first. It goes over a part of the tasks in the core's own order and must choose the core's nodes.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Iterable
from statistics import median

from benchmarks import fleets
from benchmarks.figures import Clocks, Figure, measured
from scheduler_core import plugins, scheduling
from scheduler_core.model.facts import ClusterFacts
from scheduler_core.model.resources import CPU, MEMORY
from scheduler_core.model.standing import Standing
from scheduler_core.model.tasks import Task
from scheduler_core.session.session import Session

GANGS = 2000
PODS = 8 * GANGS
VOLCANO_PLACED, VOLCANO_REFUSED = 114, 32
"""A CPU second, of the real one."""
ROUNDS = 5
SAMPLE = 240
"""Tasks that the plain loop places, or refuses."""
NOW_NS = fleets.START_NS + 10_000 * fleets.SECOND_NS


def run() -> Iterable[Figure]:
    """Placements, then refused gangs."""
    facts = fleets.volcano(GANGS, refused=False)
    session, took_s = _sessions(facts)
    assert len(session.binds) == PODS
    with measured() as plain:
        chosen = _Plain(facts).place([task for task, _ in list(session.binds.values())[:SAMPLE]])
    assert chosen == [node for _, node in list(session.binds.values())[:SAMPLE]]
    yield _figure("scheduler_volcano_placements", "placements/cpu-s", PODS, took_s, 300, VOLCANO_PLACED, plain)
    facts = fleets.volcano(GANGS, refused=True)
    session, took_s = _sessions(facts)
    _all_nodes_counted(session)
    with measured() as plain:
        _Plain(facts).refuse([next(iter(job.tasks.values())) for job in list(session.jobs.values())[:SAMPLE]])
    yield _figure("scheduler_volcano_refused", "gangs/cpu-s", GANGS, took_s, 100, VOLCANO_REFUSED, plain)


def _figure(name: str, unit: str, number: int, took_s: list[float], times: int, volcano: int, plain: Clocks) -> Figure:
    rate = number / median(took_s)
    return Figure(
        name=name, value=rate, unit=unit, goal=times * volcano, baseline=SAMPLE / plain.cpu_s,
        setup={"nodes": 5000, "gangs": GANGS, "pods": PODS, "policy": "Volcano's default", "rounds": ROUNDS,
               "best_round": round(number / min(took_s)),
               "baseline": f"a loop over all nodes, first {SAMPLE}, same choices", "volcano": volcano,
               "times_volcano": round(rate / volcano, 1), "volcano_is": "another run, scoring 10 % of nodes"},
    )  # fmt: skip


def _sessions(facts: ClusterFacts) -> tuple[Session, list[float]]:
    """A session, and the CPU seconds of several."""
    took = []
    for _ in range(ROUNDS):
        standing = Standing(facts)
        standing.snapshot()
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        with measured() as clocks:
            session = scheduling.act(scheduling.on_snapshot(standing.snapshot(), fleets.VOLCANO, NOW_NS, plugins.ALL))
        took.append(clocks.cpu_s)
    return session, took


def _all_nodes_counted(session: Session) -> None:
    """Every gang was refused, and each refusal has a reason of every node."""
    assert len(session.jobs) == GANGS
    for job in session.jobs.values():
        reports = [each.report for each in job.refusals.values()]
        assert reports
        for report in reports:
            assert report is not None
            assert sum(nodes for code, nodes in report.counts if code) == report.total == 5000


class _Plain:
    """Nodes as dictionaries, each task judged on each node: enough resources, selector, taints; least used and balanced."""

    def __init__(self, facts: ClusterFacts) -> None:
        self.nodes = [_node(each.name, dict(each.allocatable), dict(each.labels), each.taints) for each in facts.nodes]
        self.selectors = {pod.uid: dict(pod.node_selector) for pod in facts.pods}

    def place(self, tasks: list[Task]) -> list[str]:
        """The node of each task."""
        chosen = []
        for task in tasks:
            asked = _asked(task)
            fitting = [node for node in self.nodes if not self._reasons(task, asked, node)]
            best = max(fitting, key=lambda node: _score(node, asked))
            for place, amount in asked.items():
                best["used"][place] += amount
            chosen.append(best["name"])
        return chosen

    def refuse(self, tasks: list[Task]) -> None:
        """Every reason of every node, counted."""
        for task in tasks:
            asked = _asked(task)
            counts: dict[str, int] = {}
            for node in self.nodes:
                for reason in self._reasons(task, asked, node):
                    counts[reason] = counts.get(reason, 0) + 1
            assert sum(counts.values()) >= len(self.nodes)

    def _reasons(self, task: Task, asked: dict[int, int], node: dict) -> list[str]:  # type: ignore[type-arg]
        found = [
            f"Insufficient {place}"
            for place, amount in asked.items()
            if node["used"][place] + amount > node["has"][place]
        ]
        if any(node["labels"].get(key) != value for key, value in self.selectors[task.uid].items()):
            found.append("affinity")
        if node["taints"]:
            found.append("taint")
        return found


def _asked(task: Task) -> dict[int, int]:
    return dict(task.cls.items)


def _node(name: str, allocatable: dict, labels: dict, taints: object) -> dict:  # type: ignore[type-arg]
    gi = int(str(allocatable["memory"]).removesuffix("Gi")) * 2**30
    has = {CPU: allocatable["cpu"] * 1000, MEMORY: gi, 2: allocatable["pods"], 3: allocatable[fleets.GPU] * 1000}
    return {"name": name, "has": has, "used": dict.fromkeys(has, 0), "labels": labels, "taints": taints}


def _score(node: dict, asked: dict[int, int]) -> int:  # type: ignore[type-arg]
    """Least requested, and half of what the node gains in evenness, over what it has."""
    used, has = node["used"], node["has"]
    free = sum((has[place] - used[place] - asked[place]) * 100 // has[place] for place in (CPU, MEMORY)) // 2
    places = [place for place in (CPU, MEMORY, 3) if has[place] and (place < 3 or asked.get(3))]
    gain = _even([(used[place] + asked.get(place, 0)) / has[place] for place in places])
    gain -= _even([used[place] / has[place] for place in places])
    return int(free + 50 + (50 + gain) // 2)


def _even(parts: list[float]) -> int:
    if len(parts) == 2:
        return math.floor((1 - abs(parts[0] - parts[1]) / 2) * 100)
    mean = sum(parts) / len(parts)
    return math.floor((1 - math.sqrt(sum((part - mean) * (part - mean) for part in parts) / len(parts))) * 100)
