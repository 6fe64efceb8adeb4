"""Facts: what only somebody who sees the whole cluster can say about a waiting object."""

from collector.kinds.mirror import MirrorOptions
from pipeline.records import codec
from pipeline.records.objects import Facts, NodesWanted, QueueFacts
from tests.support import mirrored
from tests.support.mirrored import (
    CLUSTER_QUEUES,
    GROUPS,
    JOBS,
    LOCAL_QUEUES,
    NAMESPACES,
    NODES,
    PODS,
    VOLCANO_GROUPS,
    VOLCANO_JOBS,
    VOLCANO_QUEUES,
    WORKLOADS,
    Cluster,
    group_pod,
    node,
    owned,
    pod,
    thing,
    volcano_queue,
)

GPU = {"nodeSelector": {"gpu": "yes"}}
GPU_LABEL = {"gpu": "yes"}


def facts_of(cluster, name):
    """The facts that were told of an object last."""
    return [r.data.facts for r in cluster.records if getattr(r.data, "name", "") == name][-1]


def wanted(cluster, name):
    return facts_of(cluster, name).nodes_wanted


def of_a_job(name="train-0", **more):
    return owned(pod(name, **more), "Job", "train")


def with_job():
    cluster = Cluster()
    cluster.add(JOBS, thing("train"))
    return cluster


# device claims

CLAIMS = "resourceclaims.resource.k8s.io"
NAMES_A_CLAIM = {
    "resourceClaims": [{"name": "gpu", "resourceClaimName": "one"}, {"name": "x", "resourceClaimTemplateName": "t"}]
}


def test_a_waiting_pod_is_told_that_the_claim_it_names_is_missing_and_when_it_comes_and_goes():
    cluster = with_job()
    cluster.add(PODS, of_a_job(spec=NAMES_A_CLAIM))
    assert facts_of(cluster, "train-0").claim_missing
    cluster.now += 2000
    cluster.add(CLAIMS, thing("one", "elsewhere", uid="other"))
    assert facts_of(cluster, "train-0").claim_missing
    made = cluster.add(CLAIMS, thing("one"))
    assert not facts_of(cluster, "train-0").claim_missing
    cluster.now += 2000
    cluster.delete(CLAIMS, made)
    assert facts_of(cluster, "train-0").claim_missing


def test_a_claim_that_a_list_does_not_show_any_more_is_missing():
    cluster = with_job()
    cluster.add(CLAIMS, thing("one"))
    cluster.add(PODS, of_a_job(spec=NAMES_A_CLAIM))
    cluster.now += 2000
    cluster.list(CLAIMS)
    assert facts_of(cluster, "train-0").claim_missing


def test_nothing_is_said_of_claims_until_they_were_listed_or_if_they_cannot_be():
    cluster = Cluster(listed=False)
    for kind in cluster.options.kinds:
        if kind.name not in (PODS, CLAIMS):
            cluster.list(kind.name)
    cluster.list(PODS, pod("lone", spec=NAMES_A_CLAIM))
    assert not facts_of(cluster, "lone").claim_missing
    cluster.list(CLAIMS)
    assert facts_of(cluster, "lone").claim_missing
    refused = Cluster(listed=False)
    refused.absent(*(kind.name for kind in refused.options.kinds if kind.name != PODS))
    refused.list(PODS, pod("lone", spec=NAMES_A_CLAIM))
    assert not facts_of(refused, "lone").claim_missing


# nodes


def test_a_waiting_pod_is_told_of_the_nodes_it_wants_each_by_its_hardest_obstacle():
    cluster = with_job()
    cluster.add(NODES, node("open", labels=GPU_LABEL))
    cluster.add(NODES, node("cordoned", labels=GPU_LABEL, cordoned=True))
    cluster.add(NODES, node("lost", labels=GPU_LABEL, ready="Unknown"))
    taints = [{"key": "spot", "effect": "NoSchedule"}]
    cluster.add(NODES, node("tainted", labels=GPU_LABEL, cordoned=True, taints=taints))
    cluster.add(NODES, node("other"))
    cluster.add(PODS, of_a_job(spec=GPU))
    assert wanted(cluster, "train-0") == NodesWanted(total=4, open=1, not_ready=1, unschedulable=1, tainted=1)


def test_a_pod_that_has_a_node_or_has_ended_is_told_nothing():
    cluster = with_job()
    cluster.add(PODS, of_a_job("bound", node="n1"))
    cluster.add(PODS, of_a_job("done", phase="Succeeded"))
    cluster.add(PODS, of_a_job("leaving", deletionTimestamp="2027-01-15T08:00:00Z"))
    assert [facts_of(cluster, name) for name in ("bound", "done", "leaving")] == [None, None, None]


def test_nothing_is_said_of_nodes_that_may_not_be_listed():
    cluster = mirrored.only(PODS, JOBS)
    cluster.add(JOBS, thing("train"))
    cluster.add(PODS, of_a_job())
    assert wanted(cluster, "train-0") is None


def test_a_node_that_changes_is_told_to_those_whose_counts_it_changes():
    cluster = with_job()
    gpu = cluster.add(NODES, node("gpu", labels=GPU_LABEL))
    cluster.add(PODS, of_a_job("gpu-pod", spec=GPU))
    cluster.add(PODS, of_a_job("big-pod", spec={"nodeSelector": {"size": "big"}}))
    cluster.wrote()
    cluster.modify(NODES, {**gpu, "spec": {"unschedulable": True}})
    changes = cluster.changes()
    assert [(each.change, each.name) for each in changes] == [("modified", "gpu"), ("facts", "gpu-pod")]
    assert changes[1].facts.nodes_wanted == NodesWanted(total=1, unschedulable=1)
    assert changes[1].job.name == "train"
    assert changes[1].version == "103"


def test_a_record_of_facts_carries_no_object_and_an_identity_of_its_own():
    cluster = with_job()
    cluster.add(PODS, of_a_job())
    cluster.wrote()
    cluster.add(NODES, node("one"))
    facts = cluster.wrote()[1]
    assert b'"object"' not in codec.encode(facts)
    cluster.pass_ms(1000)
    cluster.add(NODES, node("two"))
    again = cluster.wrote()[1]
    assert again.data.version == facts.data.version
    assert again.id != facts.id


def test_a_deleted_node_is_not_wanted_any_more():
    cluster = with_job()
    gpu = cluster.add(NODES, node("gpu", labels=GPU_LABEL))
    cluster.add(PODS, of_a_job(spec=GPU))
    cluster.delete(NODES, gpu)
    assert wanted(cluster, "train-0") == NodesWanted()


def test_facts_are_told_at_most_once_a_second_and_then_as_they_are():
    cluster = with_job()
    gpu = cluster.add(NODES, node("gpu"))
    cluster.add(PODS, of_a_job())
    cluster.wrote()
    for cordoned in (True, False, True, False, True):
        cluster.now += 100
        gpu = cluster.modify(NODES, {**gpu, "spec": {"unschedulable": cordoned}})
    told = [each for each in cluster.changes() if each.change == "facts"]
    assert [each.facts.nodes_wanted.unschedulable for each in told] == [1]
    cluster.pass_ms(600)
    assert cluster.wrote() == []
    cluster.pass_ms(1000)
    assert cluster.wrote() == [], "the last of them is what was told already"
    cluster.modify(NODES, {**gpu, "spec": {"unschedulable": False}})
    cluster.now += 100
    cluster.modify(NODES, {**gpu, "spec": {"unschedulable": True}})
    assert [each.facts.nodes_wanted.unschedulable for each in cluster.changes() if each.change == "facts"] == [0]
    cluster.pass_ms(900)
    assert [each.facts.nodes_wanted.unschedulable for each in cluster.changes()] == [1]


def test_a_pod_that_is_bound_hears_no_more_of_nodes():
    cluster = with_job()
    cluster.add(NODES, node("one"))
    made = cluster.add(PODS, of_a_job())
    cluster.modify(PODS, {**made, "spec": {**made["spec"], "nodeName": "one"}})
    cluster.wrote()
    cluster.add(NODES, node("two"))
    assert [each.name for each in cluster.changes()] == ["two"]


def test_a_pod_that_asks_for_a_node_by_name_wants_that_one():
    cluster = with_job()
    by_name = {"key": "metadata.name", "operator": "In", "values": ["one"]}
    required = {"nodeSelectorTerms": [{"matchFields": [by_name]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    cluster.add(PODS, of_a_job(spec={"affinity": affinity}))
    cluster.add(NODES, node("one"))
    cluster.add(NODES, node("two"))
    assert wanted(cluster, "train-0") == NodesWanted(total=1, open=1)


# queues


def test_a_group_is_told_of_its_volcano_queue():
    cluster = Cluster()
    capability = {"cpu": 8, "nvidia.com/gpu": "4"}
    notes = {"volcano.sh/sla-waiting-time": "soon", "sla-waiting-time": "1h"}
    cluster.add(VOLCANO_QUEUES, volcano_queue("research", capability=capability, annotations=notes))
    cluster.add(VOLCANO_GROUPS, {**thing("pg"), "spec": {"queue": "research"}})
    queue = QueueFacts("research", True, "Open", {"cpu": "8", "nvidia.com/gpu": "4"}, "1h")
    assert facts_of(cluster, "pg") == Facts(queue=queue, tenant="team")


def test_a_queue_that_does_not_exist_is_said_not_to_exist():
    cluster = Cluster()
    cluster.add(VOLCANO_JOBS, {**thing("gang"), "spec": {"queue": "nowhere"}})
    assert facts_of(cluster, "gang").queue == QueueFacts("nowhere", exists=False)


def test_nothing_is_said_of_queues_that_may_not_be_listed():
    cluster = mirrored.only(VOLCANO_GROUPS)
    cluster.add(VOLCANO_GROUPS, thing("pg"))
    assert facts_of(cluster, "pg").queue == QueueFacts("default", exists=None)


def test_a_queue_that_closes_or_comes_is_told_to_those_that_name_it():
    cluster = Cluster()
    cluster.add(VOLCANO_GROUPS, {**thing("here"), "spec": {"queue": "research"}})
    cluster.add(VOLCANO_GROUPS, {**thing("there"), "spec": {"queue": "other"}})
    cluster.wrote()
    queue = cluster.add(VOLCANO_QUEUES, volcano_queue("research"))
    assert cluster.said() == ["added research of nothing", "facts here of PodGroup here"]
    cluster.now += 1000
    cluster.modify(VOLCANO_QUEUES, {**queue, "status": {"state": "Closed"}})
    assert facts_of(cluster, "here").queue.state == "Closed"


def test_what_is_allocated_in_a_queue_concerns_nobody():
    cluster = Cluster()
    queue = cluster.add(VOLCANO_QUEUES, volcano_queue("default"))
    cluster.add(VOLCANO_GROUPS, thing("pg"))
    cluster.wrote()
    cluster.modify(VOLCANO_QUEUES, {**queue, "status": {"state": "Open", "allocated": {"cpu": "4"}}})
    assert cluster.said() == ["modified default of nothing"]


def test_a_job_that_has_ended_is_told_nothing_of_its_queue():
    cluster = Cluster()
    complete = {"conditions": [{"type": "Complete", "status": "True"}]}
    cluster.add(JOBS, {**thing("done", labels={"kueue.x-k8s.io/queue-name": "main"}), "status": complete})
    assert facts_of(cluster, "done") is None


def kueue(cluster, *, policy="None", active="True"):
    cluster.add(CLUSTER_QUEUES, {**thing("cq", ""), "spec": {"stopPolicy": policy}})
    conditions = [{"type": "Active", "status": active}]
    return cluster.add(
        LOCAL_QUEUES, {**thing("main"), "spec": {"clusterQueue": "cq"}, "status": {"conditions": conditions}}
    )


def test_a_local_queue_of_kueue_exists_with_its_cluster_queue_and_is_closed_when_either_stops():
    cluster = Cluster()
    cluster.add(WORKLOADS, {**thing("wl"), "spec": {"queueName": "main"}})
    cluster.add(JOBS, thing("queued", labels={"kueue.x-k8s.io/queue-name": "main"}))
    assert facts_of(cluster, "wl").queue == QueueFacts("main", exists=False)
    cluster.add(LOCAL_QUEUES, {**thing("main"), "spec": {"clusterQueue": "cq"}})
    assert facts_of(cluster, "wl").queue == QueueFacts("main", exists=False)
    cluster.add(CLUSTER_QUEUES, thing("cq", ""))
    assert facts_of(cluster, "wl").queue == facts_of(cluster, "queued").queue == QueueFacts("main", True, "Open")
    cluster.now += 1000
    kueue(cluster, policy="Hold")
    assert facts_of(cluster, "wl").queue == QueueFacts("main", True, "Closed")


def test_a_local_queue_that_says_that_it_is_not_active_is_closed():
    cluster = Cluster()
    kueue(cluster, active="False")
    cluster.add(WORKLOADS, {**thing("wl"), "spec": {"queueName": "main"}})
    assert facts_of(cluster, "wl").queue.state == "Closed"


# tenants, and who is told


def test_the_tenant_is_the_topmost_parent_of_the_queue_below_the_built_in_root():
    cluster = Cluster()
    cluster.add(VOLCANO_QUEUES, volcano_queue("root"))
    cluster.add(VOLCANO_QUEUES, volcano_queue("org", parent="root"))
    cluster.add(VOLCANO_QUEUES, volcano_queue("lab", parent="org"))
    cluster.add(VOLCANO_QUEUES, volcano_queue("vision", parent="lab"))
    cluster.add(VOLCANO_GROUPS, {**thing("deep"), "spec": {"queue": "vision"}})
    cluster.add(VOLCANO_GROUPS, {**thing("flat"), "spec": {"queue": "org"}})
    assert facts_of(cluster, "deep").tenant == "org"
    assert facts_of(cluster, "flat").tenant == "team"


def test_parents_that_go_round_in_a_circle_do_not_hang():
    cluster = Cluster()
    cluster.add(VOLCANO_QUEUES, volcano_queue("a", parent="b"))
    cluster.add(VOLCANO_QUEUES, volcano_queue("b", parent="a"))
    cluster.add(VOLCANO_GROUPS, {**thing("pg"), "spec": {"queue": "a"}})
    assert facts_of(cluster, "pg").tenant == "b"


def test_a_label_of_the_namespace_names_the_tenant_and_may_come_later():
    cluster = Cluster(MirrorOptions(tenant_label="team.example.com/name"))
    cluster.add(GROUPS, thing("pg"))
    assert facts_of(cluster, "pg").tenant == "team"
    namespace = cluster.add(NAMESPACES, thing("team", "", labels={"team.example.com/name": "vision"}))
    assert facts_of(cluster, "pg").tenant == "vision"
    cluster.now += 1000
    cluster.delete(NAMESPACES, namespace)
    assert facts_of(cluster, "pg").tenant == "team"


def test_queue_and_tenant_are_told_of_what_stands_for_the_job():
    cluster = Cluster()
    cluster.add(JOBS, thing("train"))
    queue = {"volcano.sh/queue-name": "default"}
    cluster.add(PODS, of_a_job("member", annotations=queue))
    cluster.add(PODS, pod("alone", annotations=queue))
    cluster.add(PODS, owned(pod("of-set", annotations=queue), "JobSet", "set", "jobset.x-k8s.io/v1"))
    cluster.add(PODS, group_pod("early", "pg"))
    assert {name: facts_of(cluster, name).tenant for name in ("member", "alone", "of-set", "early")} == {
        "member": None,  # the job's own object tells it
        "alone": "team",
        "of-set": "team",  # nobody else can
        "early": "team",
    }
    assert facts_of(cluster, "alone").queue.name == "default"
    assert facts_of(cluster, "member").queue is None


def test_every_record_of_a_waiting_pod_carries_its_facts():
    cluster = with_job()
    made = cluster.add(PODS, of_a_job())
    cluster.modify(PODS, made)
    assert [each.facts for each in cluster.changes() if each.kind == "Pod"] == [Facts(nodes_wanted=NodesWanted())] * 2
