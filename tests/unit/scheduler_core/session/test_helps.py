"""What would help, made so: each change that is suggested is made by itself, and the task is placed, or its queue lets it in."""

import random
import re

import msgspec
import pytest

from pipeline.records import quantity
from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model import facts as f
from tests.support import scheduler_makers as make
from tests.support import scheduler_worlds as worlds

ACTIONS = ("enqueue", "allocate", "backfill")
NODES = worlds.policy(("gang",), ("predicates", "nodeorder"), actions=ACTIONS)
QUOTAS = {
    "proportion": worlds.policy(("gang",), ("predicates", "proportion"), actions=ACTIONS),
    "capacity": worlds.policy(("gang",), ("predicates", "capacity"), actions=ACTIONS),
    "overcommit": worlds.policy(("gang",), ("predicates", "overcommit"), actions=ACTIONS),
    "tree": msgspec.structs.replace(worlds.TREE, actions=ACTIONS),
}
replace = msgspec.structs.replace


def changed(facts, kind, name, change):
    """The cluster with one node, queue or pod changed."""
    made = tuple(change(each) if each.name == name else each for each in getattr(facts, kind))
    return replace(facts, **{kind: made})


def plus(quantities, more, sign=1):
    """Quantities with some more of each, or less."""
    found = dict(quantities or {})
    for resource, amount in more.items():
        found[resource] = format(quantity.parse(found.get(resource, 0)) + sign * amount, "f")
    return found


def amounts(text):
    """`1 cpu and 2Gi memory` by resource."""
    parts = [each.rpartition(" ") for each in text.split(" and ")]
    return {resource: quantity.parse(amount.removesuffix(" bytes")) for amount, _, resource in parts}


def asking(less):
    """A pod of one container that asks for so much less."""
    return lambda pod: replace(pod, containers=(f.ContainerFacts(plus(pod.containers[0].requests, less, -1)),))


def more_on_node(facts, found):
    more = amounts(f"{found['amount']} {found['resource']}")
    return changed(facts, "nodes", found["node"], lambda each: replace(each, allocatable=plus(each.allocatable, more)))


def less_on_node(facts, found):
    return changed(facts, "pods", "w", asking(amounts(f"{found['amount']} {found['resource']}")))


def without_taints(each):
    return replace(each, taints=tuple(taint for taint in each.taints if taint[2] == "PreferNoSchedule"))


def ready(each):
    return replace(each, ready=True, taints=tuple(taint for taint in each.taints if taint not in worlds.LOST))


def uncordoned(each):
    return replace(each, unschedulable=False, taints=tuple(taint for taint in each.taints if taint != worlds.CORDON))


LIFTED = {
    "not cordoned": uncordoned, "ready": ready, "no taint": without_taints,
    "one more pod": lambda each: replace(each, allocatable=each.allocatable | {"pods": 100}),
}  # fmt: skip


def lifted(facts, found):
    """A rule that must go on one node, or on all where several are meant."""
    change = next(change for words, change in LIFTED.items() if words in found["lifted"])
    return replace(facts, nodes=tuple(
        change(each) if found["node"] in ("", each.name) else each for each in facts.nodes))  # fmt: skip


def labelled(facts, found):
    labels = dict(each.split("=") for each in found["labels"].split(", "))
    return changed(facts, "nodes", found["node"], lambda each: replace(each, labels=each.labels | labels))


CHANGES = (
    (r"it would fit on node (?P<node>\S+) if (?P<amount>.+) more (?P<resource>\S+) were free there.*", more_on_node),
    (
        r"it would fit on node (?P<node>\S+) if (?P<amount>.+) more (?P<resource>\S+) .*asked for that much less.*",
        less_on_node,
    ),
    (r"it would fit on node (?P<node>\S+) if it asked for (?P<amount>\S+) (?P<resource>\S+) less, or .*", less_on_node),
    (r"it would fit on node (?P<node>\S+) if it asked for (?P<amount>\S+) (?P<resource>\S+) less, or .*", more_on_node),
    (r"it would fit on a node like (?P<node>\S+) that had (?P<amount>\S+) more (?P<resource>[^;\s]+).*", more_on_node),
    (r"it would fit on node (?P<node>\S+) if the node had the labels that it asks for \((?P<labels>.+)\)", labelled),
    (r"it would fit on (node (?P<node>\S+) if the node|\d+ nodes if they) (?P<lifted>(?!had the labels).+)", lifted),
)


def one_waits(r):
    """A cluster in which pods run and one job of one pod waits."""
    facts = worlds.world(r, nodes=6, jobs=8)
    wishes = worlds.pod(r, 0, facts.nodes, False, r.choice([0.2, 1.0]))
    waits = replace(
        wishes, uid="w", name="w", namespace="ns", group="ns/w", init_containers=(), overhead=None, annotations={},
        containers=wishes.containers[:1], affinity=None,
    )  # fmt: skip
    running = tuple(each for each in facts.pods if each.node)
    groups = tuple(replace(each, min_member=0, min_task_member={}) for each in facts.groups)
    return replace(facts, pods=(*running, waits), groups=(*groups, make.group("w", queue=facts.queues[0].name)))


def told(facts, policy):
    """What is said of the task that waits, or of its job; None if it got a place."""
    session = scheduling.run(facts, policy, 10**10, plugins.ALL)
    found = [each for each in decisions.of_session(session, "simulate") if each.job and each.job.name == "w"]
    return next((each for each in found if each.reason and (each.task or each.kind == "enqueue")), None)


def test_each_change_that_is_suggested_on_nodes_gives_the_task_a_place():
    made = set()
    for seed in range(250):
        facts = one_waits(random.Random(seed))
        refused = told(facts, NODES)
        for sentence in refused.helps if refused else ():
            for pattern, change in CHANGES:
                found = re.fullmatch(pattern, sentence)
                if found:
                    assert told(change(facts, found.groupdict("")), NODES) is None, (seed, sentence)
                    made.add(change.__name__)
    assert made == {"more_on_node", "less_on_node", "lifted", "labelled"}


def test_where_no_single_change_is_said_to_help_none_does():
    seen = 0
    for seed in range(250):
        facts = one_waits(random.Random(seed))
        refused = told(facts, NODES)
        if refused is None or not refused.helps or not refused.helps[0].startswith("no single change"):
            continue
        seen += 1
        everything = dict.fromkeys(asked_by(facts), 10**9)
        for node in facts.nodes:
            roomy = changed(facts, "nodes", node.name, lambda each: replace(
                each, allocatable=each.allocatable | {"pods": 10**6}))  # fmt: skip
            alone = [changed(facts, "nodes", node.name, each) for each in (*LIFTED.values(), labels_of(facts))]
            for name, amount in everything.items():
                alone.append(changed(facts, "nodes", node.name, lambda each, name=name, amount=amount: replace(
                    each, allocatable=plus(each.allocatable, {name: amount * 1024}))))  # fmt: skip
            assert all(told(each, NODES) is not None for each in (roomy, *alone)), (seed, node.name)
    assert seen > 20


def asked_by(facts):
    """The resources that the waiting pod asks for."""
    return next(each for each in facts.pods if each.uid == "w").containers[0].requests


def labels_of(facts):
    """A node with the labels that the waiting pod selects."""
    selects = next(each for each in facts.pods if each.uid == "w").node_selector
    return lambda each: replace(each, labels=each.labels | selects)


# --- queues ---------------------------------------------------------------------------------------------------------------


def queues_and_nodes(r):
    """Queues with limits, nodes, jobs that run, and one that waits, let in or not."""
    nodes = tuple(
        make.node(f"n{at}", r.choice([4, 8]), r.choice(["9Gi", "16Gi"]), more={worlds.GPU: r.choice([2, 4])})
        for at in range(r.randint(1, 4))
    )
    queues = tuple(
        make.queue(
            f"q{at}", weight=r.choice([1, 3]), guarantee={"cpu": 1} if r.random() < 0.2 else None,
            capability={name: amount for name, amount in (("cpu", r.choice([1, 3, 6])), (worlds.GPU, r.choice([1, 3])))
                        if r.random() < 0.4},
        )
        for at in range(r.randint(1, 2))
    )  # fmt: skip
    groups, pods = [], []
    for at in range(r.randint(0, 4)):
        groups.append(make.group(f"j{at}", r.choice(queues).name, phase="Running", min_member=0))
        host = r.choice(nodes).name
        pods.append(make.pod(f"p{at}", f"j{at}", 1, on=host, more={"memory": "1Gi", worlds.GPU: r.choice([0, 1])}))
    request = {"cpu": r.choice([1, 2, 3, 6]), "memory": "3Gi", worlds.GPU: r.choice([0, 1, 3])}
    pending = r.random() < 0.5
    groups.append(make.group("w", r.choice(queues).name, phase="Pending" if pending else "Inqueue",
                             min_resources=request if pending else None))  # fmt: skip
    pods.append(make.pod("w", "w", 0, more=request))
    return f.ClusterFacts(nodes=nodes, queues=queues, groups=tuple(groups), pods=tuple(pods))


def ask_less(facts, found):
    less = amounts(found["much"])
    facts = changed(facts, "pods", "w", asking(less))
    return changed(facts, "groups", "w", lambda each: replace(
        each, min_resources=each.min_resources and plus(each.min_resources, less, -1)))  # fmt: skip


def raise_capability(facts, found):
    return changed(facts, "queues", found["queue"], lambda each: replace(
        each, capability=plus(each.capability, amounts(found["much"]))))  # fmt: skip


def add_to_nodes(facts, found):
    first = facts.nodes[0].name
    return changed(facts, "nodes", first, lambda each: replace(
        each, allocatable=plus(each.allocatable, amounts(found["much"]))))  # fmt: skip


def free(facts, found):
    """Takes what is to be freed off running pods of the queue, or of all; None where jobs that were let in hold it."""
    left, pods = amounts(found["much"]), []
    groups = {f"ns/{each.name}" for each in facts.groups if found["queue"] in ("the cluster", each.queue)}
    for pod in facts.pods:
        if pod.node and pod.group in groups:
            asked = pod.containers[0].requests
            gone = {name: min(quantity.parse(asked.get(name, 0)), amount) for name, amount in left.items()}
            left = {name: amount - gone[name] for name, amount in left.items()}
            pod = asking(gone)(pod)
        pods.append(pod)
    return None if any(left.values()) else replace(facts, pods=tuple(pods))


LET_IN = "it would be let in if "
QUOTA_CHANGES = (
    (LET_IN + r"it asked for (?P<much>.+) less", ask_less),
    (LET_IN + r"the capability of (?P<queue>\S+) were raised by (?P<much>.+)", raise_capability),
    (LET_IN + r"the nodes that are ready had (?P<much>.+) more", add_to_nodes),
    (LET_IN + r"(?P<much>.+) were freed in (?P<queue>.+)", free),
)


@pytest.mark.parametrize("kind", QUOTAS)
def test_each_change_that_is_suggested_of_a_queue_lets_the_job_in(kind):
    made = set()
    for seed in range(300):
        r = random.Random(seed)
        facts = queues_and_nodes(r)
        if kind == "tree":
            facts = worlds.in_tree(r, facts)
        refused = told(facts, QUOTAS[kind])
        for sentence in refused.helps if refused else ():
            for pattern, change in QUOTA_CHANGES:
                found = re.fullmatch(pattern, sentence)
                other = change(facts, found.groupdict()) if found and "other queues" not in sentence else None
                if other is not None:
                    again = told(other, QUOTAS[kind])
                    passed = again is None or again.kind != refused.kind or again.reason not in ("quota", "queue_limit")
                    assert passed, (seed, sentence, again.helps)
                    made.add(change.__name__)
    assert made >= {"ask_less", "free"} | ({"raise_capability"} if kind != "overcommit" else set())


def test_a_gang_is_not_told_to_free_what_only_its_own_tasks_take():
    pods = [make.pod(f"p{at}", "w", 1) for at in range(3)]
    gang = make.group("w", min_member=3)
    found = told(f.ClusterFacts(nodes=(make.node("n", 2),), queues=(make.queue(),), groups=(gang,), pods=tuple(pods)),
                 QUOTAS["capacity"])  # fmt: skip
    assert found.helps == ("it would be let in if the nodes that are ready had 1 cpu more",)


def test_a_device_is_freed_whole():
    nodes = (make.node("n", 8, more={worlds.GPU: 4}),)
    groups = (make.group("w", phase="Pending", min_resources={worlds.GPU: 3}), make.group("r", phase="Running"))
    pods = (make.pod("r", "r", 1, on="n", more={worlds.GPU: 3}),)
    session = scheduling.run(f.ClusterFacts(nodes=nodes, queues=(make.queue(),), groups=groups, pods=pods), QUOTAS["overcommit"],
                             0, plugins.ALL)  # fmt: skip
    found = next(each for each in decisions.of_session(session, "simulate") if each.reason)
    assert found.helps[0] == "it would be let in if 2 nvidia.com/gpu were freed in the cluster"


def test_a_limit_of_a_parent_is_not_told_as_the_leafs():
    queues = (
        make.queue("root"), make.queue("team", parent="root", capability={"cpu": 2}), make.queue("q", parent="team"),
        make.queue("other", parent="team"),
    )  # fmt: skip
    groups = (make.group("w", "q"), make.group("r", "other", phase="Running"))
    pods = (make.pod("w", "w", 2), make.pod("r", "r", 1, on="n"))
    found = told(f.ClusterFacts(nodes=(make.node("n", 8),), queues=queues, groups=groups, pods=pods), QUOTAS["tree"])
    assert found.helps == (
        "it would be let in if 1 cpu were freed in team",
        "it would be let in if it asked for 1 cpu less",
        "it would be let in if the capability of team were raised by 1 cpu",
    )


@pytest.mark.parametrize(("gated", "said"), [(1, "1 task waits"), (2, "2 tasks wait")])
def test_tasks_behind_a_gate_are_told_in_their_number(gated, said):
    pods = tuple(make.pod(f"p{at}", "w", gates=("g",)) for at in range(gated))
    facts = f.ClusterFacts(nodes=(make.node("n"),), queues=(make.queue(),), groups=(make.group("w"),), pods=pods)
    session = scheduling.run(facts, QUOTAS["capacity"], 10**10, plugins.ALL)
    found = next(each for each in decisions.of_session(session, "simulate") if each.reason)
    assert found.message == f"{said} behind a scheduling gate"


def test_nodes_that_are_all_lost_are_the_reason_and_not_a_want_of_room():
    facts = f.ClusterFacts(
        nodes=(make.node("n", ready=False),),
        queues=(make.queue(),),
        groups=(make.group("w"),),
        pods=(make.pod("w", "w"),),
    )
    session = scheduling.run(facts, QUOTAS["proportion"], 10**10, plugins.ALL)
    found = next(each for each in decisions.of_session(session, "simulate") if each.reason)
    assert (found.reason, found.message) == ("node_not_ready", "1 node is there, and it is not ready")
