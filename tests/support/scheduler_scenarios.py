"""Scheduler scenarios as facts and policies. A key that is not known fails: nothing of a scenario may be overlooked."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import msgspec

from pipeline.records.shapes.pod import Affinity, Toleration, TopologySpreadConstraint
from scheduler_core.model import facts as f
from scheduler_core.model.policy import PluginChoice, Policy

_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")


def only(where, what, *known):
    """Fails for a key that is not among those known."""
    unknown = set(what) - set(known)
    assert not unknown, f"{where}: unknown keys {sorted(unknown)}"
    return what


def nanoseconds(text):
    """RFC 3339 with up to nine digits of a second."""
    whole, fraction, zone = _TIME.fullmatch(text).groups()
    at = datetime.fromisoformat(whole + ("+00:00" if zone == "Z" else zone)) - datetime(1970, 1, 1, tzinfo=UTC)
    return (at.days * 86400 + at.seconds) * 1_000_000_000 + int((fraction or "0").ljust(9, "0"))


def created(what):
    return nanoseconds(what["creationTime"]) if "creationTime" in what else f.NEVER_NS


def node(what):
    only("node", what, "name", "allocatable", "labels", "taints", "unschedulable")
    for taint in what.get("taints", ()):
        only("taint", taint, "key", "value", "effect")
    return f.NodeFacts(
        name=what["name"],
        allocatable=what["allocatable"],
        labels=what.get("labels", {}),
        taints=tuple((t["key"], t.get("value", ""), t["effect"]) for t in what.get("taints", ())),
        unschedulable=what.get("unschedulable", False),
    )


def queue(what):
    only("queue", what, "name", "weight", "state", "capability", "deserved", "guarantee", "priority", "parent", "reclaimable",
         "creationTime")  # fmt: skip
    return f.QueueFacts(
        name=what["name"],
        weight=what["weight"],
        state=what["state"],
        capability=what.get("capability"),
        deserved=what.get("deserved"),
        guarantee=what.get("guarantee"),
        priority=what.get("priority", 0),
        parent=what.get("parent", ""),
        reclaimable=what.get("reclaimable", True),
        created_ns=created(what),
    )


def group(what):
    only("podGroup", what, "name", "namespace", "queue", "minMember", "minTaskMember", "minResources", "phase",
         "priorityClassName", "creationTime", "annotations", "networkTopology", "allocatedHyperNode")  # fmt: skip
    topology = what.get("networkTopology")
    if topology is not None:
        only("networkTopology", topology, "mode", "highestTierAllowed", "highestTierName")
        topology = f.TopologyFacts(
            topology.get("mode", ""), topology.get("highestTierAllowed"), topology.get("highestTierName", "")
        )
    return f.GroupFacts(
        namespace=what["namespace"],
        name=what["name"],
        queue=what["queue"],
        min_member=what["minMember"],
        min_task_member=what.get("minTaskMember", {}),
        min_resources=what.get("minResources"),
        priority_class=what.get("priorityClassName", ""),
        phase=what["phase"],
        annotations=what.get("annotations", {}),
        topology=topology,
        allocated_domain=what.get("allocatedHyperNode", ""),
        created_ns=created(what),
    )


def pod(what):
    only("pod", what, "namespace", "name", "group", "phase", "requests", "node", "labels", "annotations", "nodeSelector",
         "tolerations", "affinity", "topologySpreadConstraints", "hostPorts", "priority", "preemptionPolicy",
         "creationTime", "deletionTimestamp", "binding", "priorityClassName", "nominatedNodeName")  # fmt: skip
    for port in what.get("hostPorts", ()):
        only("hostPort", port, "port", "protocol", "hostIP")
    return f.PodFacts(
        uid=f"{what['namespace']}-{what['name']}",
        namespace=what["namespace"],
        name=what["name"],
        group=f"{what['namespace']}/{what['group']}" if what.get("group") else "",
        phase=what["phase"],
        node=what.get("node", ""),
        deleting="deletionTimestamp" in what,
        binding=what.get("binding", False),
        containers=(f.ContainerFacts(what["requests"]),),
        labels=what.get("labels", {}),
        annotations=what.get("annotations", {}),
        node_selector=what.get("nodeSelector", {}),
        affinity=msgspec.convert(what["affinity"], Affinity) if "affinity" in what else None,
        tolerations=tuple(msgspec.convert(t, Toleration) for t in what.get("tolerations", ())),
        spread=tuple(msgspec.convert(t, TopologySpreadConstraint) for t in what.get("topologySpreadConstraints", ())),
        ports=tuple((p.get("protocol", "TCP"), p["port"], p.get("hostIP", "")) for p in what.get("hostPorts", ())),
        priority=what.get("priority"),
        priority_class=what.get("priorityClassName", ""),
        preemption_policy=what.get("preemptionPolicy", ""),
        nominated_node=what.get("nominatedNodeName", ""),
        created_ns=created(what),
    )


def domain(what):
    only("hyperNode", what, "name", "tier", "tierName", "nodes", "children")
    return f.DomainFacts(
        name=what["name"],
        tier=what["tier"],
        tier_name=what.get("tierName", ""),
        nodes=tuple(what["nodes"]),
        children=tuple(what.get("children", ())),
    )


def priority_class(what):
    only("priorityClass", what, "name", "value", "preemptionPolicy", "globalDefault")
    return f.PriorityClassFacts(what["name"], what["value"], what.get("globalDefault", False))


def cluster(what, order=None):
    """The facts of a scenario's cluster, in the order of its file or in one drawn from a random source."""
    only("cluster", what, "nodes", "queues", "priorityClasses", "podGroups", "pods", "hyperNodes", "hyperNodesReady")
    facts = f.ClusterFacts(
        nodes=tuple(map(node, what["nodes"])),
        queues=tuple(map(queue, what["queues"])),
        groups=tuple(map(group, what["podGroups"])),
        pods=tuple(map(pod, what["pods"])),
        priority_classes=tuple(map(priority_class, what["priorityClasses"])),
        domains=tuple(map(domain, what.get("hyperNodes", ()))),
        domains_ready=what.get("hyperNodesReady", True),
    )
    return facts if order is None else shuffled(facts, order)


def shuffled(facts, r):
    """The same facts in another order, drawn from a random source; what lies in a part of the network too."""

    def mixed(items):
        return tuple(r.sample(items, len(items)))

    domains = [msgspec.structs.replace(d, nodes=mixed(d.nodes), children=mixed(d.children)) for d in facts.domains]
    return msgspec.structs.replace(
        facts,
        nodes=mixed(facts.nodes),
        queues=mixed(facts.queues),
        groups=mixed(facts.groups),
        pods=mixed(facts.pods),
        priority_classes=mixed(facts.priority_classes),
        domains=mixed(tuple(domains)),
    )


def policy(config, actions=None):
    """The policy of a scenario: flags that are not listed are off."""
    only("config", config, "flagDefault", "tiers", "actions", "actionArgs")
    assert config["flagDefault"] is False
    tiers = []
    for tier in config["tiers"]:
        choices = []
        for plugin in tier:
            only("plugin", plugin, "name", "enabled", "args")
            enabled = frozenset(flag for flag, on in plugin["enabled"].items() if on)
            choices.append(PluginChoice(plugin["name"], enabled, plugin["args"]))
        tiers.append(tuple(choices))
    return Policy(
        name="scenario",
        actions=tuple(config["actions"] if actions is None else actions),
        tiers=tuple(tiers),
        action_arguments=config.get("actionArgs") or {},
    )
