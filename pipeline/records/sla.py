"""The deadline arithmetic, once for the scheduler's SLA plug-in and for the accounting of waits.

A promise is a waiting time in Go's duration grammar, written on the job's group, the job itself, its pod template, its
queue, or set for the whole cluster. At each place three keys are tried in order. A value that does not parse or is not
above zero counts as absent, so the next key or place applies (Volcano's sla plug-in does the same), and is reported
once as misconfigured. A deadline is met only before it: a wait that ends exactly at the deadline has violated it, by
the same equality with which Volcano's plug-in begins to permit the job.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

KEYS = ("volcano.sh/sla-waiting-time", "scheduling.volcano.sh/sla-waiting-time", "sla-waiting-time")
"""Annotation keys in the order in which they are tried at one place."""

_UNIT_NS = {
    "ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000,
    "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000,
}  # fmt: skip
_PART = re.compile(r"(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_MAX_NS = 2**63 - 1


def parse_duration_ns(text: str) -> int:
    """A duration as Go's `time.ParseDuration` reads it ("1h30m", "1.5s", "-3m", "0"), in nanoseconds.

    Raises ValueError with the reason: empty, no unit, unknown unit, a number without digits, more than 292 years.
    """
    sign, rest = (-1, text[1:]) if text[:1] == "-" else (1, text[1:] if text[:1] == "+" else text)
    if rest == "0":
        return 0
    if not rest:
        raise ValueError(f"invalid duration {text!r}: empty")
    total, at = 0, 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None:
            raise ValueError(f"invalid duration {text!r}: {_why_not(rest[at:])}")
        whole, fraction, unit = part[1], part[2] or "", part[3]
        if not whole and not fraction:
            raise ValueError(f"invalid duration {text!r}: a number is missing before {unit!r}")
        total += int(whole or 0) * _UNIT_NS[unit] + _fraction_ns(fraction, _UNIT_NS[unit])
        if total > _MAX_NS + (sign < 0):
            raise ValueError(f"invalid duration {text!r}: more than 292 years")
        at = part.end()
    return sign * total


def _fraction_ns(digits: str, unit_ns: int) -> int:
    """A decimal fraction of a unit, by the steps of Go: digits that do not fit 63 bits are dropped, the rest is a float.

    So a third of an hour, in enough digits, is twenty minutes to the nanosecond.
    """
    value, scale = 0, 1.0
    for digit in digits:
        longer = value * 10 + int(digit)
        if longer > _MAX_NS + 1:
            break
        value, scale = longer, scale * 10
    return int(value * (unit_ns / scale))


def parse_duration_ms(text: str) -> int:
    """As `parse_duration_ns`, in milliseconds, towards zero; what is above zero is at least 1."""
    nanos = parse_duration_ns(text)
    millis = abs(nanos) // 1_000_000
    return (max(millis, 1) if nanos > 0 else -millis) if nanos else 0


def format_duration_ms(millis: int) -> str:
    """Milliseconds in Go's form: `1h30m`, `47m12s`, `1.5s`, `20ms`, `0s`; parts that are zero are left out."""
    if millis == 0:
        return "0s"
    sign, rest = ("-", -millis) if millis < 0 else ("", millis)
    if rest < 1000:
        return f"{sign}{rest}ms"
    hours, rest = divmod(rest, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    seconds = f"{rest / 1000:g}s" if rest else ""
    return sign + (f"{hours}h" if hours else "") + (f"{minutes}m" if minutes else "") + seconds


class Promise(NamedTuple):
    """A waiting time that was promised: `waiting_ms` > 0, the place `level` and the annotation key `source`."""

    waiting_ms: int
    source: str
    level: str


class Misconfigured(NamedTuple):
    """A promise that cannot be kept to since it cannot be read: where it stands and what it says."""

    level: str
    source: str
    text: str

    def __str__(self) -> str:
        return f"{self.source}={self.text}"


def find(
    levels: Iterable[tuple[str, Mapping[str, str] | None]], default_ms: int | None = None
) -> tuple[Promise | None, tuple[Misconfigured, ...]]:
    """The promise that applies and every unreadable one before it. `levels`: (place, annotations), nearest first."""
    bad: list[Misconfigured] = []
    for level, notes in levels:
        for key in KEYS if notes else ():
            text = notes.get(key) if notes else None
            if text is None:
                continue
            waiting_ms = _positive_ms(text)
            if waiting_ms is not None:
                return Promise(waiting_ms, key, level), tuple(bad)
            bad.append(Misconfigured(level, key, text))
    promise = Promise(default_ms, "default", "default") if default_ms is not None and default_ms > 0 else None
    return promise, tuple(bad)


def deadline_ms(start_ms: int, waiting_ms: int) -> int:
    """When a wait that began at `start_ms` (the whole second of creation for a job's first wait) breaks its promise."""
    return start_ms + waiting_ms


def violated(deadline: int, until_ms: int) -> bool:
    """Whether a wait that lasted, or has lasted so far, until `until_ms` has broken its promise."""
    return until_ms >= deadline


def at_risk_ms(start_ms: int, waiting_ms: int, share: float) -> int:
    """When `share` (0 to 1) of the promise is used up."""
    return start_ms + int(waiting_ms * share)


def _positive_ms(text: str) -> int | None:
    try:
        millis = parse_duration_ms(text)
    except ValueError:
        return None
    return millis if millis > 0 else None


def _why_not(rest: str) -> str:
    number = re.match(r"[\d.]+", rest)
    if number is None:
        return f"{rest!r} is not a number with a unit"
    unit = re.match(r"[^\d.]*", rest[number.end() :])
    return f"unknown unit {unit[0]!r}" if unit and unit[0] else f"no unit after {number[0]!r}"
