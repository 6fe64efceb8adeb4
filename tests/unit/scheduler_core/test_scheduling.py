"""Whole sessions: same input same decisions, whatever its order, and nothing that must never happen."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model import facts as f
from scheduler_core.model import status
from scheduler_core.model.resources import PODS
from tests.support import scheduler_scenarios as scenarios
from tests.support import scheduler_worlds as worlds

ALL_ACTIONS = worlds.DEFAULT
TREE = worlds.policy(("priority", "gang"), ("drf", "predicates", "capacity", "nodeorder"))


@settings(max_examples=60, deadline=None)
@given(r=st.randoms(use_true_random=False), seed=st.integers(0, 2**16), relations=st.booleans())
def test_decisions_do_not_depend_on_the_order_of_the_input(r, seed, relations):
    facts = worlds.world(r, relations=relations)
    for policy in (ALL_ACTIONS, TREE):
        one = scheduling.run(facts, policy, 10**10, plugins.ALL)
        other = scheduling.run(scenarios.shuffled(facts, random.Random(seed)), policy, 10**10, plugins.ALL)
        assert decisions.of_session(one, "simulate") == decisions.of_session(other, "simulate")


@settings(max_examples=80, deadline=None)
@given(r=st.randoms(use_true_random=False), relations=st.booleans())
def test_no_node_is_overfilled_no_gang_is_bound_in_part_and_nobody_protected_is_evicted(r, relations):
    facts = worlds.world(r, relations=relations)
    before = scheduling.open_session(facts, ALL_ACTIONS, 10**10, plugins.ALL)
    overfull = {
        (at, place)
        for at in range(len(before.nodes))
        for place, idle in enumerate(before.nodes.row(at).idle)
        if idle < 0
    }
    session = scheduling.run(facts, ALL_ACTIONS, 10**10, plugins.ALL)
    backfilled = any(task.cls.best_effort for task, _ in session.binds.values())
    for at in range(len(session.nodes)):
        for place, idle in enumerate(session.nodes.row(at).idle):
            assert idle >= 0 or (at, place) in overfull or (place == PODS and backfilled)
    for task, node in session.binds.values():
        job = task.job
        assert job.ready + job.pending_best_effort >= job.min_member or any(
            each.task.job is job for each in session.evictions
        )
        assert session.nodes.usable[session.nodes.rows[node]]
    for eviction in session.evictions:
        assert eviction.task.preemptable
        assert not eviction.task.critical
        assert eviction.task.status == status.RELEASING


def test_a_session_ends_when_there_is_nothing_at_all():
    session = scheduling.run(f.ClusterFacts(), worlds.DEFAULT, 0, plugins.ALL)
    assert [each.kind for each in decisions.of_session(session, "shadow")] == ["close"]


def test_equal_nodes_are_taken_in_the_order_of_their_domains_and_names():
    nodes = tuple(
        f.NodeFacts(name=name, allocatable={"cpu": 1, "pods": 1}, rack=rack)
        for name, rack in (("b", "r1"), ("a", "r2"), ("c", "r1"))
    )
    group = f.GroupFacts(namespace="ns", name="j", queue="q", phase="Inqueue")
    pods = tuple(
        f.PodFacts(
            uid=f"p{at}", namespace="ns", name=f"p{at}", group="ns/j", containers=(f.ContainerFacts({"cpu": 1}),)
        )
        for at in range(3)
    )
    facts = f.ClusterFacts(nodes=nodes, queues=(f.QueueFacts(name="q"),), groups=(group,), pods=pods)
    session = scheduling.run(facts, worlds.policy(("predicates",), actions=("allocate",)), 0, plugins.ALL)
    assert [session.binds[f"p{at}"][1] for at in range(3)] == ["b", "c", "a"]
