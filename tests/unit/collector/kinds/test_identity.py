"""Whose an object is: links up, in every order in which they can become known."""

import itertools

import msgspec
import pytest

from collector.kinds.catalog import KINDS, extra
from collector.kinds.mirror import MirrorOptions
from pipeline.records.jobs import bucket_of
from tests.support import mirrored
from tests.support.mirrored import (
    EVENTS,
    GROUPS,
    JOBS,
    PODS,
    REPLICA_SETS,
    VOLCANO_GROUPS,
    VOLCANO_JOBS,
    WORKLOADS,
    Cluster,
    event,
    group_pod,
    owned,
    pod,
    short,
    thing,
    volcano_pod,
)  # fmt: skip


def job_of(cluster, name):
    """(kind, name, uid) of the job under which an object was written last."""
    change = [r.data for r in cluster.records if getattr(r.data, "name", "") == name and hasattr(r.data, "change")][-1]
    return change.job.kind, change.job.name, change.job.uid


def test_a_pod_of_a_job_belongs_to_the_job():
    cluster = Cluster()
    cluster.add(JOBS, thing("train"))
    cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    assert cluster.said() == ["added train of Job train", "added train-0 of Job train"]


def test_a_lone_pod_is_its_own_job():
    cluster = Cluster()
    cluster.add(PODS, pod("alone"))
    assert job_of(cluster, "alone") == ("Pod", "alone", "uid-alone")


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "DaemonSet"])
def test_pods_of_what_keeps_pods_alive_are_their_own_jobs(kind):
    cluster = Cluster()
    cluster.add(REPLICA_SETS, thing("serve"))
    cluster.add(PODS, owned(pod("serve-1"), kind, "serve", "apps/v1"))
    assert cluster.said() == ["added serve-1 of Pod serve-1"]


def test_no_record_is_written_of_what_is_only_followed_upwards():
    cluster = Cluster()
    cluster.add(REPLICA_SETS, thing("serve"))
    assert cluster.wrote() == []


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("jobset.x-k8s.io/v1alpha2", "JobSet"),
        ("kubeflow.org/v1", "PyTorchJob"),
        ("kubeflow.org/v2beta1", "MPIJob"),
        ("ray.io/v1", "RayCluster"),
    ],
)
def test_an_owner_whose_kind_is_not_watched_is_the_job_by_its_reference(api_version, kind):
    cluster = Cluster()
    cluster.add(JOBS, owned(thing("set-workers"), kind, "set", api_version))
    cluster.add(PODS, owned(pod("set-workers-0"), "Job", "set-workers"))
    cluster.add(PODS, owned(pod("set-driver"), kind, "set", api_version))
    assert {(short(each), each.job.uid) for each in cluster.changes()} == {(f"{kind} set", "uid-set")}


def test_a_watched_further_kind_leads_on_to_its_own_owner():
    kinds = (*KINDS, extra("ray.io", "v1", "rayclusters", "RayCluster"))
    cluster = Cluster(MirrorOptions(kinds=kinds))
    cluster.add("rayclusters.ray.io", owned(thing("ray"), "RayJob", "tune", "ray.io/v1"))
    cluster.add(PODS, owned(pod("ray-head"), "RayCluster", "ray", "ray.io/v1"))
    assert cluster.said() == ["added ray of RayJob tune", "added ray-head of RayJob tune"]


def test_a_cron_job_makes_jobs_but_is_none():
    cluster = Cluster()
    cluster.add(JOBS, owned(thing("nightly-1"), "CronJob", "nightly"))
    assert cluster.said() == ["added nightly-1 of Job nightly-1"]


def test_a_group_with_an_owner_is_a_facet_of_the_owner():
    cluster = Cluster()
    cluster.add(VOLCANO_JOBS, thing("gang"))
    cluster.add(VOLCANO_GROUPS, owned(thing("gang-pg"), "Job", "gang", "batch.volcano.sh/v1alpha1"))
    cluster.add(PODS, volcano_pod("gang-0", "gang-pg"))
    assert {short(each) for each in cluster.changes()} == {"Job gang"}


def test_a_kueue_workload_is_a_facet_of_its_job():
    cluster = Cluster()
    cluster.add(JOBS, thing("queued"))
    cluster.add(WORKLOADS, owned(thing("job-queued-1"), "Job", "queued"))
    assert cluster.said()[1] == "added job-queued-1 of Job queued"


def test_a_group_of_plain_pods_in_kueue_is_one_job():
    cluster = Cluster()
    labels = {"kueue.x-k8s.io/pod-group-name": "bunch"}
    cluster.add(PODS, pod("bunch-0", labels=labels))
    assert job_of(cluster, "bunch-0") == ("Workload", "bunch", "name:team/bunch")
    workload = thing("bunch", ownerReferences=[{"kind": "Pod", "name": n, "uid": f"uid-{n}"} for n in ("bunch-0", "b")])
    cluster.add(WORKLOADS, workload)
    assert job_of(cluster, "bunch-0") == job_of(cluster, "bunch") == ("Workload", "bunch", "uid-bunch")


def test_a_native_group_leads_over_its_workload_to_the_controller():
    cluster = Cluster()
    cluster.add(JOBS, thing("train"))
    workload = {**thing("wl"), "spec": {"controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "train"}}}
    cluster.add("workloads.scheduling.k8s.io", workload)
    cluster.add(GROUPS, {**thing("pg"), "spec": {"workloadRef": {"workloadName": "wl", "templateName": "t"}}})
    cluster.add(PODS, group_pod("pg-0", "pg"))
    assert {each.job.uid for each in cluster.changes()} == {"uid-train"}


def test_a_native_group_whose_workload_never_comes_is_its_own_job():
    cluster = Cluster()
    cluster.add(GROUPS, {**thing("pg"), "spec": {"workloadRef": {"workloadName": "wl"}}})
    assert cluster.said() == []
    cluster.pass_ms(2000)
    assert cluster.said() == ["added pg of PodGroup pg"]


def test_a_pod_of_1_35_that_names_a_workload_belongs_to_it():
    cluster = Cluster()
    cluster.add(PODS, pod("w-0", spec={"workloadRef": {"name": "w", "podGroup": "g"}}))
    cluster.add("workloads.scheduling.k8s.io", thing("w"))
    cluster.add(PODS, pod("w-1", spec={"workloadRef": {"name": "w", "podGroup": "g"}}))
    assert job_of(cluster, "w-0") == job_of(cluster, "w-1") == ("Workload", "w", "uid-w")


def test_of_two_ways_up_the_controller_is_preferred():
    cluster = Cluster()
    cluster.add(JOBS, thing("train"))
    cluster.add(GROUPS, thing("pg"))
    cluster.add(PODS, owned(group_pod("train-0", "pg"), "Job", "train"))
    assert cluster.said()[-1] == "added train-0 of Job train"


def test_a_controller_that_is_no_job_leaves_the_way_to_the_group():
    cluster = Cluster()
    cluster.add(GROUPS, thing("pg"))
    cluster.add(PODS, owned(group_pod("set-0", "pg"), "StatefulSet", "set", "apps/v1"))
    assert cluster.said()[-1] == "added set-0 of PodGroup pg"


def test_a_job_that_only_a_label_names_is_found_by_it():
    cluster = Cluster()
    cluster.add(VOLCANO_JOBS, thing("gang"))
    cluster.add(PODS, pod("gang-0", labels={"volcano.sh/job-name": "gang"}))
    assert cluster.said()[-1] == "added gang-0 of Job gang"


def test_a_group_that_a_lone_pod_names_and_owns_is_a_facet_of_the_pod():
    cluster = Cluster(listed=False)
    cluster.absent(*(kind.name for kind in KINDS if kind.name not in (VOLCANO_GROUPS, PODS)))
    group = owned(thing("podgroup-1"), "Pod", "solo", "v1")
    cluster.list(VOLCANO_GROUPS, group)
    cluster.list(PODS, volcano_pod("solo", "podgroup-1"))
    assert {short(each) for each in cluster.changes()} == {"Pod solo"}
    assert not cluster.mirror.held(VOLCANO_GROUPS)


# waiting for a link


def test_a_pod_waits_for_its_owner_and_is_written_in_order_with_what_was_said():
    cluster = Cluster()
    made = cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    cluster.add(EVENTS, event("said", made))
    cluster.modify(PODS, made)
    assert cluster.wrote() == []
    assert cluster.mirror.held(PODS)
    assert cluster.mirror.held(EVENTS)
    cluster.add(JOBS, thing("train"))
    written = cluster.wrote()
    assert [getattr(record.data, "change", "event") for record in written] == ["added", "added", "event", "modified"]
    assert {record.data.job.uid for record in written} == {"uid-train"}
    assert not cluster.mirror.held(PODS)
    assert not cluster.mirror.held(EVENTS)


def test_what_was_held_keeps_the_time_at_which_it_was_received():
    cluster = Cluster()
    cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    seen_ms = cluster.now
    cluster.now += 700
    cluster.add(JOBS, thing("train"))
    assert {r.data.name: r.observedms for r in cluster.wrote()} == {"train-0": seen_ms, "train": seen_ms + 700}


def test_an_owner_that_does_not_come_within_two_seconds_is_the_job_by_its_reference():
    cluster = Cluster()
    cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    cluster.pass_ms(1999)
    assert cluster.wrote() == []
    cluster.pass_ms(1)
    assert cluster.said() == ["added train-0 of Job train"]
    assert cluster.mirror.counts["link_not_found"] == 1


def test_an_owner_that_comes_late_with_an_owner_of_its_own_moves_the_pod():
    cluster = Cluster()
    cluster.add(PODS, owned(pod("train-0", labels={"a": "b"}), "Job", "train"))
    cluster.pass_ms(2000)
    cluster.wrote()
    cluster.now += 5000
    cluster.add(JOBS, owned(thing("train"), "JobSet", "set", "jobset.x-k8s.io/v1"))
    written = cluster.wrote()
    assert [f"{r.data.change} {r.data.name} of {short(r.data)}" for r in written] == [
        "added train of JobSet set",
        "moved train-0 of Job train",
        "added train-0 of JobSet set",
    ]
    moved, again = written[1].data, written[2].data
    assert moved.moved_to == again.job
    assert moved.object is msgspec.UNSET
    assert b'"a":"b"' in bytes(again.object)
    assert not again.synthetic
    assert written[2].observedms == mirrored.BEGIN_MS
    assert written[1].bucket == bucket_of("test", "team", "train")
    assert written[2].bucket == bucket_of("test", "team", "set")


def test_a_job_that_is_not_served_is_not_waited_for():
    cluster = mirrored.only(PODS)
    cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    assert cluster.said() == ["added train-0 of Job train"]


def test_a_pod_whose_links_change_moves_with_its_own_frame():
    cluster = Cluster()
    made = cluster.add(PODS, pod("serve-1"))
    cluster.add(VOLCANO_GROUPS, thing("podgroup-1"))
    made["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "podgroup-1"}
    cluster.wrote()
    cluster.modify(PODS, made)
    assert cluster.said() == ["moved serve-1 of Pod serve-1", "added serve-1 of PodGroup podgroup-1"]


def test_a_group_that_gets_an_owner_takes_its_pods_along():
    cluster = Cluster()
    group = cluster.add(GROUPS, thing("pg"))
    cluster.add(PODS, group_pod("pg-0", "pg"))
    cluster.wrote()
    cluster.modify(GROUPS, owned(group, "JobSet", "set", "jobset.x-k8s.io/v1"))
    changes = cluster.changes()
    assert [f"{each.change} {each.name} of {short(each)}" for each in changes] == [
        "moved pg of PodGroup pg",
        "moved pg-0 of PodGroup pg",
        "added pg-0 of JobSet set",
        "added pg of JobSet set",
    ]
    # the state of a pod whose links all were known is not kept: what is sent again says so
    assert changes[2].truncated
    assert not changes[3].truncated


# groups that do not exist


def test_a_pod_names_its_group_before_it_exists():
    cluster = Cluster()
    cluster.add(PODS, group_pod("pg-0", "pg"))
    assert job_of(cluster, "pg-0") == ("PodGroup", "pg", "name:team/pg")
    cluster.wrote()
    cluster.add(GROUPS, thing("pg"))
    assert cluster.said() == ["added pg of PodGroup pg", "moved pg-0 of PodGroup pg", "added pg-0 of PodGroup pg"]
    assert job_of(cluster, "pg-0") == ("PodGroup", "pg", "uid-pg")


def test_a_pod_that_moves_in_a_later_state_says_when_it_was_first_seen():
    cluster = Cluster()
    made = cluster.add(PODS, group_pod("pg-0", "pg"))
    cluster.now += 28_000
    cluster.modify(PODS, made | {"spec": made["spec"] | {"nodeName": "n"}})
    cluster.wrote()
    cluster.now += 40
    cluster.add(GROUPS, thing("pg"))
    again = cluster.wrote()[-1]
    assert (again.data.change, again.observedms) == ("added", mirrored.BEGIN_MS + 28_000)
    assert again.data.first_seen == mirrored.BEGIN_MS


def test_a_pod_whose_first_state_moves_needs_not_say_when_it_was_seen():
    cluster = Cluster()
    cluster.add(PODS, group_pod("pg-0", "pg"))
    cluster.now += 28_000
    cluster.add(GROUPS, thing("pg"))
    assert cluster.wrote()[-1].data.first_seen is None


def test_a_group_of_that_name_in_another_namespace_or_api_is_another():
    cluster = Cluster()
    cluster.add(PODS, group_pod("pg-0", "pg"))
    cluster.add(GROUPS, thing("pg", "other", uid="elsewhere"))
    cluster.add(VOLCANO_GROUPS, thing("pg", uid="volcano"))
    assert job_of(cluster, "pg-0") == ("PodGroup", "pg", "name:team/pg")


def test_a_name_used_again_is_a_new_job_and_only_what_waits_follows_it():
    cluster = Cluster()
    first = cluster.add(GROUPS, thing("pg", uid="first"))
    cluster.add(PODS, group_pod("old", "pg", node="n1", phase="Running"))
    cluster.add(PODS, group_pod("waiting", "pg"))
    cluster.delete(GROUPS, first)
    cluster.add(PODS, group_pod("between", "pg"))
    assert [job_of(cluster, name)[2] for name in ("old", "waiting", "between")] == ["first", "first", "name:team/pg"]
    cluster.add(GROUPS, thing("pg", uid="second"))
    assert [job_of(cluster, name)[2] for name in ("old", "waiting", "between")] == ["first", "second", "second"]


def test_a_pod_that_is_seen_again_after_its_group_is_gone_stays_with_it():
    cluster = Cluster()
    group = cluster.add(GROUPS, thing("pg"))
    made = cluster.add(PODS, group_pod("pg-0", "pg"))
    cluster.delete(GROUPS, group)
    cluster.wrote()
    cluster.modify(PODS, made)
    assert cluster.said() == ["modified pg-0 of PodGroup pg"]
    assert job_of(cluster, "pg-0")[2] == "uid-pg"


def test_a_pod_that_comes_after_its_job_is_gone_belongs_to_it_at_once():
    cluster = Cluster()
    cluster.delete(JOBS, cluster.add(JOBS, owned(thing("train"), "JobSet", "set", "jobset.x-k8s.io/v1")))
    cluster.wrote()
    cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    assert cluster.said() == ["added train-0 of JobSet set"]


# any order


def deep():
    """Four levels: a job set by reference, a job, a group that the job owns, pods by both ways."""
    return [
        (JOBS, owned(thing("train"), "JobSet", "set", "jobset.x-k8s.io/v1")),
        (GROUPS, owned(thing("pg"), "Job", "train")),
        (PODS, owned(group_pod("by-owner", "pg"), "Job", "train")),
        (PODS, group_pod("by-group", "pg")),
    ]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
@pytest.mark.parametrize("pause_ms", [0, 2500])
def test_in_whatever_order_things_become_known_all_end_up_with_the_same_job(order, pause_ms):
    cluster = Cluster()
    for n in order:
        cluster.add(*deep()[n])
        cluster.pass_ms(pause_ms)
    cluster.pass_ms(2500)
    last = {}
    for record in cluster.records:
        if record.data.change == "moved":
            assert last[record.data.name] == record.data.job, "leaves the job under which it was written"
            assert record.data.moved_to is not None
        last[record.data.name] = record.data.moved_to or record.data.job
    assert {name: job.uid for name, job in last.items()} == dict.fromkeys(
        ("train", "pg", "by-owner", "by-group"), "uid-set"
    )
    assert not any(cluster.mirror.held(key) for key in (JOBS, GROUPS, PODS))
