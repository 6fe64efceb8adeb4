"""Orders: what is taken next, also while what is done with one changes the order of the others."""

import heapq
import random

import pytest

from scheduler_core.model.tasks import _number_in
from scheduler_core.session.orders import Heap, Line, LiveHeap
from tests.support import scheduler_makers as make
from tests.support import scheduler_worlds as worlds


def live(items, key):
    return LiveHeap(sorted(items, key=key), lambda one, other: key(one) < key(other))


def test_a_live_heap_sorts_as_long_as_nothing_changes():
    r = random.Random(1)
    for size in range(20):
        items = r.sample(range(100), size)
        heap = live(items, lambda each: each)
        for more in r.sample(range(100, 200), 3):
            heap.push(more)
            heapq.heappush(items, more)
        assert [heap.pop() for _ in range(len(heap))] == sorted(items)


def test_who_comes_second_was_chosen_before_anything_was_done_with_the_first():
    place = {"a": 1, "b": 2, "c": 3, "d": 4}
    heap = live(place, place.__getitem__)
    assert heap.pop() == "a"
    place["b"] = 9
    assert heap.pop() == "b"
    place["d"] = 0
    assert heap.pop() == "c"
    assert heap.pop() == "d"


def test_pushing_one_moves_those_on_its_way():
    place = {"a": 1, "b": 2, "c": 3}
    heap = live(place, place.__getitem__)
    assert heap.pop() == "a"
    place["a"], place["b"] = 0, 5
    heap.push("a")
    assert [heap.pop() for _ in range(3)] == ["a", "c", "b"]


def session_of_nobody():
    """Of a session a heap asks only how often anything was released."""
    return make.opened([], [], [], worlds.DEFAULT)


@pytest.mark.parametrize("seed", range(50))
def test_putting_back_what_was_taken_last_and_taking_the_next_is_one_step_or_two(seed):
    r = random.Random(seed)
    place = {name: (r.randrange(4), name) for name in "abcdef"}
    session = session_of_nobody()
    one, other = (Heap(session, place.__getitem__, place) for _ in range(2))
    taken = one.take()
    assert taken == other.pop()
    for _ in range(20):
        if r.random() < 0.5:
            place[taken] = (r.randrange(4), taken)
        if r.random() < 0.2:
            moved = r.choice("abcdef")
            place[moved] = (r.randrange(4), moved)
            session.releases += r.randrange(2)
        other.push(taken)
        taken = one.next(taken)
        assert taken == other.pop()


@pytest.mark.parametrize("seed", range(50))
def test_a_line_is_a_heap_in_which_only_what_was_taken_and_a_release_change_places(seed):
    r = random.Random(seed)
    place = {name: (r.randrange(4), name) for name in "abcdef"}
    session = session_of_nobody()
    line, heap = Line(session, place.__getitem__, place), Heap(session, place.__getitem__, place)
    while len(line):
        taken = line.pop()
        assert taken == heap.pop()
        if r.random() < 0.7:
            place[taken] = (r.randrange(4), taken)
            for each in (line, heap):
                each.push(taken)
        if r.random() < 0.1:
            moved = r.choice("abcdef")
            place[moved] = (r.randrange(4), moved)
            session.releases += 1
    assert not len(heap)
    assert line.take() is None


def test_a_number_in_a_name_has_64_bits():
    assert _number_in("job-worker-007") == 7
    assert _number_in("job-worker-9223372036854775807") == 2**63 - 1
    assert _number_in("job-worker-9223372036854775808") is None
    assert _number_in("job-worker-" + "9" * 5000) is None
    assert _number_in("worker-7") is None
    assert _number_in("job-worker-x7") is None
