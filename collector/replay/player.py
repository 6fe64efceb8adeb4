"""The pace of a replay: which recorded moment is due when, and the beats of recorded time in between."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from collector.replay.recording import Played
from pipeline.errors import BadUsage
from pipeline.kubeapi.happenings import Happening
from pipeline.records import sla

_SPEED = re.compile(r"(\d+(?:\.\d+)?)x?$", re.ASCII)


class Beat(NamedTuple):
    """A moment of recorded time (ms UTC): a happening of a watch, or only a whole second that has passed."""

    t: int
    watch: str
    happening: Happening | None


class Pace:
    """Speeds one after another: (until, speed), `until` in ms from the recording's begin, None = to its end."""

    def __init__(self, phases: Iterable[tuple[int | None, float]]) -> None:
        self._phases = list(phases)

    def due_s(self, elapsed_ms: int) -> float:
        """Seconds from the replay's begin at which the recorded moment is due; 0 for all at speed infinity."""
        due_s, begin_ms = 0.0, 0
        for until_ms, speed in self._phases:
            end_ms = elapsed_ms if until_ms is None else min(until_ms, elapsed_ms)
            due_s += max(0, end_ms - begin_ms) / 1000 / speed
            if end_ms == elapsed_ms:
                break
            begin_ms = end_ms
        return due_s


def parse_pace(text: str) -> Pace:
    """`1x`, `30x`, `max`, or phases with their ends: `30x@70s,1x` (30 times until second 70, then in step).

    Raises BadUsage.
    """
    phases: list[tuple[int | None, float]] = []
    parts = text.split(",")
    for n, part in enumerate(parts):
        speed, at, until = part.strip().partition("@")
        if (not at) != (n == len(parts) - 1):
            raise BadUsage(f"--speed {text}: each phase but the last needs its end", fix="Write --speed 30x@70s,1x.")
        phases.append((_until_ms(text, until) if at else None, _speed(text, speed)))
    return Pace(phases)


def beats(played: Iterable[Played]) -> Iterator[Beat]:
    """The recording's happenings with a beat for each whole second between its first and its last moment."""
    second = None
    for t, watch, happening in played:
        if second is None:
            second = t // 1000
        while second < t // 1000:
            second += 1
            yield Beat(second * 1000, "", None)
        yield Beat(t, watch, happening)
    if second is not None:
        yield Beat((second + 1) * 1000, "", None)


def _speed(text: str, speed: str) -> float:
    if speed == "max":
        return float("inf")
    found = _SPEED.match(speed)
    if found is None or float(found[1]) <= 0:
        raise BadUsage(
            f"--speed {text}: {speed!r} is no speed", fix="Write 1x, 30x, max, or phases such as 30x@70s,1x."
        )
    return float(found[1])


def _until_ms(text: str, until: str) -> int:
    try:
        return sla.parse_duration_ms(until)
    except ValueError as error:
        raise BadUsage(f"--speed {text}: {error}", fix="Write --speed 30x@70s,1x.") from None
