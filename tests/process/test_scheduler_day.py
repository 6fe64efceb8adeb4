"""A day of the scheduler in short: 24 hours of churn on 120 nodes, twice."""

import gc
import random
import sys
import tracemalloc
from collections import Counter

from benchmarks import scheduler_day
from scheduler_core.model.jobs import Job
from scheduler_core.model.nodes import NodeTable
from scheduler_core.model.tasks import Task, TaskClass
from scheduler_core.session.judging import Judge
from scheduler_core.session.session import Session

NODES, JOBS_A_STEP, HOURS = 120, 2, 24
MOST_BYTES = 128 * 1024


def test_a_day_on_tables_that_stand_decides_what_one_with_all_made_anew_does_whatever_the_order_of_its_input():
    tables = scheduler_day.Stands()
    day = scheduler_day.Day(NODES, JOBS_A_STEP, tables)
    again = scheduler_day.Day(NODES, JOBS_A_STEP, scheduler_day.Anew(random.Random(2)))
    both = zip(day.sessions(HOURS), again.sessions(HOURS), strict=True)
    assert [step for step, ((one, _), (other, _)) in enumerate(both) if one != other] == []
    assert (day.bound, day.evicted, day.refused) == (again.bound, again.evicted, again.refused)
    assert day.bound > 100
    assert day.refused > 100
    assert tables.standing.builds == 1


def test_a_session_leaves_nothing_behind():
    """Neither its objects nor, from hour to hour, memory that the core has asked for."""
    before = alive()
    taken = []
    day = scheduler_day.Day(NODES, JOBS_A_STEP, scheduler_day.Anew(random.Random(2)), seed=2)
    tracemalloc.start()
    try:
        for step, _ in enumerate(day.sessions(12, 900)):
            if step % 8 == 7:
                gc.collect()
                taken.append(held_bytes())
    finally:
        tracemalloc.stop()
    del day
    assert alive() - before == Counter()
    assert max(taken[2:]) - taken[1] < MOST_BYTES


def test_tables_that_stand_hold_nothing_of_jobs_that_are_gone():
    before = alive()
    tables = scheduler_day.Stands()
    day = scheduler_day.Day(NODES, JOBS_A_STEP, tables)
    for _ in day.sessions(3):
        pass
    full = sys.getallocatedblocks()
    left = scheduler_day.emptied(day, tables)
    assert left < full
    assert alive() - before == Counter(NodeTable=1)
    leak = [object() for _ in range(1000)]
    assert abs(scheduler_day.emptied(day, tables) - left - len(leak)) < 100


def alive():
    """Objects of sessions that are still there, by class."""
    gc.collect()
    kinds = (Session, NodeTable, Job, Task, TaskClass, Judge)
    return Counter(type(each).__name__ for each in gc.get_objects() if isinstance(each, kinds))


def held_bytes():
    """Memory that lines of the core and of the records have asked for and still hold."""
    lines = [tracemalloc.Filter(True, "*/scheduler_core/*"), tracemalloc.Filter(True, "*/pipeline/records/*")]
    return sum(each.size for each in tracemalloc.take_snapshot().filter_traces(lines).statistics("filename"))
