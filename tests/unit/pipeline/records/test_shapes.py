"""Shapes: what decoding keeps, and what it refuses."""

import msgspec
import pytest

from pipeline.errors import Terminal
from pipeline.records import shapes
from pipeline.records.shapes.base import Condition, Meta, OwnerReference
from pipeline.records.shapes.node import Node, NodeStatus


def decode(kind, text, group=""):
    return shapes.decode(group, kind, text.encode())


def test_anything_may_be_missing_or_null():
    for (group, kind), shape in shapes.SHAPES.items():
        assert isinstance(decode(kind, "{}", group), shape)
        assert isinstance(decode(kind, '{"metadata":{"labels":null,"ownerReferences":null}}', group), shape)


def test_fields_that_a_shape_does_not_name_are_not_kept():
    pod = decode(
        "Pod", '{"metadata":{"name":"p","managedFields":[1]},"spec":{"containers":[{"name":"c","image":"i"}]},"x":1}'
    )
    assert msgspec.json.decode(msgspec.json.encode(pod)) == {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c"}]},
        "status": {},
    }


def test_the_order_of_fields_does_not_matter():
    assert decode("Node", '{"status":{},"kind":"Node","spec":{"unschedulable":true}}').spec.unschedulable


def test_a_field_of_another_type_is_refused_with_kind_and_path():
    with pytest.raises(Terminal, match=r"Pod: .*metadata\.name"):
        decode("Pod", '{"metadata":{"name":5}}')
    with pytest.raises(Terminal):
        shapes.decode("", "Pod", b"\xff\xfe")


def test_a_kind_without_a_shape_is_known_by_its_metadata():
    owner = decode("JobSet", '{"metadata":{"name":"s"},"spec":{"secret":1}}', "jobset.x-k8s.io")
    assert msgspec.json.encode(owner) == b'{"metadata":{"name":"s"}}'


def test_one_kind_name_in_several_groups_has_several_shapes():
    groups = {shapes.shape_of(group, "PodGroup") for group in ("scheduling.k8s.io", "scheduling.volcano.sh", "x")}
    assert len(groups) == 3


def test_the_controller_is_the_owner_marked_so_else_the_only_one():
    first, second = OwnerReference(name="a"), OwnerReference(name="b", controller=True)
    assert Meta(owner_references=[first, second]).controller is second
    assert Meta(owner_references=[first]).controller is first
    assert Meta(owner_references=[first, OwnerReference(name="c")]).controller is None
    assert Meta().controller is None


def test_the_group_of_an_owner_is_in_its_version():
    assert OwnerReference(api_version="batch/v1").group == "batch"
    assert OwnerReference(api_version="v1").group == ""


def test_deletion_began_a_grace_period_before_its_timestamp():
    meta = Meta(deletion_timestamp="2026-03-02T12:00:30Z", deletion_grace_period_seconds=30)
    assert meta.deleted_ms == Meta(creation_timestamp="2026-03-02T12:00:00Z").created_ms
    assert Meta().deleted_ms is None


@pytest.mark.parametrize("status", ["True", "False", "Unknown"])
def test_readiness_has_three_values_and_silence_is_unknown(status):
    assert Node(status=NodeStatus(conditions=[Condition(type="Ready", status=status)])).ready == status
    assert Node().ready == "Unknown"


def test_heartbeats_of_conditions_are_not_kept():
    node = decode(
        "Node",
        '{"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-03-02T12:00:00Z"}]}}',
    )
    assert b"eartbeat" not in msgspec.json.encode(node)


def test_what_is_kept_out_is_named_by_its_path():
    variables = '{"name":"A","value":"hunter2"},{"name":"B","valueFrom":{"fieldRef":{}}},{"name":"C","value":""}'
    pod = decode(
        "Pod",
        '{"metadata":{"annotations":{"keep":"1","drop":"hunter2"}},'
        f'"spec":{{"containers":[{{"name":"c","env":[{variables}]}}]}}}}',
    )
    values = ("spec.containers[0].env[0].value", "spec.containers[0].env[2].value")
    assert shapes.redact(pod, frozenset({"keep"})) == (*values, "metadata.annotations.drop")
    assert b"hunter2" not in msgspec.json.encode(pod)
    assert pod.metadata.annotations == {"keep": "1"}
    again = shapes.decode("", "Pod", msgspec.json.encode(pod))
    assert shapes.redact(again, frozenset({"keep"})) == values, "a recording that was redacted tells the same"
