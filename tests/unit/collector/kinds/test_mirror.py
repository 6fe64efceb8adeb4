"""Lists, watches and restarts: what is written, what is held back, and what is known."""

import pytest

from collector.kinds.catalog import KINDS
from collector.kinds.known import KnownChanges, KnownObject
from collector.kinds.mirror import Mirror, MirrorOptions
from pipeline.errors import Terminal
from pipeline.records import codec
from pipeline.records.envelope import GapRecord
from tests.support import mirrored
from tests.support.mirrored import (
    EVENTS,
    GROUPS,
    JOBS,
    NODES,
    PODS,
    VOLCANO_QUEUES,
    WORKLOADS,
    Cluster,
    event,
    group_pod,
    node,
    owned,
    pod,
    thing,
    volcano_queue,
)


def versioned(each, version):
    return {**each, "metadata": {**each["metadata"], "resourceVersion": version}}


def names(cluster):
    return [(each.change, each.name) for each in cluster.changes()]


# the first list


def test_what_the_first_list_shows_is_added_and_not_synthetic():
    cluster = Cluster(listed=False)
    for kind in KINDS:
        cluster.list(kind.name, *([pod("one"), pod("two")] if kind.name == PODS else []))
    written = cluster.changes()
    assert [(each.change, each.name, each.synthetic, each.unseen_since) for each in written] == [
        ("added", "one", False, None),
        ("added", "two", False, None),
    ]


def test_an_object_of_the_first_list_was_seen_from_its_start_only_if_it_was_created_meanwhile():
    cluster = Cluster(listed=False)
    cluster.absent(*(kind.name for kind in KINDS if kind.name != PODS))
    cluster.now += 300
    old = pod("old", creationTimestamp="2027-01-15T07:59:59Z")
    now = pod("now", creationTimestamp="2027-01-15T08:00:00Z")
    cluster.list(PODS, old, now, pod("undated", creationTimestamp=None))
    assert {each.name: each.start_observed for each in cluster.changes()} == {
        "old": False,
        "now": True,
        "undated": False,
    }


def test_first_sight_by_a_change_or_a_deletion_is_no_start():
    cluster = Cluster()
    cluster.add(PODS, pod("added"))
    cluster.modify(PODS, pod("modified"))
    cluster.delete(PODS, pod("deleted"))
    assert {each.change: each.start_observed for each in cluster.changes()} == {
        "added": True,
        "modified": False,
        "deleted": False,
    }


def test_items_of_a_list_get_the_kind_that_lists_leave_out():
    cluster = Cluster(listed=False)
    cluster.absent(*(kind.name for kind in KINDS if kind.name != GROUPS))
    cluster.list(GROUPS, thing("pg"))
    body = bytes(cluster.changes()[0].object)
    assert b'"kind":"PodGroup"' in body
    assert b'"apiVersion":"scheduling.k8s.io/v1beta1"' in body


def test_items_of_a_list_are_of_the_version_that_the_list_was_of():
    cluster = mirrored.only(WORKLOADS)
    raw = b'{"metadata":{"name":"w","uid":"w"}}'
    cluster.mirror.list_begin(WORKLOADS, cluster.now)
    cluster.mirror.list_item(WORKLOADS, raw, cluster.now, api_version="kueue.x-k8s.io/v1beta1")
    cluster.take(cluster.mirror.list_end(WORKLOADS, "1", cluster.now, None))
    change = cluster.changes()[0]
    assert change.api_version == "kueue.x-k8s.io/v1beta1"
    assert b'"apiVersion":"kueue.x-k8s.io/v1beta1"' in bytes(change.object)


# stages


def test_kinds_are_taken_in_by_stages_whatever_the_order_of_their_lists():
    cluster = Cluster(listed=False)
    cluster.absent(*(kind.name for kind in KINDS if kind.name not in (NODES, JOBS, PODS)))
    cluster.list(PODS, owned(pod("train-0"), "Job", "train"))
    cluster.modify(PODS, owned(pod("train-0", phase="Running"), "Job", "train"))
    cluster.list(JOBS, owned(thing("train"), "JobSet", "set", "jobset.x-k8s.io/v1"))
    assert cluster.wrote() == []
    assert cluster.mirror.held(PODS)
    assert cluster.mirror.held(JOBS)
    cluster.list(NODES, node("one"))
    written = cluster.changes()
    assert [(each.change, each.name, each.job and each.job.kind) for each in written] == [
        ("added", "one", None),
        ("added", "train", "JobSet"),
        ("added", "train-0", "JobSet"),
        ("modified", "train-0", "JobSet"),
    ]
    assert written[2].facts.nodes_wanted.total == 1
    assert not cluster.mirror.held(PODS)


def test_a_kind_that_turns_out_absent_is_waited_for_no_more():
    cluster = Cluster(listed=False)
    cluster.absent(*(kind.name for kind in KINDS if kind.name not in (NODES, PODS)))
    cluster.list(PODS, pod("one"))
    assert cluster.wrote() == []
    cluster.absent(NODES)
    assert names(cluster) == [("added", "one")]


def test_a_kind_that_is_served_later_counts_from_then_on():
    cluster = mirrored.only(PODS)
    cluster.add(PODS, group_pod("pg-0", "pg"))
    cluster.list(NODES, node("one"))
    cluster.list(GROUPS, thing("pg"))
    last = [each for each in cluster.changes() if each.name == "pg-0"][-1]
    assert last.job.uid == "uid-pg"
    assert last.facts.nodes_wanted.total == 1


def test_an_object_of_an_unlisted_owner_waits_for_the_list_and_not_only_for_two_seconds():
    cluster = Cluster(listed=False)
    cluster.absent(*(kind.name for kind in KINDS if kind.name not in (GROUPS, JOBS)))
    cluster.list(GROUPS, owned(thing("pg"), "Job", "train"))
    cluster.pass_ms(60_000)
    assert cluster.wrote() == []
    cluster.list(JOBS, owned(thing("train"), "JobSet", "set", "jobset.x-k8s.io/v1"))
    assert {each.job.name for each in cluster.changes()} == {"set"}


# copies and noise


def test_a_copy_is_dropped_and_counted():
    cluster = Cluster()
    made = cluster.add(PODS, pod("one"))
    cluster.copy(PODS, made)
    cluster.copy(PODS, made, "ADDED")
    assert names(cluster) == [("added", "one")]
    assert cluster.mirror.counts["duplicates"] == 2


def test_a_deletion_seen_twice_is_a_copy():
    cluster = Cluster()
    cluster.add(PODS, pod("one"))
    gone = cluster.delete(PODS, pod("one"))
    cluster.copy(PODS, gone, "DELETED")
    assert names(cluster) == [("added", "one"), ("deleted", "one")]


def test_an_object_that_is_added_twice_was_modified_the_second_time():
    cluster = Cluster()
    cluster.add(PODS, pod("one"))
    cluster.add(PODS, pod("one", phase="Running"))
    assert names(cluster) == [("added", "one"), ("modified", "one")]


def test_updates_of_noisy_kinds_that_change_nothing_kept_are_suppressed():
    cluster = Cluster()
    for key, each in ((NODES, node("n")), (VOLCANO_QUEUES, volcano_queue("q"))):
        cluster.add(key, each)
        each["status"]["heartbeat"] = "later"
        each["metadata"]["generation"] = 7
        cluster.modify(key, each)
    assert names(cluster) == [("added", "n"), ("added", "q")]
    assert cluster.mirror.counts["suppressed"] == 2


def test_updates_of_pods_groups_and_jobs_are_never_suppressed():
    cluster = Cluster()
    for key, each in ((PODS, pod("p")), (GROUPS, thing("g")), (JOBS, thing("j"))):
        cluster.modify(key, cluster.add(key, each))
    assert [change for change, _ in names(cluster)] == ["added", "modified"] * 3


# a list after a gap


def after_a_gap(*objects, unseen_since=mirrored.BEGIN_MS):
    cluster = Cluster()
    for name in ("same", "changed", "gone"):
        cluster.copy(PODS, versioned(pod(name), "1"), "ADDED")
    cluster.wrote()
    cluster.now += 30_000
    cluster.list(PODS, *objects, unseen_since=unseen_since)
    return cluster


def test_a_list_after_a_gap_writes_the_differences_as_synthetic_and_one_gap():
    cluster = after_a_gap(versioned(pod("same"), "1"), versioned(pod("new"), "2"), versioned(pod("changed"), "3"))
    *written, gap = cluster.wrote()
    assert [(r.data.change, r.data.name) for r in written] == [
        ("deleted", "gone"),
        ("added", "new"),
        ("modified", "changed"),
    ]
    assert all(r.data.synthetic and r.data.unseen_since == mirrored.BEGIN_MS for r in written)
    assert all(r.observedms == mirrored.BEGIN_MS + 30_000 for r in written)
    assert isinstance(gap, GapRecord)
    assert (gap.data.kind, gap.data.from_ms, gap.data.to_ms, gap.data.changed) == (
        "Pod",
        mirrored.BEGIN_MS,
        mirrored.BEGIN_MS + 30_000,
        3,
    )
    assert gap.data.to_version == "listed"


def test_what_is_gone_without_a_last_sight_is_deleted_under_its_job():
    cluster = Cluster()
    cluster.add(JOBS, thing("train"))
    cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    cluster.wrote()
    cluster.list(PODS, unseen_since=cluster.now)
    gone = cluster.changes()[0]
    assert (gone.change, gone.name, gone.job.name) == ("deleted", "train-0", "train")
    assert b'"object"' not in codec.encode(cluster.records[-2])


def test_a_list_that_shows_nothing_new_still_tells_of_the_gap():
    cluster = after_a_gap(*(versioned(pod(name), "1") for name in ("same", "changed", "gone")))
    written = cluster.wrote()
    assert [type(record) for record in written] == [GapRecord]
    assert written[0].data.changed == 0


def test_the_gap_says_why_and_between_which_versions():
    cluster = Cluster()
    cluster.mirror.list_begin(PODS, cluster.now)
    gap = cluster.mirror.list_end(PODS, "900", cluster.now, cluster.now - 5000, why="too_large", from_version="250")[0]
    assert (gap.data.why, gap.data.from_version, gap.data.to_version) == ("too_large", "250", "900")
    assert gap.id == f"test/Pod/{cluster.now - 5000}/{cluster.now}"


def test_a_list_without_a_gap_is_compared_too():
    cluster = after_a_gap(versioned(pod("same"), "1"), unseen_since=None)
    written = cluster.wrote()
    assert [(r.data.change, r.data.name, r.data.unseen_since) for r in written] == [
        ("deleted", "changed", None),
        ("deleted", "gone", None),
    ]


def test_a_list_that_begins_anew_shows_everything_again():
    cluster = Cluster()
    cluster.mirror.list_begin(PODS, cluster.now)
    cluster.mirror.list_item(PODS, b'{"metadata":{"name":"a","uid":"a","resourceVersion":"1"}}', cluster.now)
    cluster.list(PODS, versioned(pod("b"), "1"), unseen_since=cluster.now)
    assert names(cluster) == [("added", "b")]


def test_a_frame_between_two_pages_is_newer_than_the_page():
    cluster = Cluster()
    cluster.add(PODS, pod("kept"))
    cluster.mirror.list_begin(PODS, cluster.now)
    cluster.mirror.list_item(PODS, b'{"metadata":{"name":"new","uid":"uid-new","resourceVersion":"5"}}', cluster.now)
    cluster.wrote()
    cluster.delete(PODS, pod("new"))
    cluster.modify(PODS, pod("kept"))
    cluster.take(cluster.mirror.list_end(PODS, "9", cluster.now, None))
    assert names(cluster) == [("deleted", "new"), ("modified", "kept")]


def test_an_item_that_cannot_be_read_is_not_taken_for_deleted():
    cluster = Cluster()
    cluster.add(PODS, pod("odd"))
    cluster.wrote()
    cluster.mirror.list_begin(PODS, cluster.now)
    with pytest.raises(Terminal, match="Pod"):
        cluster.mirror.list_item(
            PODS, b'{"metadata":{"name":"odd","uid":"uid-odd"},"spec":{"priority":"x"}}', cluster.now
        )
    with pytest.raises(Terminal):
        cluster.mirror.list_item(PODS, b"[]", cluster.now)
    cluster.take(cluster.mirror.list_end(PODS, "9", cluster.now, cluster.now))
    assert names(cluster) == []


def test_an_object_that_vanishes_while_it_is_held_is_told_to_its_job_to_the_end():
    cluster = Cluster()
    cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    cluster.list(PODS, unseen_since=cluster.now)
    cluster.wrote()
    cluster.add(JOBS, thing("train"))
    assert cluster.said() == ["added train of Job train", "added train-0 of Job train", "deleted train-0 of Job train"]
    assert not cluster.mirror.held(PODS)


# what cannot be read


@pytest.mark.parametrize(
    "raw", [b"null", b"{}", b'{"metadata":{"uid":"x"}}', b'{"metadata":{"name":5}}', b"{", b"\xff"]
)
def test_an_object_that_cannot_be_read_is_refused_and_changes_nothing(raw):
    cluster = Cluster()
    for key in (PODS, EVENTS):
        with pytest.raises(Terminal):
            cluster.mirror.frame(key, "ADDED", raw, cluster.now)
    assert cluster.mirror.tick(cluster.now) == []
    assert cluster.known().upserts == []


def test_an_object_that_ends_twice_while_it_is_held_back_ends_once():
    cluster = Cluster()
    held = cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    cluster.delete(PODS, held)
    cluster.delete(PODS, held)
    cluster.list(PODS, unseen_since=cluster.now)  # and a list does not show it either
    assert cluster.said() == []
    cluster.add(JOBS, thing("train"))
    assert cluster.said() == ["added train of Job train", "added train-0 of Job train", "deleted train-0 of Job train"]
    assert cluster.mirror.counts["duplicates"] == 2


def test_the_end_of_an_object_is_told_though_its_last_state_cannot_be_read():
    cluster = Cluster()
    cluster.add(JOBS, thing("train"))
    cluster.wrote()
    broken = {**thing("train"), "spec": {"parallelism": "many"}}
    with pytest.raises(Terminal):
        cluster.delete(JOBS, broken)
    cluster.pass_ms(1)
    assert cluster.said() == ["deleted train of Job train"]
    with pytest.raises(Terminal):
        cluster.delete(JOBS, broken)
    cluster.pass_ms(1)
    assert cluster.wrote() == []


def test_a_kind_that_is_forbidden_for_a_while_proves_absence_again_afterwards():
    cluster = Cluster()
    cluster.absent(JOBS)
    cluster.take(cluster.mirror.kind_listed(JOBS, cluster.now))
    cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    assert cluster.wrote() == [], "its job may come any moment"
    cluster.add(JOBS, thing("train"))
    assert cluster.said() == ["added train of Job train", "added train-0 of Job train"]


def test_an_object_without_uid_gets_one_from_its_name_and_creation():
    cluster = Cluster()
    for made in ("2027-01-15T08:00:00Z", "2027-01-15T08:00:01Z"):
        each = thing("nameless", creationTimestamp=made)
        del each["metadata"]["uid"]
        cluster.add(PODS, each)
    first, second = cluster.changes()
    assert first.surrogate
    assert first.uid == "surrogate:team/nameless/2027-01-15T08:00:00Z"
    assert second.uid != first.uid
    assert cluster.mirror.counts["surrogate"] == 2


def test_a_watch_that_is_not_wanted_is_refused():
    with pytest.raises(KeyError):
        Mirror("test", "collector", MirrorOptions()).list_begin("secrets", 0)


# restart


def test_a_restart_writes_only_what_is_different():
    cluster = Cluster()
    for name in ("same", "changed", "gone"):
        cluster.copy(PODS, versioned(pod(name), "1"), "ADDED")
    cluster.copy(EVENTS, versioned(event("said", pod("same")), "1"), "ADDED")
    cluster.add(NODES, node("n"))
    known = cluster.known()
    assert len(known.upserts) == 5
    again = Cluster(listed=False)
    again.mirror.restore(known.upserts)
    for kind in again.options.kinds:
        listed = {
            PODS: [versioned(pod("same"), "1"), versioned(pod("changed"), "2"), versioned(pod("new"), "1")],
            NODES: [versioned(node("n"), "later")],
            EVENTS: [versioned(event("said", pod("same")), "1"), versioned(event("more", pod("same")), "1")],
        }.get(kind.name, [])
        again.list(kind.name, *listed, unseen_since=again.now - 9000)
    written = [(getattr(r.data, "change", "event"), r.data.name) for r in again.wrote() if not isinstance(r, GapRecord)]
    assert written == [("deleted", "gone"), ("modified", "changed"), ("added", "new"), ("event", "more")]
    assert again.mirror.counts["suppressed"] == 1


def test_after_a_restart_unchanged_objects_still_lead_to_jobs_and_wait_for_nodes():
    cluster = Cluster()
    cluster.copy(JOBS, versioned(owned(thing("train"), "JobSet", "set", "jobset.x-k8s.io/v1"), "1"), "ADDED")
    cluster.copy(PODS, versioned(owned(pod("train-0"), "Job", "train"), "1"), "ADDED")
    again = cluster.restarted()
    for kind in again.options.kinds:
        listed = {
            JOBS: [versioned(owned(thing("train"), "JobSet", "set", "jobset.x-k8s.io/v1"), "1")],
            PODS: [versioned(owned(pod("train-0"), "Job", "train"), "1")],
        }.get(kind.name, [])
        again.list(kind.name, *listed)
    assert again.wrote() == []
    again.add(PODS, owned(pod("train-1"), "Job", "train"))
    again.add(NODES, node("n"))
    assert again.said() == [
        "added train-1 of JobSet set",
        "added n of nothing",
        "facts train-0 of JobSet set",
        "facts train-1 of JobSet set",
    ]


@pytest.mark.parametrize(
    ("nodes", "expected"), [([], []), ([node("n")], ["added n of nothing", "facts one of Pod one"])]
)
def test_facts_that_changed_during_a_restart_are_told_and_others_are_not(nodes, expected):
    cluster = Cluster()
    cluster.copy(PODS, versioned(pod("one"), "1"), "ADDED")
    again = cluster.restarted()
    for kind in again.options.kinds:
        again.list(kind.name, *{PODS: [versioned(pod("one"), "1")], NODES: nodes}.get(kind.name, []))
    assert again.said() == expected


def test_a_group_that_came_during_a_restart_moves_its_pods():
    cluster = Cluster()
    cluster.copy(PODS, versioned(group_pod("pg-0", "pg"), "1"), "ADDED")
    again = cluster.restarted()
    for kind in again.options.kinds:
        again.list(
            kind.name, *{GROUPS: [thing("pg")], PODS: [versioned(group_pod("pg-0", "pg"), "1")]}.get(kind.name, [])
        )
    assert again.said() == ["added pg of PodGroup pg", "moved pg-0 of PodGroup pg", "added pg-0 of PodGroup pg"]
    assert again.records[-1].data.job.uid == "uid-pg"
    assert not again.records[-1].data.truncated


def test_what_is_held_is_not_known_yet():
    cluster = Cluster()
    cluster.add(PODS, owned(pod("train-0"), "Job", "train"))
    assert cluster.known().upserts == []
    cluster.add(JOBS, thing("train"))
    assert {each.name for each in cluster.known().upserts} == {"train", "train-0"}
    assert cluster.known().upserts == []


def test_known_objects_follow_moves_and_deletions():
    cluster = Cluster()
    cluster.add(PODS, group_pod("pg-0", "pg"))
    cluster.known()
    group = cluster.add(GROUPS, thing("pg"))
    assert {each.name: each.job.uid for each in cluster.known().upserts} == {"pg": "uid-pg", "pg-0": "uid-pg"}
    cluster.delete(GROUPS, group)
    assert cluster.known().deletes == [(GROUPS, "uid-pg")]


def test_known_objects_of_a_kind_that_is_not_wanted_stay_as_they_are_stored():
    """It may be wanted again, and is then compared with them."""
    cluster = Cluster(listed=False)
    cluster.mirror.restore([KnownObject("rayclusters.ray.io", "uid-ray", "1", "team", "ray")])
    assert cluster.known() == KnownChanges([], [])


# namespaces on their own


def test_namespaces_can_be_watched_one_by_one():
    cluster = Cluster(MirrorOptions(namespaces=("a", "b")), listed=False)
    for kind in KINDS:
        for key in [f"{kind.name}/a", f"{kind.name}/b"] if kind.namespaced else [kind.name]:
            cluster.absent(*([] if kind.name == PODS else [key]))
    cluster.list("pods/a", pod("one", namespace="a"))
    cluster.list("pods/b", pod("two", namespace="b"))
    assert names(cluster) == [("added", "one"), ("added", "two")]
    assert {each.key for each in cluster.known().upserts} == {"pods/a", "pods/b"}
    cluster.list("pods/a", unseen_since=cluster.now)
    assert names(cluster) == [("deleted", "one")]
    assert cluster.known().deletes == [("pods/a", "uid-one")]


# the same happenings


def test_every_record_can_be_read_back_and_ids_are_not_used_twice():
    cluster = Cluster()
    made = cluster.add(PODS, group_pod("pg-0", "pg"))
    cluster.add(GROUPS, thing("pg"))
    cluster.add(NODES, node("n"))
    cluster.add(EVENTS, event("said", made))
    cluster.modify(PODS, made)
    cluster.delete(PODS, made)
    cluster.list(GROUPS, unseen_since=cluster.now)
    assert all(codec.decode(codec.encode(record)).id == record.id for record in cluster.records)
    ids = [record.id for record in cluster.records]
    assert len(set(ids)) == len(ids)
