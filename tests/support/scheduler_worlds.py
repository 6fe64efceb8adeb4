"""Small random clusters for properties of the scheduler, and a recount of why a task does not fit that shares no code with it."""

from __future__ import annotations

from collections import Counter

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
)
from scheduler_core.model import facts as f
from scheduler_core.model import status
from scheduler_core.model.policy import FLAGS, PluginChoice, Policy

HOST = "kubernetes.io/hostname"
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


def world(r, *, nodes=5, jobs=6, relations=False):
    """A cluster with running and waiting jobs, drawn from a random source."""
    made_nodes = [node(r, at) for at in range(r.randint(1, nodes))]
    queues = [
        f.QueueFacts(name=f"q{at}", weight=r.randint(1, 3), capability={"cpu": "20"} if r.random() < 0.2 else None)
        for at in range(r.randint(1, 3))
    ]
    groups, pods, room = [], [], {each.name: 8 for each in made_nodes}
    for at in range(r.randint(1, jobs)):
        members = r.randint(1, 4)
        running = r.random() < 0.4
        groups.append(
            f.GroupFacts(
                namespace="ns", name=f"j{at}", queue=r.choice(queues).name, min_member=r.randint(0, members),
                phase="Running" if running else r.choice(["Pending", "Inqueue"]), created_ns=r.randint(1, 9) * 10**9,
                min_resources={"cpu": r.randint(0, 6)} if r.random() < 0.5 else None,
                priority_class=r.choice(["", "hi", "lo"]),
            )
        )  # fmt: skip
        for number in range(members):
            pods.append(pod(r, at, number, running, made_nodes, room, relations))
    return f.ClusterFacts(
        nodes=tuple(made_nodes), queues=tuple(queues), groups=tuple(groups), pods=tuple(pods),
        priority_classes=(f.PriorityClassFacts("hi", 100), f.PriorityClassFacts("lo", 10)),
    )  # fmt: skip


def node(r, at):
    return f.NodeFacts(
        name=f"n{at}",
        allocatable={
            "cpu": r.choice(["2", "4", "8"]),
            "memory": r.choice(["4Gi", "16Gi"]),
            "pods": r.choice(["3", "10"]),
        }
        | ({"nvidia.com/gpu": r.choice(["1", "4"])} if r.random() < 0.5 else {}),
        labels={HOST: f"n{at}", "zone": r.choice("ab")} | ({"gen": r.choice("35")} if r.random() < 0.5 else {}),
        taints=(("dedicated", "x", r.choice(["NoSchedule", "PreferNoSchedule"])),) if r.random() < 0.3 else (),
        unschedulable=r.random() < 0.15,
        ready=r.random() > 0.1,
        rack=r.choice(["r1", "r2"]),
    )


def pod(r, job, number, running, nodes, room, relations):
    requests = {"cpu": r.choice(["500m", "1", "2", "3"]), "memory": r.choice(["512Mi", "1Gi", "5Gi"])}
    if r.random() < 0.3:
        requests["nvidia.com/gpu"] = r.choice(["1", "2"])
    if r.random() < 0.1:
        requests = {}
    host = r.choice(nodes)
    placed = running and room[host.name] > 0
    room[host.name] -= placed
    return f.PodFacts(
        uid=f"ns-j{job}-w-{number}", namespace="ns", name=f"j{job}-w-{number}", group=f"ns/j{job}",
        phase="Running" if placed else "Pending", node=host.name if placed else "",
        deleting=placed and r.random() < 0.2,
        containers=(f.ContainerFacts(requests),),
        labels={"app": r.choice("xy")} | ({"volcano.sh/task-spec": r.choice(["ps", "worker"])} if r.random() < 0.3 else {}),
        node_selector={"zone": r.choice("abc")} if r.random() < 0.25 else {},
        tolerations=(Toleration(key="dedicated", operator="Exists"),) if r.random() < 0.3 else (),
        affinity=affinity(r, relations),
        ports=(("TCP", r.choice([80, 81]), ""),) if relations and r.random() < 0.2 else (),
        priority=r.choice([None, 5, 50]),
        created_ns=r.randint(1, 5) * 10**9,
    )  # fmt: skip


def affinity(r, relations):
    choice = r.random()
    if choice < 0.15:
        operator, values = r.choice([("Gt", ["4"]), ("In", ["3"]), ("NotIn", ["3"]), ("DoesNotExist", [])])
        term = NodeSelectorTerm([LabelExpression("gen", operator, values)])
        return Affinity(NodeAffinity(NodeSelector([term])))
    if relations and choice < 0.4:
        term = PodAffinityTerm(LabelSelector({"app": r.choice("xy")}), r.choice([HOST, "zone"]))
        terms = PodAffinity([term])
        return Affinity(pod_anti_affinity=terms) if r.random() < 0.6 else Affinity(pod_affinity=terms)
    return None


# --- the recount ------------------------------------------------------------------------------------------------------------


def recount(session, facts, task):
    """Nodes by the set of checks they fail for a task, from the facts and from where tasks are now."""
    by_uid = {each.uid: each for each in facts.pods}
    mine = by_uid[task.uid]
    hosts = {each.name: each for each in facts.nodes}
    present = [
        (by_uid[other.uid], name)
        for name, tasks in zip(session.nodes.names, session.nodes.tasks, strict=True)
        for other in tasks.values()
        if not session.nodes.is_gone(other)
    ]
    counts = Counter()
    for name, tasks in zip(session.nodes.names, session.nodes.tasks, strict=True):
        failed = set()
        failed |= short_of(hosts[name], mine, [(by_uid[t.uid], t.status) for t in tasks.values()])
        failed |= shut(hosts[name], mine)
        here = [each for each, where in present if where == name]
        if _whole(hosts[name].allocatable.get("pods", 0)) <= len(here):
            failed.add("NodePodNumber")
        if {port for each in here for port in each.ports} & set(mine.ports):
            failed.add("NodePorts")
        failed |= by_pods(hosts, name, mine, present)
        counts[frozenset(failed)] += 1
    return counts


def short_of(host, mine, tasks):
    """Resources that will not be enough when what leaves has left and what is promised has come."""
    ask = request(mine)
    short = set()
    for name in {"cpu", "memory", "pods", *ask}:
        held = sum(
            request(each).get(name, 0) for each, state in tasks if state not in (status.RELEASING, status.PIPELINED)
        )
        promised = sum(request(each).get(name, 0) for each, state in tasks if state == status.PIPELINED)
        if ask.get(name, 0) > amount(name, host.allocatable.get(name, 0)) - held - promised:
            short.add(f"NodeResourcesFit/{name}")
    return short


def request(pod_facts):
    found = {name: amount(name, value) for name, value in pod_facts.containers[0].requests.items()}
    return found | {"pods": 1}


def amount(name, value):
    return _whole(value) if name in ("memory", "pods") else _milli(value)


def _milli(value):
    text = str(value)
    return int(text[:-1]) if text.endswith("m") else int(text) * 1000


def _whole(value):
    text = str(value)
    for unit, size in (("Gi", 2**30), ("Mi", 2**20)):
        if text.endswith(unit):
            return int(text[:-2]) * size
    return int(text)


def shut(host, mine):
    failed = set()
    if not host.ready:
        failed.add("NodeNotReady")
    if host.unschedulable:
        failed.add("NodeUnschedulable")
    if any(host.labels.get(key) != value for key, value in mine.node_selector.items()) or not likes(host, mine):
        failed.add("NodeAffinity")
    hard = [taint for taint in host.taints if taint[2] != "PreferNoSchedule"]
    if hard and not mine.tolerations:
        failed.add("TaintToleration")
    return failed


def likes(host, mine):
    if mine.affinity is None or mine.affinity.node_affinity is None:
        return True
    expression = mine.affinity.node_affinity.required_during_scheduling_ignored_during_execution.node_selector_terms[
        0
    ].match_expressions[0]
    value = host.labels.get(expression.key)
    return {
        "In": value in expression.values,
        "NotIn": value not in expression.values,
        "DoesNotExist": value is None,
        "Gt": value is not None and int(value) > int((expression.values or ["0"])[0]),
    }[expression.operator]


def by_pods(hosts, name, mine, present):
    failed = set()
    for term in terms(mine, "pod_affinity"):
        matching = [where for each, where in present if means(term, each)]
        domains = {hosts[where].labels.get(term.topology_key) for where in matching}
        if matching:
            if hosts[name].labels.get(term.topology_key) not in domains:
                failed.add("InterPodAffinity")
        elif not means(term, mine):
            failed.add("InterPodAffinity")
    for carrier, other, where in [(mine, each, at) for each, at in present] + [
        (each, mine, at) for each, at in present
    ]:
        for term in terms(carrier, "pod_anti_affinity"):
            near = hosts[where].labels.get(term.topology_key) == hosts[name].labels.get(term.topology_key)
            if near and means(term, other):
                failed.add("InterPodAffinity")
    return failed


def terms(pod_facts, kind):
    found = getattr(pod_facts.affinity, kind) if pod_facts.affinity else None
    return found.required_during_scheduling_ignored_during_execution if found else ()


def means(term, pod_facts):
    return all(pod_facts.labels.get(key) == value for key, value in term.label_selector.match_labels.items())
