"""A snapshot that stands over sessions shows what one that is made anew would show, whatever changed and was decided."""

import gc
import random
from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model import facts as f
from scheduler_core.model.jobs import Job
from scheduler_core.model.nodes import NodeTable
from scheduler_core.model.refusal import Refusal
from scheduler_core.model.resources import Resource
from scheduler_core.model.standing import Standing
from scheduler_core.model.tasks import Task
from scheduler_core.session.judging import Judge
from scheduler_core.session.orders import Orders
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session
from tests.support import scheduler_worlds as worlds
from tests.support import whole_state

NOW = 10**10
TREE = worlds.policy(
    ("priority", "gang"), ("drf", "predicates", "capacity", "binpack"), actions=("enqueue", "allocate", "backfill")
)
NEAR = worlds.policy(
    ("priority", "gang"), ("drf", "predicates", "binpack", "network-topology-aware"),
    actions=("enqueue", "allocate", "backfill"),
    **{"network-topology-aware": {"hypernode.binpack.normal-pod.enable": False}},
)  # fmt: skip


def opened(taken, policy):
    return scheduling.on_snapshot(taken, policy, NOW, plugins.ALL)


def told(session):
    """Every decision of a session, and what its actions left in jobs."""
    scheduling.act(session)
    phases = {uid: job.phase for uid, job in session.jobs.items()}
    return decisions.of_session(session, "simulate"), phases


def carried_out(session, pods, r):
    """Pods as the cluster shows them after a session: most that were bound run, some only have their bind."""
    changed = []
    for uid, (_, node) in session.binds.items():
        running = r.random() < 0.7
        changed.append(
            msgspec.structs.replace(
                pods[uid], node=node, phase="Running" if running else "Pending", binding=not running
            )
        )
    changed += [
        msgspec.structs.replace(pods[each.task.uid], deleting=True, victim=True) for each in session.evictions
    ]  # fmt: skip
    return changed


def shaken(r, pods, groups):
    """(changed objects, pods gone, groups gone), drawn from what there is."""
    changed, gone_pods, gone_groups = [], [], []
    for uid in r.sample(sorted(pods), k=min(len(pods), 2)):
        if r.random() < 0.5:
            gone_pods.append(uid)
        else:
            changed.append(msgspec.structs.replace(pods[uid], phase=r.choice(["Succeeded", "Running", "Failed"])))
    for name in r.sample(sorted(groups), k=min(len(groups), 1)):
        if r.random() < 0.4:
            gone_groups.append(name)
        else:
            changed.append(msgspec.structs.replace(groups[name], min_member=r.randint(0, 3), phase="Inqueue"))
    number = r.randrange(10**6)
    changed.append(f.GroupFacts(namespace="ns", name=f"new{number}", queue="q0", min_member=1, phase="Pending"))
    changed.append(
        f.PodFacts(
            uid=f"new{number}", namespace="ns", name=f"new{number}-0", group=f"ns/new{number}",
            containers=(f.ContainerFacts({"cpu": r.randint(0, 3)}),),
        )
    )  # fmt: skip
    return changed, gone_pods, gone_groups


def shaken_nodes(r, nodes, gone):
    """Nodes that come back, go, break, are mended, cordoned and opened, and what they have changes."""
    nodes = [*nodes, *gone]
    gone[:] = [each for each in nodes if r.random() < 0.2]
    changes = (
        lambda: {"ready": r.random() < 0.5},
        lambda: {"unschedulable": r.random() < 0.5},
        lambda: {"allocatable": {"cpu": r.randint(1, 9), "memory": "8Gi", "pods": 9}},
        lambda: {"labels": {"zone": r.choice("ab"), "kubernetes.io/hostname": "n0"}},
        lambda: {"taints": (worlds.taint(r),), "rack": r.choice(["r1", "r3"])},
    )
    left = [
        msgspec.structs.replace(each, **r.choice(changes)()) if r.random() < 0.4 else each
        for each in nodes
        if each not in gone
    ]
    r.shuffle(left)
    return left


def sessions(r, facts, policies, *, nodes_change=False):
    """Sessions that open on standing tables, one after the other, each with one on tables made anew of the same cluster."""
    nodes, gone = list(facts.nodes), []
    pods = {each.uid: each for each in facts.pods}
    groups = {f"{each.namespace}/{each.name}": each for each in facts.groups}
    standing = Standing(facts)
    for _ in range(4):
        if nodes_change and r.random() < 0.7:
            nodes = shaken_nodes(r, nodes, gone)
            standing.put_nodes(nodes)
        now = msgspec.structs.replace(
            facts, nodes=tuple(nodes), pods=tuple(pods.values()), groups=tuple(groups.values())
        )
        policy = r.choice(policies)
        session = opened(standing.snapshot(), policy)
        yield session, opened(Standing(now).snapshot(), policy)
        changed = carried_out(session, pods, r)
        more, gone_pods, gone_groups = shaken(r, pods, groups)
        for each in (*changed, *more):
            if isinstance(each, f.PodFacts):
                pods[each.uid] = each
            else:
                groups[f"{each.namespace}/{each.name}"] = each
        standing.put(*changed, *more)
        for uid in gone_pods:
            pods.pop(uid, None)
        for name in gone_groups:
            groups.pop(name, None)
        standing.drop_pods(gone_pods)
        standing.drop_groups(gone_groups)


def world(r, policy, *, relations=False):
    facts = worlds.world(r, nodes=6, jobs=8, relations=relations)
    if policy is NEAR:
        return in_network(r, facts)
    return worlds.in_tree(r, facts) if policy is worlds.TREE else facts


def in_network(r, facts):
    """The same cluster with its nodes in two racks below a spine; jobs ask to be near each other."""
    racks = {"x": [], "y": []}
    for each in facts.nodes:
        racks[r.choice("xy")].append(each.name)
    domains = [f.DomainFacts(name=name, tier=1, nodes=tuple(nodes)) for name, nodes in racks.items()]
    spine = f.DomainFacts(name="s", tier=2, nodes=tuple(each.name for each in facts.nodes), children=("x", "y"))
    wishes = (None, f.TopologyFacts("soft"), f.TopologyFacts("hard", highest_tier=1))
    groups = [msgspec.structs.replace(each, topology=r.choice(wishes)) for each in facts.groups]
    return msgspec.structs.replace(facts, domains=(*domains, spine), groups=tuple(groups))


@settings(max_examples=60, deadline=None)
@given(r=st.randoms(use_true_random=False), policy=st.sampled_from([worlds.DEFAULT, TREE, worlds.TREE]))
def test_sessions_on_a_standing_snapshot_decide_what_sessions_on_a_new_one_decide(r, policy):
    for session, anew in sessions(r, world(r, policy), [policy]):
        assert told(session) == told(anew)


@settings(max_examples=100, deadline=None)
@given(
    r=st.randoms(use_true_random=False),
    policy=st.sampled_from([worlds.DEFAULT, TREE, worlds.TREE, NEAR]),
    relations=st.booleans(),
)
def test_sessions_decide_the_same_when_nodes_come_and_go_and_change_between_them(r, policy, relations):
    for session, anew in sessions(r, world(r, policy, relations=relations), [policy], nodes_change=True):
        assert set(map(str, session.snapshot.mistakes)) == set(map(str, anew.snapshot.mistakes))
        assert held_domains(session) == held_domains(anew)
        assert told(session) == told(anew)


def held_domains(session):
    return {uid: job.held_domain for uid, job in session.jobs.items()}


def account_of(account, axis):
    """All that there is of an account, the tree and the resources by names: tables that stand may know of more of these.

    Left out is what says how it came to stand so; its place among queues is asked for.
    """
    named = {
        name: getattr(account, name)
        for name in {*whole_state.declared(type(account))} - {"_opening", "order", "touched"}
    }
    for name in ("path", "line", "ancestors", "children"):
        named[name] = [each.queue.name for each in named[name]]
    for name, amount in named.items():
        if isinstance(amount, Resource):
            named[name] = {axis.names[place]: repr(value) for place, value in enumerate(amount.values) if value}
    deserved = {axis.names[place]: value for place, value in account.deserved_items}
    return {**named, "queue": account.queue.name, "deserved_items": deserved}


def accounts_of(session):
    plugin = session.plugin("capacity")
    return {
        name: (account_of(account, session.axis), plugin.queue_order(account.queue))
        for name, account in plugin.accounts.items()
    }


@pytest.mark.parametrize("policy", [TREE, worlds.TREE, worlds.LATE], ids=["alone", "tree", "late"])
def test_accounts_that_were_kept_are_those_that_are_made_anew_whatever_sessions_did_with_them(policy):
    """Also where a session of another policy came between, or one that did not come to its end."""
    kept = 0
    for seed in range(40):
        r = random.Random(seed)
        before = None
        for session, anew in sessions(r, world(r, policy), [policy, policy, policy, worlds.DEFAULT]):
            capacity = session.plugin("capacity")
            if capacity is not None:
                assert accounts_of(session) == accounts_of(anew), seed
                kept += capacity.accounts is before
                before = capacity.accounts
            if r.random() < 0.8:
                scheduling.act(session)
    assert kept > 40


@pytest.mark.parametrize("tree", [False, True])
def test_a_session_after_a_small_change_opens_the_accounts_of_the_one_before(tree):
    facts = cluster()
    queues = (f.QueueFacts(name="root"), *(msgspec.structs.replace(each, parent="root") for each in facts.queues))
    facts, policy = (msgspec.structs.replace(facts, queues=queues), worlds.TREE) if tree else (facts, TREE)
    standing = Standing(facts)
    first = opened(standing.snapshot(), policy)
    before = first.plugin("capacity").accounts
    scheduling.act(first)
    standing.put(msgspec.structs.replace(facts.pods[0], phase="Running", node="n"))
    after = opened(standing.snapshot(), policy).plugin("capacity").accounts
    assert after is before
    assert [each.allocated.values[0] for each in after.values()] == [1000] * len(after)
    elsewhere = opened(first.snapshot, policy).plugin("capacity").accounts
    assert elsewhere is not before, "a second session on the same tables shares no account with the first"


def test_a_job_that_comes_to_a_queue_with_children_is_told_and_so_is_its_going():
    queues = (f.QueueFacts(name="root"), f.QueueFacts(name="q", parent="root"), f.QueueFacts(name="r", parent="q"))
    facts = msgspec.structs.replace(cluster(), queues=queues, groups=(), pods=())
    standing = Standing(facts)
    assert opened(standing.snapshot(), worlds.TREE).plugin("capacity").broken is None
    standing.put(*cluster().groups)
    assert "a job (ns/j)" in opened(standing.snapshot(), worlds.TREE).plugin("capacity").broken.message
    standing.drop_groups(["ns/j"])
    assert opened(standing.snapshot(), worlds.TREE).plugin("capacity").broken is None


def cluster():
    pods = tuple(
        f.PodFacts(
            uid=f"p{at}", namespace="ns", name=f"p{at}", group="ns/j", containers=(f.ContainerFacts({"cpu": 1}),)
        )
        for at in range(3)
    )
    node = f.NodeFacts(name="n", allocatable={"cpu": 2, "memory": "8Gi", "pods": 9})
    group = f.GroupFacts(namespace="ns", name="j", queue="q", min_member=1, phase="Inqueue")
    return f.ClusterFacts(nodes=(node,), queues=(f.QueueFacts(name="q"),), groups=(group,), pods=pods)


def test_a_small_change_builds_nothing_anew():
    facts = cluster()
    standing = Standing(facts)
    first = standing.snapshot()
    assert len(scheduling.act(opened(first, TREE)).binds) == 2
    standing.put(msgspec.structs.replace(facts.pods[0], phase="Running", node="n"))
    second = standing.snapshot()
    assert second is first
    assert standing.builds == 1
    assert second.nodes.row(0).idle[0] == 1000
    assert list(scheduling.act(opened(second, TREE)).binds) == ["p1"]


def asking(pod, **amounts):
    return msgspec.structs.replace(pod, containers=(f.ContainerFacts(amounts),))


def test_a_new_resource_builds_all_anew():
    facts = cluster()
    standing = Standing(facts)
    standing.snapshot()
    standing.put(asking(facts.pods[0], **{"cpu": 1, "example.com/new": 1}))
    standing.snapshot()
    assert standing.builds == 2


def test_an_amount_that_cannot_be_meant_is_told_until_it_can_and_builds_nothing_anew():
    facts = cluster()
    standing = Standing(facts)
    assert standing.snapshot().mistakes == []
    standing.put(asking(facts.pods[0], cpu="-1"))
    assert [str(each) for each in standing.snapshot().mistakes] == ["Pod ns/p0: cpu: -1 is below zero; counted as 0"]
    standing.put(facts.pods[1])
    assert len(standing.snapshot().mistakes) == 1
    standing.put(facts.pods[0])
    assert standing.snapshot().mistakes == []
    assert standing.builds == 1


def test_a_group_without_a_queue_and_a_pod_that_avoids_others_build_nothing_anew():
    facts = cluster()
    standing = Standing(facts)
    standing.snapshot()
    lost = f.GroupFacts(namespace="ns", name="lost", queue="none")
    standing.put(lost, asking(facts.pods[1], cpu=2))
    assert [group.name for group, _ in standing.snapshot().outside] == ["lost"]
    standing.put(msgspec.structs.replace(lost, min_member=2))
    assert [group.min_member for group, _ in standing.snapshot().outside] == [2]
    standing.drop_groups(["ns/lost"])
    assert standing.snapshot().outside == []
    assert standing.builds == 1


def test_a_pod_that_comes_before_its_group_joins_it():
    facts = cluster()
    standing = Standing(msgspec.structs.replace(facts, groups=()))
    standing.snapshot()
    standing.put(*facts.groups)
    assert sorted(standing.snapshot().jobs["ns/j"].tasks) == ["p0", "p1", "p2"]
    standing.drop_groups(["ns/j"])
    assert standing.snapshot().tasks["p0"].job is None
    standing.put(*facts.groups)
    assert sorted(standing.snapshot().jobs["ns/j"].tasks) == ["p0", "p1", "p2"]
    assert standing.builds == 1


def test_a_session_that_was_never_finished_is_forgotten_too():
    standing = Standing(cluster())
    session = opened(standing.snapshot(), TREE)
    task = next(session.jobs["ns/j"].pending())
    session.allocate_alone(task, 0)
    again = standing.snapshot()
    assert task.opening_row == task.row == -1
    assert again.nodes.row(0).idle[0] == 2000
    assert not again.nodes.tasks[0]


def alive():
    """Objects of sessions and of tables that are still there, by class; the collector of cycles is not asked."""
    kinds = (Session, Plugin, Judge, Refusal, Orders, NodeTable, Job, Task)
    return Counter(
        next(kind for kind in kinds if isinstance(each, kind)).__name__
        for each in gc.get_objects()
        if isinstance(each, kinds)
    )


@pytest.fixture
def by_count_alone():
    """Python's collector of cycles does not come."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("by_count_alone")
@pytest.mark.parametrize(
    "policy", [worlds.DEFAULT, TREE, worlds.TREE, worlds.LATE], ids=["default", "alone", "tree", "late"]
)
def test_a_session_that_nobody_holds_is_gone_when_the_next_one_is_asked_for(policy):
    """At once, by the count of references: the collector of cycles would let dozens of sessions pile up."""
    refused = 0
    for seed in range(8):
        facts = world(random.Random(seed), policy)
        standing = Standing(facts)
        standing.snapshot()
        before = alive()
        session = opened(standing.snapshot(), policy)
        assert told(session)
        refused += sum(len(job.refusals) for job in session.jobs.values())
        assert alive()["Session"] == before["Session"] + 1
        del session
        standing.put(*facts.pods[:2])
        standing.snapshot()
        assert alive() == before
    assert refused


@pytest.mark.usefixtures("by_count_alone")
def test_tables_that_were_built_anew_leave_nothing_of_the_old_ones():
    facts = world(random.Random(1), TREE)
    standing = Standing(facts)
    standing.snapshot()
    before = alive()
    for number in range(3):
        assert told(opened(standing.snapshot(), TREE))
        nodes = tuple(msgspec.structs.replace(each, unschedulable=bool(number % 2)) for each in facts.nodes)
        standing.replace(msgspec.structs.replace(facts, nodes=nodes))
        standing.snapshot()
        assert alive() == before
    assert standing.builds == 4


def test_a_node_that_breaks_goes_and_comes_back_builds_nothing_anew():
    facts = cluster()
    (node,) = facts.nodes
    standing = Standing(facts)
    standing.put(msgspec.structs.replace(facts.pods[0], phase="Running", node="n"))
    first = standing.snapshot()
    held = {"n": 1000}
    for nodes, free, bound in (
        ((msgspec.structs.replace(node, ready=False),), held, []),
        ((), {}, []),
        ((node, msgspec.structs.replace(node, name="m")), {"m": 2000, **held}, ["p1", "p2"]),
    ):
        standing.put_nodes(nodes)
        snapshot = standing.snapshot()
        assert {name: snapshot.nodes.row(row).idle[0] for name, row in snapshot.nodes.rows.items()} == free
        assert sorted(scheduling.act(opened(snapshot, TREE)).binds) == bound
    assert snapshot is first
    assert standing.builds == 1


def test_a_node_with_a_new_resource_builds_all_anew():
    facts = cluster()
    standing = Standing(facts)
    standing.snapshot()
    standing.put_nodes([msgspec.structs.replace(facts.nodes[0], allocatable={"cpu": 4, "example.com/new": 1})])
    assert standing.snapshot().nodes.row(0).idle[0] == 4000
    assert standing.builds == 2


def test_what_cannot_be_meant_of_a_node_is_told_until_it_can():
    facts = cluster()
    standing = Standing(facts)
    assert standing.snapshot().mistakes == []
    standing.put(asking(facts.pods[0], cpu="-1"))
    standing.put_nodes([msgspec.structs.replace(facts.nodes[0], allocatable={})])
    wrong = ["Node n: has no allocatable resources; nothing fits", "Pod ns/p0: cpu: -1 is below zero; counted as 0"]
    assert sorted(map(str, standing.snapshot().mistakes)) == wrong
    standing.put_nodes(facts.nodes)
    assert list(map(str, standing.snapshot().mistakes)) == wrong[1:]
    assert standing.builds == 1
