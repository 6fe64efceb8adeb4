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
GROUPS = {"log": LOG, "transaction": TRANSACTION, "load": LOAD}
ANY = "any moment"
_PASSES = 8
_LIMIT_S = 60.0
"""A point that is not reached so soon is not waited for any longer: the life ends as it is."""


class Death(NamedTuple):
    """Where a life is to end: at a fault point, or `after_s` seconds after its start, or after its page has come up."""

    point: str = ANY
    passes: int = 0
    after_s: float = 0.0
    up: bool = False


def drawn(dice: random.Random, kills: int, shares: dict[str, int], longest_s: float) -> list[Death]:
    """So many deaths: of each group of points its share, the others at random moments, most of them while it works."""
    deaths = [
        Death(dice.choice(GROUPS[group]), dice.randint(1, _PASSES))
        for group, share in shares.items()
        for _ in range(share)
    ]
    rest = range(kills - len(deaths))
    deaths += [Death(after_s=dice.uniform(0.3, longest_s), up=dice.random() < 0.75) for _ in rest]
    dice.shuffle(deaths)
    return deaths


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


def told(counts: Counter[str]) -> str:
    """Kills in all, inside each group of writes, and at each point."""
    groups = {group: sum(counts[point] for point in points) for group, points in GROUPS.items()}
    inside = ", ".join(f"{count} inside {group}" for group, count in groups.items())
    points = ", ".join(f"{point} {count}" for point, count in sorted(counts.items()))
    return f"{counts.total()} kills: {inside}, {counts[ANY]} at any moment ({points})"
