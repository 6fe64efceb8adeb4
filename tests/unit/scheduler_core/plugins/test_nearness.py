"""Gangs that stay together in the network: looking at a few nodes chooses what looking at all of them does."""

import random

import pytest

from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model import facts as f
from scheduler_core.plugins.network_topology_aware import NetworkTopologyAware
from tests.support import scheduler_makers as make
from tests.support.native import interpreted_only

POLICY = make.policy(
    ("gang",), ("predicates", "binpack", "network-topology-aware"), actions=("allocate",),
    **{"network-topology-aware": {"hypernode.binpack.normal-pod.enable": False}},
)  # fmt: skip
SPREADING = make.policy(
    ("gang",), ("predicates", "nodeorder", "network-topology-aware"), actions=("allocate",),
    **{"network-topology-aware": {"hypernode.binpack.normal-pod.enable": False},
       "nodeorder": {"tainttoleration.weight": 0, "nodeaffinity.weight": 0}},
)  # fmt: skip


def network(r):
    """Racks of three in spines of two racks; some nodes in no rack, in some networks one in two."""
    names = [f"n{at:02d}" for at in range(20)]
    racks = [names[at : at + 3] for at in range(0, 18, 3)]
    if r.random() < 0.2:
        racks[1] = [*racks[1], names[0]]
    domains = [f.DomainFacts(name=f"r{at}", tier=1, nodes=tuple(each)) for at, each in enumerate(racks)]
    for at in range(0, 6, 2):
        inside = tuple(sorted({*racks[at], *racks[at + 1]}))
        domains.append(f.DomainFacts(name=f"s{at}", tier=2, nodes=inside, children=(f"r{at}", f"r{at + 1}")))
    return [make.node(name, cpu=r.choice((3, 4, 8))) for name in names], domains


def gangs(r):
    """Gangs that ask to be together, some of which run in part already, and some that do not ask."""
    groups, pods = [], []
    for at in range(r.randint(3, 7)):
        size = r.randint(1, 6)
        topology = f.TopologyFacts("soft") if r.random() < 0.8 else None
        groups.append(make.group(f"j{at}", min_member=r.randint(1, size), created_ns=at, topology=topology))
        cpu = r.choice((1, 1, 2))
        for number in range(size):
            on = f"n{r.randrange(20):02d}" if r.random() < 0.15 else ""
            pods.append(make.pod(f"j{at}-w-{number}", f"j{at}", cpu=cpu if number else r.choice((1, 2)), on=on))
    return groups, pods


def decided(seed, policy):
    r = random.Random(seed)
    nodes, domains = network(r)
    groups, pods = gangs(r)
    facts = f.ClusterFacts(
        nodes=tuple(nodes), queues=(make.queue(),), groups=tuple(groups), pods=tuple(pods), domains=tuple(domains)
    )
    session = scheduling.run(facts, policy, 10**10, plugins.ALL)
    near = {task.uid: (task.near, task.row) for task in session.snapshot.tasks.values()}
    return decisions.of_session(session, "simulate"), near, len(session.binds)


@interpreted_only
@pytest.mark.parametrize("policy", [POLICY, SPREADING], ids=["packing", "spreading"])
def test_some_rows_and_the_best_of_the_others_choose_what_all_rows_choose(monkeypatch, policy):
    quick = [decided(seed, policy) for seed in range(120)]
    asked = []
    monkeypatch.setattr(NetworkTopologyAware, "nearby", lambda self, task: asked.append(task))
    assert [decided(seed, policy) for seed in range(120)] == quick
    assert sum(bound for _, _, bound in quick) > 600
    assert len(asked) > 300


@pytest.mark.parametrize("fading", [0.0, 1e-300, 1e300, "inf"])
@pytest.mark.parametrize("tiers", [(0, 2), (2, 9)])
def test_a_fading_that_gives_no_weights_counts_all_tiers_alike(fading, tiers):
    low, high = tiers
    domains = [
        f.DomainFacts(name="left", tier=low, nodes=("n1",)), f.DomainFacts(name="right", tier=low, nodes=("n2",)),
        f.DomainFacts(name="top", tier=high, nodes=("n1", "n2"), children=("left", "right")),
    ]  # fmt: skip
    policy = make.policy(
        ("predicates", "network-topology-aware"), actions=("allocate",),
        **{"network-topology-aware": {"hypernode.binpack.normal-pod.fading": fading}},
    )  # fmt: skip
    pods = [make.pod("there", "run", on="n2"), make.pod("one", "wait")]
    session = make.ran(
        [make.node("n1"), make.node("n2")], [make.group("run"), make.group("wait")], pods, policy, domains=domains
    )
    assert make.bound(session) == {"one": "n2"}


@pytest.mark.parametrize("mode", ["soft", "hard"])
def test_a_gang_that_asks_to_be_together_where_there_is_no_node_is_told_so(mode):
    group = make.group("g", topology=f.TopologyFacts(mode, 1))
    pods = [make.pod("g-0", "g"), make.pod("g-1", "g")]
    for policy in (POLICY, SPREADING):
        session = make.ran([], [group], pods, policy)
        told = [each.message for each in decisions.of_session(session, "simulate") if each.kind == "attribution"]
        assert told[0] == "there is no node to look at"
