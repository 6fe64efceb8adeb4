"""Ways to die: inside a write, by a fault point; or whenever it happens to be."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections import Counter
from typing import NamedTuple

from pipeline import faults
from tests.support.running import Pipeline

LOG = ("log.write", "log.index", "log.index.write", "spool.commit")
TRANSACTION = ("aggregation.commit", "aggregation.transaction", "aggregation.committed")
LOAD = ("sinks.loaded", "sinks.acked", "doris_local.commit", "doris_local.committed")
SNAPSHOT = ("scheduler.snapshot", "scheduler.snapshotted")
SCHEDULE = ("scheduler.append", "scheduler.appended", *SNAPSHOT)
GROUPS = {"log": LOG, "transaction": TRANSACTION, "load": LOAD, "schedule": SCHEDULE}
ANY = "any moment"
LEAST_INSIDE = 10
"""So many kills inside a write of log, transaction or load, or the trial has shown nothing."""
_PASSES = 8
_LIMIT_S = 120.0
"""A point that is not reached so soon is not waited for any longer: the life ends as it is."""


class Death(NamedTuple):
    """Where a life is to end: at a fault point, or `after_s` seconds after its start, or after its page has come up."""

    point: str = ANY
    passes: int = 0
    after_s: float = 0.0
    up: bool = False


def drawn(dice: random.Random, kills: int, shares: dict[str, int], longest_s: float) -> list[Death]:
    """So many deaths: of each group of points its share, the others at random moments, most of them while it works."""
    deaths = [_inside(dice, dice.choice(GROUPS[group])) for group, share in shares.items() for _ in range(share)]
    rest = range(kills - len(deaths))
    deaths += [Death(after_s=dice.uniform(0.3, longest_s), up=dice.random() < 0.75) for _ in rest]
    dice.shuffle(deaths)
    return deaths


def _inside(dice: random.Random, point: str) -> Death:
    """Snapshots come once in a segment of the log, so the first has to do."""
    return Death(point, 1 if point in SNAPSHOT else dice.randint(1, _PASSES))


def live_and_die(pipeline: Pipeline, death: Death, counts: Counter[str]) -> None:
    """One life of the whole tree, its local Doris included; counts what ended it."""
    armed = {faults.ENVIRONMENT: f"{death.point}:{death.passes}", faults.GROUP: "1"} if death.passes else {}
    pipeline.launch(**armed)
    assert pipeline.process is not None
    limit_s = _LIMIT_S if death.passes else death.after_s
    began_s = time.monotonic()
    if death.up:
        pipeline.answers()
    try:
        code = pipeline.process.wait(limit_s)
    except subprocess.TimeoutExpired:
        counts[ANY] += 1
        print(f"  killed after {time.monotonic() - began_s:.1f} s", flush=True)
    else:
        if code != -signal.SIGKILL:
            raise AssertionError(f"ended by itself with {code}:\n{pipeline.log.read_text()[-3000:]}")
        counts[death.point] += 1
        print(f"  died at {death.point}, pass {death.passes}, after {time.monotonic() - began_s:.1f} s", flush=True)
    pipeline.kill()


def inside(counts: Counter[str]) -> dict[str, int]:
    """Kills inside each group of writes."""
    return {group: sum(counts[point] for point in points) for group, points in GROUPS.items()}


def enough(counts: Counter[str]) -> bool:
    """Whether `LEAST_INSIDE` were inside a write of log, transaction or load; of a short trial half of its kills."""
    groups = inside(counts)
    found = groups["log"] + groups["transaction"] + groups["load"]
    return found >= min(LEAST_INSIDE, counts.total() // 2)


def points(counts: Counter[str]) -> str:
    """Kills at each point."""
    return ", ".join(f"{point} {count}" for point, count in sorted(counts.items()))


def told(counts: Counter[str]) -> str:
    """Kills in all, inside writes and at random; and whether those inside were too few."""
    groups = inside(counts)
    parts = ", ".join(f"{count} {group}" for group, count in groups.items())
    text = f"{counts.total()} kills: {sum(groups.values())} inside a write ({parts}), {counts[ANY]} at any moment"
    return text if enough(counts) else f"{text}; too few inside log, transaction and load, {LEAST_INSIDE} are wanted"
