"""States: what nodes stand alike share, and that sharing shows nowhere."""

import random

import numpy as np
import pytest

from scheduler_core import plugins, scheduling
from scheduler_core.model import facts as f
from scheduler_core.model.standing import Standing
from scheduler_core.session.statement import Statement
from tests.support import scheduler_makers as make
from tests.support import scheduler_worlds as worlds
from tests.unit.scheduler_core.session.test_statement import do_anything

ALLOCATE = make.policy(("gang",), ("predicates", "nodeorder"), actions=("allocate",))


def states_in_use(table):
    return len(np.unique(table.state))


def test_nodes_that_stand_alike_have_one_state_and_part_when_one_is_touched():
    nodes = [make.node(f"n{at}", cpu=4) for at in range(5)]
    session = make.opened(nodes, [make.group("j")], [make.pod("p", "j", cpu=1)], ALLOCATE)
    table, task = session.nodes, make.task(session, "p")
    assert states_in_use(table) == 1
    table.hold(3, task)
    assert states_in_use(table) == 2
    assert [table.row(at).idle[0] for at in range(5)] == [4000, 4000, 4000, 3000, 4000]
    table.hold(3, task, -1)
    assert states_in_use(table) == 1


@pytest.mark.parametrize("seed", range(8))
def test_what_is_taken_in_any_order_is_told_apart_by_cells_alone(seed):
    r = random.Random(seed)
    session = scheduling.open_session(worlds.world(r, nodes=20), worlds.DEFAULT, 0, plugins.ALL)
    do_anything(r, session, Statement(session), 60)
    table = session.nodes
    block = table.settle().block
    columns = [block[:, at].tolist() for at in range(len(table))]
    for one in range(len(table)):
        for other in range(len(table)):
            assert (table.state[one] == table.state[other]) == (columns[one] == columns[other])


def test_states_of_sessions_that_are_over_are_forgotten_before_they_are_many():
    nodes = tuple(make.node(f"n{at}", cpu=1000) for at in range(4))
    standing = Standing(f.ClusterFacts(nodes=nodes, queues=(make.queue(),)))
    counts = []
    for step in range(60):
        pods = [make.pod(f"p{step}-{at}", f"j{step}", cpu=f"{1 + step + 100 * at}m") for at in range(8)]
        standing.put(make.group(f"j{step}"), *pods)
        session = scheduling.act(scheduling.on_snapshot(standing.snapshot(), ALLOCATE, 0, plugins.ALL))
        assert len(session.binds) == 8
        counts.append(session.nodes.states.count)
        standing.drop_groups([f"ns/j{step}"])
        standing.drop_pods([pod.uid for pod in pods])
    assert standing.builds == 1
    assert 200 < max(counts) < 300
    assert min(counts[1:]) < 50
