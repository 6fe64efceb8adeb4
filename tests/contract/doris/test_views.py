"""The public views: what they work out from the tables."""

from __future__ import annotations

import datetime

import pytest

from pipeline.records import rows
from pipeline.records.rows import Row

DAY = 1_767_225_600_000
MINUTE = 60_000
GENERATION = 1 << rows.GENERATION_SHIFT


def at(ms):
    return datetime.datetime(2026, 1, 1) + datetime.timedelta(milliseconds=ms - DAY)


def progress(cluster, log_at, version=GENERATION, stage="aggregation", loaded_at=None):
    return Row("progress", version, {"cluster": cluster, "stage": stage, "log_at": log_at, "loaded_at": loaded_at})


def wait(cluster, *, version=GENERATION, uid="j", episode=1, **values):
    open_wait = {
        "phase": "waiting", "sla": "on_track", "started_at": DAY, "promise_ms": 30 * MINUTE,
        "deadline_at": DAY + 30 * MINUTE, "wait_ms": 5 * MINUTE, "as_of": DAY + 5 * MINUTE, "queue": "q", "tenant": "t",
    }  # fmt: skip
    key = {"day": DAY, "cluster": cluster, "job_uid": uid, "episode": episode}
    return Row("job_wait", version, key | open_wait | values)


def ended(cluster, wait_ms, **values):
    sla = "met" if wait_ms < 30 * MINUTE else "met_late"
    done = {
        "phase": "scheduled",
        "sla": sla,
        "wait_ms": wait_ms,
        "ended_at": DAY + wait_ms,
        "scheduled_at": DAY + wait_ms,
    }
    return wait(cluster, **done | {"as_of": DAY + wait_ms} | values)


def job_wait(sql, cluster):
    return sql.query("SELECT * FROM `v_job_wait` WHERE `cluster` = %s ORDER BY `job_uid`", (cluster,)).dicts()


def test_an_open_wait_is_counted_up_to_the_log_time_of_its_cluster(load, sql, cluster):
    load(wait(cluster), progress(cluster, DAY + 20 * MINUTE))
    (row,) = job_wait(sql, cluster)
    assert row["wait_ms"] == 20 * MINUTE and row["sla"] == "on_track" and row["overrun_ms"] == 0
    assert row["now_at"] == at(DAY + 20 * MINUTE)


@pytest.mark.parametrize(
    ("minutes", "sla", "overrun"), [(29, "on_track", 0), (30, "violated", 0), (47, "violated", 17)]
)
def test_an_open_wait_past_its_deadline_is_violated_the_moment_it_is(minutes, sla, overrun, load, sql, cluster):
    load(wait(cluster), progress(cluster, DAY + minutes * MINUTE))
    (row,) = job_wait(sql, cluster)
    assert (row["sla"], row["overrun_ms"]) == (sla, overrun * MINUTE)


def test_an_open_wait_of_a_row_newer_than_the_progress_counts_up_to_the_row(load, sql, cluster):
    load(wait(cluster), progress(cluster, DAY + MINUTE))
    assert job_wait(sql, cluster)[0]["wait_ms"] == 5 * MINUTE


def test_without_progress_a_wait_counts_up_to_its_row(load, sql, cluster):
    load(wait(cluster))
    assert job_wait(sql, cluster)[0]["wait_ms"] == 5 * MINUTE


def test_an_open_wait_without_a_promise_is_never_violated(load, sql, cluster):
    load(wait(cluster, sla="none", promise_ms=None, deadline_at=None), progress(cluster, DAY + 99 * MINUTE))
    (row,) = job_wait(sql, cluster)
    assert (row["sla"], row["overrun_ms"]) == ("none", None)


def test_a_wait_that_ended_stays_as_it_was(load, sql, cluster):
    load(ended(cluster, 12 * MINUTE), progress(cluster, DAY + 99 * MINUTE))
    (row,) = job_wait(sql, cluster)
    assert (row["wait_ms"], row["sla"], row["overrun_ms"]) == (12 * MINUTE, "met", 0)


def test_after_a_rebuild_only_rows_of_the_new_generation_count(load, sql, cluster):
    load(wait(cluster, uid="gone"), wait(cluster, uid="kept"), progress(cluster, DAY + 20 * MINUTE))
    load(wait(cluster, uid="kept", version=2 * GENERATION), progress(cluster, DAY + 20 * MINUTE, 2 * GENERATION))
    assert [row["job_uid"] for row in job_wait(sql, cluster)] == ["kept"]


def test_the_open_part_of_a_wait_reaches_to_log_time_so_that_the_parts_tile_it(load, sql, cluster):
    def part(n, begin, end, reason):
        key = {"day": DAY, "cluster": cluster, "job_uid": "j", "episode": 1, "n": n}
        ms = (end or DAY + 5 * MINUTE) - begin
        values = {"from_at": begin, "to_at": end, "ms": ms, "reason": reason, "as_of": DAY + 5 * MINUTE}
        return Row("wait_segment", GENERATION, key | values)

    load(
        wait(cluster),
        part(1, DAY, DAY + 3 * MINUTE, "quota"),
        part(2, DAY + 3 * MINUTE, None, "fragmentation"),
        progress(cluster, DAY + 20 * MINUTE),
    )
    found = sql.query("SELECT `reason`, `ms` FROM `v_wait_segment` WHERE `cluster` = %s ORDER BY `n`", (cluster,)).rows
    assert found == (("quota", 3 * MINUTE), ("fragmentation", 17 * MINUTE))
    assert sum(ms for _, ms in found) == job_wait(sql, cluster)[0]["wait_ms"]


def test_waiting_by_hour_and_reason_is_summed_over_jobs(load, sql, cluster):
    def hour(uid, reason, minutes, gpus):
        key = {
            "day": DAY, "cluster": cluster, "hour": DAY, "job_uid": uid, "episode": 1, "reason": reason, "resource": "",
        }  # fmt: skip
        values = {"queue": "q", "tenant": "t", "namespace": "n", "wait_ms": minutes * MINUTE}
        return Row("wait_reason_hour", GENERATION, key | values | {"gpu_ms": minutes * MINUTE * gpus})

    load(hour("a", "quota", 10, 8), hour("b", "quota", 20, 1), hour("a", "fragmentation", 5, 8), progress(cluster, DAY))
    found = sql.query(
        "SELECT `reason`, `jobs`, `wait_ms`, `gpu_ms` FROM `v_pending_reason_hour` WHERE `cluster` = %s ORDER BY `reason`",
        (cluster,),
    ).rows
    assert [tuple(v if isinstance(v, str) else int(v) for v in row) for row in found] == [
        ("fragmentation", 1, 5 * MINUTE, 40 * MINUTE),
        ("quota", 2, 30 * MINUTE, 100 * MINUTE),
    ]


def test_an_open_violation_grows_with_log_time_and_a_resolved_one_does_not(load, sql, cluster):
    def violation(uid, **values):
        key = {"day": DAY, "cluster": cluster, "job_uid": uid, "episode": 1}
        fixed = {"deadline_at": DAY + 30 * MINUTE, "overrun_ms": MINUTE, "as_of": DAY + 31 * MINUTE, "reason": "quota"}
        return Row("sla_violation", GENERATION, key | fixed | values)

    load(
        violation("a", state="open"),
        violation("b", state="resolved", resolved_at=DAY + 31 * MINUTE),
        progress(cluster, DAY + 47 * MINUTE),
    )
    found = sql.query(
        "SELECT `job_uid`, `overrun_ms` FROM `v_sla_violation` WHERE `cluster` = %s ORDER BY 1", (cluster,)
    )
    assert found.rows == (("a", 17 * MINUTE), ("b", MINUTE))


def test_promises_are_counted_on_the_day_of_their_deadline(load, sql, cluster):
    cancelled_early = {"phase": "cancelled", "sla": "cancelled", "wait_ms": MINUTE, "ended_at": DAY + MINUTE}
    cancelled_late = {"phase": "cancelled", "sla": "cancelled", "wait_ms": 40 * MINUTE, "ended_at": DAY + 40 * MINUTE}
    load(
        ended(cluster, 12 * MINUTE, uid="kept"),
        ended(cluster, 30 * MINUTE, uid="at the deadline"),
        wait(cluster, uid="open past it"),
        wait(cluster, uid="due tomorrow", deadline_at=DAY + 86_400_000 + MINUTE),
        wait(cluster, uid="no promise", deadline_at=None, sla="none"),
        wait(cluster, uid="cancelled before", **cancelled_early),
        wait(cluster, uid="cancelled after", **cancelled_late),
        progress(cluster, DAY + 50 * MINUTE),
    )
    (row,) = sql.query("SELECT * FROM `v_sla_budget_day` WHERE `cluster` = %s", (cluster,)).dicts()
    counted = {name: int(row[name]) for name in ("promises", "kept", "broken", "overrun_ms")}
    assert counted == {"promises": 4, "kept": 1, "broken": 3, "overrun_ms": 30 * MINUTE}
    assert float(row["kept_share"]) == pytest.approx(0.25)
    assert row["deadline_day"] == datetime.date(2026, 1, 1)
    found = sql.query(
        "SELECT `job_uid`, `sla` FROM `v_job_wait` WHERE `cluster` = %s AND `phase` = 'cancelled'", (cluster,)
    )
    assert dict(found.rows) == {"cancelled before": "cancelled", "cancelled after": "violated"}


def test_an_event_adds_what_its_count_grew_by_and_starts_again_when_it_fell(load, sql, cluster):
    def sight(version, count, uid="e", observed=None):
        key = {"day": DAY, "cluster": cluster, "uid": uid, "object_version": str(version)}
        return Row("event", DAY + (observed or version), key | {"count": count, "observed_at": DAY + version})

    load(sight(1, 1), sight(2, 4), sight(3, 4), sight(4, 2), sight(5, 7), sight(1, 3, uid="other"))
    found = sql.query(
        "SELECT `added` FROM `v_event` WHERE `cluster` = %s AND `uid` = 'e' ORDER BY `observed_at`", (cluster,)
    ).rows
    assert [added for (added,) in found] == [1, 3, 0, 2, 5]
    total = sql.query("SELECT SUM(`added`) FROM `v_event` WHERE `cluster` = %s", (cluster,)).rows
    assert int(total[0][0]) == 11 + 3


def test_health_says_how_far_each_stage_is_behind_and_what_it_gave_up_on(load, sql, cluster):
    letter = {"day": DAY, "cluster": cluster, "id": "x", "stage": "aggregation"}
    load(
        progress(cluster, DAY + 10_000, stage="collector", loaded_at=DAY + 12_000),
        progress(cluster, DAY + 4_000, stage="aggregation", loaded_at=DAY + 12_000),
        Row("dead_letter", 1, letter),
    )
    found = sql.query("SELECT * FROM `v_pipeline_health` WHERE `cluster` = %s", (cluster,)).dicts()
    by_stage = {row["stage"]: row for row in found}
    assert by_stage["collector"]["behind_ms"] == 0 and by_stage["aggregation"]["behind_ms"] == 6_000
    assert by_stage["aggregation"]["age_ms"] == 8_000
    assert (by_stage["collector"]["dead_letters"], by_stage["aggregation"]["dead_letters"]) == (0, 1)


def _of_node(cluster, minute, node, free, **more):
    key = {"day": DAY, "cluster": cluster, "minute": DAY + minute * MINUTE, "node": node}
    return Row("node_minute", 1, key | {"pool": "a", "open": True, "gpus": 8, "gpus_free": free} | more)


def test_gpus_are_weighted_by_how_long_they_were_free_and_in_which_pieces(load, sql, cluster):
    load(
        _of_node(cluster, 0, "n1", 8), _of_node(cluster, 0, "n2", 3), _of_node(cluster, 0, "n3", 8, open=False),
        _of_node(cluster, 30, "n1", 5), _of_node(cluster, 45, "n2", 0, open=False, gpus=0),
        progress(cluster, DAY + 120 * MINUTE, stage="loader"),
    )  # fmt: skip
    (row,) = sql.query("SELECT * FROM `v_gpu_fragmentation_hour` WHERE `cluster` = %s", (cluster,)).dicts()
    found = {name: float(row[name]) for name in ("gpus", "gpus_free", "gpus_free_whole", "gpus_closed", "nodes")}
    assert found == pytest.approx(
        {"gpus": 8 + 8 * 0.75, "gpus_free": 6.5 + 3 * 0.75, "gpus_free_whole": 4.0, "gpus_closed": 8.0, "nodes": 1.75}
    )
    assert float(row["fragmentation_4"]) == pytest.approx((0.5 * 1 + 0.75 * 3) / (6.5 + 2.25))
    assert row["ms"] == 60 * MINUTE and row["hour"] == at(DAY)


def test_of_an_open_hour_only_what_has_passed_counts(load, sql, cluster):
    load(
        _of_node(cluster, 0, "n1", 8), _of_node(cluster, 10, "n1", 0), progress(cluster, DAY + 20 * MINUTE, stage="loader")
    )  # fmt: skip
    (row,) = sql.query("SELECT * FROM `v_gpu_fragmentation_hour` WHERE `cluster` = %s", (cluster,)).dicts()
    assert float(row["gpus_free"]) == pytest.approx(4.0) and row["ms"] == 20 * MINUTE


def test_a_queue_is_satisfied_by_what_it_had_of_what_it_asked_for_within_its_quota(load, sql, cluster):
    def of_queue(minute, used, requested, queue="q", quota=4.0):
        key = {"day": DAY, "cluster": cluster, "minute": DAY + minute * MINUTE, "queue": queue, "resource": "cpu"}
        return Row(
            "queue_minute", 1, key | {"tenant": "t", "quota": quota, "used": used, "requested": requested, "waiting": 1}
        )

    load(
        of_queue(0, 2.0, 8.0), of_queue(30, 6.0, 6.0), of_queue(0, 1.0, 1.0, "free", None), of_queue(0, 0.0, 0.0, "idle"),
        progress(cluster, DAY + 90 * MINUTE, stage="loader"),
    )  # fmt: skip
    found = sql.query("SELECT * FROM `v_queue_quota_hour` WHERE `cluster` = %s", (cluster,)).dicts()
    rows = {row["queue"]: row for row in found}
    told = {name: float(rows["q"][name]) for name in ("quota", "used", "requested", "borrowed", "owed", "satisfaction")}
    assert told == pytest.approx(
        {"quota": 4.0, "used": 4.0, "requested": 7.0, "borrowed": 1.0, "owed": 1.0, "satisfaction": 0.75}
    )
    assert rows["free"]["quota"] is None and rows["free"]["satisfaction"] is None
    assert rows["idle"]["satisfaction"] is None and rows["q"]["ceiling"] is None


def test_a_decision_shows_with_its_json(load, sql, cluster):
    key = {"day": DAY, "cluster": cluster, "id": "d"}
    load(Row("decision", 1, key | {"kind": "attribution", "helps": '["1 GPU"]', "session_at": DAY}))
    (row,) = sql.query("SELECT * FROM `v_scheduler_decision` WHERE `cluster` = %s", (cluster,)).dicts()
    assert row["kind"] == "attribution" and row["session_at"] == at(DAY)
