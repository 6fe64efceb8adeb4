"""Deciders that keep their tables from session to session decide what new ones decide, whatever the log tells."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.records.envelope import Record
from pipeline.records.jobs import JobRef
from scheduler_core import plugins, tiers
from scheduler_core.cache.changes import MOST
from scheduler_core.cache.mirror import OTHERS, VOLCANO, Mirror
from scheduler_core.shadow.others import Others
from scheduler_core.shadow.volcano import Volcano
from tests.support.object_records import deleted, group, node, pod, queue, record

NOW_MS = 1_767_225_700_000


def gang(name: str, uid: str, **more) -> Record:
    """A Volcano group of that name."""
    made = group(uid, **more)
    body = msgspec.json.decode(made.data.object)
    body["metadata"]["name"] = name
    made.data.object = msgspec.Raw(msgspec.json.encode(body))
    return made


def volcano() -> Volcano:
    return Volcano(tiers.default(plugins.ALL), plugins.ALL)


def told(decider, mirror):
    return msgspec.json.encode(decider(mirror, NOW_MS))


class Story:
    """What may happen to a small cluster, drawn."""

    def __init__(self, r: Random) -> None:
        self.r = r
        self.pods: dict[str, Record] = {}
        self.made = 0

    def next(self) -> list[Record]:
        """One thing that happens, as its records."""
        return self.r.choice((self.new_pod, self.new_pod, self.new_pod, self.bind, self.bind, self.end, self.group, self.node,
                              self.queue, self.beside, self.refuse))()  # fmt: skip

    def node(self) -> list[Record]:
        number = self.r.randint(1, 3)
        if self.r.random() < 0.15:
            return [deleted("Node", f"n-{number}")]
        taints = [{"key": "gpu", "effect": "NoSchedule"}] if self.r.random() < 0.3 else []
        return [node(f"n-{number}", f"n{number}", unschedulable=self.r.random() < 0.2, taints=taints)]

    def queue(self) -> list[Record]:
        return [queue(self.r.choice(["default", "gold"]), weight=self.r.randint(1, 3))]

    def group(self) -> list[Record]:
        name = self.r.choice("ab")
        uid = f"g-{name}{self.r.choice(['', '', '2'])}"
        if self.r.random() < 0.2:
            return [deleted("PodGroup", uid)]
        if self.r.random() < 0.3:
            spec = {"schedulingPolicy": {"gang": {"minCount": self.r.randint(1, 3)}}}
            body = {"metadata": {"name": name, "namespace": "ml"}, "spec": spec}
            return [record("PodGroup", f"native-{name}", body, group="scheduling.k8s.io")]
        phase, queue = self.r.choice(["Pending", "Inqueue"]), self.r.choice(["default", "gold", "none"])
        return [gang(name, uid, phase=phase, queue=queue)]

    def beside(self) -> list[Record]:
        name = self.r.choice("vw")
        body = {"metadata": {"name": name, "namespace": "ml"}, "spec": {"volumeName": self.r.choice(["", "pv"])}}
        notes = {"metadata": {"name": "train", "namespace": "ml", "annotations": {"sla-waiting-time": "1h"}}}
        return [
            self.r.choice([record("PersistentVolumeClaim", f"c-{name}", body), record("Job", "job-1", notes, group="batch.volcano.sh"),
                           record("PriorityClass", "high", {"metadata": {"name": "high"}, "value": self.r.randint(1, 9)})])
        ]  # fmt: skip

    def new_pod(self) -> list[Record]:
        self.made += 1
        volcanos = self.r.random() < 0.5
        ask = {"cpu": str(self.r.randint(0, 9)), **({"gpu": "1"} if self.r.random() < 0.3 else {})}
        if self.r.random() < 0.03:
            ask["example.com/rare"] = "1"
        ports = [{"containerPort": 1, "hostPort": 80}] if self.r.random() < 0.1 else []
        more: dict[str, object] = {"containers": [{"name": "main", "resources": {"requests": ask}, "ports": ports}]}
        if self.r.random() < 0.15:
            terms = [{"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}]
            more["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        if self.r.random() < 0.2:
            more["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
        if self.r.random() < 0.2:
            more["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": self.r.choice("vw")}}]
        if not volcanos and self.r.random() < 0.4:
            more["schedulingGroup"] = {"podGroupName": self.r.choice("ab")}
        uid = f"p-{self.made}"
        notes = {"scheduling.k8s.io/group-name": self.r.choice("ab")} if volcanos else {"a": "b"}
        job = (
            JobRef("Job", "ml", "train", "job-1", "batch.volcano.sh")
            if self.r.random() < 0.5
            else JobRef("Pod", "ml", uid, uid)
        )
        made = pod(uid, scheduler="volcano" if volcanos else "default-scheduler", notes=notes,
                   meta={"labels": {"app": self.r.choice("xy")}}, **more)  # fmt: skip
        made.data.job = job
        self.pods[uid] = made
        return [made]

    def bind(self) -> list[Record]:
        return self._again(lambda body: body["spec"].update(nodeName=self.r.choice(["n1", "n2", "elsewhere"])))

    def refuse(self) -> list[Record]:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        named = self.r.choice([{}, {"nominatedNodeName": "n1"}])
        return self._again(lambda body: body["status"].update(conditions=[condition], **named))

    def end(self) -> list[Record]:
        if not self.pods:
            return []
        uid = self.r.choice(sorted(self.pods))
        if self.r.random() < 0.5:
            del self.pods[uid]
            return [deleted("Pod", uid)]
        return self._again(lambda body: body["status"].update(phase=self.r.choice(["Running", "Succeeded", "Failed"])))

    def _again(self, change) -> list[Record]:
        if not self.pods:
            return []
        uid = self.r.choice(sorted(self.pods))
        body = msgspec.json.decode(self.pods[uid].data.object)
        body.setdefault("status", {})
        change(body)
        made = record("Pod", uid, body, job=self.pods[uid].data.job, change="modified")
        self.pods[uid] = made
        return [made]


@settings(max_examples=80, deadline=None)
@given(r=st.randoms(use_true_random=False))
def test_what_stands_decides_what_is_made_anew(r):
    story, mirror = Story(r), Mirror("c")
    for each in (node(), node("n-2", "n2")):
        mirror.apply(each)
    standing = {"volcano": volcano(), "others": Others()}
    for _ in range(12):
        for _ in range(r.randint(0, 4)):
            for each in story.next():
                mirror.apply(each)
        anew = {"volcano": volcano(), "others": Others()}
        for name, decider in standing.items():
            assert told(decider, mirror) == told(anew[name], mirror), name


def small():
    """A mirror with a gang and a lone pod that wait for more than there is."""
    asking = [{"name": "main", "resources": {"requests": {"cpu": "9"}}}]
    lone = pod("lone", scheduler="default-scheduler", notes={"a": "b"}, containers=asking)
    mirror = Mirror("c")
    for each in (
        node(),
        queue(),
        group(phase="Inqueue"),
        pod("p-1", containers=asking),
        pod("p-2", containers=asking),
        lone,
    ):
        mirror.apply(each)
    return mirror


def test_a_pod_that_comes_and_goes_builds_nothing_anew():
    mirror, ours, others = small(), volcano(), Others()
    ours(mirror, NOW_MS)
    others(mirror, NOW_MS)
    for change in (pod("p-3", node="n1"), pod("p-3", node="n1", change="modified", meta={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
                   deleted("Pod", "p-3"), group(phase="Running", change="modified")):  # fmt: skip
        mirror.apply(change)
        assert ours(mirror, NOW_MS) and others(mirror, NOW_MS)
    assert (ours.following.standing.builds, others.explainer.builds) == (1, 1)
    mirror.apply(node("n-2", "n2"))
    assert ours(mirror, NOW_MS) and others(mirror, NOW_MS)
    assert (ours.following.standing.builds, others.explainer.builds) == (1, 2)
    assert ours.following.standing.snapshot().nodes.names == ["n1", "n2"]


def test_a_group_whose_queue_is_missing_and_pods_that_avoid_others_build_nothing_anew():
    mirror, ours = small(), volcano()
    mirror.apply(gang("lost", "g-9", queue="nowhere"))
    terms = [{"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}]
    mirror.apply(
        pod("p-4", node="n1", affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})
    )
    assert ("attribution", "not_admitted") in [(each.kind, each.reason) for each in ours(mirror, NOW_MS)]
    mirror.apply(pod("p-5", node="n1"))
    assert ("attribution", "not_admitted") in [(each.kind, each.reason) for each in ours(mirror, NOW_MS)]
    mirror.apply(gang("lost", "g-9", change="modified"))
    assert "queue_missing" not in [each.detail for each in ours(mirror, NOW_MS)]
    assert ours.following.standing.builds == 1


def test_only_pods_that_something_has_touched_are_explained_again():
    mirror, others = small(), Others()
    before = others(mirror, NOW_MS)
    explaining = others.explainer.explaining
    judged = []
    ask = explaining.filters.judge
    explaining.filters.judge = lambda task, **more: judged.append(task.uid) or ask(task, **more)
    again = others(mirror, NOW_MS + 1000)
    assert [each.session_ms for each in again] == [NOW_MS + 1000]
    assert [msgspec.structs.replace(each, session_ms=NOW_MS) for each in again] == before
    assert judged == []
    mirror.apply(pod("p-3", node="n1"))
    others(mirror, NOW_MS + 2000)
    assert judged == ["lone"]


def test_of_another_mirror_all_is_made_anew():
    ours, others = volcano(), Others()
    first, second = small(), small()
    second.apply(node("n-2", "n2"))
    for decider in (ours, others):
        decider(first, NOW_MS)
        assert {each.total_nodes for each in decider(second, NOW_MS)} >= {2}


def test_who_has_not_looked_for_very_long_makes_all_anew():
    mirror = small()
    seen = mirror.end(OTHERS)
    assert mirror.since(OTHERS, seen).pods == set()
    for at in range(MOST // 2 + 2):
        mirror.apply(pod("p-7", node="n1", meta={"annotations": {"at": str(at)}}))
    changed = mirror.since(OTHERS, seen)
    assert changed is not None and changed.pods == {"p-7"}
    for at in range(MOST // 2 + 2):
        mirror.apply(pod("p-7", node="n1", meta={"annotations": {"now": str(at)}}))
    assert mirror.since(OTHERS, seen) is None
    assert mirror.since(VOLCANO, mirror.end(VOLCANO)).pods == set()


@pytest.mark.parametrize("queues", [True, False])
def test_a_name_that_two_groups_have_for_a_moment_is_no_trouble(queues):
    mirror, ours = Mirror("c"), volcano()
    for each in (node(), *([queue()] if queues else []), group(), pod()):
        mirror.apply(each)
    for change in (
        group("g-2", phase="Inqueue"),
        pod("p-2"),
        deleted("PodGroup", "g-1"),
        pod("p-3"),
        deleted("PodGroup", "g-2"),
    ):
        mirror.apply(change)
        assert told(ours, mirror) == told(volcano(), mirror)
