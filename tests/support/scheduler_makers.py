"""Short words for the facts that tests of the scheduler are made of, and sessions on them."""

from __future__ import annotations

from scheduler_core import actions, plugins, scheduling
from scheduler_core.model import facts as f
from tests.support import scheduler_worlds as worlds

SECOND = 1_000_000_000


def node(name, cpu=4, memory="8Gi", pods=20, *, more=None, **fields):
    """A node; `more` are further resources."""
    return f.NodeFacts(name=name, allocatable={"cpu": cpu, "memory": memory, "pods": pods} | (more or {}), **fields)


def queue(name="q", **fields):
    return f.QueueFacts(name=name, **fields)


def group(name, queue="q", **fields):
    """A gang that was let in, of one task unless told otherwise."""
    return f.GroupFacts(
        **{"namespace": "ns", "name": name, "queue": queue, "min_member": 1, "phase": "Inqueue", "created_ns": SECOND}
        | fields
    )


def pod(name, group, cpu=1, *, on="", more=None, **fields):
    """A waiting pod, or a running one on a node."""
    requests = ({"cpu": cpu} if cpu else {}) | (more or {})
    placed = {"phase": "Running", "node": on} if on else {}
    return f.PodFacts(
        **{"uid": name, "namespace": "ns", "name": name, "group": f"ns/{group}"}
        | {"containers": (f.ContainerFacts(requests),)} | placed | fields
    )  # fmt: skip


def opened(nodes, groups, pods, policy, *, queues=(), classes=(), now_ns=100 * SECOND, domains=()):
    """A session on these facts."""
    facts = f.ClusterFacts(
        nodes=tuple(nodes), queues=tuple(queues) or (queue(),), groups=tuple(groups), pods=tuple(pods),
        priority_classes=tuple(f.PriorityClassFacts(name, value) for name, value in classes), domains=tuple(domains),
    )  # fmt: skip
    return scheduling.open_session(facts, policy, now_ns, plugins.ALL)


def ran(*args, **named):
    """The same with every action of the policy run."""
    session = opened(*args, **named)
    for name in session.policy.actions:
        actions.ALL[name](session)
    scheduling.finish(session)
    return session


def bound(session):
    """Where tasks were bound, by name."""
    return {task.name: node for task, node in session.binds.values()}


def evicted(session):
    return sorted(each.task.name for each in session.evictions)


def task(session, name):
    """The task of this name."""
    return next(each for job in session.jobs.values() for each in job.tasks.values() if each.name == name)


policy = worlds.policy
