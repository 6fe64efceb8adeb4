"""Waiting time by reason: over time, and summed.

Short ranges are counted from the parts of waits, so that a replay of minutes shows a curve and the last moment is in it;
long ones from the sums of hours, which are at most a minute behind.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import structs

from dashboards import curve, waits
from dashboards.curve import Edge
from dashboards.figures import unknown
from dashboards.figures.asked import Asked, fresh
from dashboards.filters import IDENTITY, Filters
from dashboards.objects import CountedReason, Reasons, Series
from dashboards.queries.statements import Value
from pipeline.errors import BadUsage
from pipeline.records import reasons, times, words

SHORT_MS = 6 * times.HOUR_MS
"""Ranges up to this are counted from parts."""
USUAL_MS = times.DAY_MS
_LATE_MS = 2 * times.MINUTE_MS
"""The sums of an hour are written once a minute: one that has just begun has none yet, and would seem to fall to 0."""
_MOST_ROWS = 100_000


class Range(NamedTuple):
    """From when to when, in which buckets, counted in what: milliseconds, `unit` jobs or gpus."""

    from_ms: int
    to_ms: int
    bucket_ms: int
    unit: str

    @property
    def fine(self) -> bool:
        return self.bucket_ms % times.HOUR_MS != 0 or self.to_ms - self.from_ms <= SHORT_MS


def made(
    asked: Asked,
    filters: Filters,
    from_ms: int | None = None,
    to_ms: int | None = None,
    bucket_ms: int | None = None,
    unit: str = "jobs",
) -> Reasons:
    """The curve and the sums; without a range the last day that there is data of. Raises BadUsage."""
    range_ = _range(asked, filters, from_ms, to_ms, bucket_ms, unit)
    begins = curve.begins(range_.from_ms, range_.to_ms, range_.bucket_ms)
    values = _values(asked, filters, range_, begins) if begins else {}
    sums = totals(asked, filters, range_) if begins else []
    return Reasons(
        from_ms=range_.from_ms,
        to_ms=range_.to_ms,
        bucket_ms=range_.bucket_ms,
        unit=range_.unit,
        buckets=begins,
        series=[Series(code, words.title(asked.lang, code), values[code]) for code in _in_order(values)],
        totals=sums,
        unknown=unknown.values(asked, filters, bool(sums)),
        **structs.asdict(fresh(asked, filters.cluster)),
    )


def usual(asked: Asked, filters: Filters) -> Range:
    """The last day that there is data of."""
    return _range(asked, filters, None, None, None, "jobs")


def totals(asked: Asked, filters: Filters, range_: Range) -> list[CountedReason]:
    """Waiting by reason in the range, the most first."""
    name = "reason_totals" if range_.fine else "reason_hour_totals"
    rows = asked.store.rows(name, **_parameters(filters, range_), limit=_MOST_ROWS)
    resources: dict[str, list[str]] = {}
    for row in rows:
        if not int(row["whole"]):
            resources.setdefault(row["reason"], []).append(row["resource"])
    whole = [row for row in rows if int(row["whole"]) and (range_.unit == "jobs" or int(row["ms"]))]
    sum_ms = sum(int(row["ms"]) for row in whole)
    return [
        CountedReason(
            row["reason"],
            None,
            next(iter(resources.get(row["reason"], [])), "") or None,
            int(row["ms"]),
            round(int(row["ms"]) / sum_ms, 4) if sum_ms else 0.0,
            words.title(asked.lang, row["reason"]),
            int(row["jobs"]),
            [name for name in resources.get(row["reason"], []) if name],
        )
        for row in whole
    ]


def _range(
    asked: Asked, filters: Filters, from_ms: int | None, to_ms: int | None, bucket_ms: int | None, unit: str
) -> Range:
    open_end = to_ms is None
    if from_ms is None or to_ms is None:
        span = asked.store.row("waiting_span", **filters.parameters(*IDENTITY))
        now_ms, first_ms = waits.ms(span["now_at"]), waits.ms(span["first_at"])
        to_ms = (now_ms or asked.clock_ms) if to_ms is None else to_ms
        from_ms = max(to_ms - USUAL_MS, first_ms or to_ms) if from_ms is None else from_ms
    if from_ms > to_ms:
        raise BadUsage("the range ends before it begins", fix="Give `from` before `to`.")
    length_ms = to_ms - from_ms
    if bucket_ms is None:
        bucket_ms = curve.width_ms(length_ms, 0 if length_ms <= SHORT_MS else times.HOUR_MS)
    if open_end and length_ms > SHORT_MS and to_ms % times.HOUR_MS < _LATE_MS:
        to_ms -= to_ms % times.HOUR_MS
    if length_ms > curve.MOST_BUCKETS * bucket_ms:
        raise BadUsage(
            f"the range has more than {curve.MOST_BUCKETS} buckets", fix="Ask for wider buckets or a shorter range."
        )
    # From a bucket's begin on, so that the sums are those of the curve.
    return Range(from_ms - from_ms % bucket_ms if length_ms else from_ms, to_ms, bucket_ms, unit)


def _values(asked: Asked, filters: Filters, range_: Range, begins: list[int]) -> dict[str, list[int]]:
    if range_.fine:
        rows = asked.store.rows(
            "reason_edges",
            **_parameters(filters, range_),
            bucket_ms=range_.bucket_ms,
            limit=_MOST_ROWS,
        )
        edges = [Edge(row["reason"], int(row["bucket"]), int(row["slope"]), int(row["skew_ms"])) for row in rows]
        return curve.areas(edges, len(begins), range_.bucket_ms)
    values: dict[str, list[int]] = {}
    for row in asked.store.rows("reason_hours", **_parameters(filters, range_), limit=_MOST_ROWS):
        place = (waits.at(row["hour"]) - begins[0]) // range_.bucket_ms
        values.setdefault(row["reason"], [0] * len(begins))[place] += int(row["ms"])
    return values


def _parameters(filters: Filters, range_: Range) -> dict[str, Value]:
    return {
        **filters.parameters(*IDENTITY, "reason"),
        "from_at": times.sql_datetime(range_.from_ms),
        "to_at": times.sql_datetime(range_.to_ms),
        "unit": range_.unit,
    }


def _in_order(values: dict[str, list[int]]) -> list[str]:
    """The reasons that held anything, in the order in which charts stack them."""
    place = {code: at for at, code in enumerate(reasons.CODES)}
    return sorted(
        (code for code, each in values.items() if any(each)), key=lambda code: (place.get(code, len(place)), code)
    )
