"""proportion, capacity and overcommit: what queues and the cluster let in and let happen. Every number is worked by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from scheduler_core.model.resources import CPU, MEMORY
from tests.support import scheduler_makers as make


def deserved(queues, groups, pods, *, cpu=10):
    session = make.opened([make.node("n", cpu=cpu, memory="100Gi", pods=1000)], groups, pods,
                          make.policy(("proportion",)), queues=queues)  # fmt: skip
    return session, session.plugin("proportion").accounts


def asking(queue, cores):
    """A group of a queue that asks for so many cores, one pod each."""
    return make.group(queue, queue), [make.pod(f"{queue}-{at}", queue) for at in range(cores)]


def share_out(*wishes, **more):
    """What queues deserve of 10 cores; wishes are (name, cores, fields of the queue)."""
    made = [asking(name, cores) for name, cores, _ in wishes]
    queues = [make.queue(name, **fields) for name, _, fields in wishes]
    pods = [pod for _, some_pods in made for pod in some_pods]
    _, accounts = deserved(queues, [group for group, _ in made], pods, **more)
    return {name: account.deserved.values[CPU] for name, account in accounts.items()}


def test_what_a_queue_does_not_ask_for_goes_to_the_others():
    assert share_out(("a", 2, {}), ("b", 20, {})) == {"a": 2000, "b": 8000}


def test_weights_divide_what_all_want():
    assert share_out(("a", 20, {"weight": 3}), ("b", 20, {"weight": 1})) == {"a": 7500, "b": 2500}


def test_a_capability_caps_and_a_guarantee_lifts():
    found = share_out(("a", 20, {"capability": {"cpu": 1}}), ("b", 20, {}))
    assert found == {"a": 1000, "b": 9000}
    found = share_out(("a", 20, {"guarantee": {"cpu": 6}}), ("b", 20, {}))
    assert found["a"] >= 6000
    assert found["b"] <= 4000


@settings(max_examples=40, deadline=None)
@given(
    some.lists(
        some.tuples(some.integers(0, 12), some.integers(1, 5), some.none() | some.integers(1, 8)),
        min_size=1, max_size=4,
    )
)  # fmt: skip
def test_nobody_deserves_more_than_it_asks_nor_all_together_more_than_there_is(wishes):
    found = share_out(*(
        (f"q{at}", cores, {"weight": weight} | ({} if cap is None else {"capability": {"cpu": cap}}))
        for at, (cores, weight, cap) in enumerate(wishes)
    ))  # fmt: skip
    for at, (cores, _, cap) in enumerate(wishes):
        assert found[f"q{at}"] <= min(cores, 10 if cap is None else cap) * 1000 + 0.1
    assert sum(found.values()) <= 10_000 + 0.1
    unmet = [at for at, (cores, _, cap) in enumerate(wishes) if found[f"q{at}"] < min(cores, cap or 99) * 1000 - 1]
    assert not unmet or sum(found.values()) > 9990


def test_a_queue_is_overused_only_when_nothing_of_what_it_deserves_is_left():
    group, pods = asking("a", 4)
    pods = [make.pod(f"a-{at}", "a", on="n", more={"memory": "1Gi"} if at < 2 else None) for at in range(4)]
    session, accounts = deserved(
        [make.queue("a")], [group], [*pods, make.pod("more", "a", cpu=0, more={"memory": "1Gi"})]
    )
    assert accounts["a"].deserved.values[MEMORY] == 3 * 2**30
    assert session.overused(session.queues["a"]) is None
    session, _ = deserved([make.queue("a")], [group], pods)
    assert session.overused(session.queues["a"]).limit == 4


def enqueue(groups, pods, policy, **more):
    """Phases, before they are settled, after letting in."""
    session = make.opened([make.node("n", cpu=10)], groups, pods, policy, **more)
    from_before = {name: job.phase for name, job in session.jobs.items()}
    for name, job in session.jobs.items():
        if from_before[name] == "Pending" and session.enqueueable(job).passed:
            session.enqueue(job)
    return {job.name: job.phase for job in session.jobs.values()}


def test_the_cluster_lets_in_a_fifth_more_than_is_free():
    groups = [make.group(f"j{at}", phase="Pending", min_resources={"cpu": 4}) for at in range(4)]
    assert enqueue(groups, [], make.policy(("overcommit",))) == {
        "j0": "Inqueue", "j1": "Inqueue", "j2": "Inqueue", "j3": "Pending",
    }  # fmt: skip


@pytest.mark.parametrize(("factor", "let_in"), [(2, 2), ("2.0", 2), (0.5, 1), ("much", 1)])
def test_a_factor_below_one_or_unreadable_counts_as_the_usual_one(factor, let_in):
    groups = [make.group(f"j{at}", phase="Pending", min_resources={"cpu": 10}) for at in range(3)]
    policy = make.policy(("overcommit",), overcommit={"overcommit-factor": factor})
    assert list(enqueue(groups, [], policy).values()).count("Inqueue") == let_in


@pytest.mark.parametrize("plugin", ["proportion", "capacity"])
def test_a_queue_lets_in_up_to_its_capability_and_a_closed_one_nothing(plugin):
    groups = [make.group(f"j{at}", phase="Pending", min_resources={"cpu": 4}) for at in range(3)]
    groups.append(make.group("k", "shut", phase="Pending", min_resources={"cpu": 1}))
    queues = [make.queue(capability={"cpu": 8}), make.queue("shut", state="Closing")]
    assert enqueue(groups, [], make.policy((plugin,)), queues=queues) == {
        "j0": "Inqueue", "j1": "Inqueue", "j2": "Pending", "k": "Pending",
    }  # fmt: skip


@pytest.mark.parametrize("plugin", ["proportion", "capacity"])
def test_what_others_are_guaranteed_is_not_let_in(plugin):
    queues = [make.queue(), make.queue("other", guarantee={"cpu": 7})]
    groups = [make.group("j", phase="Pending", min_resources={"cpu": 4})]
    assert enqueue(groups, [], make.policy((plugin,)), queues=queues) == {"j": "Pending"}


@pytest.mark.parametrize("plugin", ["proportion", "capacity"])
def test_elastic_pods_make_room_in_the_account(plugin):
    running = make.group("r", phase="Running", min_resources={"cpu": 2})
    pods = [make.pod(f"r{at}", "r", on="n") for at in range(8)]
    waiting = make.group("j", phase="Pending", min_resources={"cpu": 7})
    queues = [make.queue(capability={"cpu": 9})]
    assert enqueue([running, waiting], pods, make.policy((plugin,)), queues=queues)["j"] == "Inqueue"
    waiting = make.group("j", phase="Pending", min_resources={"cpu": 8})
    assert enqueue([running, waiting], pods, make.policy((plugin,)), queues=queues)["j"] == "Pending"


def tree(*queues, groups=(), pods=(), nodes=()):
    policy = make.policy(("capacity",), capacity={})
    choice = policy.tiers[0][0]
    in_tree = type(choice)(choice.name, choice.enabled | {"hierarchy"}, {})
    policy = type(policy)("tree", (), ((in_tree,),))
    return make.opened(nodes or [make.node("n", cpu=10)], groups, pods, policy, queues=queues)


def test_a_limit_in_a_tree_is_a_limit_of_all_above_it():
    queues = (
        make.queue("root"), make.queue("team", parent="root", capability={"cpu": 3}),
        make.queue("a", parent="team"), make.queue("b", parent="team"),
    )  # fmt: skip
    groups = [make.group("r", "a", phase="Running", min_member=0), make.group("j", "b")]
    pods = [make.pod("r0", "r", cpu=2, on="n"), make.pod("fits", "j"), make.pod("over", "j", cpu=2)]
    session = tree(*queues, groups=groups, pods=pods)
    queue = session.queues["b"]
    assert session.not_allocatable(queue, make.task(session, "fits")) is None
    why = session.not_allocatable(queue, make.task(session, "over"))
    assert (why.resource, why.used, why.limit) == ("cpu", 2, 3)


@pytest.mark.parametrize(
    "queues",
    [
        (make.queue("root"), make.queue("q", parent="gone")),
        (make.queue("root"), make.queue("q", parent="p"), make.queue("p", parent="q")),
        (make.queue("root"), make.queue("q", parent="q")),
        (make.queue("root"), make.queue("q", parent="root"), make.queue("leaf", parent="q")),
    ],
)
def test_a_tree_that_cannot_be_read_refuses_with_a_reason(queues):
    session = tree(*queues, groups=[make.group("j")], pods=[make.pod("p", "j")])
    why = session.not_allocatable(session.queues["q"], make.task(session, "p"))
    assert why is not None
    assert why.message


@pytest.mark.parametrize(("on_nodes", "enters"), [(0, False), (1, True)])
def test_a_tree_without_limits_lets_in_any_amount_but_only_of_what_some_node_has(on_nodes, enters):
    group = make.group("j", phase="Pending", min_resources={"cpu": 100, "nvidia.com/gpu": 2})
    nodes = [make.node("n", cpu=10, more={"nvidia.com/gpu": on_nodes} if on_nodes else {})]
    session = tree(make.queue("root"), make.queue("q", parent="root"), groups=[group], nodes=nodes)
    assert session.enqueueable(session.jobs["ns/j"]).passed is enters
