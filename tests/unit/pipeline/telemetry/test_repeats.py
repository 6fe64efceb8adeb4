"""Holding back what repeats, without a clock."""

from __future__ import annotations

from pipeline.telemetry.repeats import Repeats


def test_each_site_has_its_own_burst() -> None:
    repeats = Repeats(burst=2, window_s=10)
    assert [repeats.admit("a", "e", 0.0) for _ in range(4)] == [True, True, False, False]
    assert repeats.admit("b", "e", 0.0)


def test_a_window_that_is_over_tells_how_many_and_begins_anew() -> None:
    repeats = Repeats(burst=1, window_s=10)
    for _ in range(4):
        repeats.admit("a", "first", 0.0)
    repeats.admit("b", "once", 0.0)
    assert repeats.over(9.9) == []
    assert repeats.over(10.0) == [("a", "first", 3)]
    assert repeats.over(100.0) == []
    assert repeats.admit("a", "first", 10.0)
