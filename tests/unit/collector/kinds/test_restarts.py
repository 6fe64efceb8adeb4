"""A collector that restarts at any moment ends up knowing what one that never stopped knows."""

import random

import pytest

from tests.support.mirrored import (
    GROUPS,
    JOBS,
    NODES,
    PODS,
    Cluster,
    group_pod,
    node,
    owned,
    pod,
    thing,
)

NAMES = ("a", "b", "c")


class World:
    """What the API server holds; every change has a version of its own."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.objects = {}
        self.version = 1000
        self.lives = 0
        self.unseen = set()
        """Born while the collector was down. What also dies then was never seen by it, and what such a pod belongs to
        does not die: whether the pod came before that or after is nothing that a list shows."""

    def step(self, *, down=False):
        """(key, frame type, object) of a change at random."""
        key = self.dice.choice((PODS, PODS, PODS, GROUPS, JOBS, NODES))
        existing = [(k, uid) for k, uid in self.objects if k == key]
        action = self.dice.choice(("ADDED", "ADDED", "MODIFIED", "DELETED"))
        if action == "ADDED" or not existing:
            made = self._put(key, "ADDED", self._new(key))
            if down:
                self.unseen.add(made[2]["metadata"]["uid"])
            return made
        chosen = self.dice.choice(existing)
        if action == "DELETED" and not self._unseen(chosen):
            return self._put(key, "DELETED", self.objects[chosen])
        return self._put(key, "MODIFIED", self._changed(key, self.objects[chosen]))

    def _unseen(self, chosen):
        name = self.objects[chosen]["metadata"]["name"]
        links = [str(each) for (key, uid), each in self.objects.items() if key == PODS and uid in self.unseen]
        return chosen[1] in self.unseen or any(f"'{name}'" in each for each in links)

    def _put(self, key, action, each):
        self.version += 1
        each = {**each, "metadata": {**each["metadata"], "resourceVersion": str(self.version)}}
        uid = each["metadata"]["uid"]
        if action == "DELETED":
            del self.objects[key, uid]
        else:
            self.objects[key, uid] = each
        return key, action, each

    def _new(self, key):
        self.lives += 1
        uid = f"uid-{self.lives}"
        if key == NODES:
            return node(f"node-{self.lives}", labels={"pool": self.dice.choice(NAMES)})
        if key == PODS:
            return self._new_pod(uid)
        name = self.dice.choice([n for n in NAMES if not self._taken(key, n)] or [f"more-{self.lives}"])
        each = thing(name, uid=uid)
        if self.dice.random() < 0.3:
            return owned(each, "JobSet", "set", "jobset.x-k8s.io/v1")
        return each

    def _taken(self, key, name):
        return any(k == key and each["metadata"]["name"] == name for (k, _), each in self.objects.items())

    def _new_pod(self, uid):
        spec = {"nodeSelector": {"pool": self.dice.choice(NAMES)}}
        jobs = [each["metadata"] for (key, _), each in self.objects.items() if key == JOBS]
        name = f"pod-{uid}"
        kind = self.dice.choice(("alone", "of a group", "of a job"))
        if kind == "of a job" and jobs:
            job = self.dice.choice(jobs)
            return owned(pod(name, uid=uid, spec=spec), "Job", job["name"], uid=job["uid"])
        if kind == "of a group":
            return {**group_pod(name, self.dice.choice(NAMES), uid=uid)}
        return pod(name, uid=uid, spec=spec)

    def _changed(self, key, each):
        if key == NODES:
            return {**each, "spec": {"unschedulable": self.dice.random() < 0.5}}
        if key == PODS and self.dice.random() < 0.5:
            return {**each, "spec": {**each["spec"], "nodeName": "somewhere"}}
        return {**each, "metadata": {**each["metadata"], "labels": {"changed": str(self.version)}}}


class Store:
    """Known objects as the collector's database keeps them."""

    def __init__(self):
        self.rows = {}

    def save(self, cluster):
        changes = cluster.known()
        for each in changes.upserts:
            self.rows[each.key, each.uid] = each
        for key in changes.deletes:
            self.rows.pop(key, None)


@pytest.mark.parametrize("seed", range(25))
def test_whatever_happens_while_it_is_down(seed):
    world, steady, store = World(seed), Cluster(), Store()
    once = Store()
    mortal = Cluster()
    for _ in range(6):
        for _ in range(world.dice.randrange(25)):
            key, action, each = world.step()
            for cluster in (steady, mortal):
                cluster.copy(key, each, action)
            if world.dice.random() < 0.3:
                for cluster in (steady, mortal):
                    cluster.pass_ms(700)
        for cluster in (steady, mortal):
            cluster.pass_ms(3000)
        store.save(mortal)
        for _ in range(world.dice.randrange(6)):  # the one is down, the other is not
            key, action, each = world.step(down=True)
            steady.copy(key, each, action)
        world.unseen.clear()
        steady.pass_ms(3000)
        mortal = Cluster(listed=False)
        mortal.now = steady.now
        mortal.mirror.restore(store.rows.values())
        for kind in mortal.options.kinds:
            mortal.list(kind.name, *(each for (key, _), each in world.objects.items() if key == kind.name))
        mortal.pass_ms(3000)
        once.save(steady)
        store.save(mortal)
        assert told(store) == told(once)


def told(store):
    """What was told of every object: its state, its job, the facts. Of nodes what is kept, not in which version."""
    return {key: (each.digest or each.version, each.job, each.facts) for key, each in store.rows.items()}


@pytest.mark.parametrize("seed", range(5))
def test_a_restart_in_which_nothing_happened_writes_nothing(seed):
    world, cluster, store = World(seed), Cluster(), Store()
    for _ in range(60):
        key, action, each = world.step()
        cluster.copy(key, each, action)
    cluster.pass_ms(3000)
    store.save(cluster)
    again = Cluster(listed=False)
    again.now = cluster.now
    again.mirror.restore(store.rows.values())
    for kind in again.options.kinds:
        again.list(kind.name, *(each for (key, _), each in world.objects.items() if key == kind.name))
    again.pass_ms(3000)
    assert again.wrote() == []
