"""Whole sessions: same input same decisions, whatever its order, and nothing that must never happen."""

import gc
import math
import random
from collections import Counter, defaultdict

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model import facts as f
from scheduler_core.model import status
from scheduler_core.model.policy import PluginChoice
from scheduler_core.model.resources import PODS
from scheduler_core.session.plugin import Plugin
from tests.support import scheduler_brute as brute
from tests.support import scheduler_scenarios as scenarios
from tests.support import scheduler_worlds as worlds


class Auditor(Plugin):
    """Looks at every account after every change, and keeps its own of what queues hold."""

    name = "auditor"

    def open(self, session):
        self.session = session
        self.moved = defaultdict(Counter)
        self.changes = 0
        self.look()

    def look(self):
        for name in ("proportion", "capacity"):
            plugin = self.session.plugin(name)
            for account in plugin.accounts.values() if plugin else ():
                for amounts in (account.allocated, account.request, account.inqueue, account.elastic, account.deserved):
                    assert min(amounts.values) >= 0, (name, account.queue.name)
                assert 0 <= account.share < math.inf
        for held in self.session.plugin("drf").held.values() if self.session.plugin("drf") else ():
            assert min(held.values) >= 0
        for job in self.session.jobs.values():
            assert min(job.allocated.values) >= 0

    def allocated(self, task):
        self.move(task, 1)

    def deallocated(self, task):
        self.move(task, -1)

    def move(self, task, sign):
        self.changes += 1
        self.moved[task.job.queue.name][task.uid] += sign
        self.look()


KNOWN = {**plugins.ALL, Auditor.name: Auditor}


def audited(policy):
    return msgspec.structs.replace(policy, tiers=(*policy.tiers, (PluginChoice(Auditor.name, worlds.ON, {}),)))


def cluster(seed, kind):
    r = random.Random(seed)
    facts = worlds.world(r, nodes=8, jobs=9, relations=seed % 2 == 1)
    return worlds.in_tree(r, facts) if kind == "tree" else facts


@pytest.mark.parametrize("kind", worlds.POLICIES)
@pytest.mark.parametrize("start", range(0, 60, 20))
def test_decisions_do_not_depend_on_the_order_of_the_input(kind, start):
    for seed in range(start, start + 20):
        facts = cluster(seed, kind)
        orders = [facts, *(scenarios.shuffled(facts, random.Random(at)) for at in range(4))]
        first, *others = (
            decisions.of_session(scheduling.run(each, worlds.POLICIES[kind], 10**10, plugins.ALL), "simulate")
            for each in orders
        )
        assert all(each == first for each in others), seed


@pytest.mark.parametrize("kind", worlds.POLICIES)
def test_what_queues_hold_is_never_below_nothing_and_always_what_their_pods_ask_together(kind):
    changes = 0
    for seed in range(60):
        facts = cluster(seed, kind)
        session = scheduling.run(facts, audited(worlds.POLICIES[kind]), 10**10, KNOWN)
        auditor = session.plugin("auditor")
        changes += auditor.changes
        plugin = session.plugin("proportion") or session.plugin("capacity")
        for name, account in plugin.accounts.items():
            assert held(session, account) == pods_of(facts, account, auditor.moved), (seed, name)
    assert changes > 200


def held(session, account):
    return {name: amount for name, amount in zip(session.axis.names, account.allocated.values, strict=True) if amount}


def pods_of(facts, account, moved):
    """What the pods of a queue, and of all below it, ask together: those that held room first, and those that came and went."""
    below = {account.queue.name}
    while more := {queue.name for queue in facts.queues if queue.parent in below} - below:
        below |= more
    queue_of = {f"{group.namespace}/{group.name}": group.queue for group in facts.groups}
    total = Counter()
    for pod in facts.pods:
        queue = queue_of[pod.group]
        count = (pod.node != "" and not pod.deleting) + moved[queue][pod.uid]
        for name, amount in brute.asked(pod).items() if queue in below else ():
            total[name] += count * amount
    return {name: amount for name, amount in total.items() if amount}


@pytest.mark.parametrize("kind", worlds.POLICIES)
def test_no_gang_is_bound_in_part(kind):
    bound = Counter()
    for seed in range(120):
        facts = cluster(seed, kind)
        session = scheduling.run(facts, worlds.POLICIES[kind], 10**10, plugins.ALL)
        evicted = {each.task.job.uid for each in session.evictions if each.task.job}
        placed = Counter(pod.group for pod in facts.pods if pod.node and not pod.deleting)
        free = Counter(pod.group for pod in facts.pods if not pod.node and not brute.asks_anything(pod))
        now = Counter(task.job.uid for task, _ in session.binds.values() if not task.cls.best_effort)
        for group in facts.groups:
            uid = f"{group.namespace}/{group.name}"
            if now[uid] and uid not in evicted:
                assert placed[uid] + now[uid] + free[uid] >= group.min_member, (seed, uid)
                bound[group.min_member] += 1
    assert bound[2] + bound[3] + bound[4] > 30


@settings(max_examples=80, deadline=None)
@given(r=st.randoms(use_true_random=False), relations=st.booleans())
def test_no_node_is_overfilled_and_nobody_protected_is_evicted(r, relations):
    facts = worlds.world(r, relations=relations)
    before = scheduling.open_session(facts, worlds.DEFAULT, 10**10, plugins.ALL)
    overfull = {
        (at, place)
        for at in range(len(before.nodes))
        for place, idle in enumerate(before.nodes.row(at).idle)
        if idle < 0
    }
    session = scheduling.run(facts, worlds.DEFAULT, 10**10, plugins.ALL)
    backfilled = any(task.cls.best_effort for task, _ in session.binds.values())
    for at in range(len(session.nodes)):
        for place, idle in enumerate(session.nodes.row(at).idle):
            assert idle >= 0 or (at, place) in overfull or (place == PODS and backfilled)
    assert all(session.nodes.usable[session.nodes.rows[node]] for _, node in session.binds.values())
    for eviction in session.evictions:
        assert eviction.task.preemptable
        assert not eviction.task.critical
        assert eviction.task.status == status.RELEASING


def test_a_session_ends_when_there_is_nothing_at_all():
    session = scheduling.run(f.ClusterFacts(), worlds.DEFAULT, 0, plugins.ALL)
    assert [each.kind for each in decisions.of_session(session, "shadow")] == ["close"]


def test_equal_nodes_are_taken_in_the_order_of_their_domains_and_names():
    nodes = tuple(
        f.NodeFacts(name=name, allocatable={"cpu": 1, "pods": 1}, rack=rack)
        for name, rack in (("b", "r1"), ("a", "r2"), ("c", "r1"))
    )
    group = f.GroupFacts(namespace="ns", name="j", queue="q", phase="Inqueue")
    pods = tuple(
        f.PodFacts(
            uid=f"p{at}", namespace="ns", name=f"p{at}", group="ns/j", containers=(f.ContainerFacts({"cpu": 1}),)
        )
        for at in range(3)
    )
    facts = f.ClusterFacts(nodes=nodes, queues=(f.QueueFacts(name="q"),), groups=(group,), pods=pods)
    session = scheduling.run(facts, worlds.policy(("predicates",), actions=("allocate",)), 0, plugins.ALL)
    assert [session.binds[f"p{at}"][1] for at in range(3)] == ["b", "c", "a"]


class Failing(Plugin):
    """Fails when the session is over, and has looked whether cycles are collected meanwhile."""

    name = "failing"
    seen: list[bool] = []

    def close(self, session):
        self.seen.append(gc.isenabled())
        raise RuntimeError


@pytest.mark.parametrize("collects", [True, False])
def test_cycles_are_collected_after_a_session_as_before_it_even_if_it_fails(collects):
    session = scheduling.open_session(
        worlds.world(random.Random(1), nodes=3), worlds.policy(("failing",)), 0, {"failing": Failing}
    )
    before = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        with pytest.raises(RuntimeError):
            scheduling.act(session)
        assert gc.isenabled() == collects
    finally:
        (gc.enable if before else gc.disable)()
    assert Failing.seen.pop() is False
