"""Timestamps to integers and back."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.records import times

NOON = 1_772_452_800_000  # 2026-03-02T12:00:00Z


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("2026-03-02T12:00:00Z", NOON * 1000),
        ("2026-03-02t12:00:00z", NOON * 1000),
        ("2026-03-02 12:00:00Z", NOON * 1000),
        ("2026-03-02T12:00:00.123456Z", NOON * 1000 + 123_456),
        ("2026-03-02T12:00:00.123456789Z", NOON * 1000 + 123_456),
        ("2026-03-02T12:00:00.5Z", NOON * 1000 + 500_000),
        ("2026-03-02T20:00:00+08:00", NOON * 1000),
        ("2026-03-02T06:30:00-0530", NOON * 1000),
        ("2026-03-02T11:59:60Z", NOON * 1000),
        ("1969-12-31T23:59:59.9Z", -100_000),
    ],
)
def test_rfc_3339_is_read_to_microseconds(text, micros):
    assert times.parse_us(text) == micros


@pytest.mark.parametrize(
    "text",
    [None, "", "yesterday", "2026-03-02", "2026-03-02T12:00:00", "2026-02-30T12:00:00Z", "2026-03-02T25:00:00Z",
     "0001-01-01T00:00:00Z", "2026-03-02T12:00:00Zx"],
)  # fmt: skip
def test_what_is_no_time_and_gos_zero_time_are_none(text):
    assert times.parse_us(text) is None
    assert times.parse_ms(text) is None


def test_milliseconds_are_rounded_down():
    assert times.parse_ms("2026-03-02T12:00:00.0019Z") == NOON + 1
    assert times.parse_ms("1969-12-31T23:59:59.9999Z") == -1


@settings(deadline=None)
@given(st.integers(0, 4_000_000_000_000_000))
def test_what_is_written_reads_back_as_the_same(micros):
    assert times.parse_us(times.format_us(micros)) == micros
    assert times.parse_ms(times.format_ms(micros // 1000)) == micros // 1000


def test_texts_for_people_and_for_sql():
    assert times.format_us(NOON * 1000) == "2026-03-02T12:00:00Z"
    assert times.format_us(NOON * 1000 + 1) == "2026-03-02T12:00:00.000001Z"
    assert times.format_ms(NOON) == "2026-03-02T12:00:00.000Z"
    assert times.sql_datetime(NOON + 7) == "2026-03-02 12:00:00.007"
    assert times.sql_date(NOON) == "2026-03-02"


@settings(deadline=None)
@given(st.integers(-(10**12), 4 * 10**12))
def test_sql_texts_are_those_of_the_calendar(millis):
    moment = datetime.fromtimestamp(millis // 1000, UTC)
    assert times.sql_datetime(millis) == f"{moment:%Y-%m-%d %H:%M:%S}.{millis % 1000:03d}"
    assert times.sql_date(times.day_ms(millis)) == f"{moment:%Y-%m-%d}"
    assert times.day_ms(millis) % times.DAY_MS == 0


@pytest.mark.parametrize(("arrival", "held"), [(999_500, 1_000_000), (1_000_400, 1_000_400), (1_030_000, 1_000_999)])
def test_an_arrival_is_held_inside_the_second_that_the_object_names(arrival, held):
    assert times.held_in_second(1_000_000, arrival) == held
