"""Why a task got no node, against a recount from the facts that shares no code with the scheduler."""

import random
from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.records import reasons
from scheduler_core import plugins, scheduling
from scheduler_core.model import facts as f
from scheduler_core.session import placing, refusals
from tests.support import scheduler_worlds as worlds


def sets_of(session, report):
    """A report as nodes by the names of the checks they fail."""
    codes = session.judges.codes
    counts = Counter()
    for code, nodes in report.counts:
        counts[frozenset(check.name for check in codes.failed(code))] += nodes
    return counts


def run_and_recount(facts, monkeypatch):
    """Runs a session; every refusal by nodes is recounted at the moment it is made. Returns how many there were."""
    seen = []
    original = refusals.by_nodes

    def by_nodes(session, task, judge, codes, within):
        made = original(session, task, judge, codes, within)
        if codes is judge.codes or within is None:
            seen.append((sets_of(session, made.report), worlds.recount(session, facts, task), made, session))
        return made

    monkeypatch.setattr(refusals, "by_nodes", by_nodes)
    policy = msgspec.structs.replace(worlds.DEFAULT, actions=("enqueue", "allocate"))
    policy = msgspec.structs.replace(policy, action_arguments={"allocate": {"predicateErrorCacheEnable": False}})
    scheduling.run(facts, policy, 10**10, plugins.ALL)
    return seen


@pytest.mark.parametrize("relations", [False, True])
@settings(max_examples=60, deadline=None)
@given(r=st.randoms(use_true_random=False))
def test_a_refusal_counts_every_node_by_exactly_the_checks_it_fails(r, relations):
    facts = worlds.world(r, relations=relations)
    with pytest.MonkeyPatch.context() as patch:
        for counted, recounted, _, _ in run_and_recount(facts, patch):
            assert counted == recounted


def test_fixed_worlds_hold_refusals_of_many_kinds():
    kinds = Counter()
    for seed in range(80):
        facts = worlds.world(random.Random(seed), relations=True)
        with pytest.MonkeyPatch.context() as patch:
            for counted, recounted, _, _ in run_and_recount(facts, patch):
                assert counted == recounted
                kinds.update(name for failed in counted for name in failed)
    assert min(kinds[name] for name in KINDS) > 5


KINDS = (
    "NodeResourcesFit/cpu", "NodeResourcesFit/memory", "NodeResourcesFit/nvidia.com/gpu", "NodeResourcesFit/pods",
    "NodeNotReady", "NodeUnschedulable", "NodeAffinity", "TaintToleration", "NodePodNumber", "NodePorts",
    "InterPodAffinity",
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(r=st.randoms(use_true_random=False))
def test_a_sole_blocker_is_the_only_check_its_nodes_fail_and_lifting_it_by_its_shortage_makes_one_fit(r):
    facts = worlds.world(r)
    with pytest.MonkeyPatch.context() as patch:
        for _, recounted, refusal, session in run_and_recount(facts, patch):
            alone = Counter({next(iter(failed)): nodes for failed, nodes in recounted.items() if len(failed) == 1})
            found = Counter()
            for blocker in refusal.report.blockers:
                found[blocker.check.name] += blocker.nodes
                assert (blocker.place >= 0) == blocker.check.name.startswith("NodeResourcesFit")
                assert 0 < blocker.size <= 1 or blocker.short > blocker.asked
            assert found == alone
            assert len(session.nodes) == refusal.report.total


def one_node(**node):
    return f.NodeFacts(name="n", allocatable={"cpu": "4", "memory": "8Gi", "pods": "10", "nvidia.com/gpu": "4"}, **node)


def why_of(*nodes, request=None, running=(), members=1, minimum=None, **pod):
    """The reason of the first task of a job of so many members."""
    group = f.GroupFacts(
        namespace="ns", name="j", queue="q", min_member=members if minimum is None else minimum, phase="Inqueue"
    )
    pods = [
        f.PodFacts(
            uid=f"w{at}", namespace="ns", name=f"w{at}", group="ns/j",
            containers=(f.ContainerFacts({"cpu": "1"} if request is None else request),), **pod,
        )
        for at in range(members)
    ]  # fmt: skip
    facts = f.ClusterFacts(nodes=nodes, queues=(f.QueueFacts(name="q"),), groups=(group,), pods=(*pods, *running))
    policy = worlds.policy(("gang", "predicates"), actions=("allocate",))
    session = scheduling.run(facts, policy, 0, plugins.ALL)
    return next(iter(session.jobs["ns/j"].refusals.values())).why


def holder(node, request, at=0):
    return f.PodFacts(
        uid=f"r{at}", namespace="other", name=f"r{at}", phase="Running", node=node,
        containers=(f.ContainerFacts(request),),
    )  # fmt: skip


def test_a_selector_that_no_node_matches_leads_whatever_else_nodes_fail():
    assert why_of(one_node(), request={"cpu": "40"}, node_selector={"a": "b"}).reason == reasons.NODE_AFFINITY


def test_of_closed_nodes_the_easiest_obstacle_leads():
    nodes = (
        f.NodeFacts(name="a", allocatable={"cpu": 4, "pods": 9}, taints=(("k", "", "NoSchedule"),)),
        f.NodeFacts(name="b", allocatable={"cpu": 4, "pods": 9}, unschedulable=True),
    )
    assert why_of(*nodes).reason == reasons.NODE_UNSCHEDULABLE
    assert why_of(nodes[0]).reason == reasons.UNTOLERATED_TAINT
    assert why_of(*nodes, one_node(ready=False)).reason == reasons.NODE_NOT_READY


def test_a_request_that_no_open_node_could_hold_when_empty_never_fits():
    why = why_of(one_node(), request={"cpu": "1", "nvidia.com/gpu": "5"})
    assert (why.reason, why.detail, why.resource) == (reasons.INSUFFICIENT_RESOURCE, "never_fits", "nvidia.com/gpu")


def test_of_resources_short_on_equally_many_nodes_extended_ones_lead():
    why = why_of(
        one_node(), request={"cpu": "3", "nvidia.com/gpu": "3"}, running=(holder("n", {"cpu": 2, "nvidia.com/gpu": 2}),)
    )
    assert (why.reason, why.detail, why.resource) == (reasons.INSUFFICIENT_RESOURCE, "", "nvidia.com/gpu")


def test_enough_in_pieces_that_are_too_small_is_fragmentation():
    nodes = [f.NodeFacts(name=name, allocatable={"cpu": 4, "memory": "8Gi", "pods": 9}) for name in "ab"]
    taken = [holder("a", {"cpu": 2}, 0), holder("b", {"cpu": 2}, 1)]
    assert why_of(*nodes, request={"cpu": "3"}, running=taken).reason == reasons.FRAGMENTATION
    assert why_of(*nodes, request={"cpu": "3"}, running=taken, members=2).reason == reasons.INSUFFICIENT_RESOURCE


def test_room_that_jobs_before_it_took_in_this_session_is_outranked():
    groups = tuple(
        f.GroupFacts(namespace="ns", name=name, queue="q", min_member=1, phase="Inqueue", created_ns=at)
        for at, name in enumerate(("first", "second"), 1)
    )
    pods = tuple(
        f.PodFacts(uid=name, namespace="ns", name=name, group=f"ns/{name}", containers=(f.ContainerFacts({"cpu": 3}),))
        for name in ("first", "second")
    )
    facts = f.ClusterFacts(nodes=(one_node(),), queues=(f.QueueFacts(name="q"),), groups=groups, pods=pods)
    session = scheduling.run(facts, worlds.policy(("gang", "predicates"), actions=("allocate",)), 0, plugins.ALL)
    assert session.jobs["ns/second"].refusals["second"].why.reason == reasons.OUTRANKED


def test_a_gang_says_how_far_it_came_and_is_counted_before_it_is_undone():
    group = f.GroupFacts(namespace="ns", name="j", queue="q", min_member=3, phase="Inqueue")
    pods = tuple(
        f.PodFacts(
            uid=f"w{at}", namespace="ns", name=f"w{at}", group="ns/j", containers=(f.ContainerFacts({"cpu": 2}),)
        )
        for at in range(3)
    )
    facts = f.ClusterFacts(nodes=(one_node(),), queues=(f.QueueFacts(name="q"),), groups=(group,), pods=pods)
    session = scheduling.run(facts, worlds.policy(("gang", "predicates"), actions=("allocate",)), 0, plugins.ALL)
    job = session.jobs["ns/j"]
    refusal = job.refusals["w2"]
    assert refusal.placed == 2
    assert sets_of(session, refusal.report) == {frozenset({"NodeResourcesFit/cpu"}): 1}
    assert not session.binds
    assert job.ready == 0
    assert placing.choose(session, job.tasks["w0"]) == (0, True)
