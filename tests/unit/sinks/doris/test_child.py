"""The local Doris as a child: started once, found by others, started again with patience."""

from __future__ import annotations

import pytest

from pipeline.doris import local
from pipeline.doris.errors import Offline
from pipeline.doris.local import Address
from pipeline.doris.settings import Settings
from pipeline.errors import CheckFailed, Unreachable, UserError
from sinks.doris import child as children
from sinks.doris.child import Child


class Process:
    """A server that lives until it is told otherwise."""

    def __init__(self, http_port, mysql_port):
        self.http_port = http_port
        self.mysql_port = mysql_port
        self.alive = True
        self.stopped = 0

    def stop(self):
        self.alive = False
        self.stopped += 1


class Start:
    """A launcher: gives the ports that were asked for, or free ones; fails while `failure` is set."""

    def __init__(self):
        self.asked = []
        self.made = []
        self.failure = None

    def __call__(self, path, *, http_port=0, mysql_port=0):
        self.asked.append((http_port, mysql_port))
        if self.failure:
            raise self.failure
        self.made.append(Process(http_port or 8000 + len(self.asked), mysql_port or 9000 + len(self.asked)))
        return self.made[-1]


@pytest.fixture
def now(monkeypatch):
    time = [100.0]
    monkeypatch.setattr(children.clock, "monotonic_s", lambda: time[0])
    return time


def test_it_is_started_once_and_can_be_found_while_it_runs(tmp_path, now):
    start = Start()
    child = Child(tmp_path, start)
    assert child.ensure() == child.ensure() == Address(8001, 9001)
    found = local.locate(Settings(), tmp_path)
    assert (found.frontend, found.query_port, found.replication_num) == ("127.0.0.1:8001", 9001, 1)
    child.stop()
    with pytest.raises(Unreachable, match="no local one is running"):
        local.locate(Settings(), tmp_path)
    assert len(start.made) == 1 and start.made[0].stopped == 1


def test_one_that_ended_is_started_again_on_the_same_ports(tmp_path, now):
    start = Start()
    child = Child(tmp_path, start)
    first = child.ensure()
    start.made[0].alive = False
    now[0] += 60
    assert child.ensure() == first and start.asked == [(0, 0), (8001, 9001)]


def test_one_that_ends_at_once_is_not_started_again_at_once(tmp_path, now):
    start = Start()
    child = Child(tmp_path, start)
    for _ in range(4):
        child.ensure()
        start.made[-1].alive = False
        with pytest.raises(Offline) as ended:
            child.ensure()
        now[0] += ended.value.retry_after_s
    assert ended.value.retry_after_s > 2
    child.well()
    child.ensure()
    start.made[-1].alive = False
    with pytest.raises(Offline) as ended:
        child.ensure()
    assert ended.value.retry_after_s < 1


def test_ports_that_were_taken_meanwhile_are_given_up(tmp_path, now):
    start = Start()
    child = Child(tmp_path, start)
    child.ensure()
    start.made[0].alive = False
    start.failure = CheckFailed("a port cannot be listened on")
    now[0] += 60
    with pytest.raises(Offline, match="cannot be listened on"):
        child.ensure()
    start.failure = None
    now[0] += 60
    assert child.ensure() == Address(8003, 9003) and start.asked[-1] == (0, 0)


def test_one_that_cannot_be_started_at_all_is_told_to_the_person(tmp_path, now):
    start = Start()
    start.failure = CheckFailed("another process has this local Doris open")
    with pytest.raises(CheckFailed, match="another process"):
        Child(tmp_path, start).ensure()


def test_an_installation_without_one_says_what_to_do(monkeypatch):
    monkeypatch.setattr(children.extensions, "found", lambda group: ())
    with pytest.raises(UserError, match=r"kube-collector\[local\]"):
        children.launcher()


def test_a_frontend_that_is_set_is_never_looked_for(tmp_path):
    settings = Settings(frontend="fe:8030")
    assert local.locate(settings, tmp_path) is settings


def test_an_address_file_that_is_torn_counts_as_none(tmp_path):
    (tmp_path / local.FILE_NAME).write_text("{")
    assert local.announced(tmp_path) is None
