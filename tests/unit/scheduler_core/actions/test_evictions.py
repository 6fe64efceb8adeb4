"""preempt and reclaim: evictions stand only if they make a gang whole, and no more go than are needed."""

import random

import msgspec
import pytest

from scheduler_core.model import status
from tests.support import scheduler_makers as make
from tests.support import scheduler_worlds as worlds

CLASSES = [("hi", 10), ("lo", 1)]
PREEMPT = make.policy(("priority", "gang", "conformance"), ("predicates",), actions=("allocate", "preempt"))


def starving_gang(least, *, policy=PREEMPT, victims=4):
    groups = [make.group("low", min_member=0, phase="Running", priority_class="lo"),
              make.group("high", min_member=least, priority_class="hi")]  # fmt: skip
    pods = [make.pod(f"v{at}", "low", on=f"n{at % 2}", priority=1) for at in range(victims)]
    pods += [make.pod(f"p{at}", "high", priority=9) for at in range(least)]
    return make.ran([make.node("n0", cpu=2), make.node("n1", cpu=2)], groups, pods, policy, classes=CLASSES)


def test_as_many_go_as_the_gang_needs():
    session = starving_gang(3)
    assert len(session.evictions) == 3
    assert {each.reason for each in session.evictions} == {"preempt"}
    assert session.jobs["ns/high"].count(status.PIPELINED) == 3


def test_nobody_goes_for_a_gang_that_cannot_become_whole():
    session = starving_gang(5)
    assert session.evictions == []
    assert session.jobs["ns/low"].count(status.RUNNING) == 4
    assert session.nodes.settle().releasing.sum() == 0


def test_a_pod_that_may_not_be_preempted_stays():
    groups = [make.group("low", min_member=0, phase="Running"), make.group("high", priority_class="hi")]
    pods = [make.pod("v", "low", cpu=4, on="n", annotations={"volcano.sh/preemptable": "false"}), make.pod("p", "high")]
    assert make.ran([make.node("n")], groups, pods, PREEMPT, classes=CLASSES).evictions == []


def test_a_pod_that_never_preempts_does_not():
    groups = [make.group("low", min_member=0, phase="Running"), make.group("high", priority_class="hi")]
    pods = [make.pod("v", "low", cpu=4, on="n"), make.pod("p", "high", preemption_policy="Never")]
    assert make.ran([make.node("n")], groups, pods, PREEMPT, classes=CLASSES).evictions == []


def test_no_eviction_helps_where_the_node_is_shut_for_good():
    groups = [make.group("low", min_member=0, phase="Running"), make.group("high", priority_class="hi")]
    pods = [make.pod("v", "low", cpu=4, on="n"), make.pod("p", "high")]
    nodes = [make.node("n", unschedulable=True)]
    assert make.ran(nodes, groups, pods, PREEMPT, classes=CLASSES).evictions == []


def test_a_dry_run_spares_victims_that_are_not_needed():
    policy = make.policy(("priority", "gang"), ("predicates",), actions=("allocate", "preempt"))
    topology_aware = type(policy)(
        policy.name, policy.actions, policy.tiers, {"preempt": {"enableTopologyAwarePreemption": True}}
    )
    groups = [make.group("low", min_member=0, phase="Running"), make.group("high", priority_class="hi")]
    pods = [make.pod("big", "low", cpu=3, on="n", priority=2), make.pod("small", "low", cpu=1, on="n", priority=1),
            make.pod("p", "high", cpu=3, priority=9)]  # fmt: skip
    assert make.evicted(make.ran([make.node("n")], groups, pods, topology_aware, classes=CLASSES)) == ["big"]
    assert make.evicted(make.ran([make.node("n")], groups, pods, policy, classes=CLASSES)) == ["big", "small"]


def test_a_queue_takes_back_what_it_deserves_and_not_more():
    policy = make.policy(("priority", "proportion"), ("gang", "predicates"), actions=("allocate", "reclaim"))
    queues = [make.queue("rich"), make.queue("poor")]
    groups = [make.group("r", "rich", min_member=0, phase="Running")]
    groups += [make.group(f"w{at}", "poor") for at in range(4)]
    pods = [make.pod(f"r{at}", "r", on="n") for at in range(4)] + [make.pod(f"p{at}", f"w{at}") for at in range(4)]
    session = make.ran([make.node("n")], groups, pods, policy, queues=queues)
    assert len(session.evictions) == 2
    assert {each.task.job.name for each in session.evictions} == {"r"}


@pytest.mark.parametrize("fields", [{"reclaimable": False}, {"guarantee": {"cpu": 4}}])
def test_a_queue_that_gives_nothing_back_loses_nothing(fields):
    policy = make.policy(("capacity",), ("gang", "predicates"), actions=("allocate", "reclaim"))
    queues = [make.queue("rich", **fields), make.queue("poor", deserved={"cpu": 2})]
    groups = [make.group("r", "rich", min_member=0, phase="Running"), make.group("w", "poor")]
    pods = [make.pod(f"r{at}", "r", on="n") for at in range(4)] + [make.pod("p", "w")]
    assert make.ran([make.node("n")], groups, pods, policy, queues=queues).evictions == []


def contested(facts):
    """The same with all that runs in one queue and all that waits in another."""
    running = [msgspec.structs.replace(each, queue="rich") for each in facts.groups if each.phase == "Running"]
    waiting = [msgspec.structs.replace(each, queue="poor") for each in facts.groups if each.phase != "Running"]
    queues = (make.queue("rich"), make.queue("poor", weight=3))
    return msgspec.structs.replace(facts, groups=(*running, *waiting), queues=queues)


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_evicted_no_gang_falls_below_its_minimum_and_the_table_adds_up(seed):
    """Gang and proportion stand in one tier: where gang above names nobody, Volcano asks the tier below without it."""
    facts = contested(worlds.world(random.Random(seed), nodes=6, jobs=24))
    policy = make.policy(
        ("priority", "gang", "conformance", "proportion"), ("drf", "predicates", "nodeorder"),
        actions=("enqueue", "allocate", "preempt", "reclaim", "backfill"),
    )  # fmt: skip
    before = make.opened(facts.nodes, facts.groups, facts.pods, policy, queues=facts.queues, classes=CLASSES)
    ready = {uid: job.ready for uid, job in before.jobs.items()}
    session = make.ran(facts.nodes, facts.groups, facts.pods, policy, queues=facts.queues, classes=CLASSES)
    for each in session.evictions:
        job = each.task.job
        assert each.task.preemptable
        if each.reason == "reclaim":
            assert job.ready >= min(job.min_member, ready[job.uid])
    columns = session.nodes.settle()
    for row, tasks in enumerate(session.nodes.tasks):
        for place in range(len(session.axis)):
            held = sum(t.cls.request.values[place] for t in tasks.values() if t.status != status.PIPELINED)
            assert columns.idle[place][row] == columns.alloc[place][row] - held
            promised = sum(t.cls.request.values[place] for t in tasks.values() if t.status == status.PIPELINED)
            assert columns.pipelined[place][row] == promised


def test_who_loses_next_is_chosen_as_things_stand_when_the_one_before_is_taken():
    """Of two jobs the one with the larger part loses first. After one eviction it has the smaller one, but its next pod was
    chosen by then; the third eviction is of the other job."""
    groups = [make.group("large", min_member=0, phase="Running", priority_class="lo"),
              make.group("small", min_member=0, phase="Running", priority_class="lo"),
              make.group("high", priority_class="hi")]  # fmt: skip
    pods = [make.pod(f"l{at}", "large", on="n") for at in range(3)]
    pods += [make.pod("s0", "small", on="n"), make.pod("s1", "small", on="n"), make.pod("s2", "small", 0.5, on="m")]
    pods.append(make.pod("p", "high", 3))
    policy = make.policy(("priority", "gang"), ("predicates", "drf"), actions=("preempt",))
    nodes = [make.node("n", cpu=5), make.node("m", cpu=1)]
    assert make.evicted(make.ran(nodes, groups, pods, policy, classes=CLASSES)) == ["l1", "l2", "s1"]


def test_queues_take_turns_in_the_order_that_stood_when_the_one_before_was_taken():
    """a takes from c, which then holds less than b; b was chosen before that, and gets the room that is free."""
    groups = [make.group(f"{name}-has", name, min_member=0, phase="Running") for name in "bcd"]
    groups += [make.group(f"{name}-wants", name) for name in "abc"]
    pods = [make.pod("b0", "b-has", 1.1, on="full"), make.pod("d0", "d-has", 0.1, on="free")]
    pods += [make.pod(f"c{at}", "c-has", on="of-c") for at in range(3)]
    pods += [make.pod("pa", "a-wants", 2), make.pod("pb", "b-wants"), make.pod("pc", "c-wants")]
    nodes = [make.node("free", cpu=1.5), make.node("full", cpu=1.1), make.node("of-c", cpu=3),
             make.node("shut", cpu=10, unschedulable=True)]  # fmt: skip
    policy = make.policy(("gang",), ("predicates", "proportion"), actions=("reclaim",))
    session = make.ran(nodes, groups, pods, policy, queues=[make.queue(name) for name in "abcd"])
    assert {name: row_name(session, f"p{name}") for name in "abc"} == {"a": "of-c", "b": "free", "c": "full"}
    assert make.evicted(session) == ["b0", "c1", "c2"]


def row_name(session, name):
    return session.nodes.names[make.task(session, name).row]


def selecting(name, zone, **fields):
    return make.pod(name, "high", node_selector={"zone": zone}, labels={"volcano.sh/task-spec": "w"}, **fields)


def of_two_zones(actions, remembers, held_in_b=4):
    """A gang of one role: its first pod wants zone a, the others zone b. Lower pods fill zone a, and hold so much of b."""
    groups = [make.group("low", min_member=0, phase="Running", priority_class="lo"),
              make.group("high", priority_class="hi", min_member=2)]  # fmt: skip
    pods = [make.pod("va", "low", 4, on="a"), make.pod("vb", "low", held_in_b, on="b")]
    pods += [selecting("p-w-0", "a"), selecting("p-w-1", "b"), selecting("p-w-2", "b")]
    policy = make.policy(("priority", "gang"), ("predicates",), actions=actions)
    policy = msgspec.structs.replace(policy, action_arguments={"preempt": {"predicateErrorCacheEnable": remembers}})
    nodes = [make.node(name, labels={"zone": name}) for name in "ab"]
    return make.ran(nodes, groups, pods, policy, classes=CLASSES)


def test_what_nodes_said_of_the_first_of_a_role_does_not_shut_them_for_one_that_was_not_tried():
    """allocate asks no node for the second pod, since its role has failed: preempt looks at all of them for it, and at b too,
    on which no eviction would help the first."""
    session = of_two_zones(("allocate", "preempt"), remembers=False, held_in_b=2)
    assert make.evicted(session) == ["va"]
    assert [row_name(session, f"p-w-{at}") for at in range(2)] == ["a", "b"]


def test_preempt_remembers_for_a_role_which_nodes_no_eviction_frees():
    assert make.evicted(of_two_zones(("preempt",), remembers=True)) == []
    assert make.evicted(of_two_zones(("preempt",), remembers=False)) == ["va", "vb"]


def test_for_a_task_of_a_role_allocate_keeps_what_nodes_first_said_of_the_role():
    """Node a was too full for the first, which evictions can cure, and is not asked again for the second, which wants none
    such; node b takes the first, and then is too full for the second. Evictions may free both."""
    groups = [make.group("low", min_member=0, phase="Running", priority_class="lo"),
              make.group("high", priority_class="hi", min_member=2)]  # fmt: skip
    pods = [make.pod("va", "low", 2, on="a"), make.pod("p-w-0", "high", 4, labels={"volcano.sh/task-spec": "w"}),
            selecting("p-w-1", "b", cpu=1), make.pod("p-x-0", "high", 40)]  # fmt: skip
    nodes = [make.node(name, labels={"zone": name}) for name in "ab"]
    policy = make.policy(("priority", "gang"), ("predicates",), actions=("allocate",))
    session = make.ran(nodes, groups, pods, policy, classes=CLASSES)
    refusal = session.jobs["ns/high"].refusals["p-w-1"]
    assert refusal.unresolvable.tolist() == [False, False]


def test_a_bound_pod_whose_eviction_is_undone_runs_as_in_volcano():
    """The gang of two finds room for one, so preempt takes everything back."""
    groups = [make.group("low", min_member=0, phase="Running", priority_class="lo"),
              make.group("high", priority_class="hi", min_member=2)]  # fmt: skip
    pods = [make.pod("v", "low", 4, phase="Pending", node="n"), make.pod("p0", "high", 4), make.pod("p1", "high", 4)]
    session = make.ran([make.node("n")], groups, pods, PREEMPT, classes=CLASSES)
    victim = make.task(session, "v")
    assert session.evictions == []
    assert victim.status == status.RUNNING
    assert (victim.last.status, victim.last.row, victim.last.evicted) == (status.RELEASING, 0, False)


def test_a_bound_pod_that_a_dry_run_looked_at_stays_bound():
    groups = [make.group("low", min_member=0, phase="Running", priority_class="lo"),
              make.group("high", priority_class="hi")]  # fmt: skip
    pods = [make.pod("v", "low", 4, phase="Pending", node="a", priority=5), make.pod("w", "low", 4, on="b", priority=1)]
    arguments = {"enableTopologyAwarePreemption": True, "minCandidateNodesAbsolute": 2}
    policy = msgspec.structs.replace(PREEMPT, action_arguments={"preempt": arguments})
    nodes = [make.node("a"), make.node("b")]
    session = make.ran(nodes, groups, [*pods, make.pod("p", "high", 4)], policy, classes=CLASSES)
    assert make.evicted(session) == ["w"]
    assert make.task(session, "v").status == status.BOUND
