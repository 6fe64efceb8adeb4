"""Clusters and loads for benchmarks of the scheduler, and the policies they run under.

`mixed` is a fleet as training clusters have them: nodes of eight devices in racks of 16 and spines of 8 racks, three models,
5 % and 2 % tainted, half the nodes partly used; waiting gangs of 1 to 32 in 120 classes, a second role in a third of those
with more than one task; 20 tenants of different size with 5 queues each. `volcano` is the cluster, made without dice, on
which a real Volcano was measured.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

import msgspec

from pipeline.records.shapes.pod import Toleration
from scheduler_core.model import facts as f
from scheduler_core.model.policy import FLAGS, PluginChoice, Policy

GPU = "nvidia.com/gpu"
MODELS = ("a100", "h100", "l40")
SECOND_NS = 1_000_000_000
START_NS = 1_772_409_600 * SECOND_NS
"""2 March 2026."""
RACK = 16
SPINE = 8 * RACK
SIZES = (1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 32)
TENANTS, QUEUES_EACH = 20, 5
_ON = frozenset(flag for flag, on in FLAGS.items() if on)

Pod = f.PodFacts


def policy(
    name: str, *tiers: tuple[str, ...], flags: tuple[str, ...] = (), **arguments: Mapping[str, object]
) -> Policy:
    """A policy of plugins by name; `flags` are put on beside the usual ones, arguments go by plugin name."""
    on = _ON | frozenset(flags)
    return Policy(
        name,
        ("enqueue", "allocate", "backfill"),
        tuple(tuple(PluginChoice(each, on, arguments.get(each, {})) for each in tier) for tier in tiers),
    )


VOLCANO = policy(
    "default", ("priority", "gang", "conformance"), ("overcommit", "drf", "predicates", "proportion", "nodeorder")
)
FULL = policy(
    "full",
    ("priority", "gang", "sla", "conformance"),
    ("drf", "predicates", "capacity", "binpack", "network-topology-aware"),
    flags=("hierarchy",),
    binpack={"binpack.resources": GPU, f"binpack.resources.{GPU}": 5},
    **{"network-topology-aware": {"hypernode.binpack.normal-pod.enable": False}},
)
"""Gangs, deadlines, a tree of queues with quotas, fair shares, every check of nodes, packing and the network."""


# --- the mixed fleet ------------------------------------------------------------------------------------------------------


class Mixed:
    """See above. `tasks` is about how many wait, `near` the part of gangs that ask to be near each other; `served` more
    pods without devices run on every node; `limited` queues have quotas that bind."""

    def __init__(
        self, nodes: int, tasks: int, *, seed: int = 1, near: float = 0.2, served: int = 0, limited: bool = True
    ) -> None:
        self.dice = random.Random(seed)
        self.size = nodes
        self.near = near
        self.served = served
        self.limited = limited
        self.groups: list[f.GroupFacts] = []
        self.pods: list[Pod] = []
        self.nodes = [self._node(at) for at in range(nodes)]
        self._running()
        self.running = len(self.pods)
        while len(self.pods) - self.running < tasks:
            self._waiting()

    @property
    def facts(self) -> f.ClusterFacts:
        """The whole cluster."""
        return f.ClusterFacts(
            nodes=tuple(self.nodes),
            queues=tuple(_queues(self.size, self.limited)),
            groups=tuple(self.groups),
            pods=tuple(self.pods),
            priority_classes=(f.PriorityClassFacts("low", 10), f.PriorityClassFacts("high", 1000)),
            domains=tuple(_domains(self.size)),
        )

    @property
    def waiting(self) -> int:
        """Tasks without a node."""
        return len(self.pods) - self.running

    @property
    def classes(self) -> int:
        """Distinct wishes of waiting tasks."""
        return len({
            (tuple(pod.containers[0].requests.items()), *pod.node_selector.items(), len(pod.tolerations))
            for pod in self.pods[self.running :]
        })  # fmt: skip

    def setup(self) -> dict[str, object]:
        """What was measured on, for a figure."""
        return {
            "nodes": self.size, "running": self.running, "waiting": self.waiting, "gangs": "1 to 32, a third in two roles",
            "classes": self.classes, "queues": f"{TENANTS} tenants with {QUEUES_EACH}", "near": self.near, "policy": "full",
            "quotas": "bind" if self.limited else "do not bind",
        }  # fmt: skip

    @property
    def by_uid(self) -> dict[str, Pod]:
        """All pods."""
        return {pod.uid: pod for pod in self.pods}

    def gang(self, size: int) -> list[f.GroupFacts | Pod]:
        """One more waiting gang of equal pods, as objects that have just come."""
        job = self.add_group(size, "Pending")
        asked = self._request(1)
        pods = [_pod(job, at, asked) for at in range(size)]
        self.pods += pods
        return [job, *pods]

    def _node(self, at: int) -> f.NodeFacts:
        taint = "infer" if at % 20 == 19 else "night" if at % 50 == 7 else ""
        return f.NodeFacts(
            name=f"n{at:05d}",
            allocatable={"cpu": 128 if at % 3 else 96, "memory": f"{1024 if at % 2 else 768}Gi", GPU: 8, "pods": 110},
            labels={"model": MODELS[at // SPINE % 3], "rack": f"r{at // RACK:04d}", "kubernetes.io/hostname": f"n{at:05d}"},
            taints=(("dedicated", taint, "NoSchedule"),) if taint else (),
            spine=f"s{at // SPINE:03d}",
            rack=f"r{at // RACK:04d}",
        )  # fmt: skip

    def _running(self) -> None:
        """Two or three pods on every other node, in jobs of eight pods that run."""
        places = [at for at in range(0, self.size, 2) for _ in range(self.dice.choice((2, 3)))]
        self._run(places, lambda: self._request(2))
        self._run([at for at in range(self.size) for _ in range(self.served)], lambda: {"cpu": 2, "memory": "8Gi"})

    def _run(self, places: list[int], request: Callable[[], dict[str, str | int]]) -> None:
        for start in range(0, len(places), 8):
            job = self.add_group(len(places[start : start + 8]), "Running")
            for number, at in enumerate(places[start : start + 8]):
                self.pods.append(_pod(job, number, request(), phase="Running", node=f"n{at:05d}"))

    def _waiting(self) -> None:
        size = self.dice.choice(SIZES)
        job = self.add_group(size, "Pending")
        role = self._request(self.dice.choice((1, 2, 4, 8)))
        selector, tolerations = self._wishes()
        second = self._request(1) if size > 1 and self.dice.random() < 0.3 else None
        for at in range(size):
            asked = second if second is not None and at == 0 else role
            self.pods.append(_pod(job, at, asked, node_selector=selector, tolerations=tolerations))

    def _request(self, gpus: int) -> dict[str, str | int]:
        cpu = gpus * self.dice.choice((4, 8, 12))
        return {"cpu": cpu, "memory": f"{gpus * self.dice.choice((32, 64))}Gi", GPU: gpus}

    def _wishes(self) -> tuple[dict[str, str], tuple[Toleration, ...]]:
        pick = self.dice.randrange(5)
        if pick < 3:
            return {"model": MODELS[pick]}, ()
        return {}, (Toleration(key="dedicated", operator="Equal", value="infer"),) if pick == 3 else ()

    def add_group(self, size: int, phase: str) -> f.GroupFacts:
        """One more group, without pods."""
        number = len(self.groups)
        tenant = min(self.dice.randrange(TENANTS), self.dice.randrange(TENANTS))
        near = phase == "Pending" and size > 1 and self.dice.random() < self.near
        job = f.GroupFacts(
            namespace=f"t{tenant:02d}",
            name=f"job{number:05d}",
            queue=f"t{tenant:02d}-q{self.dice.randrange(QUEUES_EACH)}",
            min_member=size,
            phase=phase,
            priority_class=self.dice.choice(("low", "", "high")),
            topology=f.TopologyFacts("soft") if near else None,
            annotations={"sla-waiting-time": "2h"} if number % 4 == 0 else {},
            created_ns=START_NS + number * SECOND_NS,
        )
        self.groups.append(job)
        return job


def impossible(nodes: int, jobs: int, *, distinct: bool) -> f.ClusterFacts:
    """Waiting jobs of one task that no node can take, on the fleet; of one class each, or of thirty in all."""
    fleet = Mixed(nodes, 0)
    for at in range(jobs):
        group = msgspec.structs.replace(fleet.add_group(1, "Inqueue"), topology=None)
        kind = at if distinct else at % 30
        asked: dict[str, str | int] = {"cpu": 4, "memory": f"{1024 + kind}Mi", GPU: 16}
        fleet.pods.append(_pod(group, 0, asked, node_selector={"model": MODELS[kind % 3]}))
    return fleet.facts


def _pod(job: f.GroupFacts, number: int, requests: dict[str, str | int], **more: object) -> Pod:
    name = f"{job.name}-w-{number}"
    return Pod(
        uid=f"{job.namespace}-{name}", namespace=job.namespace, name=name, group=f"{job.namespace}/{job.name}",
        containers=(f.ContainerFacts(requests),), priority=10, created_ns=job.created_ns, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def _queues(nodes: int, limited: bool) -> Iterator[f.QueueFacts]:
    """A tree: each tenant may have a twelfth of all devices, each of its queues an eighth of that; or all."""
    yield f.QueueFacts(name="root")
    devices = 8 * nodes
    tenant_most, queue_most = (devices // 12, devices // 96) if limited else (devices, devices)
    for tenant in range(TENANTS):
        yield f.QueueFacts(
            name=f"t{tenant:02d}", parent="root", capability={GPU: tenant_most}, deserved={GPU: devices // TENANTS}
        )
        for at in range(QUEUES_EACH):
            yield f.QueueFacts(
                name=f"t{tenant:02d}-q{at}", parent=f"t{tenant:02d}", capability={GPU: queue_most},
                deserved={GPU: devices // (TENANTS * QUEUES_EACH)},
            )  # fmt: skip


def _domains(nodes: int) -> Iterator[f.DomainFacts]:
    for name, size, tier in (("r", RACK, 1), ("s", SPINE, 2)):
        for start in range(0, nodes, size):
            inside = range(start, min(start + size, nodes))
            yield f.DomainFacts(
                name=f"{name}{start // size:04d}",
                tier=tier,
                nodes=tuple(f"n{at:05d}" for at in inside),
                children=tuple(f"r{at // RACK:04d}" for at in inside[::RACK]) if tier == 2 else (),
            )


# --- the cluster on which Volcano was measured ------------------------------------------------------------------------------

_SHAPES = ((96, 768, 8), (96, 384, 8), (64, 256, 4), (64, 512, 0))
"""(cpu, memory in Gi, devices) by node number."""


def volcano(gangs: int, *, refused: bool) -> f.ClusterFacts:
    """5,000 nodes, 20 weighted queues, gangs of eight in three priorities; refused ones ask what no node can give."""
    jobs = [_gang(at, refused) for at in range(gangs)]
    return f.ClusterFacts(
        nodes=tuple(_volcano_node(at) for at in range(5000)),
        queues=tuple(f.QueueFacts(name=f"q{at:02d}", weight=1 + at % 4) for at in range(20)),
        groups=tuple(job for job, _ in jobs),
        pods=tuple(pod for _, pods in jobs for pod in pods),
        priority_classes=tuple(f.PriorityClassFacts(name, value) for name, value in _PRIORITIES),
    )


_PRIORITIES = (("low", 10), ("mid", 100), ("high", 1000))


def _volcano_node(at: int) -> f.NodeFacts:
    cpu, memory, devices = _SHAPES[at % 4]
    return f.NodeFacts(
        name=f"n{at:05d}",
        allocatable={"cpu": cpu, "memory": f"{memory}Gi", GPU: devices, "pods": 110},
        labels={"model": MODELS[at % 3], "rack": f"r{at // RACK:03d}"},
        taints=(("dedicated", "infer", "NoSchedule"),) if at % 20 == 19 else (),
    )


def _gang(at: int, refused: bool) -> tuple[f.GroupFacts, list[Pod]]:
    asked = {"cpu": (2, 4, 6)[at % 3], "memory": (8, 16, 24, 32, 40)[at % 5], GPU: (0, 1, 1, 2)[at % 4]}
    selector = {"model": MODELS[at % 3]} if at % 6 == 5 else {}
    if refused:
        asked, selector = _impossible(at, asked, selector)
    name, priority = _PRIORITIES[at % 3]
    job = f.GroupFacts(
        namespace="ml",
        name=f"job{at:05d}",
        queue=f"q{7 * at % 20:02d}",
        min_member=8,
        min_resources=None if refused else _quantities({key: 8 * amount for key, amount in asked.items()}),
        priority_class=name,
        created_ns=START_NS + at * SECOND_NS,
    )
    pods = [_pod(job, number, _quantities(asked), node_selector=selector) for number in range(8)]
    return job, [_with_priority(pod, priority) for pod in pods]


def _impossible(at: int, asked: dict[str, int], selector: dict[str, str]) -> tuple[dict[str, int], dict[str, str]]:
    if at % 3 == 1:
        return asked, {"model": "none"}
    return {**asked, **({GPU: 16} if at % 3 == 0 else {"cpu": 128})}, selector


def _quantities(asked: dict[str, int]) -> dict[str, str | int]:
    found: dict[str, str | int] = {"cpu": asked["cpu"], "memory": f"{asked['memory']}Gi"}
    if asked[GPU]:
        found[GPU] = asked[GPU]
    return found


def _with_priority(pod: Pod, priority: int) -> Pod:
    return msgspec.structs.replace(pod, priority=priority)
