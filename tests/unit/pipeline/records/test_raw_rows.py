"""Records to rows of the raw tables."""

from __future__ import annotations

import json

import msgspec
import pytest

from pipeline.records import codec, raw_rows, rows, tables
from pipeline.records.decisions import Decision, FailureSet
from pipeline.records.envelope import DecisionRecord, EventRecord, GapRecord, ObjectRecord, TickRecord
from pipeline.records.events import EventSeen, Regarding
from pipeline.records.gaps import Gap
from pipeline.records.jobs import JobRef
from pipeline.records.objects import Facts, NodesWanted, ObjectChange

AT = 1_767_225_600_123
JOB = JobRef("Job", "team-a", "train", "j-1", "batch")
POD = {
    "metadata": {"name": "train-0"},
    "spec": {"nodeName": "node-7", "containers": [{"name": "main"}]},
    "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes"}]},
}


def envelope(**more):
    return {"id": "c/1", "source": "collector", "cluster": "c", "partitionkey": "7", "observedms": AT} | more


def changed(change="modified", body=POD, **more):
    raw = msgspec.Raw(json.dumps(body).encode()) if body is not None else msgspec.UNSET
    data = ObjectChange(
        change=change,
        kind="Pod",
        name="train-0",
        namespace="team-a",
        uid="u-1",
        version="42",
        job=JOB,
        object=raw,
        **more,
    )
    return codec.decode(codec.encode(ObjectRecord(**envelope(), data=data)))


def test_an_object_change_is_keyed_by_object_version_and_change_and_carries_when_it_was_observed():
    row = raw_rows.of(changed())
    assert row.table == "object_change" and row.version == AT
    assert rows.key_of(row) == (AT, "c", "u-1", "42", "modified")
    assert row.values["job_uid"] == "j-1" and row.values["observed_at"] == AT


def test_its_summary_holds_phase_node_conditions_and_facts_and_no_more():
    row = raw_rows.of(changed(facts=Facts(nodes_wanted=NodesWanted(total=3, open=1))))
    assert json.loads(row.values["summary"]) == {
        "phase": "Pending",
        "node": "node-7",
        "conditions": POD["status"]["conditions"],
        "facts": {"nodes_wanted": {"total": 3, "open": 1}},
    }


@pytest.mark.parametrize("body", [None, {"status": {"conditions": "none"}}, {"spec": []}])
def test_an_object_without_a_readable_status_has_an_empty_summary(body):
    assert raw_rows.of(changed(body=body)).values["summary"] == "{}"


def test_a_move_names_the_job_it_goes_to():
    row = raw_rows.of(changed("moved", None, moved_to=JobRef("JobSet", "team-a", "sweep", "s-1")))
    assert json.loads(row.values["summary"]) == {"moved_to": "JobSet/team-a/sweep"}


def test_an_event_keeps_its_absolute_count_and_its_own_times():
    seen = EventSeen(
        uid="e-1", version="9", name="x", at_us=5, count=4, first_us=1, last_us=5, reason="FailedScheduling",
        regarding=Regarding("Pod", "train-0", "team-a", "u-1"), job=JOB, type="Warning", message="no",
    )  # fmt: skip
    row = raw_rows.of(EventRecord(**envelope(), data=seen))
    assert (row.values["count"], row.values["first_us"], row.values["last_us"]) == (4, 1, 5)
    assert row.values["regarding_uid"] == "u-1" and row.values["job_uid"] == "j-1"


def test_an_event_about_nothing_is_a_row_too():
    row = raw_rows.of(EventRecord(**envelope(), data=EventSeen(uid="e", version="1", name="x", at_us=1)))
    assert row.values["regarding_kind"] == "" and row.values["job_uid"] is None


def test_a_decision_lies_in_the_day_of_its_session():
    decision = Decision(
        source="shadow", policy="volcano", session_ms=AT - 100_000_000, kind="attribution", job=JOB,
        failure_sets=(FailureSet(("cpu",), 3),), helps=("1 GPU",),
    )  # fmt: skip
    row = raw_rows.of(DecisionRecord(**envelope(), data=decision))
    assert row.values["day"] == AT - 100_000_000
    assert json.loads(row.values["failure_sets"]) == [{"filters": ["cpu"], "nodes": 3}]
    assert json.loads(row.values["helps"]) == ["1 GPU"]


def test_a_close_of_a_session_has_no_job():
    decision = Decision(source="live", policy="p", session_ms=AT, kind="close")
    row = raw_rows.of(DecisionRecord(**envelope(), data=decision))
    assert row.values["job_uid"] is None and row.values["helps"] is None


def test_a_gap_fills_no_table():
    assert raw_rows.of(GapRecord(**envelope(), data=Gap(kind="Pod", to_ms=AT, why="expired"))) is None


def test_a_tick_is_how_far_the_collector_has_come():
    row = raw_rows.of(TickRecord(**envelope(partitionkey="*")))
    assert (row.table, row.version) == ("progress", AT)
    assert row.values == {"cluster": "c", "stage": "collector", "log_at": AT, "loaded_at": None}


@pytest.mark.parametrize(
    "record",
    [changed(), changed("facts", None), TickRecord(**envelope(partitionkey="*"))],
    ids=["object", "facts", "tick"],
)
def test_every_value_has_a_column_and_every_column_a_value(record):
    row = raw_rows.of(record)
    names = {column.name for column in tables.TABLES[row.table].columns}
    assert set(row.values) == names - {tables.VERSION}
