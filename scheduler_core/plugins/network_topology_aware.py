"""network-topology-aware: the tasks of a job stay near each other in the network.

A job with a hard topology is tried domain by domain, the lowest tiers first, no tier above the allowed one; of the domains
of one tier in which it fits, the one that it fills most wins, and among equals the one with more of its tasks. If it
already holds a domain, only domains whose common ancestor with it stays within the tier are tried. With a soft topology
nodes near what the job holds score higher. Pods without a topology fill domains that are used already
(`hypernode.binpack.normal-pod.enable`), the lowest tiers counting most (`…fading`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from scheduler_core.model.cells import Floats, Ints
from scheduler_core.model.domains import Domain
from scheduler_core.model.jobs import Job
from scheduler_core.model.resources import Resource
from scheduler_core.model.tasks import NOWHERE, Task, TaskClass
from scheduler_core.session import arguments
from scheduler_core.session.nearby import Around, Nearby
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session
from scheduler_core.session.topology import hard_tier

_FULL: Final = 100.0
_PREFIX: Final = "hypernode.binpack"


class NetworkTopologyAware(Plugin):
    name = "network-topology-aware"
    arguments_known = (
        "weight", f"{_PREFIX}.cpu", f"{_PREFIX}.memory", f"{_PREFIX}.resources", f"{_PREFIX}.resources.*",
        f"{_PREFIX}.normal-pod.enable", f"{_PREFIX}.normal-pod.fading",
    )  # fmt: skip

    def open(self, session: Session) -> None:
        self.session = session
        self.axis = session.axis
        self.domains = session.domains
        self.weight = arguments.weight(self.arguments, "weight")
        self.resources = arguments.resource_weights(self.arguments, _PREFIX)
        self.fills = arguments.truth(self.arguments, f"{_PREFIX}.normal-pod.enable", default=True)
        fading = arguments.number(self.arguments, f"{_PREFIX}.normal-pod.fading", 0.8)
        self.fading = 0.8 if fading < 0 else fading
        self._stock: tuple[dict[str, Resource], dict[str, Resource]] | None = None
        self._since: list[tuple[Sequence[Task], list[int], int]] = []
        self._near: dict[str, Floats] = {}
        self._around: dict[str, Around] = {}

    def stock(self) -> tuple[dict[str, Resource], dict[str, Resource]]:
        """What each domain has, and what of it is used. Counted when first asked for; what has happened is made up for."""
        if self._stock is None:
            alloc = self.session.nodes.alloc
            used = alloc - self.session.nodes.opening.idle
            domains = self.domains.by_name.items()
            self._stock = (
                {name: _sum(alloc[:, domain.nodes]) for name, domain in domains},
                {name: _sum(used[:, domain.nodes]) for name, domain in domains},
            )
            for tasks, rows, sign in self._since:
                for task, row in zip(tasks, rows, strict=True):
                    self._charge(task, row, sign)
            self._since.clear()
        return self._stock

    # --- domains for a whole job -------------------------------------------------------------------------------------

    def domain_gradients(self, job: Job, root: Domain) -> list[list[Domain]]:
        tier = hard_tier(self.domains, job)
        if tier is None:
            return [[root]]
        start = self._start(root, tier, job.held_domain)
        if start is None:
            return []
        by_tier: dict[int, list[Domain]] = {}
        below, seen = [start], {start.name}
        while below:
            domain = below.pop(0)
            if domain.tier <= tier:
                by_tier.setdefault(domain.tier, []).append(domain)
            for child in domain.children:
                if child not in seen:
                    seen.add(child)
                    below.append(self.domains.by_name[child])
        return [by_tier[each] for each in sorted(by_tier)]

    def _start(self, root: Domain, tier: int, held: str) -> Domain | None:
        """Where to search: below the highest allowed ancestor of what is held; None if that is already too high."""
        if not held:
            return root
        allowed = ""
        for name in self.domains.upwards(held):
            if self.domains.by_name[name].tier > tier:
                break
            allowed = name
        if not allowed:
            return None
        common = self.domains.common(root.name, allowed)
        if common == allowed:
            return root
        return self.domains.by_name[allowed] if common == root.name else None

    def domain_scores(self, job: Job, domains: Sequence[Domain]) -> dict[str, float]:
        asked = self.axis.empty()
        for task in job.tasks.values():
            asked.add(task.cls.request)
        scores = {domain.name: self._filled(domain.name, asked) for domain in domains}
        best = max(scores.values())
        equal = [domain for domain in domains if scores[domain.name] == best]
        if len(equal) > 1:
            for domain in equal:
                scores[domain.name] += _placed_in(job, domain)
        return {name: _FULL * self.weight * score for name, score in scores.items()}

    def _filled(self, name: str, asked: Resource) -> float:
        """The weighted mean part of a domain that is used with a request; 0 if the request does not fit."""
        total, weights = 0.0, 0
        stock = self.stock()
        has, used = stock[0][name].values, stock[1][name].values
        for place in asked.used_places():
            weight = self.resources.get(self.axis.names[place])
            if weight is None:
                continue
            future = used[place] + asked.values[place]
            if future > has[place]:
                return 0.0
            total += weight * future / has[place]
            weights += weight
        return total / weights if weights > 0 else 0.0

    # --- nodes ---------------------------------------------------------------------------------------------------------

    def compares(self, cls: TaskClass) -> bool:
        return len(self.domains.by_name) > 1

    def concerns(self, task: Task) -> bool:
        job = task.job
        return self.fills if job is None or job.topology is None else bool(task.near)

    def table_score(self, task: Task, rows: Ints) -> Floats | None:
        job = task.job
        if job is None or job.topology is None:
            return self._fill(task, rows) if self.fills else None
        if not task.near:
            return None
        leaves = self.domains.leaf_numbers[rows]
        nearness = self._nearness(task.near)
        scores: Floats = nearness[leaves]
        nearest = scores.max()
        if np.count_nonzero(scores == nearest) > 1:
            for number, tasks in self._tasks_in(job).items():
                if nearness.item(number) == nearest:
                    scores[leaves == number] += tasks / len(job.tasks)
        found: Floats = _FULL * self.weight * scores
        return found

    def nearby(self, task: Task) -> Nearby | None:
        """None also where a task of the job lies elsewhere than in what it holds, or in two domains of the lowest tier."""
        job = task.job
        if job is None or job.topology is None or not task.near or self.domains.overlap:
            return None
        around = self._around.get(task.near)
        if around is None:
            around = self._around[task.near] = Around(
                self._nearness(task.near), self.domains.leaves_under(task.near), _FULL * self.weight,
                self.domains.leaf_numbers, self.domains.rows_of_leaf,
            )  # fmt: skip
        counts = self._tasks_in(job)
        return Nearby(around, counts, len(job.tasks)) if around.leaves.issuperset(counts) else None

    def _tasks_in(self, job: Job) -> dict[int, int]:
        """How many tasks of the job lie in each domain of the lowest tier, by its number, in which any does."""
        leaves = self.domains.leaves_of_row
        counts: dict[int, int] = {}
        for task in job.tasks.values():
            if task.row != NOWHERE:
                for number in leaves[task.row]:
                    counts[number] = counts.get(number, 0) + 1
        return counts

    def _nearness(self, held: str) -> Floats:
        """How near each domain of the lowest tier lies to what is held, from 0 to 1; last, what is in none."""
        found = self._near.get(held)
        if found is None:
            found = self._near[held] = np.zeros(len(self.domains.leaf_index) + 1)
            low, high = self.domains.tiers[0], self.domains.tiers[-1]
            for name in reversed(self.domains.upwards(held)):
                tier = self.domains.by_name[name].tier
                if tier < high or low == high:
                    found[self.domains.leaves_under(name)] = 1.0 if low == high else (high - tier) / (high - low)
        return found

    def _fill(self, task: Task, rows: Ints) -> Floats:
        weights = self._weights()
        total = np.zeros(len(rows))
        for tier, weight in weights.items():
            part = np.ones(len(rows))
            for domain in self.domains.by_name.values():
                if domain.tier == tier:
                    part[domain.nodes[rows]] = self._filled(domain.name, task.cls.request)
            total += weight * part
        found: Floats = _FULL * self.weight * total / sum(weights.values())
        return found

    def _weights(self) -> dict[int, float]:
        """How much each tier counts; all alike where a factor beyond sense gives no numbers to divide by."""
        low, high = self.domains.tiers[0], self.domains.tiers[-1]
        tiers = range(low, high + 1)
        try:
            weights = {tier: self.fading ** (tier - 1) for tier in tiers}
        except ArithmeticError:
            weights = {}
        return weights if 0 < sum(weights.values()) < math.inf else dict.fromkeys(tiers, 1.0)

    # --- events --------------------------------------------------------------------------------------------------------

    def allocated(self, task: Task) -> None:
        self._moved(task, 1)

    def allocated_together(self, tasks: Sequence[Task]) -> None:
        self._moved_together(tasks, 1)

    def deallocated_together(self, tasks: Sequence[Task]) -> None:
        self._moved_together(tasks, -1)

    def _moved_together(self, tasks: Sequence[Task], sign: int) -> None:
        if self._stock is None:
            self._since.append((tasks, [task.row for task in tasks], sign))
        else:
            for task in tasks:
                self._charge(task, task.row, sign)

    def deallocated(self, task: Task) -> None:
        self._moved(task, -1)

    def _moved(self, task: Task, sign: int) -> None:
        if task.row == NOWHERE:
            return
        if self._stock is None:
            self._since.append(((task,), [task.row], sign))
        else:
            self._charge(task, task.row, sign)

    def _charge(self, task: Task, row: int, sign: int) -> None:
        assert self._stock is not None
        for name in self.domains.around(row):
            self._stock[1][name].charge(task.cls.items, sign)


def _sum(columns: Ints) -> Resource:
    values = [int(amount) for amount in columns.sum(axis=1)]
    return Resource(list(values), (1 << len(values)) - 1)


def _placed_in(job: Job, domain: Domain) -> float:
    """The part of the job's tasks that lie in the domain."""
    if not job.tasks:
        return 1.0
    return sum(task.row != NOWHERE and bool(domain.nodes[task.row]) for task in job.tasks.values()) / len(job.tasks)
