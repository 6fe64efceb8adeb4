"""Tables of the listing commands: words for people, the JSON's codes and numbers for programs."""

from __future__ import annotations

import csv
import io
import re

import pytest

from dashboards.asking import columns, show
from pipeline.cli import output, terminal
from pipeline.records import words
from pipeline.records.words import zh

REASON = {"reason": "quota", "detail": None, "resource": "gpu", "title": "配额被占用", "ms": 65_500, "share": 1.0}
JOB = {
    "job": {"cluster": "prod", "namespace": "research", "kind": "Job", "name": "train", "queue": "q", "tenant": "t"},
    "phase": "scheduled", "wait_ms": 65_500, "promise_ms": 1_800_000, "sla": "violated", "now": None, "leading": REASON,
    "gpus": 8, "episodes": 1, "created_ms": 0, "deadline_ms": None,
}  # fmt: skip
VIOLATION = JOB | {
    "state": "open",
    "overrun_ms": 999,
    "violated_ms": 0,
    "reason": "quota",
    "title": "配额被占用",
    "fingerprint": "",
}
PART = REASON | {
    "episode": 1,
    "n": 2,
    "from_ms": 0,
    "to_ms": None,
    "nodes": 1,
    "total_nodes": 2,
    "message": "m",
    "evidence": "event",
}
QUEUE = {
    "queue": "q", "tenant": "t", "jobs": 3, "waiting": 2, "violated": 1, "longest_wait_ms": 1, "waiting_ms": 3_600_000,
    "gpus_waiting": 0, "leading": REASON,
}  # fmt: skip
TABLES = {
    "jobs": (columns.jobs(True, "zh"), JOB),
    "violations": (columns.violations(True, "zh"), VIOLATION),
    "segments": (columns.segments(True, "zh"), PART),
    "queues": (columns.queues(), QUEUE),
    "reasons": (columns.reasons(), REASON | {"resources": ["gpu"], "jobs": 1}),
}


def rendered(made, row, wanted):
    terminal.reset()
    out = io.StringIO()
    output.render([row], made, wanted, out=out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("table", "lengths"),
    [
        ("jobs", {"wait_ms": 65_500, "promise_ms": 1_800_000}),
        ("violations", {"promise_ms": 1_800_000, "overrun_ms": 999}),
        ("segments", {"ms": 65_500}),
        ("queues", {"longest_wait_ms": 1, "waiting_ms": 3_600_000}),
        ("reasons", {"ms": 65_500}),
    ],
)
def test_csv_has_lengths_as_the_json_has_them_under_the_same_names(table, lengths):
    (row,) = csv.DictReader(io.StringIO(rendered(*TABLES[table], "csv")))
    assert {name: int(row[name]) for name in lengths} == lengths
    assert not any(re.fullmatch(r"(\d+h)?(\d+m)?[\d.]+m?s|\d+[hm]", text) for text in row.values()), row


@pytest.mark.parametrize(
    ("table", "moments"),
    [("jobs", {"created_ms": 5, "deadline_ms": 7}), ("violations", {"violated_ms": 9}), ("segments", {"from_ms": 11})],
)
def test_csv_has_moments_as_the_json_has_them_under_the_same_names(table, moments):
    made, row = TABLES[table]
    (found,) = csv.DictReader(io.StringIO(rendered(made, row | moments, "csv")))
    assert {name: int(found[name]) for name in moments} == moments


def test_a_moment_that_is_not_there_is_an_empty_cell():
    (row,) = csv.DictReader(io.StringIO(rendered(columns.jobs(True, "en"), JOB | {"deadline_ms": None}, "csv")))
    assert row["deadline_ms"] == ""


def test_a_part_has_the_number_of_its_wait_under_a_sign_and_its_detail_beside_the_reason():
    part = PART | {"reason": "pods_not_created", "title": "Pods not created", "detail": "controller"}
    made = columns.segments(True, "en")
    head, line = rendered(made, part, "table").splitlines()
    assert head.split()[:2] == ["#", "N"] and "WAIT" not in head
    assert f"Pods not created ({words.detail('en', 'controller')})" in line
    (row,) = csv.DictReader(io.StringIO(rendered(made, part, "csv")))
    assert (row["episode"], row["reason"], row["detail"]) == ("1", "pods_not_created", "controller")


@pytest.mark.parametrize(("to_ms", "told"), [(None, "can never fit"), (9, "did not fit any node then")])
def test_a_part_that_is_over_is_not_said_never_to_fit(to_ms, told):
    part = PART | {"reason": "insufficient_resource", "detail": "never_fits", "to_ms": to_ms}
    assert f"({told})" in rendered(columns.segments(True, "en"), part, "table")


@pytest.mark.parametrize("table", TABLES)
def test_csv_is_the_same_in_every_language_but_for_titles(table):
    made, row = TABLES[table]
    in_csv = next(csv.DictReader(io.StringIO(rendered(columns.in_language(made, "zh"), row, "csv"))))
    in_csv.pop("title", None)
    assert all(text.isascii() for item in in_csv.items() for text in item), in_csv
    assert in_csv["reason"] == "quota"


def test_a_length_that_is_not_known_is_an_empty_cell():
    (row,) = csv.DictReader(io.StringIO(rendered(columns.jobs(True, "en"), JOB | {"promise_ms": None}, "csv")))
    assert row["promise_ms"] == ""


@pytest.mark.parametrize("format_", ["table", "wide"])
def test_counts_of_nodes_are_one_column_for_people_and_two_numbers_in_csv(format_):
    made = columns.segments(True, "en")
    (row,) = csv.DictReader(io.StringIO(rendered(made, PART, "csv")))
    assert (row["nodes"], row["total_nodes"]) == ("1", "2")
    (none,) = csv.DictReader(io.StringIO(rendered(made, PART | {"nodes": None, "total_nodes": None}, "csv")))
    assert (none["nodes"], none["total_nodes"]) == ("", "")
    head, line = rendered(made, PART, format_).splitlines()
    assert "1/2" in line.split() and "TOTAL" not in head


def test_parts_are_sorted_by_the_number_of_nodes():
    parts = [PART | {"nodes": nodes, "total_nodes": 20, "n": nodes} for nodes in (10, 9)]
    out = io.StringIO()
    output.render(parts, columns.segments(True, "en"), output.Wanted("csv", sort_by="nodes"), out=out)
    assert [row["nodes"] for row in csv.DictReader(io.StringIO(out.getvalue()))] == ["9", "10"]


@pytest.mark.parametrize("table", TABLES)
def test_every_column_has_a_heading_in_chinese(table):
    for column in (each for each in TABLES[table][0] if not each.only_csv):
        assert zh.HEADINGS[column.title], column.title
    head = rendered(columns.in_language(TABLES[table][0], "zh"), TABLES[table][1], "wide").splitlines()[0]
    assert "原因" in head and "REASON" not in head


def test_in_english_a_column_is_called_as_it_is_sorted_by():
    head = rendered(columns.in_language(columns.queues(), "en"), QUEUE, "table").splitlines()[0]
    assert head.lower().split() == [column.title for column in columns.queues()]


def test_codes_of_filters_are_words_in_chinese_and_stand_as_they_are_in_english():
    assert "已违约" in rendered(*TABLES["jobs"], "table") and "已调度" in rendered(*TABLES["jobs"], "table")
    assert "进行中" in rendered(*TABLES["violations"], "table")
    assert " violated " in rendered(columns.jobs(True, "en"), JOB, "table")


def test_the_table_of_reasons_with_bars_has_its_headings_in_the_language_too():
    out = io.StringIO()
    show.reasons([REASON | {"jobs": 2}], "zh", jobs=True, out=out)
    assert out.getvalue().split()[:5] == ["原因", "任务数", "时长", "占比", "资源"]


def test_a_part_that_counts_no_nodes_has_an_empty_cell():
    (nodes,) = (column for column in columns.segments(True, "en") if column.title == "nodes")
    assert nodes.of(PART | {"nodes": None}) is None
    assert nodes.of(PART) == "1/2"
