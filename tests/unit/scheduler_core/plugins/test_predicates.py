"""predicates: what keeps a pod off a node. Volcano's cases have the rest."""

import pytest

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
