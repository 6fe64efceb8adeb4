"""What sessions on random clusters decide, a line each. As a program it tells that of the core that its interpreter finds,
after which core that is."""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec

from scheduler_core import decisions, plugins, scheduling
from tests.support import native
from tests.support import scheduler_worlds as worlds

WORLDS = 24
COMPILED, INTERPRETED = "compiled", "interpreted"


def lines() -> Iterator[str]:
    """Decisions, evictions and phases of each cluster under each policy."""
    for seed in range(WORLDS):
        for kind, policy in worlds.POLICIES.items():
            r = random.Random(seed)
            facts = worlds.world(r, relations=seed % 2 == 0)
            session = scheduling.run(worlds.in_tree(r, facts) if kind == "tree" else facts, policy, 10**10, plugins.ALL)
            phases = {uid: session.jobs[uid].phase for uid in sorted(session.jobs)}
            yield msgspec.json.encode((decisions.of_session(session, "simulate"), phases)).decode()


if __name__ == "__main__":
    print(COMPILED if native.COMPILED else INTERPRETED, *lines(), sep="\n")
