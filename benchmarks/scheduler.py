"""The scheduler core on a fleet as training clusters have them (`fleets.Mixed`), every feature and attribution on.

Placed and refused are counted apart. Actions means enqueue, allocate, backfill and the phases at the end; a refusal is one
of a gang, with the counts of every node. Facts stand ready, as a cache keeps them; what gathering them costs is no part.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterable, Iterator
from statistics import median
from types import ModuleType

import msgspec

from benchmarks import fleets
from benchmarks.figures import Clocks, Figure, measured, percentile
from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model.facts import ClusterFacts
from scheduler_core.model.standing import Standing
from scheduler_core.session import refusals
from scheduler_core.session.session import Session

ROUNDS = 5
NOW_NS = fleets.START_NS + 10_000 * fleets.SECOND_NS
_encode = msgspec.json.Encoder().encode


def run() -> Iterable[Figure]:
    """All figures, the dear fleets last."""
    small = fleets.Mixed(5000, 6000)
    yield from placements(small, goal=50_000)
    yield end_to_end(small)
    yield attribution(small)
    yield from refused()
    yield session_open()
    yield session_p99()
    yield from placements(fleets.Mixed(20_000, 20_000), goal=30_000)


def opened(facts: ClusterFacts) -> Session:
    """A session on these facts, with what went before it put out of the collector's sight."""
    session = scheduling.open_session(facts, fleets.FULL, NOW_NS, plugins.ALL)
    put_away()
    return session


def put_away() -> None:
    """Takes all that lives out of the collector's sight, and gives back what does not."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def acted(facts: ClusterFacts) -> tuple[Session, Clocks]:
    """A session and what its actions took."""
    session = opened(facts)
    with measured() as clocks:
        scheduling.act(session)
    return session, clocks


def several(facts: ClusterFacts) -> tuple[Session, list[float]]:
    """The last of some sessions, and the CPU seconds of the actions of each."""
    took = []
    for _ in range(ROUNDS):
        session, clocks = acted(facts)
        took.append(clocks.cpu_s)
    return session, took


def placements(fleet: fleets.Mixed, goal: int) -> Iterator[Figure]:
    """Tasks bound per second of all actions, failing gangs and their reasons included."""
    session, took = several(fleet.facts)
    took_s, best_s = median(took), min(took)
    yield Figure(
        name=f"scheduler_placements_{fleet.size}", value=len(session.binds) / took_s, unit="placements/cpu-s", goal=goal,
        setup={**fleet.setup(), "placed": len(session.binds), "refused_gangs": _refused(session),
               "actions_ms": round(1000 * took_s, 1), "rounds": ROUNDS, "best_round": round(len(session.binds) / best_s)},
    )  # fmt: skip


def end_to_end(fleet: fleets.Mixed) -> Figure:
    """The same with the session's opening, and its decision records made and encoded."""
    took: list[float] = []
    records = size = 0
    for _ in range(ROUNDS):
        standing = Standing(fleet.facts)
        standing.snapshot()
        put_away()
        with measured() as clocks:
            session = scheduling.act(scheduling.on_snapshot(standing.snapshot(), fleets.FULL, NOW_NS, plugins.ALL))
            lines = [_encode(each) for each in decisions.of_session(session, "simulate")]
        took.append(clocks.cpu_s)
        records, size = len(lines), sum(map(len, lines))
    return Figure(
        name="scheduler_end_to_end", value=len(session.binds) / median(took), unit="placements/cpu-s", goal=20_000,
        setup={**fleet.setup(), "records": records, "bytes": size, "snapshot": "stands", "rounds": ROUNDS,
               "best_round": round(len(session.binds) / min(took))},
    )  # fmt: skip


def attribution(fleet: fleets.Mixed) -> Figure:
    """The part of the time that goes into why, on a fleet that cannot hold a third of the load: counting, which is part of
    the actions, and the reason and blockers of every refusal, which are told when asked for and are asked for here."""
    crowded = fleets.Mixed(fleet.size, 4 * fleet.waiting, seed=2, limited=False)
    shares, counting = [], []
    for _ in range(ROUNDS):
        session = opened(crowded.facts)
        with _timed(refusals, "by_all", "by_nodes") as inside, measured() as clocks:
            scheduling.act(session)
        told = [each for job in session.jobs.values() for each in job.refusals.values()]
        with measured() as telling:
            for each in told:
                assert each.why and (each.report is None or each.report.blockers is not None)
        assert _refused(session) > 100
        counted_s = sum(clock.spent_s for clock in inside)
        counting.append(100 * counted_s / clocks.cpu_s)
        shares.append(100 * (counted_s + telling.cpu_s) / (clocks.cpu_s + telling.cpu_s))
    return Figure(
        name="scheduler_attribution_share", value=median(shares), unit="% of actions", goal=10, higher_is_better=False,
        setup={**crowded.setup(), "placed": len(session.binds), "refused_gangs": _refused(session), "rounds": ROUNDS,
               "counting_only": round(median(counting), 1)},
    )  # fmt: skip


@contextlib.contextmanager
def _timed(module: ModuleType, *names: str) -> Iterator[list[_Timed]]:
    """Functions of a module that add up what they take, for a while."""
    timed = [_Timed(getattr(module, name)) for name in names]
    for name, each in zip(names, timed, strict=True):
        setattr(module, name, each)
    try:
        yield timed
    finally:
        for name, each in zip(names, timed, strict=True):
            setattr(module, name, each.function)


class _Timed:
    """A function that adds up what it took."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function
        self.spent_s = 0.0

    def __call__(self, *args: object) -> object:
        before = time.process_time()
        found = self.function(*args)
        self.spent_s += time.process_time() - before
        return found


def refused() -> Iterator[Figure]:
    """Gangs refused per second where every one is of another class, and where there are thirty classes."""
    for name, goal, distinct in (("distinct", 15_000, True), ("repeated", 120_000, False)):
        facts = fleets.impossible(5000, 3000, distinct=distinct)
        session, took = several(facts)
        assert not session.binds
        took_s, best_s = median(took), min(took)
        yield Figure(
            name=f"scheduler_refused_{name}", value=_refused(session) / took_s, unit="refused jobs/cpu-s", goal=goal,
            setup={"nodes": 5000, "jobs": len(session.jobs), "classes": len(session.snapshot.classes.all),
                   "jobs_are": "one task, let in before", "policy": "full", "rounds": ROUNDS,
                   "best_round": round(_refused(session) / best_s)},
        )  # fmt: skip


def session_open(changes: int = 50) -> Figure:
    """Opening a session after a pod has ended and a gang of four has come, the session before having placed what it could."""
    fleet = fleets.Mixed(5000, 0, served=6)
    standing = Standing(fleet.facts)
    scheduling.act(scheduling.on_snapshot(standing.snapshot(), fleets.FULL, NOW_NS, plugins.ALL))
    put_away()
    took = []
    for number in range(changes):
        ended = msgspec.structs.replace(fleet.pods[number], phase="Succeeded")
        standing.put(ended, *fleet.gang(4))
        with measured() as clocks:
            session = scheduling.on_snapshot(standing.snapshot(), fleets.FULL, NOW_NS, plugins.ALL)
        took.append(1000 * clocks.cpu_s)
        assert len(scheduling.act(session).binds) >= 4
        standing.put(*(msgspec.structs.replace(fleet.by_uid[uid], phase="Running", node=node)
                       for uid, (_, node) in session.binds.items()))  # fmt: skip
    assert standing.builds == 1
    anew = [acted_open(fleet.facts) for _ in range(2)]
    return Figure(
        name="scheduler_session_open", value=median(took), unit="ms cpu", goal=1, higher_is_better=False,
        baseline=median(anew),
        setup={"nodes": 5000, "tasks": len(fleet.pods), "jobs": len(fleet.groups), "queues": "20 tenants with 5",
               "change": "a pod ended, a gang of 4 came, what was bound runs", "changes": changes,
               "best_ms": round(min(took), 2), "p99_ms": round(percentile(took, 0.99), 2), "baseline": "the snapshot made anew from facts"},
    )  # fmt: skip


def acted_open(facts: ClusterFacts) -> float:
    """Milliseconds of an opening from nothing."""
    with measured() as clocks:
        scheduling.open_session(facts, fleets.FULL, NOW_NS, plugins.ALL)
    return 1000 * clocks.cpu_s


def session_p99(rounds: int = 120) -> Figure:
    """How long the actions of a session take that finds 6,000 tasks waiting, over fleets of many seeds.

    Sessions enough that the 99th percentile is not just the longest, which is whatever else the machine did once.
    """
    took: list[float] = []
    fleet_count = 20
    for seed in range(fleet_count):
        facts = fleets.Mixed(5000, 6000, seed=seed).facts
        took += [1000 * acted(facts)[1].cpu_s for _ in range(rounds // fleet_count)]
    return Figure(
        name="scheduler_session_p99", value=percentile(took, 0.99), unit="ms cpu", goal=100, higher_is_better=False,
        setup={"nodes": 5000, "waiting": 6000, "sessions": rounds, "fleets": fleet_count, "median_ms": round(median(took), 1),
               "best_ms": round(min(took), 1), "most_ms": round(max(took), 1), "policy": "full"},
    )  # fmt: skip


def _refused(session: Session) -> int:
    """Gangs of which a task was refused by nodes, counted over every node that was looked at."""
    found = 0
    for job in session.jobs.values():
        reports = [each.report for each in job.refusals.values() if each.report is not None]
        assert all(sum(nodes for _, nodes in report.counts) == report.total for report in reports)
        found += bool(reports)
    return found
