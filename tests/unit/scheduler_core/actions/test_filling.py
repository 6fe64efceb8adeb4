"""enqueue, allocate and backfill: who is let in, what is bound, what is kept."""

from scheduler_core.model import status
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
