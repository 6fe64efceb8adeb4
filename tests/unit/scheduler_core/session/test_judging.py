"""Judges follow the table: looking at changed rows only gives what judging everything anew gives."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core import plugins, scheduling
from scheduler_core.session.judging import Judge, Room
from scheduler_core.session.statement import Statement
from tests.support import scheduler_worlds as worlds
from tests.unit.scheduler_core.session.test_statement import do_anything


@settings(max_examples=60, deadline=None)
@given(r=st.randoms(use_true_random=False), rounds=st.integers(1, 4))
def test_a_judge_that_follows_changes_says_what_a_new_one_says(r, rounds):
    session = scheduling.open_session(worlds.world(r, nodes=30), worlds.DEFAULT, 0, plugins.ALL)
    judges = [session.judges.of(cls) for cls in session.snapshot.classes.all]
    for _ in range(rounds):
        statement = Statement(session)
        do_anything(r, session, statement, r.randint(0, 25))
        if r.random() < 0.5:
            statement.discard()
        for judge in judges:
            fresh = Judge(
                session, session.judges.codes, judge.cls, Room(session, session.judges.codes, judge.cls.demand)
            )
            judge.look()
            assert judge.codes.tolist() == fresh.codes.tolist()
            assert judge.rank.tolist() == fresh.rank.tolist()


@settings(max_examples=60, deadline=None)
@given(r=st.randoms(use_true_random=False))
def test_a_score_is_the_same_on_one_row_on_some_rows_and_on_the_table(r):
    session = scheduling.open_session(worlds.world(r, nodes=30), worlds.DEFAULT, 0, plugins.ALL)
    table = session.nodes
    some = np.array(sorted(r.sample(range(len(table)), k=r.randint(1, len(table)))))
    for cls in session.snapshot.classes.all:
        room = Room(session, session.judges.codes, cls.demand)
        whole = np.broadcast_to(room.score(table.settle()), (len(table),))
        picked = np.broadcast_to(room.score(table.some(some)), (len(some),))
        assert picked.tolist() == whole[some].tolist()
        assert [room.score(table.row(at)) for at in range(len(table))] == pytest.approx(whole.tolist(), abs=1e-12)


def test_a_row_and_the_columns_agree_after_changes():
    session = scheduling.open_session(worlds.world(random.Random(3), nodes=6), worlds.DEFAULT, 0, plugins.ALL)
    do_anything(random.Random(4), session, Statement(session), 20)
    block = session.nodes.settle().block
    for at in range(len(session.nodes)):
        assert session.nodes.row(at).cells() == block[:, at].tolist()
