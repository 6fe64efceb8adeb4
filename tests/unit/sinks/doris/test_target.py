"""Labels of loads, and what becomes of outcomes."""

from __future__ import annotations

import re

import pytest

from pipeline.doris import errors, replies
from sinks.doris.target import DorisTarget


class Client:
    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.labels = []

    def load(self, table, lines, *, rows, label):
        self.labels.append(label)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return replies.Result(outcome, label, rows)


def test_a_repeated_load_has_the_label_of_the_first_try_and_other_bytes_another():
    client = Client(errors.Offline("gone"), replies.Outcome.ALREADY_LOADED, replies.Outcome.LOADED)
    target = DorisTarget(client)
    with pytest.raises(errors.Offline):
        target.load("event", [b"a", b"b"])
    target.load("event", [b"a", b"b"])
    target.load("event", [b"c"])
    assert client.labels[0] == client.labels[1] != client.labels[2]


def test_a_label_is_made_of_what_doris_allows():
    label = DorisTarget().label("wait_reason_hour", b"x" * 1000)
    assert re.fullmatch(r"[-_A-Za-z0-9:]{1,128}", label)


def test_rows_that_doris_lost_go_again_under_another_label():
    client = Client(errors.RowsLost("0 of 1"), replies.Outcome.LOADED)
    target = DorisTarget(client)
    with pytest.raises(errors.RowsLost):
        target.load("event", [b"a"])
    target.load("event", [b"a"])
    assert client.labels[0] != client.labels[1]


def test_two_runs_share_no_label(monkeypatch):
    from sinks.doris import target as targets

    now = iter([1, 2])
    monkeypatch.setattr(targets.clock, "now_ms", lambda: next(now))
    assert DorisTarget().label("event", b"a") != DorisTarget().label("event", b"a")


def test_without_a_connection_rows_wait():
    with pytest.raises(errors.Offline):
        DorisTarget().load("event", [b"a"])
