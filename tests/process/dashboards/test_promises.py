"""What became of a promise is said once, by the view of waits: the page counts those that are decided, the view of days those
that are due."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import pytest

from pipeline.doris.sql import Sql
from tests.support.waiting import MINUTE_MS, Waiting

CLUSTER = "promises"


@pytest.fixture(scope="module")
def fates(doris):
    """A wait of each fate, at minute 50; all but two were due at minute 30."""
    made = Waiting(CLUSTER)
    made.wait(made.job("kept"), 0, 29)
    made.wait(made.job("late"), 0, 30)
    made.wait(made.job("open"), 0)
    cancelled = {"phase": "cancelled", "sla": "cancelled", "scheduled_at": None}
    made.wait(made.job("cancelled-before"), 0, 29, **cancelled)
    made.wait(made.job("cancelled-at-it"), 0, 30, **cancelled)
    made.wait(made.job("kept-early"), 0, 29, promise_ms=90 * MINUTE_MS)
    made.wait(made.job("undecided"), 0, promise_ms=90 * MINUTE_MS)
    made.wait(made.job("no-promise"), 0, 29, promise_ms=None)
    made.now(50)
    made.load(doris)


def test_a_fate_counts_alike_on_the_page_by_queue_and_by_day(page, doris, fates):
    with closing(Sql(doris)) as sql:
        waits = sql.query("SELECT `job_name`, `sla` FROM `v_job_wait` WHERE `cluster` = %s", (CLUSTER,)).rows
        (day,) = sql.query("SELECT * FROM `v_sla_budget_day` WHERE `cluster` = %s", (CLUSTER,)).dicts()
    sla = dict(waits)
    assert (sla["cancelled-before"], sla["cancelled-at-it"]) == ("cancelled", "violated")

    fate = Counter(sla.values())
    decided = page.api(f"/overview?cluster={CLUSTER}")["kept"]
    (queue,) = page.api(f"/queues?cluster={CLUSTER}")["items"]
    assert decided["kept"] == fate["met"] == 2
    assert decided["violated_total"] == queue["violated"] == fate["violated"] + fate["met_late"] == 3

    assert (int(day["promises"]), int(day["kept"]), int(day["broken"])) == (4, 1, 3), (
        "what is not due yet does not count"
    )
