"""Small random clusters for properties of the scheduler."""

from __future__ import annotations

import msgspec

from pipeline.records import matching
from pipeline.records.shapes.pod import (
    Affinity,
    LabelExpression,
    LabelSelector,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    Toleration,
    TopologySpreadConstraint,
)
from scheduler_core.model import facts as f
from scheduler_core.model.policy import FLAGS, PluginChoice, Policy

HOST = "kubernetes.io/hostname"
GPU, CARD = "nvidia.com/gpu", "example.com/card"
ON = frozenset(flag for flag, on in FLAGS.items() if on)


def policy(*tiers, actions=("enqueue", "allocate", "backfill", "preempt", "reclaim"), **arguments):
    """A policy of plugins by name, every flag at its default."""
    return Policy(
        "test",
        tuple(actions),
        tuple(tuple(PluginChoice(name, ON, arguments.get(name, {})) for name in tier) for tier in tiers),
    )


DEFAULT = policy(
    ("priority", "gang", "conformance"), ("overcommit", "drf", "predicates", "proportion", "nodeorder", "binpack")
)

TREE = msgspec.structs.replace(
    policy(("priority", "gang", "conformance"), ("drf", "predicates", "capacity", "nodeorder")),
    tiers=(
        tuple(PluginChoice(name, ON, {}) for name in ("priority", "gang", "conformance")),
        (
            PluginChoice("drf", ON, {}), PluginChoice("predicates", ON, {}), PluginChoice("nodeorder", ON, {}),
            PluginChoice("capacity", ON | {"hierarchy"}, {"ancestorReclaimLevel": 1}),
        ),
    ),
)  # fmt: skip
LATE = policy(("sla",), ("priority", "gang", "predicates", "capacity", "nodeorder"), sla={"sla-waiting-time": "3s"})
POLICIES = {"default": DEFAULT, "tree": TREE, "late": LATE}
"""Queues by weight; queues in a tree (`in_tree`); every job late, so that sla votes for keeping places."""


def in_tree(r, facts):
    """The same cluster with its queues below two others and `root`, each with limits of its own."""
    made = [f.QueueFacts(name="root"), f.QueueFacts(name="a", parent="root"), f.QueueFacts(name="b", parent="root")]
    for queue in facts.queues:
        limits = {"deserved": {"cpu": r.choice([1, 4])}, "guarantee": {"cpu": 1} if r.random() < 0.3 else None}
        made.append(
            f.QueueFacts(name=queue.name, parent=r.choice("ab"), capability={"cpu": r.choice([6, 30])}, **limits)
        )
    return msgspec.structs.replace(facts, queues=tuple(made))


def world(r, *, nodes=5, jobs=6, relations=False):
    """A cluster with running and waiting jobs, drawn from a random source; `relations` are ports, other pods, spread.

    One half are roomy, with few wishes and few closed nodes, the other half picky and full.
    """
    picky = r.choice([0.2, 1.0])
    made_nodes = [node(r, at, picky) for at in range(r.randint(1, nodes))]
    queues = [
        f.QueueFacts(name=f"q{at}", weight=r.randint(1, 3), capability={"cpu": "20"} if r.random() < 0.2 else None)
        for at in range(r.randint(1, 3))
    ]
    groups, pods, room = [], [], {each.name: r.choice([1, 3, 8]) for each in made_nodes}
    for at in range(r.randint(1, jobs)):
        members = r.randint(1, 4)
        running = r.random() < 0.4
        namespace = r.choice(["ns", "ns", "other"])
        groups.append(
            f.GroupFacts(
                namespace=namespace, name=f"j{at}", queue=r.choice(queues).name, min_member=r.randint(0, members),
                min_task_member={"worker": r.randint(1, members)} if r.random() < 0.1 * picky else {},
                phase="Running" if running else r.choice(["Pending", "Inqueue"]), created_ns=r.randint(1, 9) * 10**9,
                min_resources={"cpu": r.randint(0, 6)} if r.random() < 0.5 else None,
                priority_class=r.choice(["", "hi", "lo"]),
            )
        )  # fmt: skip
        alike = pod(r, at, made_nodes, relations, picky) if r.random() < 0.6 else None
        for number in range(members):
            wishes = alike or pod(r, at, made_nodes, relations, picky)
            pods.append(member(r, wishes, namespace, number, running, made_nodes, room))
    return f.ClusterFacts(
        nodes=tuple(made_nodes), queues=tuple(queues), groups=tuple(groups), pods=tuple(pods),
        priority_classes=(f.PriorityClassFacts("hi", 100), f.PriorityClassFacts("lo", 10)),
    )  # fmt: skip


def node(r, at, picky):
    """Every second one has the taints that controllers give to a node which is cordoned or not ready."""
    made = f.NodeFacts(
        name=f"n{at}",
        allocatable={
            "cpu": r.choice(["2", "4", "7500m"] if picky == 1 else ["4", "8", "16"]),
            "memory": r.choice(["4Gi", "8Gi", "15999M"] if picky == 1 else ["15999M", "64Gi"]),
            "pods": r.choice(["3", "10"]),
        }
        | ({GPU: r.choice(["1", "4", "8"])} if r.random() < 0.5 else {})
        | ({CARD: r.choice(["2", "0"])} if r.random() < 0.3 else {}),
        labels={HOST: f"n{at}"}
        | ({"zone": r.choice("ab")} if r.random() < 0.9 else {})
        | ({"gen": r.choice("357")} if r.random() < 0.6 else {}),
        taints=tuple(taint(r) for _ in range(r.choice([1, 1, 2]) if r.random() < 0.5 * picky else 0)),
        unschedulable=r.random() < 0.15 * picky,
        ready=r.random() > 0.1 * picky,
        rack=r.choice(["r1", "r2"]),
    )
    repeated = ((CORDON,) if made.unschedulable else ()) + (LOST if not made.ready else ())
    return msgspec.structs.replace(made, taints=(*made.taints, *repeated)) if at % 2 else made


CORDON = matching.UNSCHEDULABLE_TAINT
LOST = tuple((matching.NOT_READY, "", effect) for effect in ("NoSchedule", "NoExecute"))


def taint(r):
    return (
        r.choice(["dedicated", "night"]),
        r.choice(["x", "y"]),
        r.choice(["NoSchedule", "NoExecute", "PreferNoSchedule"]),
    )


def pod(r, job, nodes, relations, picky):
    """What a pod of a job asks for."""
    requests = {"cpu": r.choice(["500m", "1", "1", "3"]), "memory": r.choice(["512Mi", "1Gi", "5Gi", "9e9"])}
    if r.random() < 0.3 * picky:
        requests[GPU] = r.choice(["1", "2"])
    if r.random() < 0.2 * picky:
        requests[CARD] = r.choice(["0", "1"])
    if r.random() < 0.1:
        requests = {}
    return f.PodFacts(
        uid="", namespace="", name=f"j{job}-w",
        containers=(f.ContainerFacts(requests),) * r.choice([1, 1, 1, 2]),
        init_containers=(f.ContainerFacts({"cpu": "2500m"}),) if r.random() < 0.1 else (),
        overhead={"cpu": "250m", "memory": "100Mi"} if r.random() < 0.1 else None,
        labels={"app": r.choice("xy")},
        annotations={"volcano.sh/task-spec": r.choice(["ps", "worker"])} if r.random() < 0.4 else {},
        node_selector={"zone": r.choice("abc")} if r.random() < 0.2 * picky else {},
        tolerations=tuple(toleration(r) for _ in range(r.choice([0, 0, 0, 1, 2]))),
        affinity=affinity(r, nodes, relations, picky),
        spread=(spread(r),) * (relations and r.random() < 0.3),
        ports=(("TCP", r.choice([80, 81]), r.choice(["", "10.0.0.1", "10.0.0.2"])),) if relations and r.random() < 0.2 else (),
        priority=r.choice([None, 5, 50]),
    )  # fmt: skip


def member(r, wishes, namespace, number, running, nodes, room):
    """A pod that has these wishes, waiting or on a node that has room for one more."""
    host = r.choice(nodes)
    placed = running and room[host.name] > 0
    room[host.name] -= placed
    name = f"{wishes.name}-{number}"
    return msgspec.structs.replace(
        wishes, uid=f"{namespace}-{name}", namespace=namespace, name=name,
        group=f"{namespace}/{wishes.name.partition('-')[0]}", phase="Running" if placed else "Pending",
        node=host.name if placed else "", deleting=placed and r.random() < 0.2, created_ns=r.randint(1, 5) * 10**9,
    )  # fmt: skip


def toleration(r):
    return r.choice([
        Toleration(key="dedicated", operator="Exists"),
        Toleration(key="dedicated", operator="Equal", value="x", effect="NoSchedule"),
        Toleration(key="night", value="y"),
        Toleration(operator="Exists", effect="NoExecute"),
        Toleration(key="node.kubernetes.io/unschedulable", operator="Exists"),
    ])  # fmt: skip


def affinity(r, nodes, relations, picky):
    choice = r.random() / picky
    if choice < 0.2:
        return Affinity(NodeAffinity(NodeSelector([node_term(r, nodes) for _ in range(r.choice([1, 1, 2]))])))
    if relations and choice < 0.45:
        terms = PodAffinity([pod_term(r) for _ in range(r.choice([1, 1, 2]))])
        return Affinity(pod_anti_affinity=terms) if r.random() < 0.6 else Affinity(pod_affinity=terms)
    return None


def node_term(r, nodes):
    operator, values = r.choice([
        ("Gt", ["4"]), ("Lt", ["6"]), ("In", ["3", "7"]), ("NotIn", ["3"]), ("Exists", []), ("DoesNotExist", []),
    ])  # fmt: skip
    asks = [LabelExpression("gen", operator, values)]
    if r.random() < 0.2:
        asks.append(LabelExpression("zone", "In", [r.choice("ab")]))
    if r.random() < 0.15:
        name = LabelExpression("metadata.name", r.choice(["In", "NotIn"]), [r.choice(nodes).name])
        return NodeSelectorTerm(asks if r.random() < 0.5 else None, [name])
    return NodeSelectorTerm(asks)


def pod_term(r):
    selector = LabelSelector({"app": r.choice("xy")})
    if r.random() < 0.2:
        selector = LabelSelector(None, [LabelExpression("app", r.choice(["In", "NotIn"]), ["x"])])
    return PodAffinityTerm(selector, r.choice([HOST, "zone"]), ["ns", "other"] if r.random() < 0.2 else None)


def spread(r):
    return TopologySpreadConstraint(
        r.choice([1, 2]), r.choice([HOST, "zone"]), r.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
        LabelSelector({"app": r.choice("xy")}), min_domains=r.choice([None, None, 3]),
        node_affinity_policy=r.choice([None, "Ignore"]), node_taints_policy=r.choice([None, "Honor"]),
    )  # fmt: skip
