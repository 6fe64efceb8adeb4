"""When counters are told, and the rows that they make."""

from __future__ import annotations

import pytest

from pipeline.records.times import MINUTE_MS
from sinks import counters
from sinks.counters import Minutes


def test_a_minute_is_told_once_when_it_is_over():
    minutes = Minutes()
    at_ms = (30_000, 59_999, 60_000, 119_999, 120_000, 120_001)
    assert [minutes.over(each) for each in at_ms] == [None, None, 0, None, MINUTE_MS, None]


def test_of_minutes_that_passed_unseen_only_the_last_is_told_and_none_twice():
    minutes = Minutes()
    at_ms = (0, 10 * MINUTE_MS + 5, 3 * MINUTE_MS, 10 * MINUTE_MS + 6, 11 * MINUTE_MS)
    assert [minutes.over(each) for each in at_ms] == [None, 9 * MINUTE_MS, None, None, 10 * MINUTE_MS]


def test_every_counter_is_a_row_with_the_clock_as_its_version():
    counted = {("sinks", "errors"): 1.0, ("collector", "records"): 7.0}
    first, second = counters.rows(counted, "c", MINUTE_MS, 99)
    assert (first.table, first.version) == ("pipeline_minute", 99)
    key = {"day": MINUTE_MS, "cluster": "c", "minute": MINUTE_MS}
    assert first.values == {**key, "stage": "collector", "name": "records", "value": pytest.approx(7)}
    assert second.values == {**key, "stage": "sinks", "name": "errors", "value": pytest.approx(1)}
