"""Messages as kube-scheduler 1.37 writes them."""

from __future__ import annotations

from scheduler_core import foreign
from scheduler_core.foreign.cluster import Cluster
from scheduler_core.foreign.filters import Filters
from tests.support.foreign_worlds import GPU, apart_from, group, node, pod, waits, world


def test_parts_are_sorted_as_text_and_preemption_says_where_it_could_help():
    nodes = [node(f"n{place:02}", cpu=1) for place in range(10)] + [node("x1", unschedulable=True), node("x2", cpu=4)]
    known = world(nodes, [waits("a", cpu=3, priority=5)], [pod("p", cpu=2, on="x2", priority=5)])
    assert foreign.message(known, "a") == (
        "0/12 nodes are available: 1 node(s) were unschedulable, 11 Insufficient cpu. "
        "preemption: 0/12 nodes are available: 1 No preemption victims found for incoming pod, "
        "11 Preemption is not helpful for scheduling."
    )


def test_a_node_full_of_pods_says_so():
    known = world([node("n1", pods=1)], [waits("a")], [pod("p", on="n1")])
    assert foreign.message(known, "a").startswith("0/1 nodes are available: 1 Too many pods. ")


def test_a_pod_that_a_node_takes_has_no_message():
    assert foreign.message(world([node("n1")], [waits("a")]), "a") == ""


def test_a_pod_that_may_not_preempt_says_so():
    known = world([node("n1", gpus=1)], [waits("a", gpus=1, preemption_policy="Never")], [pod("p", gpus=1, on="n1")])
    assert foreign.message(known, "a") == (
        f"0/1 nodes are available: 1 Insufficient {GPU}. preemption: not eligible due to preemptionPolicy=Never."
    )


def test_victims_are_as_few_and_as_unimportant_as_can_be():
    nodes = [node("n1", gpus=8), node("n2", gpus=8)]
    used = [
        pod("high", gpus=4, on="n1", priority=4), pod("low", gpus=4, on="n1", priority=1),
        pod("mid", gpus=8, on="n2", priority=3),
    ]  # fmt: skip
    said = foreign.message(world(nodes, [waits("a", gpus=4, priority=9)], used), "a")
    assert said.endswith("preemption: found a potential placement for pod on node n1, preempting 1 victims")


def test_when_all_lower_pods_could_go_and_it_still_does_not_fit_their_node_says_why():
    used = [pod("low", gpus=2, on="n1", priority=1), pod("high", gpus=6, on="n1", priority=9)]
    said = foreign.message(world([node("n1", gpus=8)], [waits("a", gpus=4, priority=5)], used), "a")
    assert said.endswith(f"preemption: 0/1 nodes are available: 1 Insufficient {GPU}.")


def test_a_pod_waits_for_the_pod_that_leaves_its_nominated_node():
    victim = pod("low", gpus=8, on="n1", priority=1, deleting=True, victim=True)
    known = world([node("n1", gpus=8)], [waits("a", gpus=8, priority=9, nominated_node="n1")], [victim])
    assert foreign.message(known, "a").endswith("not eligible due to a terminating pod on the nominated node.")


def test_a_missing_claim_and_an_unbound_one_have_no_count_and_a_stray_end():
    known = world([node("n1")], [waits("a", claims=("data",))], claims={})
    assert foreign.message(known, "a") == ('0/1 nodes are available: persistentvolumeclaim "data" not found. not found')


def test_a_gang_is_tried_until_its_minimum_is_out_of_reach():
    waiting = [waits(name, gpus=4, native_group="ns/g") for name in ("a", "b", "c", "d")]
    known = world([node("n1", gpus=8)], waiting, groups=[group("g", 4)])
    words = "minCount (4) cannot be satisfied: 2 scheduled, 1 remaining"
    assert foreign.message(known, "a") == foreign.message(known, "b") == f"pod group is unschedulable, {words}"
    assert foreign.message(known, "c") == f"0/1 nodes are available: 1 Insufficient {GPU}."
    assert foreign.message(known, "d") == words


def test_trying_out_leaves_the_cluster_as_it_was():
    used = [
        pod("p", gpus=4, on="n1", priority=1, labels={"app": "web"}),
        pod("q", gpus=2, on="n1", ports=(("TCP", 80, ""),)),
    ]
    waiting = [waits("a", gpus=4, priority=9, affinity=apart_from(app="web")), waits("b", ports=(("TCP", 80, ""),))]
    cluster = Cluster(world([node("n1", gpus=8)], waiting, used))
    filters = Filters(cluster)
    task = cluster.tasks["a"]
    before = filters.judge(task).first.tolist()
    block = cluster.table.settle().block.copy()
    with cluster.without(cluster.on(0)):
        assert filters.judge(task).fits.all()
        with cluster.held([(cluster.tasks["b"], 0)]):
            assert (cluster.table.settle().block != block).any()
    assert filters.judge(task).first.tolist() == before
    assert (cluster.table.settle().block == block).all()
    assert not filters.judge(cluster.tasks["b"]).fits.any()  # its port is taken again
