"""What is kept from pod to pod, and what is let go."""

from __future__ import annotations

from scheduler_core.foreign import filters
from scheduler_core.foreign.cluster import Cluster
from scheduler_core.foreign.filters import Filters
from tests.support.foreign_worlds import node, only_on, waits, world


def judged(asked, known):
    return {uid: asked.judge(asked.cluster.tasks[uid]).firsts for uid in sorted(known.seen)}


def test_wishes_that_nobody_has_any_more_do_not_pile_up(monkeypatch):
    pods = [waits(f"p{at}", affinity=only_on(f"n{at % 7}")) for at in range(20)]
    cluster = Cluster(world([node("n1"), node("n2")], pods))
    all_kept = judged(Filters(cluster), cluster)
    monkeypatch.setattr(filters, "_MOST_ROWS", 6)
    some_kept = Filters(cluster)
    assert judged(some_kept, cluster) == all_kept
    assert len(some_kept._wished) <= 3
