"""Three recorded clusters through the mirror: whose every pod is, and which nodes it wants."""

import json
import os
from functools import cache
from pathlib import Path

import pytest

from collector.kinds.catalog import KINDS
from collector.kinds.mirror import Mirror, MirrorOptions
from collector.replay.player import beats
from collector.replay.recording import Recording
from collector.watch.follower import Follower
from pipeline.records import codec, shapes
from pipeline.records.envelope import EventRecord, GapRecord, ObjectRecord

FOLDER = Path(os.environ.get("KC_RECORDINGS") or Path(__file__).parents[3] / "recordings")
NAMES = ("kube-a", "kube-b", "volcano-a")


@cache
def replayed(name):
    return replay_of(FOLDER / name)


def replay_of(folder):
    """The mirror of a recording, and every record that it wrote."""
    recording = Recording(folder)
    mirror = Mirror("recorded", "test", MirrorOptions())
    follower = Follower(mirror)
    records = follower.absent(
        [kind.name for kind in KINDS if kind.name not in recording.watches], recording.bounds()[0]
    )
    for beat in beats(recording):
        records += follower.take(beat.watch, beat.happening) if beat.happening is not None else follower.tick(beat.t)
    assert follower.dead == []
    return mirror, records


@cache
def expected(name):
    return json.loads((FOLDER / name / "expected.json").read_text())["jobs"]


def objects(name, kind=None):
    for record in replayed(name)[1]:
        if isinstance(record, ObjectRecord) and kind in (None, record.data.kind):
            yield record.data


@pytest.mark.parametrize("name", NAMES)
def test_every_job_is_found_under_its_kind_name_and_uid(name):
    last = {}
    for change in objects(name):
        if change.job is not None and change.change != "moved":
            last[change.uid] = change.job
    jobs = {job.uid: str(job) for job in last.values()}
    assert {job["uid"]: jobs.get(job["uid"]) for job in expected(name)} == {
        job["uid"]: job["job"] for job in expected(name)
    }


@pytest.mark.parametrize("name", NAMES)
def test_pods_end_up_with_jobs_that_are_expected_or_are_their_own(name):
    known = {job["uid"] for job in expected(name)}
    last = {change.uid: change.job for change in objects(name, "Pod") if change.change != "moved"}
    others = {str(job) for uid, job in last.items() if job.uid not in known and job.uid != uid}
    assert others == set()
    assert sum(job.uid in known for job in last.values()) > 50


@pytest.mark.parametrize("name", NAMES)
def test_every_move_leaves_the_job_that_was_written_before(name):
    under = {}
    moves = 0
    for change in objects(name):
        if change.change == "moved":
            assert under[change.uid] == change.job
            moves += 1
        under[change.uid] = change.moved_to or change.job
    assert moves == replayed(name)[0].counts["moved"] > 0


WAITS_ON_NODES = {"node_affinity", "node_not_ready", "node_unschedulable", "untolerated_taint"}


@pytest.mark.parametrize("name", NAMES)
def test_jobs_that_wait_for_nodes_are_told_of_just_that(name):
    reasons = {
        job["uid"]: {segment["reason"] for episode in job["episodes"] for segment in episode["segments"]}
        & WAITS_ON_NODES
        for job in expected(name)
    }
    told = {uid: set() for uid, wanted in reasons.items() if wanted}
    for change in objects(name, "Pod"):
        if change.facts is not None and change.job.uid in told and change.facts.nodes_wanted.open == 0:
            told[change.job.uid].add(reason_of(change.facts.nodes_wanted))
    assert told
    assert all(reasons[uid] <= found for uid, found in told.items()), told


def reason_of(wanted):
    """Rule P1 where no wanted node is open."""
    if wanted.total == 0:
        return "node_affinity"
    if wanted.not_ready:
        return "node_not_ready"
    return "node_unschedulable" if wanted.unschedulable else "untolerated_taint"


@pytest.mark.parametrize("name", NAMES)
def test_every_waiting_pod_is_told_of_its_nodes_and_no_other_is(name):
    for change in objects(name, "Pod"):
        wanted = change.facts.nodes_wanted if change.facts is not None else None
        if wanted is not None:
            assert wanted.total == wanted.open + wanted.not_ready + wanted.unschedulable + wanted.tainted <= 28
        if change.change in ("added", "modified"):
            shape = shapes.decode("", "Pod", change.object)
            waits = (
                not shape.spec.node_name and shape.status.phase == "Pending" and not shape.metadata.deletion_timestamp
            )
            assert (wanted is not None) == waits


def test_queues_of_the_recorded_clusters_are_told():
    kueue = {c.facts.queue.name: c.facts.queue for c in objects("kube-a", "Workload") if c.facts and c.facts.queue}
    assert set(kueue) == {"main", "late", "held"}
    states = {
        (c.facts.queue.exists, c.facts.queue.state)
        for c in objects("kube-a", "Workload")
        if c.facts and c.facts.queue.name == "late"
    }
    assert states == {(False, None), (True, "Open")}
    volcano = {c.facts.queue.name: c.facts.queue for c in objects("volcano-a", "PodGroup") if c.facts}
    assert volcano["nowhere"].exists is False
    assert volcano["small"].capability == {"cpu": "8", "memory": "16Gi"}


def test_outages_are_told_as_gaps_and_nothing_had_changed_behind_them():
    _, records = replayed("kube-b")
    gaps = [record.data for record in records if isinstance(record, GapRecord)]
    assert len(gaps) > 5
    assert all(gap.from_ms < gap.to_ms and gap.from_version for gap in gaps)
    assert [change.name for change in objects("kube-b") if change.synthetic] == [], "nothing moves without the server"
    assert {gap.changed for gap in gaps if gap.kind != "Event"} == {0}
    assert [gap.changed for gap in gaps if gap.kind == "Event"] == [10], "said before its watch was back"
    assert not any(isinstance(record, GapRecord) for record in replayed("kube-a")[1])


def test_a_watch_that_was_cut_off_for_long_comes_back_with_the_differences(tmp_path):
    for file in (FOLDER / "kube-b").glob("*.ndjson.gz"):
        if file.name not in ("pods.ndjson.gz", "pods-watchlist.ndjson.gz", "pods-late.ndjson.gz"):
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "pods.ndjson.gz").write_bytes((FOLDER / "kube-b" / "pods-late.ndjson.gz").read_bytes())
    _, records = replay_of(tmp_path)
    gap = next(r.data for r in records if isinstance(r, GapRecord) and r.data.kind == "Pod")
    assert gap.to_ms - gap.from_ms > 60_000
    behind = [r.data for r in records if isinstance(r, ObjectRecord) and r.data.synthetic]
    assert {change.change for change in behind} == {"added", "modified", "deleted"}
    assert {change.unseen_since for change in behind} == {gap.from_ms}
    assert gap.changed == len(behind)


@pytest.mark.parametrize("name", NAMES)
def test_events_about_pods_carry_the_job_of_the_pod(name):
    jobs = {}
    for change in objects(name, "Pod"):
        for key in (change.uid, change.name):
            jobs.setdefault(key, set()).update({change.job.uid, (change.moved_to or change.job).uid})
    about_pods = [r.data for r in replayed(name)[1] if isinstance(r, EventRecord) and r.data.regarding.kind == "Pod"]
    assert len(about_pods) > 100
    assert all(
        each.job is not None and each.job.uid in jobs[each.regarding.uid or each.regarding.name] for each in about_pods
    )


@pytest.mark.parametrize("name", NAMES)
def test_all_can_be_read_back_and_no_id_stands_for_two_things(name):
    by_id = {}
    for record in replayed(name)[1]:
        line = codec.encode(record)
        assert codec.encode(codec.decode(line)) == line
        assert by_id.setdefault(record.id, line) == line
    assert not any(replayed(name)[0].held(kind.name) for kind in KINDS)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_recording_gives_the_same_records(name):
    first = [codec.encode(record) for record in replayed(name)[1]]
    again = [codec.encode(record) for record in replay_of(FOLDER / name)[1]]
    assert first == again
