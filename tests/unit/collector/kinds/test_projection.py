"""What of an object enters, what is dropped, and what is cut."""

import json

import pytest

from collector.kinds import projection, truncation
from collector.kinds.catalog import KINDS, extra
from collector.kinds.projection import Arrival, Limits
from pipeline.errors import Terminal
from pipeline.records import shapes

BY_NAME = {kind.name: kind for kind in KINDS}
POD = BY_NAME["pods"]


def read(each, kind=POD, **limits):
    meta = {"name": "one", "namespace": "team", "uid": "u", "resourceVersion": "7", **each.pop("metadata", {})}
    return projection.read(
        kind, json.dumps({"metadata": meta, **each}).encode(), "added", Arrival(1000), Limits(**limits)
    )


def body(sight):
    return json.loads(bytes(sight.body))


def test_values_of_environment_variables_never_enter_names_and_references_do():
    env = [
        {"name": "TOKEN", "value": "hunter2"},
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
    ]
    sight = read(
        {"spec": {"containers": [{"name": "main", "env": env}], "initContainers": [{"name": "i", "env": env}]}}
    )
    assert b"hunter2" not in bytes(sight.body)
    assert body(sight)["spec"]["containers"][0]["env"] == [
        {"name": "TOKEN"},
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
    ]
    assert sight.redacted == ("spec.containers[0].env[0].value", "spec.initContainers[0].env[0].value")


@pytest.mark.parametrize(
    ("kind", "spec", "path"),
    [
        ("jobs.batch", lambda t: {"template": t}, "spec.template.spec"),
        ("jobs.batch.volcano.sh", lambda t: {"tasks": [{"name": "w", "template": t}]}, "spec.tasks[0].template.spec"),
        (
            "workloads.kueue.x-k8s.io",
            lambda t: {"podSets": [{"name": "m", "template": t}]},
            "spec.podSets[0].template.spec",
        ),
    ],
)
def test_values_inside_pod_templates_never_enter_either(kind, spec, path):
    template = {"spec": {"containers": [{"name": "main", "env": [{"name": "TOKEN", "value": "hunter2"}]}]}}
    sight = read({"spec": spec(template)}, BY_NAME[kind])
    assert b"hunter2" not in bytes(sight.body)
    assert f"{path}.containers[0].env[0].value" in sight.redacted


@pytest.mark.parametrize(
    ("kind", "spec", "path"),
    [
        ("jobs.batch", lambda t: {"template": t}, "spec.template"),
        ("jobs.batch.volcano.sh", lambda t: {"tasks": [{"name": "w", "template": t}]}, "spec.tasks[0].template"),
        ("workloads.kueue.x-k8s.io", lambda t: {"podSets": [{"name": "m", "template": t}]}, "spec.podSets[0].template"),
    ],
)
def test_annotations_of_pod_templates_are_kept_by_the_same_list(kind, spec, path):
    template = {"metadata": {"annotations": {"sla-waiting-time": "5m", "vault.example.com/token": "hunter2"}}}
    sight = read({"spec": spec(template)}, BY_NAME[kind])
    assert b"hunter2" not in bytes(sight.body)
    assert b'"sla-waiting-time":"5m"' in bytes(sight.body)
    assert f"{path}.metadata.annotations.vault.example.com/token" in sight.redacted


def test_what_a_driver_is_told_about_a_device_never_enters():
    result = {"request": "gpu", "driver": "d", "pool": "p", "device": "gpu-0", "opaque": "hunter2"}
    config = [{"opaque": {"driver": "d", "parameters": {"secret": "hunter2"}}}]
    status = {"allocation": {"devices": {"results": [result], "config": config}}, "reservedFor": [{"name": "pod"}]}
    sight = read({"status": status}, BY_NAME["resourceclaims.resource.k8s.io"])
    assert b"hunter2" not in bytes(sight.body)
    assert body(sight)["status"]["allocation"]["devices"]["results"][0]["device"] == "gpu-0"
    assert body(sight)["status"]["reservedFor"] == [{"name": "pod"}]


def test_of_annotations_only_listed_keys_keep_their_value():
    notes = {
        "volcano.sh/sla-waiting-time": "10m",
        "kubectl.kubernetes.io/last-applied-configuration": "hunter2",
        "example.com/team": "vision",
    }
    sight = read({"metadata": {"annotations": dict(notes)}})
    assert body(sight)["metadata"]["annotations"] == {"volcano.sh/sla-waiting-time": "10m"}
    assert b"hunter2" not in bytes(sight.body)
    assert sight.redacted == (
        "metadata.annotations.kubectl.kubernetes.io/last-applied-configuration",
        "metadata.annotations.example.com/team",
    )
    more = read({"metadata": {"annotations": notes}}, annotations=frozenset({"example.com/team"}))
    assert body(more)["metadata"]["annotations"] == {"volcano.sh/sla-waiting-time": "10m", "example.com/team": "vision"}


def test_what_a_proxy_laid_out_for_people_becomes_one_line():
    env = [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]
    pod = {"metadata": {"name": "p", "uid": "u"}, "spec": {"containers": [{"name": "main", "env": env}]}}
    raw = json.dumps(pod, indent=2).encode()
    sight = projection.read(BY_NAME["pods"], raw, "added", Arrival(1000), Limits())
    assert b"\n" not in bytes(sight.body)
    assert body(sight)["spec"]["containers"][0]["env"] == env


def test_fields_that_are_not_listed_do_not_enter():
    odd = {"managedFields": [{"manager": "hunter2"}], "selfLink": "hunter2"}
    sight = read(
        {
            "metadata": odd,
            "spec": {"containers": [{"name": "c", "command": ["hunter2"], "image": "hunter2"}]},
            "data": {"k": "hunter2"},
        }
    )
    assert b"hunter2" not in bytes(sight.body)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_of_every_kind_data_and_unknown_fields_stay_out(kind):
    if kind.kind == "Event":
        return
    each = {
        "data": {"a": "hunter2"},
        "stringData": {"a": "hunter2"},
        "spec": {"secret": "hunter2"},
        "status": {"x": "hunter2"},
    }
    assert b"hunter2" not in bytes(read(each, kind).body)


def test_every_kind_has_a_shape_of_its_own_or_is_only_followed():
    for kind in KINDS:
        shape = shapes.shape_of(kind.group, kind.kind)
        assert (shape.__name__ == "Owner") == (kind.name == "replicasets.apps"), kind.name


def test_names_of_kinds_are_those_of_their_watches_and_unique():
    names = [kind.name for kind in KINDS]
    assert len(set(names)) == len(names)
    assert {"pods", "jobs.batch", "podgroups.scheduling.volcano.sh", "events.events.k8s.io"} <= set(names)
    assert [kind.stage for kind in KINDS] == sorted(kind.stage for kind in KINDS)


def test_a_further_kind_is_a_job_or_a_link():
    assert extra("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet").role.value == "job"
    assert extra("argoproj.io", "v1alpha1", "rollouts", "Rollout").role.value == "link"
    assert extra("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet").api_version == "jobset.x-k8s.io/v1alpha2"


# size


def test_an_object_that_is_large_by_what_is_dropped_is_only_flagged():
    sight = read({"metadata": {"annotations": {"blob": "x" * 300_000}}, "spec": {"priority": 5}})
    assert sight.truncated
    assert len(bytes(sight.body)) < 500
    assert body(sight)["spec"] == {"priority": 5}


def test_what_is_too_large_after_projection_is_cut_to_size_and_stays_readable():
    conditions = [{"type": "PodScheduled", "status": "False", "message": "0/5000 nodes " + "x" * 400_000}]
    labels = {f"label-{n}": "y" * 60 for n in range(3000)}
    sight = read({"metadata": {"labels": labels, "uid": "the-uid"}, "status": {"conditions": conditions}})
    assert sight.truncated
    assert len(bytes(sight.body)) <= 256 * 1024
    shape = shapes.decode("", "Pod", sight.body)
    assert shape.metadata.uid == "the-uid"
    assert shape.status.conditions[0].message.startswith("0/5000 nodes")
    assert shape.status.conditions[0].message.endswith(truncation.MARK)


def test_an_object_just_within_the_limit_is_whole():
    sight = read({"metadata": {"labels": {"a": "x" * 1000}}}, max_object_bytes=2000)
    assert not sight.truncated
    assert body(sight)["metadata"]["labels"]["a"] == "x" * 1000


def test_the_hardest_cut_keeps_what_identifies():
    many = {f"k{n}": "v" * 250 for n in range(5000)}
    shape = shapes.decode("", "Pod", json.dumps({"metadata": {"name": "n", "uid": "u", "labels": many}}).encode())
    assert json.loads(truncation.cut(shape, 100))["metadata"]["uid"] == "u"


def test_paths_of_what_was_dropped_do_not_grow_without_bound():
    sight = read({"metadata": {"annotations": {f"key-{n}": "x" * 100 for n in range(5000)}}})
    assert len(sight.redacted) == 256
    assert sight.truncated


# what joins need


def test_what_waits_is_read_with_what_it_asks_for():
    sight = read({"spec": {"nodeSelector": {"gpu": "yes"}}, "status": {"phase": "Pending"}})
    assert sight.waits
    assert sight.wants.node_selector == {"gpu": "yes"}
    assert read({"spec": {"nodeName": "n"}}).wants is None


def test_a_field_of_another_type_is_refused_with_its_path():
    with pytest.raises(Terminal, match=r"spec\.priority"):
        read({"spec": {"priority": "high"}})


@pytest.mark.parametrize("kind", ["Service", "PartialObjectMetadata", "Status"])
def test_an_object_of_another_kind_is_refused(kind):
    with pytest.raises(Terminal, match=f"Pod: an object of kind {kind}"):
        read({"kind": kind, "apiVersion": "v1", "spec": {"nodeName": "n"}})


def test_the_kind_that_a_setting_spells_in_its_own_way_is_the_same_kind():
    assert read({"kind": "RayJob"}, extra("ray.io", "v1", "rayjobs", "rayjob")).name == "one"


def test_a_part_that_is_null_counts_as_missing():
    sight = read({"spec": None, "status": None, "metadata": {"labels": {"a": None}}})
    assert sight.waits
    assert body(sight)["metadata"]["name"] == "one"
    with pytest.raises(Terminal, match=r"spec\.priority"):
        read({"spec": {"priority": "high"}, "status": None})


def test_a_digest_is_equal_for_states_that_differ_in_version_only():
    node = BY_NAME["nodes"]
    first = read({"metadata": {"resourceVersion": "1", "generation": 1}, "spec": {"unschedulable": False}}, node)
    second = read({"metadata": {"resourceVersion": "2", "generation": 2}, "spec": {"unschedulable": False}}, node)
    third = read({"metadata": {"resourceVersion": "3"}, "spec": {"unschedulable": True}}, node)
    assert first.digest == second.digest != third.digest
    assert first.version == "1"
    assert read({}).digest is None


def test_the_uid_of_what_cannot_be_read_is_found_if_it_is_there():
    assert projection.uid_of(b'{"metadata":{"uid":"u","name":5},"spec":[]}') == "u"
    assert projection.uid_of(b"[1]") == projection.uid_of(b"{") == projection.uid_of(b'{"metadata":{}}') == ""
