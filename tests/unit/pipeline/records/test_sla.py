"""Promises: Go's durations, who may make one, and when it is broken."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.records import sla

MINUTE = 60_000
FIRST, ALIAS, BARE = sla.KEYS


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("0", 0),
        ("+0", 0),
        ("5s", 5 * 10**9),
        ("1h30m", 5400 * 10**9),
        ("1.5s", 15 * 10**8),
        (".5m", 30 * 10**9),
        ("1.s", 10**9),
        ("-3m", -180 * 10**9),
        ("+10ms", 10**7),
        ("2us", 2000),
        ("2µs", 2000),
        ("2μs", 2000),
        ("7ns", 7),
        ("1m1m", 120 * 10**9),
        ("0.000000001s", 1),
        ("0.0000000001s", 0),
        ("9223372036854775807ns", 2**63 - 1),
        ("-9223372036854775808ns", -(2**63)),
        ("-9223372036854775.808us", -(2**63)),
        ("-9223372036s854ms775us808ns", -(2**63)),
        ("-2562047h47m16.854775808s", -(2**63)),
        ("0.3333333333333333333h", 1200 * 10**9),
        ("0.100000000000000000000h", 360 * 10**9),
        ("0.9223372036854775807h", 3_320_413_933_267),
        ("0.99999999999999999999h", 3600 * 10**9),
        ("9007199254.740993ms", 9_007_199_254_740_993),
    ],
)
def test_durations_are_read_as_go_reads_them(text, nanos):
    assert sla.parse_duration_ns(text) == nanos


@pytest.mark.parametrize(
    "text",
    ["", "-", "5", "5 s", "s", ".s", "1d", "1h 30m", "ten minutes", "1e3s", "1h30", "1,5s", "--1s", "９s", "3000000h",
     "9223372036854775808ns", "-9223372036854775809ns", "9223372036854775.808us", "-2562047h47m16.854775809s"],
)  # fmt: skip
def test_what_go_refuses_is_refused_with_a_reason(text):
    with pytest.raises(ValueError, match="invalid duration"):
        sla.parse_duration_ns(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("5", "no unit"),
        ("1d", "unknown unit 'd'"),
        ("", "empty"),
        (".s", "a number is missing"),
        ("3000000h", "292 years"),
    ],
)
def test_the_reason_names_what_is_wrong(text, reason):
    with pytest.raises(ValueError, match=reason):
        sla.parse_duration_ns(text)


def test_what_is_above_zero_is_at_least_a_millisecond():
    assert [sla.parse_duration_ms(text) for text in ("1ns", "1500us", "0", "-1500us")] == [1, 1, 0, -1]


@pytest.mark.parametrize(
    ("millis", "text"),
    [
        (0, "0s"),
        (20, "20ms"),
        (1500, "1.5s"),
        (2_832_000, "47m12s"),
        (5_400_000, "1h30m"),
        (-90_000, "-1m30s"),
        (3_600_000, "1h"),
    ],
)
def test_durations_are_written_in_gos_form(millis, text):
    assert sla.format_duration_ms(millis) == text


@settings(deadline=None)
@given(st.integers(-(10**12), 10**12))
def test_what_is_written_reads_back_as_the_same(millis):
    assert sla.parse_duration_ms(sla.format_duration_ms(millis)) == millis


def test_of_one_place_the_prefixed_key_is_read_first():
    promise, bad = sla.find([("group", {BARE: "3m", ALIAS: "2m", FIRST: "1m"})])
    assert (promise.waiting_ms, promise.source, promise.level, bad) == (MINUTE, FIRST, "group", ())


@pytest.mark.parametrize("unreadable", ["soon", "0", "-5m", ""])
def test_an_unreadable_promise_counts_as_absent_and_is_reported(unreadable):
    promise, bad = sla.find([("group", {FIRST: unreadable, BARE: "3m"})])
    assert (promise.waiting_ms, promise.source) == (3 * MINUTE, BARE)
    assert [str(each) for each in bad] == [f"{FIRST}={unreadable}"]


def test_the_nearest_place_wins_then_the_next_then_the_default():
    assert sla.find([("group", None), ("job", {BARE: "5m"}), ("queue", {BARE: "9m"})])[0].level == "job"
    assert sla.find([("group", {}), ("queue", {BARE: "9m"})])[0].level == "queue"
    promise, _ = sla.find([("group", {BARE: "nonsense"})], default_ms=MINUTE)
    assert (promise.level, promise.waiting_ms) == ("default", MINUTE)


def test_without_any_readable_promise_there_is_none():
    assert sla.find([]) == (None, ())
    assert sla.find([("job", {})], default_ms=0)[0] is None
    promise, bad = sla.find([("job", {BARE: "x"}), ("queue", {BARE: "y"})])
    assert promise is None
    assert [(each.level, each.text) for each in bad] == [("job", "x"), ("queue", "y")]


def test_unreadable_promises_behind_the_one_that_applies_are_not_reported():
    _, bad = sla.find([("job", {BARE: "5m"}), ("queue", {BARE: "y"})])
    assert bad == ()


def test_a_wait_that_ends_exactly_at_the_deadline_has_broken_its_promise():
    deadline = sla.deadline_ms(1000, MINUTE)
    assert [sla.violated(deadline, at) for at in (deadline - 1, deadline, deadline + 1)] == [False, True, True]


def test_a_wait_is_at_risk_when_a_share_of_its_promise_is_used_up():
    assert sla.at_risk_ms(1000, 10 * MINUTE, 0.8) == 1000 + 8 * MINUTE
