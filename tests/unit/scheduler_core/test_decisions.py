"""Decisions of a session as records."""

from pipeline.records import codec, reasons
from pipeline.records.decisions import Decision, FailureSet
from pipeline.records.jobs import JobRef
from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model import facts as f
from scheduler_core.model.refusal import Refusal
from tests.support import scheduler_worlds as worlds

REF = JobRef("Job", "ns", "train", "uid-1")


def node(name, cpu=4, **more):
    return f.NodeFacts(name=name, allocatable={"cpu": cpu, "memory": "8Gi", "pods": 10}, **more)


def group(name, **more):
    return f.GroupFacts(
        **{"namespace": "ns", "name": name, "queue": "q", "min_member": 1, "phase": "Inqueue", "created_ns": 1} | more
    )


def pod(name, group, cpu=1, **more):
    return f.PodFacts(
        uid=name, namespace="ns", name=name, group=f"ns/{group}", containers=(f.ContainerFacts({"cpu": cpu}),), **more
    )


def records(nodes, groups, pods, policy=None, queues=(f.QueueFacts(name="q"),), classes=(), now_ns=5_000_000_000):
    facts = f.ClusterFacts(
        nodes=tuple(nodes), queues=queues, groups=tuple(groups), pods=tuple(pods), priority_classes=classes
    )
    policy = policy or worlds.policy(("priority", "gang", "predicates"), actions=("allocate",))
    return decisions.of_session(scheduling.run(facts, policy, now_ns, plugins.ALL), "shadow")


def test_a_bound_task_names_its_node_and_its_job():
    found = records([node("n1")], [group("j", job=REF)], [pod("p", "j")])
    assert found == [
        Decision(source="shadow", policy="test", session_ms=5000, kind="bind", job=REF, task="ns/p", node="n1"),
        Decision(source="shadow", policy="test", session_ms=5000, kind="close"),
    ]


def test_a_group_without_a_known_job_stands_for_itself():
    assert records([node("n1")], [group("j")], [pod("p", "j")])[0].job == JobRef("PodGroup", "ns", "j", "name:ns/j")


def test_a_refused_task_has_the_exact_sets_and_the_smallest_change_first():
    nodes = [
        node("n1", cpu=3), node("n2", cpu=2), node("n3", cpu=2, unschedulable=True),
        node("n4", cpu=8, taints=(("k", "v", "NoSchedule"),)),
    ]  # fmt: skip
    job, task, _ = records(nodes, [group("j")], [pod("p", "j", cpu=4)])
    for found in (job, task):
        assert (found.reason, found.detail, found.resource) == (reasons.INSUFFICIENT_RESOURCE, "never_fits", "cpu")
        assert (found.nodes, found.total_nodes) == (3, 4)
        assert found.failure_sets == (
            FailureSet(("NodeResourcesFit/cpu",), 2),
            FailureSet(("TaintToleration",), 1),
            FailureSet(("NodeResourcesFit/cpu", "NodeUnschedulable"), 1),
        )
        assert found.helps == (
            "it would fit on node n1 if it asked for 1 cpu less, or on one like it that had that much more; 2 nodes lack nothing else",
            "it would fit on node n4 if the node had no taint, or the task tolerated it (k=v:NoSchedule)",
        )
    assert (job.task, task.task) == (None, "ns/p")


def test_when_no_single_change_helps_the_fewest_together_are_named():
    nodes = [
        node("n1", cpu=2, unschedulable=True, taints=(("k", "v", "NoSchedule"),)),
        node("n2", cpu=2, unschedulable=True),
    ]
    found = records(nodes, [group("j")], [pod("p", "j", cpu=4)])[0]
    assert found.helps == (
        "no single change makes it fit; 1 of 2 nodes come nearest and fail only: Insufficient cpu and node(s) were unschedulable",
    )


def test_tasks_that_were_refused_alike_are_told_once_and_the_gang_says_how_far_it_came():
    found = records([node("n1", cpu=2)], [group("j", min_member=4)], [pod(f"p{at}", "j") for at in range(4)])
    assert [(each.kind, each.task) for each in found] == [
        ("attribution", None),
        ("attribution", "ns/p2"),
        ("close", None),
    ]
    assert found[0].message.startswith("2 of 4 placed, then ")


def test_tasks_that_were_refused_alike_are_told_once_even_if_nodes_were_asked_for_each():
    facts = f.ClusterFacts(
        nodes=(node("n1"),), groups=(group("a", min_member=3),),
        pods=tuple(pod(f"a-{at}", "a", cpu=9) for at in range(3)), queues=(f.QueueFacts(name="q"),),
    )  # fmt: skip
    policy = worlds.policy(("priority", "gang", "predicates"), actions=("allocate",))
    session = scheduling.run(facts, policy, 5_000_000_000, plugins.ALL)
    together = decisions.of_session(session, "shadow")
    (job,) = session.jobs.values()
    (refusal,) = {id(each): each for each in job.refusals.values()}.values()
    for task in job.pending():
        (again,) = scheduling.run(facts, policy, 5_000_000_000, plugins.ALL).jobs.values()
        (report,) = [each.report for each in again.refusals.values()]
        job.refusals[task.uid] = Refusal(task, None, report, refusal.placed, alike=refusal.alike)
    assert len({id(each.report) for each in job.refusals.values()}) == 3
    assert decisions.of_session(session, "shadow") == together
    assert sum(each.task is not None for each in together) == 1


def test_a_promise_says_where_and_an_eviction_for_whom():
    nodes = [node("n1", cpu=2)]
    groups = [group("low", phase="Running", min_member=0), group("high", priority_class="hi")]
    pods = [pod("victim", "low", cpu=2, phase="Running", node="n1", priority=1), pod("p", "high", cpu=2, priority=9)]
    policy = worlds.policy(("priority",), ("gang", "predicates"), actions=("allocate", "preempt"))
    found = records(nodes, groups, pods, policy, classes=(f.PriorityClassFacts("hi", 100),))
    promised, evicted = found[0], found[-2]
    assert (promised.kind, promised.task, promised.node) == ("pipeline", "ns/p", "n1")
    assert (evicted.kind, evicted.task, evicted.node, evicted.message) == (
        "evict",
        "ns/victim",
        "n1",
        "preempt for ns/p",
    )


def test_a_job_that_is_not_let_in_has_the_refusal_with_its_numbers_and_nothing_else():
    policy = worlds.policy(("gang", "predicates", "proportion"), actions=("enqueue", "allocate"))
    queue = f.QueueFacts(name="q", capability={"cpu": 2})
    waiting = group("j", phase="Pending", min_resources={"cpu": 3})
    found = records([node("n1")], [waiting], [pod("p", "j", cpu=3)], policy, queues=(queue,))
    assert [each.kind for each in found] == ["enqueue", "close"]
    assert (found[0].reason, found[0].detail, found[0].resource) == (reasons.QUEUE_LIMIT, "never_fits", "cpu")
    assert found[0].message == "queue resource quota insufficient: insufficient cpu"
    assert found[0].helps == (
        "it would be let in if it asked for 1 cpu less",
        "it would be let in if the capability of q were raised by 1 cpu",
    )


def test_a_job_that_is_let_in_has_no_reason_any_more():
    policy = worlds.policy(("gang", "proportion"), actions=("enqueue",))
    found = records([node("n1")], [group("j", phase="Pending", min_resources={"cpu": 1})], [], policy)
    assert (found[0].kind, found[0].reason) == ("enqueue", None)


def test_the_cluster_wide_limit_of_waiting_jobs_is_a_quota():
    policy = worlds.policy(("overcommit",), actions=("enqueue",))
    groups = [group(f"j{at}", phase="Pending", min_resources={"cpu": 3}) for at in range(2)]
    refused = records([node("n1")], groups, [], policy)[1]
    assert (refused.reason, refused.detail, refused.resource) == (reasons.QUOTA, "cluster_enqueue_limit", "cpu")
    assert refused.message == "resource in cluster is overused: overused cpu"
    assert refused.helps == (
        "it would be let in if 1.2 cpu were freed in the cluster",
        "it would be let in if it asked for 1.2 cpu less",
    )


def test_a_queue_that_uses_what_it_deserves_is_a_quota_and_a_closed_one_is_not_admitted():
    policy = worlds.policy(("gang", "predicates", "proportion"), actions=("allocate",))
    queues = (f.QueueFacts(name="q"), f.QueueFacts(name="shut", state="Closed"))
    groups = [group("big", phase="Running", min_member=0), group("j"), group("k", queue="shut")]
    pods = [pod(f"r{at}", "big", phase="Running", node="n1") for at in range(2)] + [pod("p", "j", cpu=3), pod("s", "k")]
    found = {
        each.job.name: each
        for each in records([node("n1")], groups, pods, policy, queues=queues)
        if each.job and not each.task
    }
    assert (found["j"].reason, found["j"].detail) == (reasons.QUOTA, "queue_refused")
    assert (found["k"].reason, found["k"].detail) == (reasons.NOT_ADMITTED, "queue_closed")


def test_gated_incomplete_and_held_jobs_have_their_own_reasons():
    groups = [group("gated"), group("small", min_member=3), group("none", queue="gone")]
    pods = [pod("g", "gated", gates=("x",)), pod("s", "small")]
    found = {each.job.name: (each.reason, each.detail) for each in records([node("n1")], groups, pods) if each.job}
    assert found == {
        "gated": (reasons.NOT_ADMITTED, "gated"),
        "small": (reasons.GANG_INCOMPLETE, "members_missing"),
        "none": (reasons.NOT_ADMITTED, "queue_missing"),
    }


def test_an_expired_promise_holds_places_and_says_so():
    policy = worlds.policy(("sla",), ("gang", "predicates"), actions=("allocate",))
    late = group("late", min_member=3, annotations={"sla-waiting-time": "1s"})
    found = records([node("n1", cpu=2)], [late], [pod(f"p{at}", "late") for at in range(3)], policy)
    assert "2 places are held for it, unbound" in found[0].message


def test_a_promise_that_can_never_be_kept_holds_nothing_if_the_policy_asks_for_that():
    policy = worlds.policy(("sla",), ("gang", "predicates"), actions=("allocate",), sla={"hold": "fitting"})
    late = group("late", min_member=3, annotations={"sla-waiting-time": "1s"})
    found = records([node("n1", cpu=2)], [late], [pod(f"p{at}", "late") for at in range(3)], policy)
    assert "held" not in found[0].message
    fitting = records([node("n1", cpu=4)], [late], [pod(f"p{at}", "late") for at in range(3)]
                      + [pod("r", "late", cpu=2, phase="Running", node="n1")], policy)  # fmt: skip
    assert [each.kind for each in fitting].count("bind") == 2


def test_who_went_before_and_why_is_said():
    groups = [group("first", priority_class="hi", created_ns=9), group("second", created_ns=1)]
    pods = [pod("a", "first", cpu=4), pod("b", "second", cpu=4)]
    found = records([node("n1")], groups, pods, classes=(f.PriorityClassFacts("hi", 10),))
    job = next(each for each in found if each.job and each.job.name == "second" and each.task is None)
    assert job.reason == reasons.OUTRANKED
    assert job.message.endswith("1 jobs of the queue went before it, ns/first by priority")


def test_records_survive_the_wire():
    for each in records([node("n1", cpu=2)], [group("j", min_member=2)], [pod("a", "j", cpu=3), pod("b", "j")]):
        assert codec.msgspec.json.decode(codec.encode(each), type=Decision) == each
