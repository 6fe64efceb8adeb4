"""The retry policy: what is tried again, for how long, and how a loop waits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import stamina
from hypothesis import given
from hypothesis import strategies as st

from pipeline import retry
from pipeline.errors import Terminal, Transient


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    with stamina.set_testing(True, attempts=5, cap=True):
        yield


class Failing:
    """Raises the errors one after another, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def test_a_transient_error_is_tried_again_until_it_passes() -> None:
    function = Failing(Transient("busy"), Transient("busy"))
    assert retry.call(function) == "done"
    assert function.calls == 3


def test_the_last_error_is_raised_when_the_attempts_are_used_up() -> None:
    function = Failing(Transient("first"), Transient("second"), Transient("third"))
    with pytest.raises(Transient, match="second"):
        retry.call(function, attempts=2)
    assert function.calls == 2


@pytest.mark.parametrize("error", [Terminal("no"), ValueError("bug")])
def test_anything_else_is_raised_at_once(error: Exception) -> None:
    function = Failing(error)
    with pytest.raises(type(error)):
        retry.call(function)
    assert function.calls == 1


def test_a_wait_longer_than_the_limit_is_not_waited_for() -> None:
    function = Failing(Transient("come back tomorrow", retry_after_s=86_400))
    with pytest.raises(Transient):
        retry.call(function, limit_s=60)
    assert function.calls == 1


def test_the_time_that_the_other_side_names_is_waited() -> None:
    seen: list[retry.Retry] = []
    retry.observe(seen.append)
    try:
        with stamina.set_testing(False):
            retry.call(Failing(Transient("busy", retry_after_s=0.015)))
    finally:
        retry.observe(None)
    assert [(each.failures, each.wait_s) for each in seen] == [(1, 0.015)]


def test_an_observer_learns_of_every_retry() -> None:
    seen: list[retry.Retry] = []
    retry.observe(seen.append)
    try:
        retry.call(Failing(Transient("a"), Transient("b")))
    finally:
        retry.observe(None)
    assert [str(each.error) for each in seen] == ["a", "b"]


def test_waits_double_up_to_the_cap_and_start_over_after_a_success() -> None:
    backoff = retry.Backoff(first_s=1.0, max_s=5.0)
    assert [backoff.next_s(1.0) for _ in range(5)] == [1.0, 2.0, 4.0, 5.0, 5.0]
    assert backoff.reset() == 0.0
    assert backoff.next_s(1.0) == 1.0


@given(chance=st.floats(0, 1), failures=st.integers(0, 3000), asked=st.none() | st.floats(0, 1000))
def test_a_wait_lies_in_the_upper_half_unless_more_was_asked_for(
    chance: float, failures: int, asked: float | None
) -> None:
    backoff = retry.Backoff(first_s=0.5, max_s=30.0)
    backoff.failures = failures
    full_s = min(30.0, 0.5 * 2.0 ** min(failures, 62))
    wait_s = backoff.next_s(chance, asked)
    assert max(full_s / 2, asked or 0) <= wait_s <= max(full_s, asked or 0)
