"""The shadow scheduler over a log: how fast it follows, and what a session costs after a small change.

The log is that of `recorded.Day` (2,000 nodes, 20,000 jobs a day, half of them Volcano's gangs), as a collector writes it.
Followed means decoded, mirrored, and decided at each log second in which something changed; reading files is no part. The
baseline decides the same with tables that are made for each session.

The pods of other schedulers are those that no node of `fleets.Mixed` takes, each with a request of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from benchmarks import fleets, objects, recorded
from benchmarks.figures import Figure, measured, percentile
from collector.kinds.catalog.kinds import KINDS
from collector.kinds.mirror import Mirror as Collected
from collector.kinds.mirror import MirrorOptions
from pipeline.records import codec
from pipeline.records.decisions import Decision
from pipeline.records.envelope import Record
from pipeline.records.jobs import JobRef
from scheduler_core import foreign, plugins, tiers
from scheduler_core.cache.mirror import Mirror
from scheduler_core.cache.reading import PodSeen
from scheduler_core.foreign.cluster import Cluster
from scheduler_core.foreign.explaining import Explaining
from scheduler_core.foreign.world import World
from scheduler_core.model.facts import ClusterFacts
from scheduler_core.model.policy import Policy
from scheduler_core.settings import Settings
from scheduler_core.shadow import building, runner
from scheduler_core.shadow.machine import Decider, Machine
from scheduler_core.shadow.others import Others
from scheduler_core.shadow.volcano import Volcano

DAY = recorded.Day(24.0, 20_000, 2_000)
WARM_MS = 10 * 60_000
"""So long until about as many jobs end as begin."""
MEASURED_MS = 3 * 60_000
ANEW_MS = 15_000
"""Of it for the baseline."""
SPEED = 24
"""The replay that must be followed with half a core."""
_WATCHES = ("nodes", "jobs.batch", "jobs.batch.volcano.sh", "podgroups.scheduling.volcano.sh", "pods", recorded.EVENTS)


class Line(NamedTuple):
    """A line of a log and its stamp; an empty one where only time passes."""

    stamp: int
    line: bytes


def run() -> Iterable[Figure]:
    """All figures."""
    yield followed()
    yield from explained()


# --- a day's log ------------------------------------------------------------------------------------------------------


def followed() -> Figure:
    """Records a second of a log of many jobs that come, wait, run and end."""
    lines = list(_written(DAY, WARM_MS + MEASURED_MS))
    at = next(place for place, each in enumerate(lines) if each.stamp >= objects.BEGIN_MS + WARM_MS)
    machine = building.machine(Settings(), "bench")
    follow(machine, lines[:at])
    with measured() as clocks:
        took = follow(machine, lines[at:])
    records = sum(1 for each in lines[at:] if each.line)
    pace = records / (MEASURED_MS / 1000)
    before = building.machine(Settings(), "bench")
    follow(before, lines[:at])
    before = _anew(before)
    short = [each for each in lines[at:] if each.stamp < objects.BEGIN_MS + WARM_MS + ANEW_MS]
    with measured() as anew:
        follow(before, short)
    return Figure(
        name="shadow_followed", value=records / clocks.cpu_s, unit="records/cpu-s", goal=2 * SPEED * pace,
        baseline=sum(1 for each in short if each.line) / anew.cpu_s,
        setup={"nodes": DAY.nodes, "jobs_a_day": DAY.jobs, "records": records, "sessions": len(took),
               "times_real": round(MEASURED_MS / 1000 / clocks.cpu_s, 1), "goal_is": f"{SPEED} times real with half a core",
               "pods": machine.mirror.counts()["pods"], "session_ms": round(1000 * percentile(took, 0.5), 2),
               "session_p99_ms": round(1000 * percentile(took, 0.99), 2),
               "baseline": "tables made for each session"},
    )  # fmt: skip


def follow(machine: Machine, lines: Sequence[Line]) -> list[float]:
    """What a runner does with these lines; seconds of CPU of each session."""
    took = []
    for each in lines:
        due = machine.due(each.stamp)
        if due is not None:
            with measured() as clocks:
                machine.decide(due)
            took.append(clocks.cpu_s)
        record = runner.told(each.line) if each.line else None
        if record is not None:
            machine.take(record)
    return took


class Anew:
    """A decider that keeps nothing from session to session."""

    due_ms: int | None = None

    def __init__(self, make: Callable[[], Decider]) -> None:
        self._make = make

    def __call__(self, mirror: Mirror, session_ms: int) -> Sequence[Decision]:
        return self._make()(mirror, session_ms)

    def adopt(self, policy: Policy) -> None:
        """Not asked here: the policy stays."""


def _anew(machine: Machine) -> Machine:
    """The same, with tables that are made for each session."""
    known = plugins.known()
    policy = tiers.default(known)
    made = Machine(Mirror("bench"), [Anew(lambda: Volcano(policy, known)), Anew(Others)], policy.name)
    made.restore(machine.encode())
    return made


def _written(day: recorded.Day, until_ms: int) -> Iterator[Line]:
    """The begin of a day as a collector writes it."""
    made = Collected("bench", "bench", MirrorOptions(tuple(kind for kind in KINDS if kind.name in _WATCHES)))
    stamp = objects.BEGIN_MS
    for watch in _WATCHES:
        made.list_begin(watch, stamp)
        for number in range(day.nodes if watch == "nodes" else 0):
            yield from _lines(stamp, made.list_item(watch, msgspec.json.encode(objects.node(number)), stamp))
        yield from _lines(stamp, made.list_end(watch, "1", stamp, None))
    for moment in recorded.in_order(day):
        if moment.t >= objects.BEGIN_MS + until_ms:
            return
        for second in range(stamp // 1000 + 1, moment.t // 1000 + 1):
            yield from _lines(second * 1000, made.tick(second * 1000))
            yield Line(second * 1000, b"")
        stamp = max(stamp, moment.t)
        yield from _lines(stamp, made.frame(moment.watch, moment.type, msgspec.json.encode(moment.object), moment.t))


def _lines(stamp: int, records: Iterable[Record]) -> Iterator[Line]:
    return (Line(stamp, codec.encode(each)) for each in records)


# --- pods of other schedulers -----------------------------------------------------------------------------------------


def explained(nodes: int = 5000, pods: int = 1000, changes: int = 20) -> Iterator[Figure]:
    """Pods that no node takes, each with a request of its own: the first session, and one after a pod has ended."""
    facts = fleets.impossible(nodes, pods, distinct=True)
    world = _world(facts)
    setup: dict[str, object] = {
        "nodes": nodes,
        "waiting": pods,
        "classes": pods,
        "pods_on_nodes": len(facts.pods) - pods,
    }
    with measured() as clocks:
        explaining = Explaining(Cluster(world))
        told = explaining.at(0)
    assert len(told) == pods and all(sum(each.nodes for each in one.failure_sets) == nodes for one in told)
    yield Figure(
        name="shadow_explained_first", value=1000 * clocks.cpu_s, unit="ms cpu", goal=1000, higher_is_better=False,
        setup={**setup, "measured": "tables made, every pod explained"},
    )  # fmt: skip
    took: list[float] = []
    quiet: list[float] = []
    on_nodes = [each for each in facts.pods if each.node][:changes]
    for second, pod in enumerate(on_nodes, 1):
        ended = msgspec.structs.replace(pod, phase="Succeeded")
        world = world._replace(facts=msgspec.structs.replace(world.facts, pods=(ended, *world.facts.pods)))
        for change, times in (({pod.uid: ended}, took), ({}, quiet)):
            with measured() as clocks:
                assert explaining.cluster.follow(world, change)
                assert len(explaining.at(1000 * second)) == pods
            times.append(1000 * clocks.cpu_s)
    yield Figure(
        name="shadow_explained_again", value=percentile(took, 0.5), unit="ms cpu", goal=500, higher_is_better=False,
        baseline=1000 * _explained_anew(world), setup={**setup, "change": "a pod on a node has ended", "changes": changes,
               "nothing_changed_ms": round(percentile(quiet, 0.5), 2), "baseline": "the same with tables made anew"},
    )  # fmt: skip


def _world(facts: ClusterFacts) -> World:
    pods = tuple(msgspec.structs.replace(each, group="") for each in facts.pods)
    waiting = [
        PodSeen(each, job=JobRef("Job", each.namespace, each.name, f"job-{each.uid}", "batch"), tried=True)
        for each in pods
        if not each.node
    ]
    return World(ClusterFacts(nodes=facts.nodes, pods=pods), waiting)


def _explained_anew(world: World) -> float:
    """CPU seconds of an explanation from nothing."""
    with measured() as clocks:
        foreign.explain(world, 0)
    return clocks.cpu_s
