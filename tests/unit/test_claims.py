"""Claims in seconds of the tests with real services: what breaks one, and what a busy machine alone does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.pace import Claim, Delay


def checked(folder: Path, *delays: Delay) -> None:
    claim = Claim("the row is there", 2.0, folder)
    claim.delays += delays
    claim.check()


def test_a_claim_is_broken_by_the_median_of_its_delays(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="within 2 s"):
        checked(tmp_path, *(Delay(took_s, 1.0) for took_s in (1.0, 1.0, 2.1, 2.1, 2.1)))


def test_a_burst_that_hits_less_than_half_of_the_changes_breaks_no_claim(
    tmp_path: Path,
) -> None:
    checked(tmp_path, *(Delay(took_s, 1.0) for took_s in (1.0, 1.9, 1.0, 5.9, 5.9)))


def test_one_delay_of_three_times_the_claim_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="once"):
        checked(tmp_path, *(Delay(took_s, 1.0) for took_s in (0.1, 0.1, 0.1, 0.1, 6.1)))


def test_a_machine_that_was_slower_has_as_much_more_time_change_by_change(
    tmp_path: Path,
) -> None:
    slow = [Delay(3.9, 2.0)] * 3
    checked(tmp_path, *slow, Delay(1.9, 1.0), Delay(11.9, 2.0))
    with pytest.raises(AssertionError, match="within 2 s"):
        checked(tmp_path, *slow[1:], Delay(2.1, 1.0), Delay(2.1, 1.0), Delay(4.1, 2.0))


def test_less_than_three_delays_prove_nothing(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="three"):
        checked(tmp_path, Delay(0.1, 1.0), Delay(0.1, 1.0))


def test_what_has_gone_by_before_the_block_counts(tmp_path: Path) -> None:
    claim = Claim("the row is there", 2.0, tmp_path)
    with claim.measured(late_s=100.0):
        pass
    (delay,) = claim.delays
    assert delay.took_s >= 100.0
    assert delay.slowness >= 1.0
