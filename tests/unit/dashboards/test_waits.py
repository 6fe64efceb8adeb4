"""Rows of the views as objects."""

from __future__ import annotations

import time
from datetime import datetime
from decimal import Decimal

import pytest

from dashboards import waits


@pytest.fixture
def shanghai(monkeypatch):
    """A machine eight hours ahead."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Shanghai")
        time.tzset()
        yield
    time.tzset()


def test_times_are_utc_whatever_the_machines_zone(shanghai):
    assert waits.at(datetime(2026, 1, 1, 0, 0, 0, 7000)) == 1_767_225_600_007
    assert waits.ms(None) is None


def test_the_leading_reason_has_its_part_of_the_wait():
    row = {
        "leading_reason": "quota",
        "leading_detail": "",
        "leading_resource": None,
        "leading_share": 0.25,
        "wait_ms": "1000",
    }
    found = waits._leading(row, "en")
    assert (found.ms, found.share, found.detail, found.title) == (250, 0.25, None, "Quota in use")
    assert waits._leading(row | {"leading_reason": None}, "en") is None


def test_json_columns_come_as_text_or_read_and_may_be_null():
    assert waits.texts('["a", "b"]') == ["a", "b"]
    assert waits.texts(["a"]) == ["a"]
    assert waits.texts(None) == [] and waits.texts('{"a": 1}') == []


def test_sums_of_any_kind_are_whole_numbers():
    job = {
        "cluster": "c", "namespace": "n", "job_kind": "Job", "job_name": "j", "job_uid": "u", "tenant": None, "queue": None,
    }  # fmt: skip
    row = job | {
        "episode": 1, "promise_ms": 1, "deadline_at": None, "violated_at": None, "resolved_at": None,
        "overrun_ms": Decimal("12"), "reason": "not-in-list", "resource": "", "fingerprint": None, "state": "open",
    }  # fmt: skip
    found = waits.violation(row, "zh")
    assert (found.overrun_ms, found.title, found.resource, found.job.queue) == (12, "not-in-list", None, "")
