"""Answers kept for a moment."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from dashboards import cache
from dashboards.cache import Cache


@pytest.fixture
def now(monkeypatch):
    """A clock that stands until it is moved."""
    moment = [100.0]
    monkeypatch.setattr(cache.clock, "monotonic_s", lambda: moment[0])
    return moment


def counting():
    made = []

    def make():
        made.append(len(made) + 1)
        return made[-1]

    return make


def test_the_same_question_within_the_moment_is_one_question(now):
    kept, make = Cache(1.0), counting()
    assert [kept.get("q", make), kept.get("q", make)] == [1, 1]
    now[0] += 1.0
    assert kept.get("q", make) == 2


def test_other_questions_are_others(now):
    kept, make = Cache(1.0), counting()
    assert [kept.get("a", make), kept.get("b", make)] == [1, 2]


def test_nothing_is_kept_for_no_time(now):
    kept, make = Cache(0), counting()
    assert [kept.get("q", make), kept.get("q", make)] == [1, 2]


def test_an_error_is_not_kept(now):
    kept = Cache(1.0)
    with pytest.raises(ZeroDivisionError):
        kept.get("q", lambda: 1 // 0)
    assert kept.get("q", lambda: 5) == 5


def test_the_oldest_go_when_there_are_many(now):
    kept, make = Cache(1000.0), counting()
    for number in range(cache.MAX_KEPT + 1):
        kept.get(number, make)
    assert kept.get(cache.MAX_KEPT, make) == cache.MAX_KEPT + 1
    assert kept.get(0, make) == cache.MAX_KEPT + 2


def test_what_is_old_takes_no_memory(now):
    class Value:
        pass

    kept = Cache(1.0)
    value = weakref.ref(kept.get("large", Value))
    assert value() is not None
    now[0] += 1.0
    kept.get("other", Value)
    gc.collect()
    assert value() is None


def test_who_asks_while_the_question_is_under_way_waits_for_its_answer():
    kept, asked, go = Cache(100.0), threading.Event(), threading.Event()
    made, got = [], []

    def slow():
        made.append(1)
        asked.set()
        assert go.wait(120)
        return "answer"

    threads = [threading.Thread(target=lambda: got.append(kept.get("q", slow))) for _ in range(3)]
    threads[0].start()
    assert asked.wait(120)
    for thread in threads[1:]:
        thread.start()
    go.set()
    for thread in threads:
        thread.join(120)
    assert got == ["answer"] * 3 and made == [1]
