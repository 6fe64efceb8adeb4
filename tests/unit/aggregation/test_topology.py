"""The operator's contract: copies, timers, moves, dropping, stored states."""

import msgspec
import pytest

from aggregation import topology
from aggregation.lifecycle.state import SCHEMA
from pipeline.errors import Terminal
from pipeline.records.envelope import GapRecord, TickRecord
from pipeline.records.gaps import Gap
from pipeline.records.jobs import JobRef, placeholder_uid
from pipeline.records.rows import key_of
from tests.support import replayed
from tests.support.story import BEGIN_MS, CLUSTER, NATIVE_GROUP, Story

HOUR_MS = 3_600_000
OPERATOR = topology.JobOperator(topology.Options(drop_after_ms=HOUR_MS))


def life():
    story = Story().batch_job(annotations={"sla-waiting-time": "4s"}).after(10).pod("a").after(3000)
    story.pod("a", text="0/8 nodes are available: 8 Insufficient cpu.").after(3000).pod("a", node="n")
    return (
        story.after(4000)
        .pod("a", phase="Running")
        .after(5000)
        .pod("a", phase="Failed")
        .after(3000)
        .pod("b")
        .after(2000)
    )


def test_records_of_no_job_concern_no_state():
    common = {"source": "s", "cluster": CLUSTER, "partitionkey": "*", "observedms": 1}
    assert topology.job_of(TickRecord(id="t", **common)) is None
    assert topology.job_of(GapRecord(id="g", data=Gap(kind="Pod", to_ms=1, why="expired"), **common)) is None
    assert topology.job_of(life().records[0]) == Story().job


def test_a_copy_of_a_record_changes_nothing():
    story = life()
    once = story.tell()
    story.log = [line for line in story.log for _ in range(2)]
    assert story.tell().judged.tables == once.judged.tables


def test_the_copies_of_a_whole_batch_change_nothing_even_of_objects_that_are_gone():
    story = (
        Story().batch_job().after(10).pod("a", node="n").after(5000).pod("a", phase="Succeeded").after(100).gone("a")
    )
    once = story.tell()
    story.log += [replayed.Logged(story.now, line.record) for line in story.log]
    assert story.tell().judged.tables == once.judged.tables


def test_a_state_goes_through_its_stored_form_unchanged():
    story = life()
    operator = topology.JobOperator(topology.Options())
    state = operator.zero(CLUSTER, story.job, BEGIN_MS)
    for stamp, record in story.log:
        state = operator.on_record(state, record, stamp).state
        assert operator.decode(operator.encode(state)) == state


def test_a_stored_state_of_another_schema_is_refused():
    state = OPERATOR.zero(CLUSTER, Story().job, BEGIN_MS)
    state.schema = SCHEMA + 1
    with pytest.raises(Terminal, match="schema"):
        OPERATOR.decode(OPERATOR.encode(state))
    with pytest.raises(Terminal, match="cannot be read"):
        OPERATOR.decode(msgspec.msgpack.encode({"no": "state"}))


def test_a_deadline_fires_without_any_record_once_and_not_after_the_end():
    story = Story().batch_job(annotations={"sla-waiting-time": "1h"}).pod("a").tick(HOUR_MS + 5000)
    assert story.tell().wait["sla"] == "violated"
    story = Story().batch_job(annotations={"sla-waiting-time": "1h"}).pod("a", node="n").tick(HOUR_MS + 5000)
    assert story.tell().violations == []


def test_a_collectors_clock_that_is_an_hour_ahead_breaks_no_promise():
    story = Story().batch_job(annotations={"sla-waiting-time": "1m"}).after(1000)
    story.now += HOUR_MS
    story.pod("a")
    story.log[-1] = replayed.Logged(BEGIN_MS + 1000, story.log[-1].record)
    story.now = BEGIN_MS + 3000
    wait = story.tell().wait
    assert (wait["sla"], wait["started_at"]) == ("on_track", BEGIN_MS)


def test_versions_grow_with_each_written_row_of_a_job():
    written = life().tell().judged.written
    by_key = {}
    for row in written:
        key = row.table, key_of(row)
        assert row.version > by_key.get(key, 0)
        by_key[key] = row.version
    assert all(version >= BEGIN_MS for version in by_key.values())


def test_a_job_that_has_ended_is_dropped_after_a_while():
    story = Story("Pod", "", "a").pod("a", node="n").after(5000).pod("a", phase="Succeeded")
    operator = topology.JobOperator(topology.Options(drop_after_ms=HOUR_MS))
    state, due = operator.zero(CLUSTER, story.job, BEGIN_MS), {}
    for stamp, record in story.log:
        step = operator.on_record(state, record, stamp)
        state = step.state
        due.update(step.timers)
    assert due["drop"] == story.now + HOUR_MS
    assert operator.on_timer(state, "drop", due["drop"] - 1).state is state
    assert operator.on_timer(state, "drop", due["drop"]).state is None


def test_a_job_that_runs_is_never_dropped():
    step = None
    story = Story().batch_job().after(10).pod("a", node="n")
    state = OPERATOR.zero(CLUSTER, story.job, BEGIN_MS)
    for stamp, record in story.log:
        step = OPERATOR.on_record(state, record, stamp)
    assert step.timers.get("drop") is None
    assert OPERATOR.on_timer(state, "drop", story.now + 100 * HOUR_MS).state is state


def test_a_state_of_which_nothing_is_known_is_not_kept():
    story = Story().batch_job().event("train", "Completed", "Job completed")
    state = OPERATOR.zero(CLUSTER, story.job, BEGIN_MS)
    assert OPERATOR.on_record(state, story.records[-1], BEGIN_MS).state is None


def test_late_records_of_an_ended_job_do_not_open_a_wait():
    done = Story()
    done.put(
        "Job", "batch", "train", status={"conditions": [done._condition("Complete", "True", "", "")]}, change="modified"
    )
    assert done.after(10).gone("train").tell().waits == []


def test_when_the_last_object_has_moved_its_rows_are_removed_and_nothing_is_cancelled():
    missing = Story("PodGroup", NATIVE_GROUP, "gang", uid=placeholder_uid("team-a", "gang"))
    missing.pod("a", spec={"schedulingGroup": {"podGroupName": "gang"}}).after(5000).tick()
    assert missing.tell().codes() == ["gang_incomplete"]
    told = missing.moved("a", JobRef("PodGroup", "team-a", "gang", "uid-gang", NATIVE_GROUP)).tell()
    assert (told.waits, told.segments) == ([], [])
    assert {row.table for row in told.judged.written if row.deleted} == {"job_wait", "wait_segment", "wait_reason_hour"}
    assert not any(row.values.get("phase") == "cancelled" for row in told.judged.written)


def test_a_job_that_only_some_objects_leave_goes_on():
    story = (
        Story("PodGroup", NATIVE_GROUP, "gang")
        .native_group(minimum=1)
        .after(10)
        .pod("a", node="n")
        .pod("b")
        .after(5000)
    )
    story.moved("a", JobRef("Pod", "team-a", "a", "uid-a")).after(3000)
    assert [row["phase"] for row in story.tell().waits] == ["scheduled"], "leaving is no loss"


def test_a_pod_of_which_only_its_name_moved_along_counts_when_it_is_seen_again():
    story = Story().batch_job().after(10)
    story.put("Pod", "", "a", truncated=True, start_observed=False).after(3000)
    assert story.tell().codes() == ["pods_not_created"]
    assert story.pod("a", node="n").tell().wait["phase"] == "scheduled"


def test_a_record_that_cannot_be_read_leaves_the_machine_working():
    story = Story().batch_job().after(10).pod("a")
    broken = msgspec.structs.replace(story.log[-1].record, id="other")
    broken.data = msgspec.structs.replace(broken.data, object=msgspec.Raw(b'{"spec": 7}'))
    log = [*story.log, replayed.Logged(story.now, broken)]
    story.after(3000).pod("a", node="n")
    log += [story.log[-1], replayed.Logged(story.now + 1000, None)]
    judged = replayed.judge(log, CLUSTER, topology.Options())
    assert [type(failure.error) for failure in judged.failures] == [Terminal]
    (wait,) = judged.tables["job_wait"].values()
    assert wait["phase"] == "scheduled"
