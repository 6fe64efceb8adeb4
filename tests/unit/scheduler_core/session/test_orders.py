"""Orders: what is taken next, also while what is done with one changes the order of the others."""

import heapq
import random

from scheduler_core.model.tasks import _number_in
from scheduler_core.session.orders import LiveHeap


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


def test_a_number_in_a_name_has_64_bits():
    assert _number_in("job-worker-007") == 7
    assert _number_in("job-worker-9223372036854775807") == 2**63 - 1
    assert _number_in("job-worker-9223372036854775808") is None
    assert _number_in("job-worker-" + "9" * 5000) is None
    assert _number_in("worker-7") is None
    assert _number_in("job-worker-x7") is None
