"""When a session opens, and what it writes: over real sessions on small clusters."""

import msgspec
import pytest

from pipeline.errors import Terminal
from scheduler_core import plugins, tiers
from scheduler_core.cache.mirror import Mirror
from scheduler_core.shadow.machine import FIRST_LOOK_MS, SETTLE_S, Machine
from scheduler_core.shadow.volcano import Volcano
from tests.support.object_records import JOB, deleted, group, node, pod, queue, record

BEGIN = 1_767_225_600_000
"""A whole second: 2026-01-01, in which the groups of the records were made."""
READY = BEGIN + SETTLE_S * 1000


def machine(records=(), deciders=None):
    known = plugins.ALL
    made = Machine(Mirror("c"), deciders or [Volcano(tiers.default(known), known)], "default")
    made.due(BEGIN)
    for each in records:
        made.take(each)
    return made


def old(pod_record):
    """A pod that was created long before, so that its scheduler had its first look."""
    body = msgspec.json.decode(pod_record.data.object)
    body["metadata"]["creationTimestamp"] = "2025-12-31T23:00:00Z"
    pod_record.data.object = msgspec.Raw(msgspec.json.encode(body))
    return pod_record


def decided(records):
    return [(each.data.kind, each.data.task, each.data.reason) for each in records]


def waiting():
    """A gang of two that needs more than all nodes together have."""
    return [node(), queue(), group(phase="Inqueue"), *(old(pod(f"p-{n}", containers=_asking("6"))) for n in (1, 2))]


def _asking(cpu):
    return [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]


def test_a_session_opens_at_the_second_that_log_time_passes_with_something_changed():
    made = machine(waiting())
    assert made.due(READY - 1) is None
    assert made.due(READY + 20) == READY
    made.decide(READY)
    assert made.due(READY + 5500) is None
    made.take(deleted("Pod", "p-2"))
    assert made.due(READY + 5999) is None
    assert made.due(READY + 9000) == READY + 6000


def test_a_promise_that_is_over_opens_a_session_by_itself():
    known = plugins.ALL
    policy = """
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: sla
    arguments: {sla-waiting-time: 1m}
  - name: gang
- plugins:
  - name: predicates
  - name: overcommit
"""
    decider = Volcano(tiers.parse(policy, "late", known).policy, known)
    made = machine(waiting(), [decider])
    assert made.due(READY + 20) == READY
    made.decide(READY)
    kept, over = made.encode(), BEGIN + 60_000
    quiet = [made.due(at) for at in range(READY + 1000, over, 1000)]
    assert [at for at in quiet if at is not None] == []
    assert made.due(over) == over
    made.decide(over)
    assert decider.due_ms is None
    restored = Machine(Mirror("c"), [decider], "late")
    restored.restore(kept)
    assert restored.due(over) == over


def test_a_log_that_has_only_just_begun_is_let_tell_all_there_is():
    made = machine(waiting())
    assert [made.due(BEGIN + ms) for ms in range(500, SETTLE_S * 1000, 500)] == [None] * (2 * SETTLE_S - 1)


def test_log_time_never_goes_back():
    made = machine(waiting())
    assert made.due(READY) == READY
    assert made.due(READY - 700) is None
    assert made.stamp == READY


def test_what_is_decided_is_written_once_and_every_session_is_closed():
    made = machine(waiting())
    first = made.decide(READY)
    assert decided(first)[-1] == ("close", None, None)
    assert ("attribution", None, "quota") in decided(first)
    assert decided(made.decide(READY + 1000)) == [("close", None, None)]


def test_a_record_carries_its_job_its_second_and_an_identity_of_its_own():
    made = machine(waiting()).decide(READY)
    assert len({each.id for each in made}) == len(made)
    of_job = next(each for each in made if each.data.job is not None)
    assert of_job.data.job == JOB
    assert (of_job.observedms, of_job.cluster, of_job.data.source) == (READY, "c", "shadow")
    assert of_job.id.startswith(f"c/shadow/default/{READY}/job-1/")


def test_the_second_of_a_queue_and_that_of_its_pods_are_in_one_bucket():
    made = machine(waiting()).decide(READY)
    assert len({each.partitionkey for each in made if each.data.job == JOB}) == 1


def test_of_a_job_that_has_only_just_come_nothing_is_said_until_its_scheduler_looked_or_had_time_to():
    young = [node(), queue(), group(phase="Inqueue")]
    meta = {"creationTimestamp": "2026-01-01T00:00:02Z"}
    made = machine([*young, *(pod(f"p-{n}", containers=_asking("6"), meta=meta) for n in (1, 2))])
    assert decided(made.decide(READY)) == [("close", None, None)]
    later = BEGIN + 2000 + FIRST_LOOK_MS
    assert made.due(later + 300) == later, "time itself opens the session"
    assert ("attribution", None, "quota") in decided(made.decide(later))


def test_a_pod_that_its_scheduler_has_refused_is_not_too_young():
    meta = {"creationTimestamp": "2026-01-01T00:00:02Z"}
    tried = pod("p-2", containers=_asking("6"), meta=meta)
    body = msgspec.json.decode(tried.data.object)
    body["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
    tried.data.object = msgspec.Raw(msgspec.json.encode(body))
    made = machine([node(), queue(), group(phase="Inqueue"), pod("p-1", containers=_asking("6"), meta=meta), tried])
    assert ("attribution", None, "quota") in decided(made.decide(READY))


def test_a_cluster_in_which_nothing_waits_is_decided_in_no_time_and_says_nothing():
    made = machine([node(), queue(), pod(node="n1")])
    assert decided(made.decide(READY)) == [("close", None, None)]


def test_the_real_bind_is_the_truth_of_the_next_session():
    made = machine([node(), queue(), group(phase="Inqueue"), *(old(pod(f"p-{n}")) for n in (1, 2))])
    assert decided(made.decide(READY))[:2] == [("bind", "ml/p-1", None), ("bind", "ml/p-2", None)]
    for n in (1, 2):
        made.take(pod(f"p-{n}", node="n1", change="modified"))
    assert decided(made.decide(READY + 1000)) == [("close", None, None)]


def test_a_gang_waits_for_a_claim_that_is_missing_and_is_placed_when_it_is_there():
    def claim(uid, name, **spec):
        body = {"metadata": {"name": name, "namespace": "ml"}, "spec": spec, "status": {"phase": "Pending"}}
        return record("PersistentVolumeClaim", uid, body)

    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    gang = [old(pod("p-1")), old(pod("p-2", volumes=volumes))]
    made = machine([node(), queue(), group(phase="Inqueue"), claim("v-2", "other"), *gang])
    told = made.decide(READY)
    assert ("attribution", None, "volume") in decided(told) and not any(each.data.kind == "bind" for each in told)
    assert any('persistentvolumeclaim "data" not found' in (each.data.message or "") for each in told)
    made.due(READY + 500)
    made.take(claim("v-1", "data", storageClassName="local"))
    assert made.due(READY + 1000) == READY + 1000
    assert {("bind", "ml/p-1", None), ("bind", "ml/p-2", None)} < set(decided(made.decide(READY + 1000)))


def test_a_bind_that_the_shadow_had_ruled_out_diverges():
    made = machine(waiting())
    made.decide(READY)
    made.due(READY + 500)
    made.take(pod("p-1", node="n1", change="modified", containers=_asking("6")))
    assert made.due(READY + 1000) == READY + 1000
    made.decide(READY + 1000)
    assert made.due(READY + 3000) == READY + 2000
    told = [each.data for each in made.decide(READY + 2000) if each.data.kind == "diverged"]
    assert [(each.detail, each.job) for each in told] == [("bound", JOB)]


def test_pods_without_a_group_and_with_one_that_is_not_there_are_explained():
    lone = old(pod("p-9", notes={"a": "b"}))
    found = decided(machine([node(), queue(), lone]).decide(READY))
    assert found == [("attribution", None, "gang_incomplete"), ("close", None, None)]
    missing = machine([node(), queue(), old(pod())]).decide(READY)[0].data
    assert (missing.detail, missing.message) == ("group_missing", "PodGroup ml/g does not exist")


def test_a_snapshot_goes_on_as_if_nothing_had_happened():
    straight, stopped = machine(waiting()), machine(waiting())
    assert decided(straight.decide(READY)) == decided(stopped.decide(READY))
    again = machine()
    again.restore(stopped.encode())
    for made in (straight, again):
        made.due(READY + 100)
        made.take(deleted("Pod", "p-2"))
    assert straight.due(READY + 1000) == again.due(READY + 1000) == READY + 1000
    assert straight.decide(READY + 1000) == again.decide(READY + 1000)


def test_what_an_earlier_run_closed_is_taken_from_what_it_wrote():
    earlier, made = machine(waiting()), machine(waiting())
    made.heard(READY, [each.data for each in earlier.decide(READY)], last=True)
    assert made.due(READY + 1000) is None
    for each in (earlier, made):
        each.take(deleted("Pod", "p-2"))
    assert earlier.decide(READY + 1000) == made.decide(READY + 1000)


def test_a_session_that_is_skipped_is_not_lost():
    made = machine(waiting())
    assert made.due(READY) == READY
    made.skip()
    assert made.due(READY + 1000) == READY + 1000


def test_a_state_of_another_version_is_refused():
    with pytest.raises(Terminal, match="cannot be read"):
        machine().restore(b"\x01")
