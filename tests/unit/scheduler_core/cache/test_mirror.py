"""The mirror: what records make of it, one object at a time."""

import msgspec
import pytest

from pipeline.errors import Terminal
from pipeline.records.envelope import GapRecord
from pipeline.records.gaps import Gap
from pipeline.records.jobs import JobRef
from pipeline.records.objects import Facts, QueueFacts
from scheduler_core.cache.mirror import OTHERS, VOLCANO, Mirror
from tests.support.object_records import JOB, ROOM, deleted, group, node, pod, queue, record


def mirror(*records):
    made = Mirror("c")
    for each in records:
        made.apply(each)
    return made


def only(facts):
    assert len(facts) == 1
    return facts[0]


def test_a_node_is_what_its_record_says():
    made = only(mirror(node(unschedulable=True, taints=[{"key": "gpu", "effect": "NoSchedule"}])).facts(VOLCANO).nodes)
    assert (made.name, made.labels, made.allocatable) == ("n1", {"zone": "a"}, ROOM)
    assert (made.taints, made.unschedulable, made.ready) == ((("gpu", "", "NoSchedule"),), True, True)
    assert not only(mirror(node(ready="Unknown")).facts(VOLCANO).nodes).ready


def test_a_limit_without_a_request_counts_as_asked_for():
    asked = only(only(mirror(pod()).facts(VOLCANO).pods).containers)
    assert asked.requests == {"cpu": "1", "gpu": "1"}


def test_a_sidecar_adds_to_the_containers_and_other_init_containers_do_not():
    init = [{"name": "side", "restartPolicy": "Always"}, {"name": "first"}]
    made = only(mirror(pod(initContainers=init)).facts(VOLCANO).pods)
    assert (len(made.containers), len(made.init_containers)) == (2, 1)


def test_an_init_container_asks_together_with_the_sidecars_before_it_and_not_with_later_ones():
    def asks(name, cpu, **more):
        return {"name": name, "resources": {"requests": {"cpu": cpu}}, **more}

    init = [
        asks("a", "1500m", restartPolicy="Always"),
        asks("b", "2"),
        asks("c", "x", restartPolicy="Always"),
        asks("d", 1),
    ]
    made = only(mirror(pod(initContainers=init)).facts(VOLCANO).pods)
    assert [each.requests["cpu"] for each in made.init_containers] == ["3.5", "2.5"]


def test_a_host_port_of_a_sidecar_counts_and_one_of_another_init_container_does_not():
    init = [
        {"name": "side", "restartPolicy": "Always", "ports": [{"hostPort": 80}]},
        {"name": "first", "ports": [{"hostPort": 81}]},
    ]
    made = only(
        mirror(pod(initContainers=init, containers=[{"name": "main", "ports": [{"hostPort": 82}]}])).facts(VOLCANO).pods
    )
    assert sorted(port for _, port, _ in made.ports) == [80, 82]


def away(**term):
    """A pod that avoids others on its host."""
    terms = [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "x"}}, **term}]
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return pod("p-1", meta={"labels": {"app": "x", "team": "a"}}, affinity=affinity)


def avoided(made, view=VOLCANO):
    return only(made.facts(view).pods).affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution[0]


def test_mismatched_label_keys_are_what_the_pod_itself_has_and_others_must_not():
    term = avoided(mirror(away(mismatchLabelKeys=["team", "none"])))
    asked = [(each.key, each.operator, each.values) for each in term.label_selector.match_expressions]
    assert asked == [("team", "NotIn", ["a"])]
    written = {"matchLabels": {"app": "x"}, "matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["a"]}]}
    again = avoided(mirror(away(mismatchLabelKeys=["team"], labelSelector=written)))
    assert len(again.label_selector.match_expressions) == 1, "a server that wrote it there already asks no more"


def labelled(name, **labels):
    return record("Namespace", f"ns-{name}", {"metadata": {"name": name, "labels": labels}})


def test_namespaces_that_are_meant_by_their_labels_are_those_that_have_them_now():
    chosen = away(namespaceSelector={"matchLabels": {"tier": "prod"}}, namespaces=["own"])
    assert avoided(mirror(chosen)).namespace_selector is not None, "namespaces that are not watched are not guessed"
    made = mirror(labelled("a", tier="prod"), labelled("b"), chosen)
    assert (avoided(made).namespaces, avoided(made).namespace_selector) == (["a", "own"], None)
    made.apply(labelled("b", tier="prod"))
    assert avoided(made).namespaces == ["a", "b", "own"]
    made.apply(record("Namespace", "ns-a", change="deleted", group=""))
    assert avoided(made).namespaces == ["b", "own"]
    assert avoided(Mirror("c").again(made.encode())).namespaces == ["b", "own"]


def test_a_selector_that_no_namespace_matches_means_none_and_not_the_pods_own():
    term = avoided(mirror(labelled("ml"), away(namespaceSelector={"matchLabels": {"tier": "prod"}})))
    assert not term.namespaces and term.namespace_selector.match_labels == {"kubernetes.io/metadata.name": ""}
    everywhere = avoided(mirror(labelled("ml"), away(namespaceSelector={})))
    assert everywhere.namespace_selector is not None and not everywhere.namespace_selector.match_labels


def test_a_pod_that_is_preempted_is_a_victim_and_one_that_is_only_deleted_is_not():
    meta = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    plain = pod(node="n1", meta=meta)
    body = msgspec.json.decode(plain.data.object)
    body["status"]["conditions"] = [{"type": "DisruptionTarget", "reason": "PreemptionByScheduler", "status": "True"}]
    assert not only(mirror(plain).facts(VOLCANO).pods).victim
    assert only(mirror(record("Pod", "p-1", body)).facts(VOLCANO).pods).victim


def test_a_change_that_no_session_looks_at_is_none():
    made = mirror(node())
    assert not made.apply(node()).changed
    assert made.apply(node(name="n1", ready="False")).changed


def test_a_waiting_pod_is_seen_by_its_own_scheduler_only_and_a_placed_one_by_both():
    made = mirror(pod("a"), pod("b", scheduler="default-scheduler"), pod("c", node="n1"))
    assert [each.name for each in made.facts(VOLCANO).pods] == ["a", "c"]
    assert [each.name for each in made.facts(OTHERS).pods] == ["b", "c"]
    assert [each.facts.name for each in made.waiting(VOLCANO)] == ["a"]
    assert [each.group for each in made.facts(OTHERS).pods] == ["", ""]


def test_a_pod_of_a_native_group_belongs_to_it_where_others_schedule():
    native = record("PodGroup", "n-1", {
        "metadata": {"name": "gang", "namespace": "ml"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}, "priorityClassName": "high"},
    }, group="scheduling.k8s.io")  # fmt: skip
    made = mirror(
        native, pod(scheduler="default-scheduler", notes={"a": "b"}, schedulingGroup={"podGroupName": "gang"})
    )
    facts = made.facts(OTHERS)
    assert (only(facts.groups).min_member, only(facts.groups).priority_class) == (3, "high")
    assert only(facts.pods).group == "ml/gang"
    assert made.facts(VOLCANO).groups == ()


def test_a_pod_that_gets_its_node_is_bound_and_eases_nothing_and_one_that_goes_does():
    made = mirror(pod())
    noted = made.apply(pod(node="n1", change="modified"))
    assert (noted.changed, noted.bound, noted.eased) == (True, "p-1", False)
    gone = made.apply(record("Pod", "p-1", change="deleted"))
    assert (gone.changed, gone.eased) == (True, True)
    assert made.facts(VOLCANO).pods == ()


def test_what_is_said_of_a_uid_after_its_deletion_is_a_copy():
    made = mirror(pod(), record("Pod", "p-1", change="deleted"))
    assert not made.apply(pod()).changed
    assert not made.apply(record("Pod", "p-1", change="deleted")).changed
    assert made.facts(VOLCANO).pods == ()


def test_a_name_that_is_used_again_survives_the_late_deletion_of_the_first():
    made = mirror(node("n-1"), node("n-2"), record("Node", "n-1", change="deleted"))
    assert only(made.facts(VOLCANO).nodes).name == "n1"


def test_a_group_in_its_next_phase_eases_nothing_and_a_smaller_minimum_does():
    made = mirror(group())
    assert not made.apply(group(phase="Inqueue", change="modified")).eased
    assert only(made.facts(VOLCANO).groups).phase == "Inqueue"
    smaller = msgspec.json.decode(group().data.object)
    smaller["spec"]["minMember"] = 1
    assert made.apply(record("PodGroup", "g-1", smaller, job=JOB)).eased


def test_a_group_that_names_no_queue_is_in_the_default_one_and_has_its_creation():
    made = only(mirror(group()).facts(VOLCANO).groups)
    assert (made.queue, made.min_member, made.job) == ("default", 2, JOB)
    assert made.created_ns == 1_767_225_600 * 10**9
    assert only(mirror(node()).facts(VOLCANO).nodes) and only(mirror(pod()).facts(VOLCANO).pods).created_ns == 0


def test_annotations_of_the_job_above_go_with_its_groups():
    notes = {"metadata": {"name": "train", "namespace": "ml", "annotations": {"sla-waiting-time": "1h"}}}
    made = mirror(group(), record("Job", "job-1", notes, group="batch.volcano.sh"))
    assert only(made.facts(VOLCANO).groups).owner_annotations == {"sla-waiting-time": "1h"}


def test_a_queue_keeps_its_amounts_and_its_state():
    spec = {"weight": 3, "capability": {"cpu": "4"}, "guarantee": {"resource": {"cpu": "1"}}, "reclaimable": False}
    made = only(mirror(record("Queue", "q-1", {"metadata": {"name": "q"}, "spec": spec, "status": {"state": "Closed"}})).facts(VOLCANO).queues)  # fmt: skip
    assert (made.weight, made.state, made.reclaimable) == (3, "Closed", False)
    assert (made.capability, made.guarantee, made.deserved) == ({"cpu": "4"}, {"cpu": "1"}, None)


def test_queues_that_nobody_may_list_count_as_open_and_listed_ones_that_are_missing_do_not():
    assert [each.name for each in mirror(group(queue="gold")).facts(VOLCANO).queues] == ["gold"]
    told = group(queue="gold", facts=Facts(queue=QueueFacts("gold", exists=False)))
    assert mirror(told).facts(VOLCANO).queues == ()


def test_an_object_that_moves_has_another_job_and_stays():
    other = JobRef("JobSet", "ml", "set", "set-1", "jobset.x-k8s.io")
    made = mirror(pod(), group(), record("Pod", "p-1", change="moved", moved_to=other),
                  record("PodGroup", "g-1", change="moved", moved_to=other))  # fmt: skip
    assert only(list(made.waiting(VOLCANO))).job == other
    assert only(made.facts(VOLCANO).groups).job == other


def test_a_pod_that_is_told_again_for_its_new_job_without_its_state_keeps_what_is_known():
    other = JobRef("JobSet", "ml", "set", "set-1", "jobset.x-k8s.io")
    stub = record("Pod", "p-1", {"metadata": {"name": "p-1", "namespace": "ml"}}, job=other, truncated=True)
    seen = only(list(mirror(pod(), stub).waiting(VOLCANO)))
    assert (seen.job, len(seen.facts.containers)) == (other, 1)


def test_an_object_that_cannot_be_read_is_left_out_and_told_until_it_can_be():
    bad = record("Pod", "p-1", {"metadata": {"name": "p-1", "namespace": "ml"}, "spec": {"priority": "high"}})
    made = mirror(pod())
    assert made.apply(bad).changed
    assert made.facts(VOLCANO).pods == ()
    assert "Pod ml/p-1: cannot be read" in str(only(made.faults))
    made.apply(pod(change="modified"))
    assert (len(made.facts(VOLCANO).pods), made.faults) == (1, [])


def test_records_of_others_change_nothing():
    gap = GapRecord(
        id="g", source="t", cluster="c", partitionkey="0", observedms=1, data=Gap(kind="Pod", to_ms=1, why="expired")
    )
    made = mirror(node(), gap, record("ReplicaSet", "r-1", {"metadata": {"name": "r"}}, group="apps"))
    assert not made.apply(msgspec.structs.replace(pod(), cluster="other")).changed
    assert made.facts(VOLCANO).pods == ()


def test_claims_namespaces_and_classes_are_kept():
    made = mirror(
        record("PersistentVolumeClaim", "v-1", {"metadata": {"name": "data", "namespace": "ml"}, "status": {"phase": "Bound"}}),
        record("Namespace", "ns-1", {"metadata": {"name": "ml", "labels": {"team": "a"}}}),
        record("PriorityClass", "pc-1", {"metadata": {"name": "high"}, "value": 9, "globalDefault": True}),
        pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "e"}]),
    )  # fmt: skip
    assert made.claims["ml", "data"].phase == "Bound"
    assert made.namespaces == {"ml": {"team": "a"}}
    assert (only(made.facts(OTHERS).priority_classes).value, only(list(made.waiting(VOLCANO))).claims) == (9, ("data",))


def _claim(uid="v-1", name="data", phase="Pending", **spec):
    body = {"metadata": {"name": name, "namespace": "ml"}, "spec": spec, "status": {"phase": phase}}
    return record("PersistentVolumeClaim", uid, body)


def _mounting(uid="p-1", claim="data", **more):
    return pod(uid, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim}}], **more)


def _fault(made, uid="p-1"):
    return made.pod_in(VOLCANO, uid).volume_fault


def test_a_pod_cannot_have_its_volume_while_its_claim_is_missing_unbound_or_lost():
    made = mirror(_mounting())
    assert _fault(made) == ""  # no claim at all: they are not watched
    made.apply(_claim("v-2", "other"))
    assert _fault(made) == 'persistentvolumeclaim "data" not found'
    made.apply(_claim())
    assert _fault(made) == "pod has unbound immediate PersistentVolumeClaims"
    made.apply(_claim(storageClassName="local"))
    assert _fault(made) == ""  # bound when its first consumer has a node, perhaps
    made.apply(_claim(phase="Lost", volumeName="pv-1"))
    assert _fault(made) == 'persistentvolumeclaim "data" bound to non-existent persistentvolume "pv-1"'
    made.apply(_claim(phase="Bound", volumeName="pv-2"))
    assert _fault(made) == ""
    made.apply(deleted("PersistentVolumeClaim", "v-1"))
    assert _fault(made) == 'persistentvolumeclaim "data" not found'
    made.apply(deleted("PersistentVolumeClaim", "v-2"))
    assert _fault(made) == ""


def test_a_claim_that_moves_is_news_for_the_pods_that_mount_it_alone():
    made = mirror(_claim(), _claim("v-2", "other"), _mounting(), _mounting("p-2", "other"), pod("p-3"))
    seen = made.end(VOLCANO)
    made.apply(_claim(phase="Bound", volumeName="pv"))
    assert set(made.since(VOLCANO, seen).pods) == {"p-1"}
    assert [_fault(made, uid) for uid in ("p-1", "p-2", "p-3")] == [
        "", "pod has unbound immediate PersistentVolumeClaims", ""
    ]  # fmt: skip


def test_claims_say_nothing_of_a_pod_that_has_a_node_or_another_scheduler_and_last_over_a_snapshot():
    made = mirror(_claim(), _mounting(node="n1"), _mounting("p-2", scheduler="default-scheduler"), _mounting("p-3"))
    assert _fault(made) == "" and made.pod_in(OTHERS, "p-2").volume_fault == ""
    again = Mirror("c").again(made.encode())
    assert _fault(again, "p-3") == "pod has unbound immediate PersistentVolumeClaims"
    again.apply(_claim(phase="Bound", volumeName="pv"))
    assert _fault(again, "p-3") == ""


def test_there_is_something_to_decide_while_a_pod_or_a_group_waits():
    made = mirror(node(), pod(node="n1"))
    assert not made.waits(VOLCANO)
    made.apply(group())
    assert made.waits(VOLCANO) and not made.waits(OTHERS)


def test_a_snapshot_is_read_as_it_was_written():
    made = mirror(node(), pod(), pod("q", node="n1"), group(), record("Pod", "gone", change="deleted"))
    again = Mirror("c").again(made.encode())
    for view in (VOLCANO, OTHERS):
        assert again.facts(view) == made.facts(view)
    assert not again.apply(pod("gone")).changed


@pytest.mark.parametrize(
    "odd",
    [group(queue="q", job=None), pod("p", meta={"creationTimestamp": "9999-12-31T23:59:59Z"}), pod("p", priority=10**30),
     pod("p", containers=[{"name": "main", "resources": {"requests": {"cpu": -(10**30)}}}]), queue("q", weight=10**30)],
    ids=["plain", "far future", "priority", "quantity", "weight"],
)  # fmt: skip
def test_a_snapshot_holds_numbers_of_any_size(odd):
    made = mirror(node(), odd)
    again = Mirror("c").again(made.encode())
    assert made.faults == []
    assert [again.facts(view) for view in (VOLCANO, OTHERS)] == [made.facts(view) for view in (VOLCANO, OTHERS)]


def test_a_snapshot_of_another_version_is_refused():
    with pytest.raises(Terminal, match="schema 0"):
        Mirror("c").again(msgspec.json.encode({"schema": 0}))
    with pytest.raises(Terminal, match="cannot be read"):
        Mirror("c").again(b"\x00")
