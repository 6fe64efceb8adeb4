"""The area of waiting in each bucket, against counting millisecond by millisecond."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dashboards import curve
from dashboards.curve import Edge


def edges_of(parts, bucket_ms):
    """What `reason_edges.sql` sums: each part's begin and end as steps of its weight."""
    sums = {}
    for reason, begin, end, weight in parts:
        for at, step in ((begin, weight), (end, -weight)):
            key = reason, at // bucket_ms
            slope, skew = sums.get(key, (0, 0))
            sums[key] = slope + step, skew + step * (at % bucket_ms)
    return [Edge(reason, bucket, slope, skew) for (reason, bucket), (slope, skew) in sums.items()]


def counted(parts, count, bucket_ms):
    areas = {reason: [0] * count for reason, *_ in parts}
    for reason, begin, end, weight in parts:
        for at in range(begin, end):
            areas[reason][at // bucket_ms] += weight
    return areas


@given(
    bucket_ms=st.integers(1, 40),
    count=st.integers(1, 6),
    data=st.data(),
)
def test_areas_are_exact_whatever_begins_and_ends_where(bucket_ms, count, data):
    end = bucket_ms * count
    part = st.tuples(st.sampled_from("ab"), st.integers(0, end), st.integers(0, end), st.integers(0, 9))
    parts = [(r, min(b, e), max(b, e), w) for r, b, e, w in data.draw(st.lists(part, max_size=8))]
    assert curve.areas(edges_of(parts, bucket_ms), count, bucket_ms) == counted(parts, count, bucket_ms)


@given(from_ms=st.integers(0, 10**12), length_ms=st.integers(1, 10**10))
def test_buckets_are_few_and_cover_the_range(from_ms, length_ms):
    width = curve.width_ms(length_ms)
    begins = curve.begins(from_ms, from_ms + length_ms, width)
    assert begins[0] <= from_ms < begins[0] + width
    assert begins[-1] < from_ms + length_ms <= begins[-1] + width
    assert len(begins) <= curve.AIM_BUCKETS + 1 and all(begin % width == 0 for begin in begins)


def test_a_range_of_no_length_has_no_bucket():
    assert curve.begins(5000, 5000, 1000) == curve.begins(5001, 5001, 1000) == []


def test_wide_ranges_keep_to_whole_hours():
    assert curve.width_ms(7 * 86_400_000, 3_600_000) == 3_600_000
    assert curve.width_ms(30 * 86_400_000, 3_600_000) == 10_800_000
