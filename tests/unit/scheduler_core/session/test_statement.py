"""The transaction: what is undone leaves no trace, and what is kept or committed does."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core import actions, decisions, plugins, scheduling
from scheduler_core.model import status
from scheduler_core.session.statement import Statement
from tests.support import scheduler_worlds as worlds
from tests.support import whole_state

BACK = worlds.policy(
    ("priority", "gang", "conformance"), ("overcommit", "drf", "predicates", "proportion", "nodeorder", "binpack"),
    predicates={"undoneEvictions": "back"},
)  # fmt: skip


TRACES = {
    ("NodeTable", "changed"), ("NodeTable", "changes"), ("NodeTable", "last"), ("NodeTable", "_settled"),
    ("NodeTable", "released"),
    ("States", "block"), ("States", "count"), ("States", "_numbers"), ("States", "_rows"), ("States", "_shifts"),
    ("States", "_whole"), ("States", "moves"), ("NodeTable", "_again"),
    ("Shift", "after"), ("Room", "known"), ("Room", "rank"), ("Room", "fits"), ("Room", "_failed"), ("Room", "_codes"),
    ("Columns", "known"), ("Judge", "_seen"), ("Session", "releases"),
    ("Relations", "_carried"), ("Relations", "_selectors"), ("Relations", "_label_classes"), ("Task", "label_class"),
    ("Job", "opening_allocated"), ("Task", "last"), ("LastPlace", "status"), ("LastPlace", "row"), ("LastPlace", "evicted"),
}  # fmt: skip
"""What undone work may leave: that rows and jobs were touched and looked at again, what was learned on the way of how nodes can
stand, of labels and of selectors (counts of new ones, at zero), and what a task had been promised."""


def state_of(session):
    """The whole session, with columns and judges brought up to date."""
    for cls in session.snapshot.classes.all:
        session.judges.of(cls)
    session.nodes.settle()
    session.plugin("drf").held.all()
    session.plugin("drf").shares.all()
    return whole_state.of(session)


def do_anything(r, session, statement, steps):
    """Random operations that are possible where they are done; how many were done."""
    done = 0
    for _ in range(steps):
        rows = np.flatnonzero(session.nodes.usable).tolist()
        waiting = [task for job in session.jobs.values() for task in job.pending()]
        running = [
            task for job in session.jobs.values() for task in job.by_status[status.RUNNING].values() if task.row >= 0
        ]
        kind = r.choice(["allocate", "pipeline", "evict"])
        if kind == "evict" and running:
            statement.evict(r.choice(running), "preempt")
        elif kind != "evict" and waiting and rows:
            task, row = r.choice(waiting), r.choice(rows)
            if kind == "allocate":
                statement.allocate(task, row)
            else:
                statement.pipeline(task, row, evicted=r.random() < 0.5)
        else:
            continue
        done += 1
    return done


@settings(max_examples=80, deadline=None)
@given(r=st.randoms(use_true_random=False), steps=st.integers(1, 12))
def test_a_discarded_statement_leaves_the_session_as_it_was(r, steps):
    session = scheduling.open_session(worlds.world(r, relations=True), BACK, 0, plugins.ALL)
    before = state_of(session)
    statement = Statement(session)
    do_anything(r, session, statement, steps)
    statement.discard()
    assert whole_state.differences(before, state_of(session)) <= TRACES
    assert not session.binds
    assert not session.evictions


@settings(max_examples=80, deadline=None)
@given(r=st.randoms(use_true_random=False), steps=st.integers(1, 6))
def test_when_all_was_undone_and_nobody_was_to_go_the_moment_of_before_has_come_again(r, steps):
    session = scheduling.open_session(worlds.world(r), worlds.DEFAULT, 0, plugins.ALL)
    nodes = session.nodes
    moment, state = nodes.moment, nodes.state.tolist()
    statement = Statement(session)
    done = do_anything(r, session, statement, steps)
    evicted = any(each.kind == "evict" for each in statement.operations)
    assert nodes.moment == nodes.changed
    statement.discard()
    assert (nodes.moment == moment) == (not evicted or not done)
    assert evicted or nodes.state.tolist() == state


def test_what_another_did_meanwhile_keeps_the_moment_from_coming_again():
    session = scheduling.open_session(worlds.world(random.Random(1)), worlds.DEFAULT, 0, plugins.ALL)
    one, other = [task for job in session.jobs.values() for task in job.pending()][:2]
    undone, stays = Statement(session), Statement(session)
    undone.allocate(one, 0)
    stays.allocate(other, 0)
    undone.discard()
    assert session.nodes.moment == session.nodes.changed


@pytest.mark.parametrize("seed", range(40))
def test_among_commits_every_discard_goes_back_to_the_state_before_it(seed):
    r = random.Random(seed)
    session = scheduling.open_session(worlds.world(r, jobs=9, relations=True), BACK, 0, plugins.ALL)
    for steps, commits in ((4, True), (6, False), (3, True), (8, False)):
        before = state_of(session)
        outer, inner = Statement(session), Statement(session)
        do_anything(r, session, outer, steps)
        do_anything(r, session, inner, steps)
        outer.merge(inner)
        moved = len(outer)
        if commits:
            outer.commit()
            assert not moved or whole_state.differences(before, state_of(session)) - TRACES
        else:
            outer.discard()
            assert whole_state.differences(before, state_of(session)) <= TRACES


@settings(max_examples=80, deadline=None)
@given(r=st.randoms(use_true_random=False), steps=st.integers(1, 20))
def test_what_was_undone_before_the_actions_changes_no_decision(r, steps):
    facts = worlds.world(r, jobs=9, relations=True)
    plain, tried = (scheduling.open_session(facts, BACK, 10**10, plugins.ALL) for _ in range(2))
    statement = Statement(tried)
    do_anything(r, tried, statement, steps)
    statement.discard()
    for session in (plain, tried):
        for name in BACK.actions:
            actions.ALL[name](session)
        scheduling.finish(session)
    assert decisions.of_session(tried, "simulate") == decisions.of_session(plain, "simulate")


@settings(max_examples=40, deadline=None)
@given(r=st.randoms(use_true_random=False), steps=st.integers(1, 12))
def test_replaying_saved_operations_gives_the_same_state_again(r, steps):
    session = scheduling.open_session(worlds.world(r, relations=True), BACK, 0, plugins.ALL)
    statement = Statement(session)
    do_anything(r, session, statement, steps)
    after = state_of(session)
    saved = statement.saved()
    statement.discard()
    again = Statement(session)
    again.replay(saved)
    assert whole_state.differences(after, state_of(session)) <= TRACES


def test_by_default_a_pod_whose_eviction_was_undone_stays_gone_for_checks_as_in_volcano():
    session = opened(worlds.DEFAULT)
    task = next(iter(session.jobs["ns/j"].by_status[status.RUNNING].values()))
    pods = session.nodes.row(0).pods
    statement = Statement(session)
    statement.evict(task, "preempt")
    statement.discard()
    assert task.status == status.RUNNING
    assert session.nodes.row(0).pods == pods - 1
    assert session.nodes.row(0).free(0) == session.nodes.row(0).idle[0]


def opened(policy):
    r = random.Random(1)
    facts = worlds.world(r)
    node = worlds.f.NodeFacts(name="n0", allocatable={"cpu": 8, "memory": "16Gi", "pods": 10})
    group = worlds.f.GroupFacts(namespace="ns", name="j", queue="q0", min_member=1, phase="Running")
    pods = tuple(
        worlds.f.PodFacts(
            uid=f"p{at}", namespace="ns", name=f"p{at}", group="ns/j", phase=phase, node=node,
            containers=(worlds.f.ContainerFacts({"cpu": 1}),),
        )
        for at, (phase, node) in enumerate([("Running", "n0"), ("Pending", ""), ("Pending", "")])
    )  # fmt: skip
    facts = worlds.f.ClusterFacts(nodes=(node,), queues=facts.queues, groups=(group,), pods=pods)
    return scheduling.open_session(facts, policy, 0, plugins.ALL)


def test_a_discarded_task_remembers_what_it_had_been_promised():
    session = opened(BACK)
    first, second = session.jobs["ns/j"].pending()
    statement = Statement(session)
    statement.allocate(first, 0)
    statement.pipeline(second, 0, evicted=True)
    statement.discard()
    assert (first.last.status, first.last.row, first.last.evicted) == (status.ALLOCATED, 0, False)
    assert (second.last.status, second.last.row, second.last.evicted) == (status.PIPELINED, 0, True)


def test_a_commit_binds_what_was_allocated_and_ends_what_was_evicted_and_forgets_promises():
    session = opened(BACK)
    job = session.jobs["ns/j"]
    first, second = job.pending()
    running = next(iter(job.by_status[status.RUNNING].values()))
    statement = Statement(session)
    statement.allocate(first, 0)
    statement.evict(running, "preempt", second)
    statement.pipeline(second, 0, evicted=True)
    statement.commit()
    assert {uid: node for uid, (_, node) in session.binds.items()} == {first.uid: "n0"}
    assert [(each.task, each.reason, each.by) for each in session.evictions] == [(running, "preempt", second)]
    assert (first.status, second.status, running.status) == (status.BINDING, status.PIPELINED, status.RELEASING)
    assert len(statement) == 0


def test_a_kept_statement_stays_applied_and_says_whose_it_is():
    session = opened(BACK)
    job = session.jobs["ns/j"]
    task = next(job.pending())
    statement = Statement(session)
    statement.allocate(task, 0)
    statement.keep()
    assert [(kept.job, kept.tasks) for kept in session.kept] == [(job, [task])]
    assert task.status == status.ALLOCATED
    assert not session.binds


def test_a_merged_statement_is_undone_with_the_other():
    session = opened(BACK)
    before = state_of(session)
    first, second = session.jobs["ns/j"].pending()
    outer, inner = Statement(session), Statement(session)
    outer.allocate(first, 0)
    inner.allocate(second, 0)
    outer.merge(inner)
    inner.discard()
    assert second.status == status.ALLOCATED
    outer.discard()
    assert whole_state.differences(before, state_of(session)) <= TRACES


def test_an_empty_statement_keeps_nothing():
    session = opened(BACK)
    Statement(session).keep()
    assert session.kept == []


def test_there_is_nothing_to_take_from_an_empty_heap():
    with pytest.raises(IndexError):
        opened(BACK).orders.job_heap().pop()
