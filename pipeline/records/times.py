"""Kubernetes timestamps to integers and back: milliseconds (or microseconds) since 1970 UTC, zones only at the edges."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_RFC3339 = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)([Zz]|[+-]\d\d:?\d\d)$", re.ASCII)
_FRACTION = re.compile(r".{19}[.,](\d{1,9})([Zz]|[+-]\d\d:?\d\d)$", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_MS = 86_400_000
HOUR_MS = 3_600_000
MINUTE_MS = 60_000


def parse_us(text: str | None) -> int | None:
    """RFC 3339 to microseconds. None for None, empty, unreadable text and Go's zero time (year 1)."""
    if not text:
        return None
    if len(text) == 20:
        return _whole_us(text)
    found = _FRACTION.match(text)
    if found is None:
        return _whole_us(text)
    whole = _whole_us(text[:19] + found[2])
    return None if whole is None else whole + int(found[1][:6].ljust(6, "0"))


@lru_cache(maxsize=8192)
def _whole_us(text: str) -> int | None:
    """RFC 3339 without a fraction. Objects of one time name the same seconds again and again."""
    found = _RFC3339.match(text)
    if found is None or found[1] == "0001":
        return None
    year, month, day, hour, minute, second, zone = found.groups()
    try:
        whole = datetime(int(year), int(month), int(day), int(hour), int(minute), min(int(second), 59), tzinfo=UTC)
    except ValueError:
        return None
    micros = int((whole - _EPOCH) / timedelta(microseconds=1))
    if int(second) == 60:  # a leap second is the second after it
        micros += 1_000_000
    if zone not in "Zz":
        offset = int(zone[1:3]) * 60 + int(zone[-2:])
        micros -= (offset if zone[0] == "+" else -offset) * 60_000_000
    return micros


def parse_ms(text: str | None) -> int | None:
    """RFC 3339 to milliseconds, rounded down; None as `parse_us`."""
    micros = parse_us(text)
    return None if micros is None else micros // 1000


def format_us(micros: int) -> str:
    """Microseconds to RFC 3339 UTC; a fraction only where there is one, six digits then."""
    moment = _EPOCH + timedelta(microseconds=micros)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{moment.microsecond:06d}Z" if moment.microsecond else f"{text}Z"


def format_ms(millis: int) -> str:
    """Milliseconds to RFC 3339 UTC, always three digits."""
    moment = _EPOCH + timedelta(milliseconds=millis)
    return f"{moment.strftime('%Y-%m-%dT%H:%M:%S')}.{moment.microsecond // 1000:03d}Z"


def sql_datetime(millis: int) -> str:
    """Milliseconds to `YYYY-MM-DD HH:MM:SS.mmm` UTC, as DATETIME(3) reads it."""
    day, rest = divmod(millis, DAY_MS)
    seconds, thousandths = divmod(rest, 1000)
    return f"{_day_text(day)} {_clock_text(seconds)}.{thousandths:03d}"


def sql_date(millis: int) -> str:
    """The UTC day of a moment, `YYYY-MM-DD`."""
    return _day_text(millis // DAY_MS)


@lru_cache(maxsize=1024)
def _day_text(day: int) -> str:
    """Rows of a load share few days; making the text anew took most of a row's time."""
    return (_EPOCH + timedelta(days=day)).strftime("%Y-%m-%d")


@lru_cache(maxsize=4096)
def _clock_text(second_of_day: int) -> str:
    minutes, second = divmod(second_of_day, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02d}:{minute:02d}:{second:02d}"


def day_ms(millis: int) -> int:
    """The first millisecond of the UTC day."""
    return millis - millis % DAY_MS


def held_in_second(second_ms: int, arrival_ms: int) -> int:
    """The moment of something whose object names only a second: the arrival, held inside that second.

    Rule P4: objects carry whole seconds, arrivals carry milliseconds; each corrects the other.
    """
    return max(second_ms, min(arrival_ms, second_ms + 999))
