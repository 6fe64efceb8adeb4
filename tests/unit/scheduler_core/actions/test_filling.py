"""enqueue, allocate and backfill: who is let in, what is bound, what is kept."""

import random

import pytest

from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model import facts as f
from scheduler_core.model import status
from scheduler_core.session.plugin import Plugin
from tests.support import scheduler_makers as make

ALLOCATE = make.policy(("priority", "gang"), ("predicates",), actions=("allocate",))


def test_jobs_are_let_in_by_order_until_the_account_is_full():
    groups = [make.group(f"j{at}", phase="Pending", min_resources={"cpu": 3}, created_ns=9 - at) for at in range(3)]
    pods = [make.pod(f"p{at}", f"j{at}", cpu=3) for at in range(3)]
    policy = make.policy(("overcommit",), actions=("enqueue",))
    session = make.ran([make.node("n", cpu=5)], groups, pods, policy)
    passed = {name: ballot.passed for name, ballot in session.ballots.items()}
    assert passed == {"ns/j2": True, "ns/j1": True, "ns/j0": False}


def test_a_job_that_was_not_let_in_is_not_allocated_where_the_policy_lets_in():
    groups = [make.group("j", phase="Pending")]
    pods = [make.pod("p", "j")]
    assert make.bound(make.ran([make.node("n")], groups, pods, ALLOCATE)) == {"p": "n"}
    policy = make.policy(("gang",), ("predicates",), actions=("allocate", "enqueue"))
    assert make.bound(make.ran([make.node("n")], groups, pods, policy)) == {}


def test_queues_take_turns_by_share():
    policy = make.policy(("gang",), ("predicates", "proportion"), actions=("allocate",))
    groups = [make.group(f"{queue}{at}", queue, created_ns=at) for queue in "ab" for at in range(3)]
    pods = [make.pod(f"p-{group.name}", group.name) for group in groups]
    session = make.ran([make.node("n", cpu=4)], groups, pods, policy, queues=[make.queue("a"), make.queue("b")])
    assert sorted(make.bound(session)) == ["p-a0", "p-a1", "p-b0", "p-b1"]


def test_room_that_is_being_released_is_promised_and_not_bound():
    groups = [make.group("old", phase="Running", min_member=0), make.group("j")]
    pods = [make.pod("v", "old", cpu=4, on="n", deleting=True), make.pod("p", "j", cpu=4)]
    session = make.ran([make.node("n")], groups, pods, ALLOCATE)
    assert session.binds == {}
    assert make.task(session, "p").status == status.PIPELINED


def test_equal_nodes_are_taken_in_order():
    nodes = [make.node(name) for name in ("c", "a", "b")]
    assert make.bound(make.ran(nodes, [make.group("j")], [make.pod("p", "j")], ALLOCATE)) == {"p": "a"}


def test_a_task_without_request_is_placed_by_backfill_alone():
    pods = [make.pod("p", "j", cpu=0)]
    groups = [make.group("j")]
    nodes = [make.node("n", cpu=0)]
    assert make.bound(make.ran(nodes, groups, pods, ALLOCATE)) == {}
    policy = make.policy(("gang",), ("predicates",), actions=("allocate", "backfill"))
    assert make.bound(make.ran(nodes, groups, pods, policy)) == {"p": "n"}


def test_the_order_of_facts_changes_nothing():
    groups = [make.group(f"j{at}", min_member=2, created_ns=at) for at in range(6)]
    pods = [make.pod(f"p{at}-{number}", f"j{at}", cpu=1 + at % 3) for at in range(6) for number in range(3)]
    nodes = [make.node(f"n{at}", cpu=3 + at) for at in range(4)]
    policy = make.policy(("priority", "gang"), ("drf", "predicates", "nodeorder"), actions=("allocate", "backfill"))
    one = make.bound(make.ran(nodes, groups, pods, policy))
    assert one == make.bound(make.ran(nodes[::-1], groups[::-1], pods[::-1], policy))
    assert one


class Onlooker(Plugin):
    """Asked before every single task, so that tasks are placed and given back one by one."""

    name = "onlooker"

    def before_filter(self, task):
        return None

    def deallocated(self, task):
        assert task.row >= 0


KNOWN = {**plugins.ALL, Onlooker.name: Onlooker}
TIERS = ("gang",), ("drf", "capacity", "predicates", "binpack", "network-topology-aware")
SPREADING = ("gang",), ("proportion", "predicates", "nodeorder")


def fleet(r):
    """Nodes of few kinds, so that many stand alike, and gangs of equal tasks, of which not all fit."""
    kinds = [{"cpu": r.choice((4, 8)), "memory": r.choice(("8Gi", "16Gi"))} for _ in range(2)]
    nodes = [make.node(f"n{at:02d}", **r.choice(kinds)) for at in range(r.randint(4, 30))]
    domains = [f.DomainFacts(name=f"r{at}", tier=1, nodes=tuple(each.name for each in nodes[at : at + 4]))
               for at in range(0, len(nodes), 4)]  # fmt: skip
    groups, pods = [], []
    for at in range(r.randint(2, 8)):
        size, cpu = r.choice((1, 3, 9, 14)), r.choice((1, 2, 3, 8))
        near = f.TopologyFacts("soft") if r.random() < 0.2 else None
        groups.append(make.group(f"j{at}", r.choice("ab"), min_member=r.randint(1, size), created_ns=at, topology=near))
        other = r.choice((cpu, 1))
        pods += [make.pod(f"j{at}-w-{number}", f"j{at}", cpu=other if number == 2 else cpu) for number in range(size)]
    queues = (make.queue("a"), make.queue("b", capability={"cpu": r.choice((9, 400))}))
    return f.ClusterFacts(
        nodes=tuple(nodes), queues=queues, groups=tuple(groups), pods=tuple(pods), domains=tuple(domains)
    )


@pytest.mark.parametrize("tiers", [TIERS, SPREADING], ids=["packing", "spreading"])
def test_equal_tasks_go_together_where_they_go_one_by_one(tiers):
    bound = unbound = 0
    for seed in range(60):
        facts = fleet(random.Random(seed))
        alone, together = (
            scheduling.run(facts, make.policy(*each, actions=("allocate",)), 10**10, KNOWN)
            for each in ((*tiers, ("onlooker",)), tiers)
        )
        assert together.undoes_together
        assert not alone.undoes_together
        assert make.bound(together) == make.bound(alone), seed
        assert decisions.of_session(together, "simulate") == decisions.of_session(alone, "simulate"), seed
        assert together.nodes.settle().block.tolist() == alone.nodes.settle().block.tolist()
        places = [[(task.uid, task.row, task.last and task.last.row) for task in each.snapshot.tasks.values()]
                  for each in (together, alone)]  # fmt: skip
        assert places[0] == places[1]
        bound += len(together.binds)
        unbound += sum(task.last is not None for task in together.snapshot.tasks.values())
    assert bound > 1000
    assert unbound > 50
