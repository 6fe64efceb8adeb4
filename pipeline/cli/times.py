"""Times as people type and read them. Inside, everything is integer milliseconds UTC; zones exist only here.

Read: `now`, `-1h30m` (that long ago), `today`, `yesterday`, `2026-03-01`, `2026-03-01 10:20`, RFC 3339. Without an offset
the machine's own zone is meant. Printed: local time with its offset, or UTC with `Z`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

from pipeline.errors import BadUsage
from pipeline.records import sla

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def parse(text: str, now_ms: int, zone: tzinfo | None = None) -> int:
    """Milliseconds UTC of what was typed; `zone` stands for the machine's own. Raises BadUsage."""
    word = text.strip().lower()
    if word == "now":
        return now_ms
    if word in {"today", "yesterday"}:
        return _midnight(now_ms, zone, days_ago=int(word == "yesterday"))
    try:
        if word[:1] in {"-", "+"}:
            return now_ms + sla.parse_duration_ms(word)
        return _calendar(text.strip(), zone)
    except ValueError:
        raise BadUsage(
            f"{text!r} is not a time", fix="Write -1h30m, yesterday, 2026-03-01, '2026-03-01 10:20' or RFC 3339."
        ) from None


def is_relative(text: str) -> bool:
    """Whether `parse` needs to know what time it is."""
    word = text.strip().lower()
    return word in {"now", "today", "yesterday"} or word[:1] in {"-", "+"}


def show(ms: int | None, *, utc: bool = False, zone: tzinfo | None = None) -> str:
    """`2026-03-01 18:20:05+08:00`, or with `utc` `2026-03-01 10:20:05Z`; `-` for no time. Whole seconds, cut."""
    if ms is None:
        return "-"
    moment = datetime.fromtimestamp(ms // 1000, UTC)
    if utc:
        return moment.strftime("%Y-%m-%d %H:%M:%SZ")
    return moment.astimezone(zone).isoformat(sep=" ", timespec="seconds")


def in_zone(text: str, *, utc: bool = False, zone: tzinfo | None = None) -> str:
    """The text with every RFC 3339 moment of UTC in it as `show` prints it."""
    return _MOMENT.sub(lambda found: show(_calendar(found[0], None), utc=utc, zone=zone), text)


def ago(ms: int, now_ms: int) -> str:
    """How long ago, coarse as a person says it: `12s`, `47m`, `3h20m`, `5d`; `0s` for the future."""
    seconds = max(0, now_ms - ms) // 1000
    if seconds < 60:
        return f"{seconds}s"
    if seconds < 3600:
        return f"{seconds // 60}m"
    if seconds < 86_400:
        minutes = seconds % 3600 // 60
        return f"{seconds // 3600}h{minutes}m" if minutes else f"{seconds // 3600}h"
    return f"{seconds // 86_400}d"


def duration(ms: int | None) -> str:
    """Go's form without the fraction of a second once there are seconds: `47m12s`, `3s`, `20ms`; `-` for none."""
    if ms is None:
        return "-"
    whole = ms if abs(ms) < 1000 else int(ms / 1000) * 1000
    return sla.format_duration_ms(whole)


def duration_ms(text: str, option: str) -> int:
    """Milliseconds of a duration in Go's form, as typed behind an option. Raises BadUsage."""
    try:
        return sla.parse_duration_ms(text)
    except ValueError as error:
        raise BadUsage(f"{option} {text}: {error}", fix="Write a duration such as 90s, 30m or 1h30m.") from None


def _calendar(text: str, zone: tzinfo | None) -> int:
    if _DAY.match(text) is None:
        raise ValueError(text)
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone) if zone else moment.astimezone()
    return round(moment.timestamp() * 1000)


def _midnight(now_ms: int, zone: tzinfo | None, days_ago: int) -> int:
    today = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(zone)
    day = (today - timedelta(days=days_ago)).date()
    midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
    return round((midnight if zone else midnight.astimezone()).timestamp() * 1000)
