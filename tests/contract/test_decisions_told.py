"""What the scheduler core decides, as the asking side tells it: from a real session to the words."""

from __future__ import annotations

from datetime import datetime

import pytest

from dashboards import decisions as told
from pipeline.records import raw_rows
from pipeline.records.jobs import JobRef
from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model import facts as f
from scheduler_core.shadow import records
from tests.support import scheduler_worlds as worlds

SESSION_MS = 1_767_225_600_000
PLACE = worlds.policy(("priority", "gang", "predicates"), actions=("allocate",))


def node(name, gpu, **more):
    return f.NodeFacts(name=name, allocatable={"cpu": 64, "memory": "8Gi", "pods": 10, "nvidia.com/gpu": gpu}, **more)


def group(name, **more):
    made = {"namespace": "ns", "name": name, "queue": "q", "min_member": 1, "phase": "Inqueue", "created_ns": 1}
    return f.GroupFacts(**made | {"job": JobRef("Job", "ns", name, name)} | more)


def pod(name, group, gpu, **more):
    asks = {"cpu": 1, "nvidia.com/gpu": gpu}
    return f.PodFacts(
        uid=name, namespace="ns", name=name, group=f"ns/{group}", containers=(f.ContainerFacts(asks),), **more
    )


def sees(name, nodes, groups, pods, *, lang="en", policy=PLACE, queue=None, classes=()):
    """What is told of a job after one session, by way of the table."""
    queue = queue or f.QueueFacts(name="q")
    facts = f.ClusterFacts(
        nodes=tuple(nodes), queues=(queue,), groups=tuple(groups), pods=tuple(pods), priority_classes=classes
    )
    made = decisions.of_session(scheduling.run(facts, policy, SESSION_MS * 1_000_000, plugins.ALL), "shadow")
    rows = [raw_rows.of(records.of(each, "prod")).values for each in made if each.job and each.job.name == name]
    read = [told.of_row(row | {"session_at": datetime(2026, 1, 1)}) for row in rows]
    return told.told(lang, told.standing(read, SESSION_MS), "q")


def test_twenty_nodes_are_told_by_what_they_lack_each_once():
    taint = (("dedicated", "x", "NoSchedule"),)
    nodes = [node(f"a{at}", 4) for at in range(12)] + [node(f"b{at}", 8, taints=taint) for at in range(5)]
    nodes += [node(f"c{at}", 4, taints=taint) for at in range(3)]
    found = sees("train", nodes, [group("train")], [pod("p", "train", 8)])
    assert found.sentence == (
        "12 of 20 nodes lack nvidia.com/gpu, 5 have an untolerated taint, "
        "3 lack nvidia.com/gpu and have an untolerated taint."
    )
    assert found.helps[0] == (
        "it would fit on node a0 if it asked for 4 nvidia.com/gpu less, or on one like it that had that much more; "
        "12 nodes lack nothing else"
    )
    assert found.more == ""


@pytest.mark.parametrize(("lang", "text"), [("en", "1 job of the queue went before it, ns/first by priority"),
                                            ("zh", "队列中有 1 个任务排在它前面：ns/first，由 priority 决定")])  # fmt: skip
def test_who_goes_first_is_told(lang, text):
    groups = [group("first", priority_class="hi", created_ns=9), group("second")]
    pods = [pod("a", "first", 4), pod("b", "second", 4)]
    classes = (f.PriorityClassFacts("hi", 10),)
    found = sees("second", [node("n1", 4)], groups, pods, lang=lang, classes=classes)
    assert (found.reason, found.ahead) == ("outranked", text)


def test_the_queue_that_refuses_is_told_with_what_would_let_it_pass():
    policy = worlds.policy(("gang", "predicates", "proportion"), actions=("enqueue", "allocate"))
    queue = f.QueueFacts(name="q", capability={"nvidia.com/gpu": 2})
    waiting = group("train", phase="Pending", min_resources={"nvidia.com/gpu": 3})
    found = sees("train", [node("n1", 8)], [waiting], [pod("p", "train", 3)], policy=policy, queue=queue)
    assert found.sentence == "It waits because it asks for more nvidia.com/gpu than q can ever give."
    assert found.helps == [
        "it would be let in if it asked for 1 nvidia.com/gpu less",
        "it would be let in if the capability of q were raised by 1 nvidia.com/gpu",
    ]
    assert (found.kind, found.more) == ("enqueue", "queue resource quota insufficient: insufficient nvidia.com/gpu")


def test_a_gang_says_how_far_it_came():
    pods = [pod(f"p{at}", "train", 4) for at in range(4)]
    found = sees("train", [node("n1", 8)], [group("train", min_member=4)], pods)
    assert (found.sentence, found.more) == ("The only node lacks nvidia.com/gpu.", "2 of 4 placed")


def test_a_job_that_would_be_placed_is_told_so():
    found = sees("train", [node("n1", 8)], [group("train")], [pod("p", "train", 4)])
    assert found.sentence == "It would be placed now: ns/p on n1."
