"""From when on the day's lag is counted."""

import pytest

from benchmarks import day
from benchmarks.objects import BEGIN_MS


def looks(began_s: float, late_s: list[float]) -> list[tuple[float, int]]:
    """One look a second at a player that began at `began_s`, each so much behind the pace."""
    return [(began_s + n + 1, BEGIN_MS + round((n + 1 - late) * 1000 * day.SPEED)) for n, late in enumerate(late_s)]


def test_the_pace_begins_where_the_player_was_least_late() -> None:
    assert day.pace_begin_s(looks(100.0, [0.4, 0.0, 0.2])) == pytest.approx(100.0, abs=0.001)


def test_a_player_that_has_not_begun_yet_does_not_make_all_that_follows_late() -> None:
    before = [(99.0, BEGIN_MS - 1000), (99.5, BEGIN_MS - 1000)]
    assert day.pace_begin_s(before + looks(100.0, [0.0, 0.1])) == pytest.approx(100.0, abs=0.001)


def test_a_player_that_never_begins_is_told() -> None:
    with pytest.raises(RuntimeError, match="nothing was played"):
        day.pace_begin_s([(99.0, BEGIN_MS - 1000)])
