"""predicates: what keeps a pod off a node. Volcano's cases have the rest."""

import pytest

from scheduler_core.session import verdicts
from tests.support import scheduler_makers as make

POLICY = make.policy(("gang", "predicates"), actions=("allocate",))


@pytest.mark.parametrize(
    ("taken", "wanted", "free"),
    [
        (("TCP", 80, ""), ("TCP", 80, ""), False),
        (("TCP", 80, "0.0.0.0"), ("TCP", 80, "10.0.0.1"), False),
        (("TCP", 80, "10.0.0.1"), ("TCP", 80, ""), False),
        (("TCP", 80, "10.0.0.1"), ("TCP", 80, "10.0.0.1"), False),
        (("TCP", 80, "10.0.0.1"), ("TCP", 80, "10.0.0.2"), True),
        (("TCP", 80, ""), ("UDP", 80, ""), True),
        (("TCP", 80, ""), ("TCP", 81, ""), True),
        (("TCP", 80, "::"), ("TCP", 80, "10.0.0.1"), True),
        (("TCP", 80, "::"), ("TCP", 80, "::"), False),
        (("TCP", 80, "::"), ("TCP", 80, ""), False),
    ],
)  # fmt: skip
def test_a_host_port_is_taken_by_protocol_number_and_address(taken, wanted, free):
    """No address, and 0.0.0.0, are every address; :: is one like any other, as to the Kubernetes scheduler."""
    pods = [make.pod("r", "j", on="n", ports=(taken,)), make.pod("p", "j", ports=(wanted,))]
    session = make.ran([make.node("n")], [make.group("j", phase="Running")], pods, POLICY)
    assert make.bound(session) == ({"p": "n"} if free else {})


LOST = 'persistentvolumeclaim "data" not found'


def _with_lost_claim(policy=POLICY, **fields):
    pods = [make.pod("p", "j", volume_fault=LOST), make.pod("q", "k")]
    return make.ran([make.node("n")], [make.group("j", **fields), make.group("k")], pods, policy)


def test_a_pod_without_its_volume_is_refused_before_any_node_is_looked_at():
    session = _with_lost_claim()
    assert make.bound(session) == {"q": "n"}
    refused = session.jobs["ns/j"].refusals["p"]
    assert (refused.why.reason, refused.why.message, refused.report) == ("volume", LOST, None)


def test_a_gang_of_which_one_pod_lacks_its_volume_does_not_start():
    pods = [*(make.pod(f"p-{n}", "j") for n in range(3)), make.pod("p-3", "j", volume_fault=LOST)]
    session = make.ran([make.node("n")], [make.group("j", min_member=4)], pods, POLICY)
    assert make.bound(session) == {}
    assert verdicts.of_job(session, session.jobs["ns/j"]).reason == "volume"


def test_claims_are_not_looked_at_where_the_policy_says_so():
    policy = make.policy(
        ("gang", "predicates"), actions=("allocate",), predicates={"predicate.VolumeBindingEnable": False}
    )
    assert make.bound(_with_lost_claim(policy)) == {"p": "n", "q": "n"}


def test_a_pod_without_its_volume_takes_nothing_from_others():
    policy = make.policy(("priority", "gang"), ("predicates",), actions=("allocate", "preempt"))
    pods = [make.pod("low", "l", cpu=4, on="n"), make.pod("p", "j", cpu=4, volume_fault=LOST)]
    groups = [make.group("l", phase="Running"), make.group("j", priority_class="high")]
    session = make.ran([make.node("n")], groups, pods, policy, classes=(("high", 9),))
    assert make.evicted(session) == []
