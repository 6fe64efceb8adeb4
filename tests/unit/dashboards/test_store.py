"""The way to the warehouse when it moves, dies and comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboards import store as stores
from dashboards.store import Store
from pipeline import clock
from pipeline.doris.errors import QueryFailed
from pipeline.doris.settings import Settings as Doris
from pipeline.doris.sql import Rows
from pipeline.errors import Unreachable

AWAY = Unreachable("no answer: refused", where="Doris", fix="check it")


class Pools:
    """Stands for the pools: `plan` holds what the next questions meet, an error or rows."""

    def __init__(self):
        self.plan = []
        self.opened = []
        self.closed = 0
        self.asked = 0
        self.took_s = 0.0
        self.now_s = 1000.0

    def __call__(self, settings):
        self.opened.append(settings)
        return self

    def query(self, text, arguments):
        self.asked += 1
        self.now_s += self.took_s
        found = self.plan.pop(0) if self.plan else 1
        if isinstance(found, Exception):
            raise found
        return Rows(("cluster",), ((found,),))

    def close(self):
        self.closed += 1


@pytest.fixture
def pools(monkeypatch):
    made = Pools()
    monkeypatch.setattr(stores, "Sql", made)
    monkeypatch.setattr(stores.clock, "monotonic_s", lambda: made.now_s)
    return made


@pytest.fixture
def place():
    return [Doris(frontend="a:8030")]


@pytest.fixture
def store(pools, place):
    def locate():
        if isinstance(place[0], Exception):
            raise place[0]
        return place[0]

    return Store(locate, keep_s=0, timeout_s=10, max_connections=4, max_rows=100)


def test_rows_come_by_column_name(store):
    assert store.rows("progress") == [{"cluster": 1}] and store.row("progress") == {"cluster": 1}
    assert store.failure is None and store.address == "a:9030"


def test_the_pool_has_the_readers_limits_unless_those_of_doris_are_lower(store, pools, place):
    store.rows("progress")
    assert (pools.opened[0].query_timeout, pools.opened[0].max_connections) == (10, 4)
    place[0] = Doris(frontend="a:8030", query_timeout=2.0, max_connections=1)
    store.rows("progress")
    assert (pools.opened[1].query_timeout, pools.opened[1].max_connections) == (2, 1)


def test_a_warehouse_that_comes_back_on_another_port_is_found(store, pools, place):
    store.rows("progress")
    place[0] = Doris(frontend="a:8031")
    store.rows("progress")
    store.rows("progress")
    assert [each.frontend for each in pools.opened] == ["a:8030", "a:8031"] and pools.closed == 1


def test_a_dead_connection_is_replaced_and_the_question_asked_again(store, pools):
    store.rows("progress")
    pools.plan = [AWAY, 7]
    assert store.rows("progress") == [{"cluster": 7}]
    assert len(pools.opened) == 2 and store.failure is None


def test_a_question_that_timed_out_is_not_asked_again(store, pools):
    pools.took_s = 10.0
    pools.plan = [AWAY]
    with pytest.raises(Unreachable):
        store.rows("progress")
    assert pools.asked == 1 and store.failure == AWAY.what


def test_after_a_failure_nobody_waits_for_a_connection_for_a_moment(store, pools):
    pools.plan = [AWAY, AWAY]
    for _ in range(3):
        with pytest.raises(Unreachable):
            store.rows("progress")
    assert pools.asked == 2
    pools.now_s += stores.REST_S
    assert store.rows("progress") == [{"cluster": 1}] and store.failure is None


def test_no_warehouse_at_all_is_said_as_it_is(store, place):
    place[0] = Unreachable("no local one is running", fix="start it")
    with pytest.raises(Unreachable, match="no local one is running"):
        store.rows("progress")
    assert store.failure == "no local one is running"


@pytest.mark.parametrize(
    "error",
    [
        QueryFailed("Unknown database 'kube_collector'", code=1049, statement=""),
        QueryFailed("errCode = 2, detailMessage = Table [x] does not exist in database [y].", code=1105, statement=""),
    ],
)
def test_a_warehouse_without_tables_yet_is_not_ready_rather_than_broken(store, pools, error):
    pools.plan = [error]
    with pytest.raises(Unreachable, match="has no tables yet"):
        store.rows("progress")
    assert store.failure == "the warehouse has no tables yet"


def test_the_way_to_the_tables_of_a_local_warehouse_names_its_folder(store, pools, place):
    place[0] = place[0].local_of(Path("data/demo"))
    pools.plan = [QueryFailed("Unknown database", code=1049, statement="")]
    with pytest.raises(Unreachable) as caught:
        store.rows("progress")
    assert "`kube-collector schema apply --set data_dir=data/demo`" in caught.value.fix


def test_a_refused_question_is_passed_on(store, pools):
    pools.plan = [QueryFailed("syntax", code=1105, statement="SELECT")]
    with pytest.raises(QueryFailed, match="syntax"):
        store.rows("progress")


class Answering:
    """Stands for the pools: each question gets the next number, and progress the log time that is set."""

    def __init__(self):
        self.log_at = 1
        self.asked = []

    def __call__(self, settings):
        return self

    def query(self, text, arguments):
        if "`progress`" in text:
            return Rows(("cluster", "stage", "log_at", "loaded_at"), (("c", "loader", self.log_at, len(self.asked)),))
        self.asked.append(text)
        return Rows(("number",), ((len(self.asked),),))

    def close(self): ...


def test_rows_that_are_kept_are_never_older_than_the_log_times_read_before_them(monkeypatch):
    pools, now_s = Answering(), [1000.0]
    monkeypatch.setattr(stores, "Sql", pools)
    monkeypatch.setattr(clock, "monotonic_s", lambda: now_s[0])
    store = Store(lambda: Doris(frontend="a:8030"), keep_s=10, timeout_s=10, max_connections=4, max_rows=100)
    store.rows("progress")
    now_s[0] += 9.5
    assert store.rows("dead_letters_count") == store.rows("dead_letters_count") == [{"number": 1}]
    now_s[0] += 1
    pools.log_at = 2
    store.rows("progress")
    assert store.rows("dead_letters_count") == [{"number": 2}], "the log has moved since the first was asked"
