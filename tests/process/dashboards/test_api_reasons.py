"""What held jobs, over time: curves and sums of reasons."""

from __future__ import annotations

import pytest

from tests.process.dashboards.conftest import at
from tests.support.waiting import DAY_MS, MINUTE_MS, Waiting


def test_a_short_range_of_reasons_is_a_curve_of_parts(page, cluster):
    answer = page.api("/reasons?cluster=prod&bucket=10m")
    assert answer["buckets"] == [at(minute) for minute in range(0, 50, 10)]
    values = {series["reason"]: [value // MINUTE_MS for value in series["values"]] for series in answer["series"]}
    assert values == {
        "quota": [10, 10, 10, 1, 0], "outranked": [0, 0, 10, 10, 5], "insufficient_resource": [0, 0, 0, 9, 7],
        "node_affinity": [0, 0, 10, 10, 7], "scheduler_backlog": [10, 0, 0, 0, 0],
    }  # fmt: skip
    totals = {total["reason"]: total["ms"] // MINUTE_MS for total in answer["totals"]}
    assert totals == {reason: sum(each) for reason, each in values.items()}
    assert answer["totals"][0]["resource"] == "nvidia.com/gpu" and answer["totals"][0]["jobs"] == 1
    assert answer["totals"][0]["resources"] == ["nvidia.com/gpu"]
    assert sum(total["share"] for total in answer["totals"]) == pytest.approx(1, abs=0.001)


def test_a_curve_ends_where_all_open_waits_reach_to_though_rows_came_before_the_log_time(page, doris):
    made = Waiting("ahead")
    for name, end in (("open", None), ("ended", 12)):
        job = made.job(name)
        made.wait(job, 0, end)
        made.part(job, 1, 0, end, "quota")
    made.now(10)
    made.load(doris)
    answer = page.api("/reasons?cluster=ahead&bucket=1m")
    assert answer["to_ms"] == at(10)
    assert answer["series"][0]["values"] == [2 * MINUTE_MS] * 10


def test_reasons_without_gpus_are_left_out_when_asked_in_gpus(page, doris):
    made = Waiting("no-gpus")
    for name, gpus, reason in (("cpu", 0, "quota"), ("gpu", 4, "outranked")):
        job = made.job(name)
        made.wait(job, 0, gpus=gpus)
        made.part(job, 1, 0, None, reason)
    made.now(10)
    made.load(doris)

    def totals(unit):
        return {each["reason"] for each in page.api(f"/reasons?cluster=no-gpus&unit={unit}")["totals"]}

    assert (totals("gpus"), totals("jobs")) == ({"outranked"}, {"quota", "outranked"})


def test_reasons_count_gpus_when_asked_in_gpus(page, cluster):
    answer = page.api("/reasons?cluster=prod&bucket=1h&unit=gpus")
    totals = {total["reason"]: total["ms"] // MINUTE_MS for total in answer["totals"]}
    assert totals["quota"] == 31 * 32 and totals["node_affinity"] == 27 * 8


def test_a_long_range_of_reasons_comes_from_the_sums_of_hours(page, cluster):
    answer = page.api(f"/reasons?cluster=prod&from={DAY_MS}&to={at(24 * 60)}")
    assert answer["bucket_ms"] == 60 * MINUTE_MS and len(answer["buckets"]) == 24
    values = {series["reason"]: series["values"][:2] for series in answer["series"]}
    assert values == {"quota": [31 * MINUTE_MS, 0], "scheduler_backlog": [0, 10 * MINUTE_MS]}
    assert {total["reason"]: total["jobs"] for total in answer["totals"]} == {"quota": 1, "scheduler_backlog": 1}


def test_the_buckets_of_a_replay_of_minutes_are_seconds(page, cluster):
    answer = page.api(f"/reasons?cluster=prod&from={at(30)}&to={at(32)}")
    assert answer["bucket_ms"] == 1000 and len(answer["buckets"]) == 120
    quota = next(series for series in answer["series"] if series["reason"] == "quota")
    assert quota["values"] == [1000] * 60 + [0] * 60


def test_a_range_that_is_none_or_too_finely_cut_is_refused(page, cluster):
    assert page.get("/api/v1/reasons?from=2&to=1").status == 400
    answer = page.get(f"/api/v1/reasons?from={DAY_MS}&to={at(24 * 60)}&bucket=1s")
    assert answer.status == 400 and "buckets" in answer.body["detail"]


def test_reasons_of_no_data_are_empty(page, cluster):
    answer = page.api("/reasons?cluster=nobody")
    assert (answer["buckets"], answer["series"], answer["totals"]) == ([], [], [])
