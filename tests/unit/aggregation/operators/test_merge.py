from aggregation.operators import merge
from aggregation.operators.merge import Made


def made(value, *, grows=False):
    return Made(("t", 1), {"value": value, "as_of": value * 10}, frozenset({"as_of"}), grows)


def test_only_rows_that_differ_are_written():
    written = {}
    assert merge.changed(written, [made(1)]) == [made(1)]
    assert merge.changed(written, [made(1)]) == []
    assert merge.changed(written, [made(2)]) == [made(2)]


def test_a_column_that_moves_with_time_does_not_make_a_changed_row():
    written = {}
    merge.changed(written, [made(1)])
    assert merge.changed(written, [Made(("t", 1), {"value": 1, "as_of": 999}, frozenset({"as_of"}))]) == []


def test_a_refresh_writes_rows_that_grow_and_no_others():
    written = {}
    merge.changed(written, [made(1), Made(("t", 2), {"value": 7})])
    again = [made(1, grows=True), Made(("t", 2), {"value": 7})]
    assert [one.key for one in merge.changed(written, again, refresh=True)] == [("t", 1)]


def test_keys_that_are_no_longer_made_are_gone_once():
    written = {}
    merge.changed(written, [made(1), Made(("t", 2), {"value": 7}), Made(("u", 1), {"value": 7})])
    scope = [("t", 1), ("t", 2), ("t", 3)]
    assert merge.gone(written, scope, [made(1)]) == [("t", 2)]
    assert merge.gone(written, scope, [made(1)]) == []
    assert ("u", 1) in written, "outside of the scope nothing is touched"


def test_versions_only_grow_and_follow_log_time():
    assert merge.next_version(5, 1000) == 1000
    assert merge.next_version(1000, 1000) == 1001
    assert merge.next_version(2000, 1000) == 2001
