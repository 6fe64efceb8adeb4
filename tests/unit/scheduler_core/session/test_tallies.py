"""Nodes counted in lines say what nodes counted one by one say."""

import random

import numpy as np
import pytest

from scheduler_core import plugins, scheduling
from scheduler_core.session import codes, tallies
from tests.support import scheduler_worlds as worlds


def by_rows(judge, codes, within):
    rows = range(len(codes)) if within is None else np.flatnonzero(within).tolist()
    found = {}
    for row in rows:
        key = (int(judge.table.state[row]), int(judge.fixed[row]), int(codes[row]))
        nodes, first = found.get(key, (0, row))
        found[key] = (nodes + 1, first)
    return found


def by_lines(tally):
    columns = (tally.states, tally.fixed, tally.codes, tally.nodes, tally.first)
    lines = zip(*(column.tolist() for column in columns), strict=True)
    return {(state, fixed, code): (nodes, first) for state, fixed, code, nodes, first in lines}


@pytest.mark.parametrize("most", [tallies._LUT_MOST, 0], ids=["by a table", "by sorting"])
def test_lines_are_the_rows_put_together(most, monkeypatch):
    monkeypatch.setattr(tallies, "_LUT_MOST", most)
    for seed in range(40):
        r = random.Random(seed)
        session = scheduling.open_session(worlds.world(r, nodes=9, jobs=8), worlds.DEFAULT, 10**10, plugins.ALL)
        nodes = len(session.nodes)
        for cls in session.snapshot.classes.all:
            judge = session.judges.of(cls)
            within = np.array([r.random() < 0.5 for _ in range(nodes)], dtype=np.bool_)
            other = judge.codes | np.array([r.choice([0, 1 << 20]) for _ in range(nodes)], dtype=np.uint64)
            for column, some in ((judge.codes, None), (judge.codes, within), (other, None), (other, within)):
                tally = judge.meaning.tallies.of(judge, column, some)
                assert by_lines(tally) == by_rows(judge, column, some)
                assert sum(number for _, number in tally.histogram()) == tally.total
            whole, counts = judge.meaning.tallies.of_all(judge)
            assert by_lines(whole) == by_rows(judge, judge.codes, None)
            assert counts == whole.histogram()


def test_a_tally_is_made_anew_when_a_node_has_changed():
    session = scheduling.open_session(
        worlds.world(random.Random(3), nodes=6, jobs=6), worlds.DEFAULT, 10**10, plugins.ALL
    )
    task = next(each for each in session.snapshot.tasks.values() if each.row < 0 and each.cls.items)
    judge = session.judges.of(task.cls)
    known, _ = judge.meaning.tallies.of_all(judge)
    before = by_rows(judge, judge.codes, None)
    session.nodes.hold(0, task)
    judge.look()
    after, counts = judge.meaning.tallies.of_all(judge)
    assert by_lines(after) == by_rows(judge, judge.codes, None) != before
    assert by_lines(known) == before, "what was counted before stays as it was"
    assert counts == after.histogram()


def test_more_checks_than_a_byte_has_bits_are_counted_too():
    bits = tuple(1 << at for at in range(12))
    failed = np.array([[(place >> at & 1) == 1 for place in range(4096)] for at in range(12)])
    for some in (slice(0, 8), slice(0, 12)):
        kinds = codes.kinds(bits[some], codes.sets(bits[some], failed[some]))
        assert kinds.codes.take(kinds.of).tolist() == [place & ((1 << some.stop) - 1) for place in range(4096)]
