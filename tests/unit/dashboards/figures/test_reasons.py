"""Up to where a curve goes."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from dashboards.figures import reasons
from dashboards.figures.asked import Asked
from dashboards.filters import Filters
from pipeline.records import times

NOON = 1_767_268_800_000


def asked_at(now_ms):
    """A warehouse with two days of waits up to a moment."""
    span = {"now_at": moment(now_ms), "first_at": moment(now_ms - 2 * times.DAY_MS)}
    return Asked(SimpleNamespace(row=lambda name, **_: span), "en", now_ms)


def moment(ms):
    return datetime.fromtimestamp(ms / 1000, UTC).replace(tzinfo=None)


@pytest.mark.parametrize(("late_ms", "kept_ms"), [(0, 0), (5_000, 0), (119_000, 0), (180_000, 180_000)])
def test_an_hour_that_has_no_sums_yet_is_not_shown_as_nothing(late_ms, kept_ms):
    assert reasons.usual(asked_at(NOON + late_ms), Filters()).to_ms == NOON + kept_ms


def test_a_range_that_was_asked_for_is_kept():
    range_ = reasons._range(asked_at(NOON), Filters(), NOON - times.DAY_MS, NOON + 5_000, None, "jobs")
    assert range_.to_ms == NOON + 5_000
