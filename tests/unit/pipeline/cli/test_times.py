"""Times as typed and as printed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cli import times
from pipeline.errors import BadUsage

BERLIN = ZoneInfo("Europe/Berlin")
NOW = 1_774_748_405_250  # 2026-03-29 01:40:05.25 UTC, 03:40 in Berlin, forty minutes after the clocks went forward


def utc(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("now", NOW),
        ("-1h30m", NOW - 5_400_000),
        ("+10s", NOW + 10_000),
        ("today", utc("2026-03-28T23:00")),
        ("yesterday", utc("2026-03-27T23:00")),
        ("Yesterday ", utc("2026-03-27T23:00")),
        ("2026-03-29", utc("2026-03-28T23:00")),
        ("2026-03-29 10:20", utc("2026-03-29T08:20")),
        ("2026-03-28T10:20:05", utc("2026-03-28T09:20:05")),
        ("2026-03-29T10:20:05Z", utc("2026-03-29T10:20:05")),
        ("2026-03-29T10:20:05.123+08:00", utc("2026-03-29T02:20:05.123")),
    ],
)
def test_times_are_read_in_the_zone_of_the_person(text: str, ms: int) -> None:
    assert times.parse(text, NOW, BERLIN) == ms


@pytest.mark.parametrize("text", ["", "-", "-1d", "tomorrow?", "10:20", "20260329", "2026-13-01", "1774748405"])
def test_anything_else_is_bad_usage_with_what_to_write(text: str) -> None:
    with pytest.raises(BadUsage) as caught:
        times.parse(text, NOW, BERLIN)
    assert caught.value.fix == "Write -1h30m, yesterday, 2026-03-01, '2026-03-01 10:20' or RFC 3339."


def test_times_are_printed_local_with_their_offset_or_in_utc() -> None:
    assert times.show(NOW, zone=BERLIN) == "2026-03-29 03:40:05+02:00"
    assert times.show(NOW - 3_600_000, zone=BERLIN) == "2026-03-29 01:40:05+01:00"
    assert times.show(NOW, utc=True) == "2026-03-29 01:40:05Z"
    assert times.show(None) == "-"


@given(st.integers(0, 4_000_000_000), st.integers(-14 * 60, 14 * 60))
def test_what_is_printed_is_read_back_to_the_second(second: int, offset_min: int) -> None:
    zone = timezone(timedelta(minutes=offset_min))
    assert times.parse(times.show(second * 1000, zone=zone), 0, zone) == second * 1000
    assert times.parse(times.show(second * 1000, utc=True), 0, zone) == second * 1000


def test_moments_inside_a_text_are_told_in_the_zone_of_the_person() -> None:
    text = "not yet at 2026-03-28T10:20:05.999Z; from 2026-03-29T10:20:05Z on"
    assert times.in_zone(text, zone=BERLIN) == "not yet at 2026-03-28 11:20:05+01:00; from 2026-03-29 12:20:05+02:00 on"
    assert times.in_zone(text, utc=True) == "not yet at 2026-03-28 10:20:05Z; from 2026-03-29 10:20:05Z on"
    assert times.in_zone("2026-03-28", utc=True) == "2026-03-28"


def test_without_a_zone_the_machines_own_is_meant() -> None:
    typed = "2026-03-29 10:20"
    assert times.parse(typed, NOW) == round(datetime.fromisoformat(typed).astimezone().timestamp() * 1000)
    assert times.parse(times.show(NOW), 0) == NOW // 1000 * 1000


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0s"),
        (20, "20ms"),
        (999, "999ms"),
        (2_832_400, "47m12s"),
        (3_600_000, "1h"),
        (-90_000, "-1m30s"),
        (None, "-"),
    ],
)
def test_durations_have_gos_form_without_needless_digits(ms: int | None, text: str) -> None:
    assert times.duration(ms) == text


def test_a_typed_duration_is_gos_or_bad_usage() -> None:
    assert times.duration_ms("1h30m", "--for") == 5_400_000
    with pytest.raises(BadUsage, match="unknown unit 'd'") as refused:
        times.duration_ms("7d", "--for")
    assert refused.value.what.startswith("--for 7d: ")


@pytest.mark.parametrize(
    ("past_s", "text"),
    [(-5, "0s"), (12, "12s"), (2_832, "47m"), (12_000, "3h20m"), (7_200, "2h"), (5 * 86_400 + 7, "5d")],
)
def test_how_long_ago_is_coarse(past_s: int, text: str) -> None:
    assert times.ago(NOW - past_s * 1000, NOW) == text
