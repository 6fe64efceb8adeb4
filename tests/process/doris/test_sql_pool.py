"""The SQL pool against a server that comes and goes."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from pipeline.doris import local
from pipeline.doris import sql as pools
from pipeline.doris.local import Address
from pipeline.doris.settings import Settings
from pipeline.doris.sql import Sql
from pipeline.errors import Unreachable
from sinks.doris.child import launcher


@pytest.fixture
def start(tmp_path):
    """Starts the server, on the same ports each time; ends what is left."""
    running = []

    def again():
        ports = {"http_port": running[0].http_port, "mysql_port": running[0].mysql_port} if running else {}
        running.append(launcher()(tmp_path / "doris", **ports))
        return running[-1]

    yield again
    for each in running:
        each.stop()


def pool_of(server, **settings):
    return Sql(local.at(Settings(**settings), Address(server.http_port, server.mysql_port)), database="")


def test_a_pool_survives_a_restart_of_the_server(start, monkeypatch):
    server = start()
    pool = pool_of(server)
    try:
        assert pool.query("SELECT 1").rows == ((1,),)
        server.stop()
        monkeypatch.setattr(pools, "IDLE_S", 0.0)
        with pytest.raises(Unreachable, match="no answer"):
            pool.query("SELECT 1")
        start()
        assert pool.query("SELECT 1").rows == ((1,),)
    finally:
        pool.close()


def test_threads_share_the_pool_and_each_gets_its_own_answers(start):
    pool = pool_of(start(), max_connections=3)
    wrong = []

    def ask(number):
        for n in range(20):
            if pool.query("SELECT %s", (number * 1000 + n,)).rows != ((number * 1000 + n,),):
                wrong.append(number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pool.close()
    assert wrong == []


def test_a_wrong_password_is_told_with_what_to_check(start):
    server = start()
    settings = local.at(Settings(), Address(server.http_port, server.mysql_port))
    pool = Sql(settings.model_copy(update={"user": "stranger"}), database="")
    with pytest.raises(Unreachable, match="refused") as refused:
        pool.query("SELECT 1")
    assert "doris.user" in refused.value.fix


def test_a_server_that_accepts_and_says_nothing_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = local.at(Settings(connect_timeout=1.0, query_timeout=1.0), Address(1, silent.getsockname()[1]))
        began = time.monotonic()
        with pytest.raises(Unreachable):
            Sql(settings).query("SELECT 1")
        assert time.monotonic() - began < 60


def test_when_all_connections_are_busy_the_next_one_does_not_wait_for_ever(start):
    pool = pool_of(start(), max_connections=1, query_timeout=3.0)
    with pool._connection(), pytest.raises(Unreachable, match="busy"):
        pool.query("SELECT 1")
    assert pool.query("SELECT 1").rows == ((1,),)
    pool.close()
