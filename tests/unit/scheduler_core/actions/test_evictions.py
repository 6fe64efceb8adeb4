"""preempt and reclaim: evictions stand only if they make a gang whole, and no more go than are needed."""

import random

import msgspec
import pytest

from scheduler_core.model import status
from tests.support import scheduler_makers as make
from tests.support import scheduler_worlds as worlds

CLASSES = [("hi", 10), ("lo", 1)]
PREEMPT = make.policy(("priority", "gang", "conformance"), ("predicates",), actions=("allocate", "preempt"))


def starving_gang(least, *, policy=PREEMPT, victims=4):
    groups = [make.group("low", min_member=0, phase="Running", priority_class="lo"),
              make.group("high", min_member=least, priority_class="hi")]  # fmt: skip
    pods = [make.pod(f"v{at}", "low", on=f"n{at % 2}", priority=1) for at in range(victims)]
    pods += [make.pod(f"p{at}", "high", priority=9) for at in range(least)]
    return make.ran([make.node("n0", cpu=2), make.node("n1", cpu=2)], groups, pods, policy, classes=CLASSES)


def test_as_many_go_as_the_gang_needs():
    session = starving_gang(3)
    assert len(session.evictions) == 3
    assert {each.reason for each in session.evictions} == {"preempt"}
    assert session.jobs["ns/high"].count(status.PIPELINED) == 3


def test_nobody_goes_for_a_gang_that_cannot_become_whole():
    session = starving_gang(5)
    assert session.evictions == []
    assert session.jobs["ns/low"].count(status.RUNNING) == 4
    assert session.nodes.settle().releasing.sum() == 0


def test_a_pod_that_may_not_be_preempted_stays():
    groups = [make.group("low", min_member=0, phase="Running"), make.group("high", priority_class="hi")]
    pods = [make.pod("v", "low", cpu=4, on="n", annotations={"volcano.sh/preemptable": "false"}), make.pod("p", "high")]
    assert make.ran([make.node("n")], groups, pods, PREEMPT, classes=CLASSES).evictions == []


def test_a_pod_that_never_preempts_does_not():
    groups = [make.group("low", min_member=0, phase="Running"), make.group("high", priority_class="hi")]
    pods = [make.pod("v", "low", cpu=4, on="n"), make.pod("p", "high", preemption_policy="Never")]
    assert make.ran([make.node("n")], groups, pods, PREEMPT, classes=CLASSES).evictions == []


def test_no_eviction_helps_where_the_node_is_shut_for_good():
    groups = [make.group("low", min_member=0, phase="Running"), make.group("high", priority_class="hi")]
    pods = [make.pod("v", "low", cpu=4, on="n"), make.pod("p", "high")]
    nodes = [make.node("n", unschedulable=True)]
    assert make.ran(nodes, groups, pods, PREEMPT, classes=CLASSES).evictions == []


def test_a_dry_run_spares_victims_that_are_not_needed():
    policy = make.policy(("priority", "gang"), ("predicates",), actions=("allocate", "preempt"))
    topology_aware = type(policy)(
        policy.name, policy.actions, policy.tiers, {"preempt": {"enableTopologyAwarePreemption": True}}
    )
    groups = [make.group("low", min_member=0, phase="Running"), make.group("high", priority_class="hi")]
    pods = [make.pod("big", "low", cpu=3, on="n", priority=2), make.pod("small", "low", cpu=1, on="n", priority=1),
            make.pod("p", "high", cpu=3, priority=9)]  # fmt: skip
    assert make.evicted(make.ran([make.node("n")], groups, pods, topology_aware, classes=CLASSES)) == ["big"]
    assert make.evicted(make.ran([make.node("n")], groups, pods, policy, classes=CLASSES)) == ["big", "small"]


def test_a_queue_takes_back_what_it_deserves_and_not_more():
    policy = make.policy(("priority", "proportion"), ("gang", "predicates"), actions=("allocate", "reclaim"))
    queues = [make.queue("rich"), make.queue("poor")]
    groups = [make.group("r", "rich", min_member=0, phase="Running")]
    groups += [make.group(f"w{at}", "poor") for at in range(4)]
    pods = [make.pod(f"r{at}", "r", on="n") for at in range(4)] + [make.pod(f"p{at}", f"w{at}") for at in range(4)]
    session = make.ran([make.node("n")], groups, pods, policy, queues=queues)
    assert len(session.evictions) == 2
    assert {each.task.job.name for each in session.evictions} == {"r"}


@pytest.mark.parametrize("fields", [{"reclaimable": False}, {"guarantee": {"cpu": 4}}])
def test_a_queue_that_gives_nothing_back_loses_nothing(fields):
    policy = make.policy(("capacity",), ("gang", "predicates"), actions=("allocate", "reclaim"))
    queues = [make.queue("rich", **fields), make.queue("poor", deserved={"cpu": 2})]
    groups = [make.group("r", "rich", min_member=0, phase="Running"), make.group("w", "poor")]
    pods = [make.pod(f"r{at}", "r", on="n") for at in range(4)] + [make.pod("p", "w")]
    assert make.ran([make.node("n")], groups, pods, policy, queues=queues).evictions == []


def contested(facts):
    """The same with all that runs in one queue and all that waits in another."""
    running = [msgspec.structs.replace(each, queue="rich") for each in facts.groups if each.phase == "Running"]
    waiting = [msgspec.structs.replace(each, queue="poor") for each in facts.groups if each.phase != "Running"]
    queues = (make.queue("rich"), make.queue("poor", weight=3))
    return msgspec.structs.replace(facts, groups=(*running, *waiting), queues=queues)


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_evicted_no_gang_falls_below_its_minimum_and_the_table_adds_up(seed):
    """Gang and proportion stand in one tier: where gang above names nobody, Volcano asks the tier below without it."""
    facts = contested(worlds.world(random.Random(seed), nodes=6, jobs=24))
    policy = make.policy(
        ("priority", "gang", "conformance", "proportion"), ("drf", "predicates", "nodeorder"),
        actions=("enqueue", "allocate", "preempt", "reclaim", "backfill"),
    )  # fmt: skip
    before = make.opened(facts.nodes, facts.groups, facts.pods, policy, queues=facts.queues, classes=CLASSES)
    ready = {uid: job.ready for uid, job in before.jobs.items()}
    session = make.ran(facts.nodes, facts.groups, facts.pods, policy, queues=facts.queues, classes=CLASSES)
    for each in session.evictions:
        job = each.task.job
        assert each.task.preemptable
        if each.reason == "reclaim":
            assert job.ready >= min(job.min_member, ready[job.uid])
    columns = session.nodes.settle()
    for row, tasks in enumerate(session.nodes.tasks):
        for place in range(len(session.axis)):
            held = sum(t.cls.request.values[place] for t in tasks.values() if t.status != status.PIPELINED)
            assert columns.idle[place][row] == columns.alloc[place][row] - held
            promised = sum(t.cls.request.values[place] for t in tasks.values() if t.status == status.PIPELINED)
            assert columns.pipelined[place][row] == promised
