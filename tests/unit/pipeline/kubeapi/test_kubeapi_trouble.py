from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.kubeapi.backoff import Backoff
from pipeline.kubeapi.happenings import Doing, Why
from pipeline.kubeapi.options import Options
from pipeline.kubeapi.statuses import Action
from pipeline.kubeapi.transport import ConnectFailed, ConnectionLost
from pipeline.kubeapi.trouble import Trouble
from tests.support.scripted_transport import refused

LOST = ConnectionLost("reset")
EXPIRED = refused(410, "Expired")
AHEAD = refused(504, "Timeout", "Too large resource version: 9, current: 5")


def trouble() -> Trouble:
    return Trouble(Options(), dice=lambda: 1.0)


@given(st.floats(0, 1), st.floats(0, 100), st.integers(1, 60))
def test_waits_stay_between_half_and_whole_and_never_below_what_was_asked(
    dice: float, asked_s: float, tries: int
) -> None:
    backoff = Backoff(0.5, 30.0, lambda: dice)
    for attempt in range(tries):
        whole_s = min(30.0, 0.5 * 2**attempt)
        wait_s = backoff.next_wait_s(at_least_s=asked_s)
        assert max(asked_s, whole_s / 2) <= wait_s <= max(asked_s, whole_s)


def test_trouble_lasts_from_the_first_failure_to_the_first_success() -> None:
    row = trouble()
    assert row.over(1.0) is None
    row.met(Doing.WATCH, LOST, 100.0)
    row.met(Doing.LIST, LOST, 107.0)
    assert row.over(110.0) == 10.0
    assert row.over(111.0) is None


def test_trouble_is_new_when_it_is_of_another_sort() -> None:
    row = trouble()
    forbidden = refused(403, "Forbidden")
    met = [row.met(Doing.LIST, error, 0.0).is_news for error in (LOST, LOST, forbidden, forbidden, LOST)]
    assert met == [True, False, True, False, True]


def test_a_refusal_is_believed_at_once_unless_something_came_before() -> None:
    forbidden = refused(403, "Forbidden")
    first, later = trouble(), trouble()
    later.over(0.0)
    assert [first.met(Doing.LIST, forbidden, at_s).is_news for at_s in (0.0, 4.9, 5.0, 9.0)] == [
        True,
        False,
        False,
        False,
    ]
    assert [later.met(Doing.WATCH, forbidden, at_s).is_news for at_s in (0.0, 4.9, 5.0, 9.0)] == [
        False,
        False,
        True,
        False,
    ]
    assert later.over(10.0) == 10.0
    assert not later.met(Doing.WATCH, forbidden, 11.0).is_news, "it is another time"


def test_each_way_to_fail_has_waits_of_its_own() -> None:
    row, away = trouble(), ConnectFailed("refused")
    assert [row.met(Doing.PROBE, away, 0.0).wait_s for _ in range(6)] == [0.5, 1, 2, 4, 5, 5]
    assert [row.met(Doing.WATCH, refused(503), 0.0).wait_s for _ in range(2)] == [0.5, 1]
    assert [row.met(Doing.WATCH, refused(403), 0.0).wait_s for _ in range(2)] == [0.5, 1]
    assert row.met(Doing.PROBE, LOST, 0.0).attempt == 11
    row.settled()
    assert row.met(Doing.PROBE, away, 0.0).wait_s == 0.5


def test_a_list_that_is_cut_may_have_cost_the_server_much_and_a_question_that_is_cut_has_not() -> None:
    lists, probes = trouble(), trouble()
    assert [lists.met(Doing.LIST, LOST, 0.0).wait_s for _ in range(8)][-1] == 30
    assert [probes.met(Doing.PROBE, LOST, 0.0).wait_s for _ in range(8)][-1] == 5


def test_a_second_expiry_in_a_row_waits_and_a_settled_stream_ends_the_row() -> None:
    row = trouble()
    assert [row.met(Doing.WATCH, EXPIRED, 0.0).wait_s for _ in range(3)] == [0.0, 1.0, 2.0]
    row.settled()
    again = row.met(Doing.WATCH, EXPIRED, 0.0)
    assert (again.wait_s, again.expired) == (0.0, Why.EXPIRED)


def test_patience_with_a_lagging_server_begins_anew_after_each_new_list() -> None:
    row = trouble()
    for _ in range(2):
        steps = [row.met(Doing.PROBE, AHEAD, 0.0).expired for _ in range(4)]
        assert steps == [None, None, None, Why.AHEAD]


def test_a_list_has_no_version_that_could_expire() -> None:
    step = trouble().met(Doing.LIST, EXPIRED, 0.0)
    assert (step.expired, step.action, step.wait_s) == (None, Action.RELIST, 0.5)
