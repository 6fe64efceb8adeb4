"""What texts say, writer by writer: wordings of releases that the collected cases do not show, and the facts.

`spoken` writes a message as `N; category/resource/nodes; ...` with `-` for what the text does not say.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation import command, messages
from aggregation.messages import explain, filters, reader, rules
from aggregation.messages.message import FACTS, REASON_OF_CATEGORY
from pipeline.cli import invoke
from pipeline.records import reasons


def spoken(text: str) -> str:
    message = messages.parse(text)
    parts = [
        f"{one.category}/{one.resource or '-'}/{'-' if one.nodes is None else one.nodes}" for one in message.reasons
    ]
    return "; ".join(["-" if message.total_nodes is None else str(message.total_nodes), *parts])


def facts(text: str) -> set[str]:
    message = messages.parse(text)
    return {fact for fact in FACTS if getattr(message, fact)}


def codes(text: str) -> list[tuple[str, str | None]]:
    return [(one.reason, one.reason_detail) for one in messages.parse(text).reasons]


FRAME = "0/5 nodes are available: {}."
FILTER_WORDS = {
    "2 Insufficient hugepages-2Mi": "insufficient_resource/hugepages-2Mi/2",
    "2 Insufficient rdma/hca_shared_devices_a": "insufficient_resource/rdma/hca_shared_devices_a/2",
    "2 Insufficient attachable-volumes-aws-ebs": "insufficient_resource/attachable-volumes-aws-ebs/2",
    "2 Insufficient example.com/topology-units": "insufficient_resource/example.com/topology-units/2",
    "2 node(s) didn't have enough GPU memory": "insufficient_resource/gpu-memory/2",
    "2 node(s) had condition: [NetworkUnavailable]": "node_not_ready/-/2",
    "2 timed out trying to allocate devices": "dra/-/2",
    "no feasible placements found": "topology/-/-",
    "2 Insufficient GPU Memory in one device": "insufficient_resource/gpu-memory/2",
    "2 node(s) had untolerated taint {node.kubernetes.io/not-ready: }": "node_not_ready/-/2",
    "2 node(s) had taint {node.kubernetes.io/unreachable: }, that the pod didn't tolerate": "node_not_ready/-/2",
    "2 node(s) had untolerated taint {node.kubernetes.io/unschedulable: }": "untolerated_taint/-/2",
    "2 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }": "untolerated_taint/-/2",
    "2 node(s) had untolerated taint {sku: gpu, 2 of them}": "untolerated_taint/-/2",
    "2 node(s) didn't match the requested node name": "node_affinity/-/2",
    "2 node(s) didn't match scheduler-enforced node affinity": "node_affinity/-/2",
    "2 node(s) didn't match PersistentVolume's node affinity": "volume/-/2",
    "2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)": "volume/-/2",
    "2 ebs.csi.aws.com CSI driver is not installed on the node": "volume/-/2",
    "2 node(s) had no available disk": "volume/-/2",
    'persistentvolumeclaim "data" not found. not found': "volume/-/-",
    "pod has unbound immediate PersistentVolumeClaims. not found": "volume/-/-",
    "2 node(s) didn't match pod topology spread constraints (missing required label)": "topology_spread/-/2",
    "2 node(s) didn't match pod affinity/anti-affinity rules": "pod_anti_affinity/-/2",
    "2 node(s) were not ready": "node_not_ready/-/2",
    "2 node(s) had unknown conditions": "node_not_ready/-/2",
    "2 resourceclaim not available on the node": "dra/-/2",
    "request gpu: device class gpu.example.com does not exist": "dra/-/-",
    "2 node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding] simultaneously": "node_affinity/-/2",
    "2 cannot align pod: p": "topology/-/2",
    "2 node(s) NUMA Topology affinity error": "topology/-/2",
    "2 CardInsufficientMemory": "insufficient_resource/gpu-memory/2",
    "2 Pod ns/p is rejected in PreFilter because ElasticQuota ns is more than Max": "quota/-/2",
    "2 pre-filter pod p cannot find enough sibling pods, current pods number: 2, minMember of group: 3": "gang/-/2",
    "waiting for scheduling gates: [a]": "admission/-/-",
    "2 node(s) are of the wrong colour": "other/-/2",
}


@pytest.mark.parametrize(("words", "said"), FILTER_WORDS.items())
def test_the_words_of_a_filter_mean_one_reason(words: str, said: str) -> None:
    assert spoken(FRAME.format(words)) == f"5; {said}"


@pytest.mark.parametrize(
    "text",
    [
        "0/5 nodes are available: 2 Insufficient cpu, 3 Too many pods.",
        "0/5 nodes are available: 2 Insufficient cpu,3 Too many pods..",
        "0/5 nodes are available: 2 insufficient cpu, 3 too many pods",
        "0/5 nodes available: 2 Insufficient cpu, 3 Insufficient pods",
        "0/5 nodes: 2 Insufficient cpu, 3 Too many pods, ...",
        "0/5 nodes are unavailable: 2 Insufficient cpu, 3 node(s) pod number exceeded.",
        "Error scheduling ns/p: 0/5 nodes are available: 2 Insufficient cpu, 3 Too many pods.; retrying",
    ],
)
def test_the_frame_is_read_in_all_its_spellings(text: str) -> None:
    assert spoken(text) == "5; insufficient_resource/cpu/2; insufficient_resource/pods/3"


def test_only_what_preemption_says_of_itself_is_added() -> None:
    text = (
        "0/3 nodes are available: 3 Insufficient cpu. still not schedulable, preemption: 0/3 nodes are available: "
        "1 Preemption is not helpful for scheduling, 2 Insufficient cpu."
    )
    assert spoken(text) == "3; insufficient_resource/cpu/3; preemption_no_victim/-/1"
    assert facts(text) == {"preemption_part"}


@pytest.mark.parametrize(
    "clause",
    ["found a potential placement for pod on node n-0, preempting 2 victims", "not eligible due to a terminating pod on the nominated node."],
)  # fmt: skip
def test_victims_on_their_way_are_told_from_no_victims(clause: str) -> None:
    text = f"0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: {clause}"
    assert spoken(text) == "4; insufficient_resource/nvidia.com/gpu/4; preemption_no_victim/-/-"
    assert codes(text)[1] == (reasons.WAITING_VICTIMS, None)
    assert facts(text) == {"preemption_part", "waiting_victims"}


def test_a_note_that_was_cut_keeps_the_reason_but_not_half_a_name() -> None:
    assert spoken("0/3 nodes are available: 1 Insufficient cpu, 2 Insufficient nvid ...").endswith("_resource/-/2")
    assert spoken("0/3 nodes are available: 2 Insufficient cpu ...") == "3; insufficient_resource/cpu/2"
    assert spoken("0/3 nodes are available: 1 Too many pods, 2 node(s) didn't match Pod's node aff ...").endswith(
        "; node_affinity/-/2"
    )
    assert spoken("0/3 nodes are available: 3 node(s) had untolerat…") == "3; untolerated_taint/-/3"
    assert spoken("0/3 nodes are available: 3 node(s) didn't match pod a ...") == "3; other/-/3"


def test_old_lists_count_behind_the_name_or_name_each_node() -> None:
    summary = "pod (x) failed to fit in any node\nfit failure summary on nodes : Insufficient cpu (2), PodToleratesNodeTaints (1)"
    named = "failed to fit in any node\nfit failure on node (a): Insufficient Memory\nfit failure on node (b): MatchNodeSelector"
    assert spoken(summary) == "-; insufficient_resource/cpu/2; untolerated_taint/-/1"
    assert spoken(named) == "-; insufficient_resource/memory/1; node_affinity/-/1"


def test_the_scheduler_of_1_0_named_one_predicate() -> None:
    assert spoken("Failed for reason MatchNodeSelector and possibly others") == "-; node_affinity/-/-"


def test_a_native_gangs_text_points_to_the_other_members() -> None:
    text = (
        "pod group is unschedulable, minCount (4) cannot be satisfied: 3 scheduled, 0 remaining, "
        "pod group preemption: No preemption victims found for incoming preemptor"
    )
    assert spoken(text) == "-; gang/-/-; preemption_no_victim/-/-"
    assert facts(text) == {"pointer", "preemption_part"}
    assert facts("minCount (2) cannot be satisfied: 0 scheduled, 1 remaining") == {"pointer"}


def test_placements_are_no_nodes_but_the_status_they_quote_counts_some() -> None:
    text = "0/3 placements are available, first placement status: 0/8 nodes are available: 8 Insufficient cpu."
    assert spoken(text) == "8; gang/-/-; insufficient_resource/cpu/8"
    assert spoken("0/3 placements are available") == "-; gang/-/-"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('running PreBind plugin "VolumeBinding": binding volumes: timed out waiting for the condition', "volume/-/-"),
        ('running "VolumeBinding" filter plugin for pod "web-0": could not find storage class fast', "volume/-/-"),
        ('Binding rejected: running Bind plugin "DefaultBinder": pods "x" not found', "other/-/-"),
        ("rejected due to timeout after waiting 10m0s at plugin Coscheduling", "gang/-/-"),
        (
            'running Score plugins: plugin "DynamicResources" failed with: number of allocations 1 is smaller than 2',
            "dra/-/-",
        ),
        ('running "InterPodAffinity" filter plugin: getting pod affinity state: timeout', "pod_affinity/-/-"),
        ('all pods in a single pod group should have the same .spec.schedulerName set, got: "a" and "b"', "gang/-/-"),
        ("more than 1 domain found for pod group: a, b", "topology/-/-"),
        ("pod has unbound PersistentVolumeClaims (repeated 3 times)", "volume/-/-"),
        ("no nodes available to schedule pods", "other/-/-"),
        ("skip schedule deleting pod: ns/p", "other/-/-"),
    ],
)
def test_a_plugin_that_failed_outside_of_a_list_tells_by_its_words_or_its_name(text: str, said: str) -> None:
    assert spoken(text) == f"-; {said}"


VOLCANO_GROUP = "pod group is not ready, 2 Pending, 2 minAvailable; Pending: 2 Unschedulable"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pod didn't trigger scale-up: 3 Insufficient cpu, 1 pod has unbound immediate PersistentVolumeClaims",
         "-; insufficient_resource/cpu/3; volume/-/1"),
        (f"{VOLCANO_GROUP}. Origin reason is w-0: 0/3 nodes are unavailable: pod has unbound immediate "
         "PersistentVolumeClaims.", "3; gang/-/-; volume/-/-"),
        (f'{VOLCANO_GROUP}. Origin reason is w-0: persistentvolumeclaim "data" not found', "-; gang/-/-; volume/-/-"),
        (f"{VOLCANO_GROUP}. Origin reason is w-0: plugin DynamicResources predicates failed: cannot allocate all claims",
         "-; gang/-/-; dra/-/-"),
        ("Unschedulable request 'a-1': pod has unbound immediate PersistentVolumeClaims (3x); Insufficient cpu (2x); ",
         "-; volume/-/3; insufficient_resource/cpu/2"),
        ('Failed to schedule pod, incompatible with nodepool "a", did not tolerate gpu=true:NoSchedule; incompatible with '
         'nodepool "b", persistentvolumeclaim "data" not found', "-; untolerated_taint/-/-; volume/-/-"),
    ],
)  # fmt: skip
def test_words_on_claims_that_others_quote_do_not_hide_what_stands_around_them(text: str, said: str) -> None:
    assert spoken(text) == said


def test_a_gang_of_the_first_volcano_releases_is_called_a_job() -> None:
    text = "6/10 tasks in gang unschedulable: job is not ready, 10 minAvailable, 6 Pending."
    assert spoken(text) == "-; gang/-/-"
    assert spoken("0/3 tasks in gang unschedulable: job is ready, 3 Binding, 3 minAvailable") == "-; gang/-/-"


def test_a_volcano_group_without_an_origin_was_refused_by_its_queue() -> None:
    assert facts(VOLCANO_GROUP) == {"queue_refused"}
    assert facts(f"2/2 tasks in gang unschedulable: {VOLCANO_GROUP}") == {"queue_refused"}
    assert facts("PodGroup ml:j unschedulable, reason: 2/2 tasks in gang unschedulable: " + VOLCANO_GROUP) == {
        "queue_refused"
    }
    assert facts("pod group is not ready, 1 Pending, 1 minAvailable, 2 Releasing; Pending: 1 Unschedulable") == set()
    assert facts(VOLCANO_GROUP + ". Origin reason is j-0: 0/8 nodes are unavailable: 8 Insufficient cpu.") == set()
    assert facts("pod group is ready, 1 Pending, 1 minAvailable, 2 Running; Pending: 1 Unschedulable") == set()


def test_volcano_releases_that_told_no_origin_give_no_sign_of_a_refusal() -> None:
    text = "pod group is not ready, 6 Pending, 6 minAvailable; Pending: 1 Unschedulable, 2 Undetermined, 3 Schedulable"
    assert spoken(text) == "-; gang/-/-"
    assert facts(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "0/0 tasks in gang unschedulable: pod group is not ready, 4 minAvailable",
        "0/4 tasks in gang unschedulable: pod group is ready, 4 Binding, 4 minAvailable",
        "0/3 tasks in gang unschedulable: pod group is not ready, 3 Binding, 3 minAvailable",
        "pod group is ready",
    ],
)
def test_a_group_without_pods_and_a_gang_just_bound_are_no_evidence(text: str) -> None:
    assert spoken(text) == "-; gang/-/-"
    assert facts(text) == {"no_evidence"}


def test_a_volcano_task_with_a_place_waits_for_its_gang_or_for_victims() -> None:
    place = "Pod ml/w-0 can possibly be assigned to gpu-b-0"
    assert facts(place) == {"has_place"}
    assert facts(f"{place}, once minAvailable is satisfied") == {"has_place"}
    assert facts(f"{place}, once resource is released and minAvailable is satisfied") == {
        "has_place",
        "waiting_victims",
    }
    assert facts("Task w-1 with role spec worker has already predicated failed, skip") == {"pointer"}


@pytest.mark.parametrize(
    ("text", "said", "code"),
    [
        ("queue resource quota insufficient", "quota/-/-", (reasons.QUEUE_LIMIT, None)),
        ("queue resource quota insufficient: insufficient cpu", "quota/cpu/-", (reasons.QUEUE_LIMIT, None)),
        ("resource in cluster is overused: overused cpu", "quota/cpu/-", (reasons.QUOTA, "cluster_enqueue_limit")),
        ("queue <ml> is overused", "quota/-/-", (reasons.QUOTA, None)),
        ("Not enough valid tasks for gang-scheduling, valid: 1, min: 3", "gang/-/-", (reasons.GANG_INCOMPLETE, "members_missing")),
        ("Pod is evicted, because of preempt", "priority/-/-", (reasons.OUTRANKED, None)),
        ("Pod is evicted, because of reclaim", "quota/-/-", (reasons.QUOTA, None)),
    ],
)  # fmt: skip
def test_volcano_refusals_and_evictions(text: str, said: str, code: tuple[str, str | None]) -> None:
    assert spoken(text) == f"-; {said}"
    assert codes(text) == [code]


def test_volcano_hyper_nodes_stand_beside_the_nodes() -> None:
    text = "HyperNode: 0/6 hyperNodes available: tier1 0/4 (4 networkTopology); tier2 0/2; Node: 0/8 nodes are unavailable: 8 Insufficient cpu."
    assert spoken(text) == "8; topology/-/-; insufficient_resource/cpu/8"
    assert "queue_refused" not in facts(
        f"{VOLCANO_GROUP}; HyperNode: 0/6 hyperNodes available: tier1 0/4 (4 networkTopology)"
    )


KUEUE = "couldn't assign flavors to pod set main: "


def test_kueues_ceiling_is_told_from_a_share_that_others_use() -> None:
    ceiling = (
        KUEUE
        + "insufficient quota for cpu in flavor a, previously considered podsets requests (0) + current podset request (12) > maximum capacity (8)"
    )
    used = KUEUE + "insufficient unused quota for cpu in flavor a, 2 more needed"
    assert codes(ceiling) == [(reasons.QUEUE_LIMIT, "never_fits")]
    assert facts(ceiling) == {"never_fits"}
    assert codes(used) == [(reasons.QUOTA, None)]
    assert facts(used) == set()


def test_kueues_placement_by_topology_tells_why_nodes_were_left_out() -> None:
    text = (
        KUEUE
        + 'topology "t" doesn\'t allow to fit any of 1 pod(s). Total nodes: 5; excluded: draNoFit: 2, resource "cpu": 3'
    )
    assert spoken(text) == "5; topology/-/-; dra/-/2; insufficient_resource/cpu/3"
    assert spoken(KUEUE + "workload requires Topology, but there is no TAS cache information") == "-; topology/-/-"


def test_kueues_texts_without_a_flavor_or_a_figure_are_read_too() -> None:
    assert spoken(KUEUE + "insufficient quota for nvidia.com/gpu") == "-; quota/nvidia.com/gpu/-"
    assert facts(KUEUE + "insufficient quota for cpu in flavor a, request > maximum capacity") == {"never_fits"}


def test_a_kueue_job_that_fits_in_another_flavor_is_not_called_hopeless() -> None:
    two = (
        KUEUE
        + "insufficient quota for gpu in flavor a, request > maximum capacity (2 > 1), insufficient unused quota for gpu in flavor b, 2 more needed"
    )
    assert spoken(two) == "-; quota/gpu/-; quota/gpu/-"
    assert facts(two) == set()
    memory = two + ", insufficient quota for memory in flavor a, request > maximum capacity (2 > 1)"
    assert facts(memory) == {"never_fits"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (KUEUE + "insufficient quota for cpu flavor default in ClusterQueue", "-; quota/cpu/-"),
        (KUEUE + "insufficient unused quota in cohort for cpu in flavor one, 1 more needed. Preempting 1 workload(s) failed, will retry.",
         "-; quota/cpu/-; preemption_no_victim/-/-"),
        (KUEUE + "untolerated taint {instance spot NoSchedule <nil>} in flavor spot, flavor b doesn't match node affinity",
         "-; untolerated_taint/-/-; node_affinity/-/-"),
        (KUEUE + 'topology "t" doesn\'t allow to fit any of 4 pod(s). Total nodes: 10; excluded: affinity: 1, resource "cpu": 4, taint "a=x:NoSchedule": 2',
         "10; topology/-/-; node_affinity/-/1; insufficient_resource/cpu/4; untolerated_taint/-/2"),
        ("waiting for all admitted workloads to be in PodsReady condition", "-; admission/-/-"),
        ("The workload has failed admission checks", "-; admission/-/-"),
        ("'pgrp' group has fewer runnable pods than expected", "-; gang/-/-"),
        ("lost: Reset to Pending after eviction. Previously: Retry", "-; admission/-/-"),
        ("The maximum execution time (9s) exceeded", "-; admission/-/-"),
        ("Workload namespace doesn't match ClusterQueue selector", "-; queue/-/-"),
        ("Preempted to accommodate a higher priority Workload", "-; priority/-/-"),
    ],
)  # fmt: skip
def test_kueues_words_of_several_releases(text: str, said: str) -> None:
    assert spoken(text) == said


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("LocalQueue late doesn't exist", "queue_missing"),
        ("ClusterQueue cq not found", "queue_missing"),
        ("ClusterQueue  doesn't exist", "queue_missing"),
        ("LocalQueue q is terminating or missing", "queue_missing"),
        ("ClusterQueue cq-held is inactive", "queue_closed"),
        ("LocalQueue q is stopped", "queue_closed"),
        ("Can't submit new workloads to clusterQueue", "queue_closed"),
    ],
)
def test_a_missing_queue_is_told_from_a_closed_one(text: str, detail: str) -> None:
    assert spoken(text) == "-; queue/-/-"
    assert codes(text) == [(reasons.NOT_ADMITTED, detail)]


def test_kueue_progress_is_no_evidence_even_when_it_lists_flavors_tried() -> None:
    text = "Quota reserved in ClusterQueue cq, wait time since queued was 42s; Flavors considered: main: a(NoFit;insufficient quota for cpu in flavor a)"
    assert facts(text) == {"no_evidence"}
    assert facts("The workload is admitted") == {"no_evidence"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('Gang "ns/g" gets rejected due to member Pod "p" isunschedulable with reason "0/3 nodes are available: 3 Insufficient cpu."',
         "3; gang/-/-; insufficient_resource/cpu/3"),
        ("0/12 nodes are available: no candidate topology nodes can accommodate job, desiredOfferSlot: 4, topology topologyNode "
         "SpineLayer/s-0: 3;topology topologyNode SpineLayer/s-1: 3. preemption: not eligible due to terminating pod on the nominated node..",
         "12; topology/-/-; preemption_no_victim/-/-"),
        ("0/8 reservations are available: 2 Reservation(s) Insufficient cpu, 3 Reservation(s) for node reason that didn't match pod affinity rules.",
         "-; insufficient_resource/cpu/2; pod_affinity/-/3"),
        ("gang child pod not collect enough, gangName: ns/g, podName: ns/p", "-; gang/-/-"),
        ("pre-filter pod w-1 cannot find enough sibling pods, current pods number: 3, minMember of group: 5", "-; gang/-/-"),
        ("Pod ns/p is rejected in Prefilter because total ElasticQuota used is more than min", "-; quota/-/-"),
        ("pod didn't trigger scale-up: 1 max cluster cpu, memory limit reached, 3 node(s) had volume node affinity conflict",
         "-; other/-/1; volume/-/3"),
        ("Failed to schedule pod, did not tolerate taint (taint=gpu=true:NoSchedule); no instance type has the required offering, requirements=a, resources=b",
         "-; untolerated_taint/-/-; node_affinity/-/-"),
        ('Failed to schedule pod, incompatible with nodepool "a", daemonset overhead={"cpu":"1"}, did not tolerate a=b:NoSchedule; did not tolerate '
         'c=d:NoExecute; incompatible with nodepool "b", daemonset overhead={}, unsatisfiable topology constraint for pod affinity, key=zone',
         "-; untolerated_taint/-/-; pod_affinity/-/-"),
        ("PodSchedulingErrors: Resources were found for 1 pods while 2 are required for gang scheduling. Additional pods cannot be scheduled "
         "due to: no nodes with enough resources were found: 1 node(s) had untolerated taint(s). \n5 node(s) didn't have enough resources: GPUs..",
         "-; gang/-/-; untolerated_taint/-/1; insufficient_resource/gpu/5"),
        ("\nno nodes with enough resources were found.\n<a>: Node didn't have enough resources: GPUs, requested: 1, used: 8, capacity: 8.\n"
         "<b>: node(s) didn't match Pod's node affinity/selector.", "-; insufficient_resource/gpu/1; node_affinity/-/1"),
        ("q quota has reached the allowable limit of memory. Limit is 100 GB, currently 90 GB allocated and workload requested 20 GB",
         "-; quota/memory/-"),
        ("3 nodes CardInsufficientMemory(a,b,c)", "-; insufficient_resource/gpu-memory/3"),
        ("Unschedulable request 'a': node(s) had taints that the pod didn't tolerate (5x); Insufficient cpu (2x); ",
         "-; untolerated_taint/-/5; insufficient_resource/cpu/2"),
        ("Request 'a' does not fit in queue 'root.q' (requested map[cpu:100], available map[cpu:1])", "-; quota/-/-"),
        ("Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0",
         "-; insufficient_resource/nvidia.com/gpu/-"),
        ("Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, "
         "which is unexpected", "-; insufficient_resource/nvidia.com/gpu/-"),
        ("Node didn't have enough capacity: cpu, requested: 8000, capacity: 4000", "-; insufficient_resource/cpu/-"),
        ("Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: "
         "no set of running pods found to reclaim resources: [(res: pods, q: 1), ]", "-; insufficient_resource/pods/-"),
        ("Pod was terminated in response to imminent node shutdown.", "-; node_not_ready/-/-"),
        ("The workload is inactive", "-; admission/-/-"),
        ('pods "x" is forbidden: maximum cpu usage per Container is 1, but limit is 2', "-; admission/-/-"),
        ("Scheduling is blocked due to non-empty scheduling gates", "-; admission/-/-"),
    ],
)  # fmt: skip
def test_other_writers(text: str, said: str) -> None:
    assert spoken(text) == said


def test_a_quota_below_the_request_itself_never_fits() -> None:
    over = 'pods "x" is forbidden: exceeded quota: q, requested: cpu=2,memory=9Gi, used: cpu=1,memory=1Gi, limited: cpu=2,memory=8Gi'
    assert spoken(over) == "-; quota/cpu/-; quota/memory/-"
    assert facts(over) == {"never_fits"}
    assert facts(over.replace("memory=9Gi", "memory=8Gi")) == set()


def test_events_that_were_merged_are_read_behind_their_prefix() -> None:
    text = "(combined from similar events): 0/1 nodes are available: 1 Insufficient cpu."
    assert spoken(text) == "1; insufficient_resource/cpu/1"
    assert facts(text) == {"aggregated"}
    assert messages.parse(text).text == text


@pytest.mark.parametrize(
    "text", ["", "   ", "Successfully started something", "🦀 nothing to say", "0/5", "preemption:"]
)
def test_a_text_nobody_knows_is_unknown_and_kept(text: str) -> None:
    message = messages.parse(text)
    assert [(one.category, one.reason) for one in message.reasons] == [("other", reasons.UNKNOWN)]
    assert message.text == text


WORDS = st.sampled_from([
    "0/3 nodes are available: ", "0/3 nodes are unavailable: ", "2 ", "Insufficient cpu", ", ", ". ", "node(s) had untolerated taint {a: b}",
    "preemption: ", "No preemption victims found for incoming pod", "pod group is not ready", "2 Pending", "; Pending: ", "Origin reason is x: ",
    "couldn't assign flavors to pod set main: ", "insufficient quota for cpu in flavor a", "> maximum capacity (1)", "exceeded quota: q", "requested: cpu=2",
    "9" * 40, "٣ ", "preemptıon: ", "No preemption victimſ found", "{", "}", "(", '"', "\n", "Reservation(s) ", "tasks in gang unschedulable: ", "incompatible with nodepool \"a\"", "did not tolerate ",
    "Gang \"a\" gets rejected due to member Pod \"b\" is unschedulable with reason \"", "Total nodes: 8; excluded: ", "resource \"cpu\": 6", "...",
])  # fmt: skip


@given(st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=12).map("".join)))
def test_no_text_is_an_error_and_every_text_is_kept(text: str) -> None:
    message = messages.parse(text)
    assert message.text == text
    assert message.reasons
    for one in message.reasons:
        assert one.category in REASON_OF_CATEGORY
        assert one.reason_detail is None or one.reason_detail in reasons.DETAILS[one.reason]
        assert one.nodes is None or one.nodes >= 0


def test_every_rule_that_only_says_names_real_words_and_groups() -> None:
    spoken_by_table = [rule for rule in (*reader.TABLE, *filters.RULES) if isinstance(rule.reading, rules.Says)]
    assert len(spoken_by_table) > 100
    for rule in spoken_by_table:
        says = rule.reading
        assert isinstance(says, rules.Says)
        code = says.reason or REASON_OF_CATEGORY[says.category]
        assert says.reason_detail is None or says.reason_detail in reasons.DETAILS[code], rule.pattern.pattern
        assert set(re.findall(r"\{(\w+)\}", says.detail or "")) <= set(rule.pattern.groupindex), rule.pattern.pattern
        assert set(says.facts) <= set(FACTS), rule.pattern.pattern


def test_explain_shows_the_message_itself(capsys: pytest.CaptureFixture[str]) -> None:
    text = "0/4 nodes are available: 4 Insufficient cpu."
    assert invoke.invoke("explain", command.explain, [text, "-o", "csv"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "category,resource,nodes,detail,message",
        f"insufficient_resource,cpu,4,-,{text}",
    ]


def test_explain_gives_scripts_and_people_the_same() -> None:
    text = "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims, 2 Insufficient cpu."
    assert explain.explain(text) == {
        "total_nodes": 2,
        "reasons": [
            {"category": "volume", "resource": None, "nodes": None, "detail": "unbound_claims"},
            {"category": "insufficient_resource", "resource": "cpu", "nodes": 2, "detail": None},
        ],
    }
    assert explain.rows(text) == [("volume", "-", "-", "unbound_claims"), ("insufficient_resource", "cpu", "2", "-")]
