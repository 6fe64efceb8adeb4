"""Keys of queues in a tree: numbers order as paths do, where they are used."""

import itertools
import random

from scheduler_core.model.jobs import Queue
from scheduler_core.model.resources import Axis, Resource
from scheduler_core.session import queue_keys, queue_tree
from scheduler_core.session.accounts import Account

AXIS = Axis(())
TOTAL = Resource([1000, 1000, 1000], AXIS.all_named)


def tree(r, *, depth):
    """The accounts of a random tree, with random shares of which some are equal."""
    queues = [Queue("root")]
    level = ["root"]
    for at in range(depth):
        below = []
        for parent in level:
            for number in range(r.randint(1, 3)):
                name = f"{parent}.{number}"
                queues.append(Queue(name, parent=parent, priority=r.choice((0, 0, 1)) if at == depth - 1 else 0))
                if r.random() < 0.9:
                    below.append(name)
        level = below
    accounts = {queue.name: Account(queue, AXIS) for queue in queues}
    root = queue_tree.grow(accounts, TOTAL).root
    for account in accounts.values():
        account.settle_path()
        account.deserves_nothing = r.random() < 0.2
        account.share = r.choice((0.0, 0.25, 0.5)) if r.random() < 0.4 else r.random()
    queue_keys.settle(root)
    return [each for each in accounts.values() if not each.children]


def below_common(one, other):
    """The rule, step by step: what lies below the nearest common ancestor, by share and by whether it deserves anything."""
    for mine, theirs in zip(one.path, other.path, strict=False):
        if mine is not theirs:
            return (mine.share, mine.deserves_nothing), (theirs.share, theirs.deserves_nothing)
    return (0, False), (0, False)


def test_a_key_orders_two_queues_by_what_lies_below_their_nearest_common_ancestor():
    r = random.Random(5)
    in_numbers = by_path = equal = 0
    for _ in range(300):
        for one, other in itertools.combinations(tree(r, depth=r.randint(1, 3)), 2):
            mine, theirs = queue_keys.key_of(one), queue_keys.key_of(other)
            if one.standing != other.standing:
                assert (mine < theirs) == (one.standing < other.standing)
                continue
            first, second = below_common(one, other)
            assert (mine < theirs) == (first < second)
            assert (theirs < mine) == (second < first)
            equal += first == second
            in_numbers += one.in_numbers and other.in_numbers
            by_path += not one.in_numbers and not other.in_numbers
    assert in_numbers > 100
    assert by_path > 100
    assert equal > 20
