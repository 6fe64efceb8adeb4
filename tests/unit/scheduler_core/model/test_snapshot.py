"""Facts that cannot be meant as they stand: each is reported and made harmless; a session on them ends as any other."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.records import keys, reasons
from scheduler_core import decisions, plugins, scheduling
from scheduler_core.model import amounts
from scheduler_core.model import facts as f
from tests.support import scheduler_worlds as worlds

TREE = worlds.policy(
    ("priority", "gang"), ("drf", "predicates", "capacity", "nodeorder"), actions=("enqueue", "allocate")
)
TREE = TREE.__class__(
    TREE.name, TREE.actions,
    tuple(tuple(c.__class__(c.name, c.enabled | {"hierarchy"}, c.arguments) for c in tier) for tier in TREE.tiers),
)  # fmt: skip

PLAIN = worlds.policy(("gang", "predicates"), actions=("enqueue", "allocate"))

NODE = f.NodeFacts(name="n", allocatable={"cpu": "4", "memory": "8Gi", "pods": "10"})
QUEUE = f.QueueFacts(name="q")


def pod(name="p", group="ns/j", namespace="ns", request=None, **more):
    return f.PodFacts(
        uid=f"{namespace}-{name}", namespace=namespace, name=name, group=group,
        containers=(f.ContainerFacts({"cpu": "1"} if request is None else request),), **more,
    )  # fmt: skip


def group(name="j", namespace="ns", **more):
    return f.GroupFacts(
        **{"namespace": namespace, "name": name, "queue": "q", "min_member": 1, "phase": "Inqueue"} | more
    )


def run(*pods, nodes=(NODE,), queues=(QUEUE,), groups=None, policy=worlds.DEFAULT):
    facts = f.ClusterFacts(nodes=nodes, queues=queues, groups=(group(),) if groups is None else groups, pods=pods)
    return scheduling.run(facts, policy, 10**10, plugins.ALL)


def said(session):
    return [str(each) for each in session.snapshot.mistakes]


def why(session, uid="ns/j"):
    """The reason of the job's own record."""
    found = [
        each for each in decisions.of_session(session, "shadow")
        if each.kind in ("attribution", "enqueue") and each.task is None and each.job and each.reason
        and f"{each.job.namespace}/{each.job.name}" == uid
    ]  # fmt: skip
    return (found[-1].reason, found[-1].detail, found[-1].message)


def test_a_pod_with_an_amount_below_zero_is_never_placed_and_says_so():
    session = run(pod(request={"cpu": "-1"}))
    assert not session.binds
    assert said(session) == ["Pod ns/p: cpu: -1 is below zero; counted as 0"]
    assert why(session) == (
        reasons.UNKNOWN,
        None,
        "task ns/p cannot be meant as it is: cpu: -1 is below zero; counted as 0",
    )


def test_an_amount_that_overflows_fits_nowhere():
    session = run(pod(request={"memory": "9999999Ei"}), policy=PLAIN)
    assert not session.binds
    assert "more than any node can have" in said(session)[0]
    assert why(session)[:2] == (reasons.INSUFFICIENT_RESOURCE, "never_fits")


def test_text_that_is_no_quantity_is_reported_for_pods_nodes_and_queues():
    session = run(
        pod(request={"cpu": "lots"}),
        nodes=(f.NodeFacts(name="n", allocatable={"cpu": "x"}),),
        queues=(f.QueueFacts(name="q", capability={"cpu": "-4"}),),
        groups=(group(min_resources={"memory": "1QB"}),),
    )
    assert {line.split(":")[0] for line in said(session)} == {"Pod ns/p", "Node n", "Queue q", "PodGroup ns/j"}


def test_sums_of_the_largest_amounts_do_not_overflow():
    pods = [pod(f"p{at}", request={"memory": "9999999Ei"}, phase="Running", node="n") for at in range(900)]
    session = run(*pods, pod("w"), policy=PLAIN)
    assert session.nodes.row(0).idle[1] == 8 * 2**30 - 900 * amounts.MOST
    assert why(session)[0] == reasons.INSUFFICIENT_RESOURCE


def test_a_resource_that_nobody_has_is_insufficient_and_a_word_that_is_none_is_ignored():
    session = run(
        pod(request={"cpu": 1, "example.com/unheard": 1}), pod("q", request={"cpu": 1, "gpus": 2}), policy=PLAIN
    )
    assert [task.key for task, _ in session.binds.values()] == ["ns/q"]
    assert "Pod ns/q: gpus: no resource of this name; ignored" in said(session)
    refusal = session.jobs["ns/j"].refusals["ns-p"]
    assert (refusal.why.reason, refusal.why.resource) == (reasons.INSUFFICIENT_RESOURCE, "example.com/unheard")


def test_a_node_without_capacity_is_reported_and_takes_nothing():
    session = run(pod(), nodes=(f.NodeFacts(name="n", allocatable={}),), policy=PLAIN)
    assert said(session) == ["Node n: has no allocatable resources; nothing fits"]
    assert why(session)[:2] == (reasons.INSUFFICIENT_RESOURCE, "never_fits")


def test_no_node_at_all_is_a_reason():
    assert why(run(pod(), nodes=()))[2] == "there is no node to look at"


@pytest.mark.parametrize(
    ("queues", "says"),
    [
        ([("q", "a"), ("a", "q"), ("root", "")], "its own ancestor"),
        ([("q", "q"), ("root", "")], "its own ancestor"),
        ([("q", "gone"), ("root", "")], "which does not exist"),
        ([("q", "")], "there is no queue root"),
        ([("root", ""), ("q", ""), ("below", "q")], "has children and a job"),
    ],
)
def test_a_tree_of_queues_that_cannot_be_used_refuses_every_job_with_the_reason(queues, says):
    session = run(
        pod(),
        queues=tuple(f.QueueFacts(name=name, parent=parent) for name, parent in queues),
        groups=(group(phase="Pending", min_resources={"cpu": 1}),),
        policy=TREE,
    )
    assert not session.binds
    assert says in why(session)[2]


def test_a_chain_of_two_thousand_queues_is_a_tree():
    queues = [
        f.QueueFacts(name="root"),
        *(f.QueueFacts(name=f"c{at}", parent=f"c{at - 1}" if at else "") for at in range(2000)),
    ]
    session = run(pod(), queues=tuple(queues), groups=(group(queue="c1999"),), policy=TREE)
    assert len(session.binds) == 1


def test_a_minimum_above_the_number_of_pods_is_an_incomplete_gang():
    session = run(pod(), groups=(group(min_member=5),))
    assert not session.binds
    assert why(session)[:2] == (reasons.GANG_INCOMPLETE, "members_missing")


def test_a_group_of_a_queue_that_does_not_exist_is_not_touched_and_says_why():
    session = run(pod(), groups=(group(queue="nowhere"), group("k", queue="")))
    assert session.jobs == {}
    assert why(session) == (reasons.NOT_ADMITTED, "queue_missing", "queue nowhere does not exist")
    assert why(session, "ns/k")[2] == "names no queue"


def test_equal_names_in_two_namespaces_are_two_jobs():
    session = run(pod(), pod(namespace="other", group="other/j"), groups=(group(), group(namespace="other", queue="q")))
    assert sorted(task.key for task, _ in session.binds.values()) == ["ns/p", "other/p"]


def test_an_object_given_twice_is_taken_once_whatever_the_order():
    twice = (NODE, f.NodeFacts(name="n", allocatable={"cpu": "1", "pods": "1"}))
    one, other = run(pod(), nodes=twice), run(pod(), nodes=twice[::-1])
    assert said(one) == said(other) == ["Node n: given twice; one of them was taken"]
    assert one.total.values == other.total.values


def test_an_annotation_of_two_hundred_thousand_characters_is_only_text():
    long = "1h" * 100_000
    session = run(
        pod(annotations={keys.VOLCANO_PRIORITY: long, keys.VOLCANO_PREEMPTABLE: long, keys.VOLCANO_ROLE: long}),
        groups=(group(annotations={"sla-waiting-time": long}),),
        policy=worlds.policy(("sla", "gang"), ("predicates",)),
    )
    assert len(session.binds) == 1
    assert max(map(len, said(session))) < 300


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("7", 7), ("-7", -7), ("+7", 7), ("007", 7), ("2147483647", 2**31 - 1), ("-2147483648", -(2**31)),
        ("2147483648", None), ("9" * 5000, None), (" 7", None), ("7 ", None), ("7\n", None), ("1_0", None), ("٧", None),
        ("7.0", None), ("0x7", None), ("", None), ("-", None),
    ],
)  # fmt: skip
def test_a_priority_of_a_task_is_a_number_of_32_bits_in_plain_digits(text, counts):
    session = run(pod(annotations={keys.VOLCANO_PRIORITY: text}, priority=3))
    (task,) = session.jobs["ns/j"].tasks.values()
    assert task.priority == (3 if counts is None else counts)
    assert len(said(session)) == (counts is None)


def test_a_pod_on_a_node_that_is_not_known_holds_nothing_and_still_counts_as_placed():
    session = run(pod(phase="Running", node="elsewhere", deleting=True), groups=(group(phase="Running"),))
    assert session.jobs["ns/j"].phase == "Running"
    assert session.nodes.used.values == [0, 0, 0]


def test_a_pod_that_names_a_group_that_does_not_exist_holds_its_room():
    session = run(pod("loose", group="ns/none", request={"cpu": "4"}, phase="Running", node="n"), pod())
    assert not session.binds
    assert why(session)[:2] == (reasons.INSUFFICIENT_RESOURCE, None)


def test_a_queue_of_negative_weight_weighs_nothing():
    session = run(pod(), queues=(f.QueueFacts(name="q", weight=-3),))
    assert said(session) == ["Queue q: weight -3 counts as 0"]
    assert not session.binds


QUANTITIES = st.one_of(
    st.sampled_from(["", "-1", "1e999", "9E", "-0", "0", "1Ei", "NaN", "1 Gi", "٣", "1e-30", "++1", ".", "1k", "5n"]),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=12),
)
LISTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "pods", "nvidia.com/gpu", "x", "", "count/pods"]), QUANTITIES, max_size=4
)


@settings(max_examples=150, deadline=None)
@given(
    allocatable=LISTS, request=LISTS, capability=LISTS, deserved=LISTS, guarantee=LISTS, least=LISTS,
    minimum=st.integers(-5, 10), weight=st.integers(-2, 2), text=st.text(max_size=20),
    running=st.booleans(), deleting=st.booleans(),
)  # fmt: skip
def test_no_input_stops_a_session(
    allocatable, request, capability, deserved, guarantee, least, minimum, weight, text, running, deleting
):
    queues = (
        f.QueueFacts(name="q", weight=weight, capability=capability, deserved=deserved, guarantee=guarantee, parent=text),
        f.QueueFacts(name="root"), f.QueueFacts(name=text, parent="q"),
    )  # fmt: skip
    pods = [
        pod(f"p{at}", request=request, phase="Running" if at and running else "Pending", node="n" if at and running else "",
            deleting=deleting and at == 1, annotations={keys.VOLCANO_PRIORITY: text}, node_selector={text: text})
        for at in range(3)
    ]  # fmt: skip
    groups = (group(min_member=minimum, min_resources=least, phase=text, annotations={"sla-waiting-time": text}),)
    for policy in (worlds.DEFAULT, TREE):
        session = run(
            *pods, nodes=(f.NodeFacts(name="n", allocatable=allocatable), f.NodeFacts(name=text, allocatable=least)),
            queues=queues, groups=groups, policy=policy,
        )  # fmt: skip
        assert decisions.of_session(session, "shadow")[-1].kind == "close"
