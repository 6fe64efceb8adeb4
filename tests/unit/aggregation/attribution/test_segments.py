"""Rule P17, and the part of P5 that cuts segments: judgements become stretches that tile the wait."""

import pytest

from aggregation.attribution import segments
from aggregation.lifecycle.state import Episode, Segment


def episode(*points, end=None, seen=0):
    made = Episode(1, 0, seen)
    for at, reason in points:
        segments.point(made, Segment(at, reason))
    made.end_ms = end
    return made


def parts(made, now=100_000):
    return [(one.segment.reason, one.from_ms, one.to_ms) for one in segments.stretches(made, now)]


@pytest.mark.parametrize(
    ("points", "end", "wanted"),
    [
        ([(0, "a"), (5000, "b")], 9000, [("a", 0, 5000), ("b", 5000, 9000)]),
        ([(0, "a"), (999, "b")], 9000, [("b", 0, 9000)]),
        ([(0, "a"), (1000, "b")], 9000, [("a", 0, 1000), ("b", 1000, 9000)]),
        ([(0, "a"), (5000, "b"), (5900, "c")], 9000, [("a", 0, 5000), ("c", 5000, 9000)]),
        ([(0, "a"), (5000, "b"), (5600, "c"), (6200, "d")], 9000, [("a", 0, 5000), ("c", 5000, 6200), ("d", 6200, 9000)]),
        ([(0, "a"), (5000, "b"), (5500, "a")], 9000, [("a", 0, 9000)]),
        ([(0, "a"), (5000, "b"), (8500, "c")], 9000, [("a", 0, 5000), ("b", 5000, 9000)]),
        ([(0, "a")], 300, [("a", 0, 300)]),
        ([(0, "a"), (100, "b")], 300, [("b", 0, 300)]),
    ],
)  # fmt: skip
def test_p17_what_held_less_than_a_second_is_folded_into_the_next_at_the_end_into_the_one_before(points, end, wanted):
    assert parts(episode(*points, end=end)) == wanted


def test_p17_the_last_stretch_of_an_open_wait_stands_once_it_has_lasted_a_second():
    made = episode((0, "a"), (5000, "b"))
    assert parts(made, now=5999) == [("a", 0, None)]
    assert segments.undecided_until(made) == 6000
    assert parts(made, now=6000) == [("a", 0, 5000), ("b", 5000, None)]


def test_a_repeated_judgement_begins_no_new_stretch():
    assert parts(episode((0, "a"), (2000, "a"), (4000, "a"), end=9000)) == [("a", 0, 9000)]


def test_a_judgement_that_arrives_late_never_goes_back_behind_the_last():
    assert parts(episode((0, "a"), (5000, "b"), (3000, "c"), end=9000)) == [("a", 0, 5000), ("c", 5000, 9000)]


def test_a_wait_of_length_0_has_no_parts():
    assert parts(episode((0, "a"), end=0)) == []


def test_an_end_before_the_last_change_cuts_what_came_after():
    assert parts(episode((0, "a"), (5000, "b"), (7000, "c"), end=6500)) == [("a", 0, 5000), ("b", 5000, 6500)]


def test_p5_blind_time_is_a_gap_from_the_last_contact_on():
    made = episode((0, "a"), (5000, "b"))
    segments.blind(made, 4000)
    segments.point(made, Segment(8000, "b"))
    made.end_ms = 9500
    assert parts(made) == [("a", 0, 4000), ("gap", 4000, 8000), ("b", 8000, 9500)]


def test_p5_blindness_after_the_end_changes_nothing():
    made = episode((0, "a"), end=3000)
    segments.blind(made, 3000)
    assert parts(made) == [("a", 0, 3000)]


def test_how_long_the_first_reason_held_is_measured_from_the_first_look():
    made = Episode(1, 0, 60_000)
    segments.point(made, Segment(60_000, "pods_not_created"))
    segments.point(made, Segment(60_005, "insufficient_resource"))
    made.end_ms = 90_000
    assert parts(made) == [("insufficient_resource", 0, 90_000)]


def test_an_earlier_beginning_belongs_to_the_first_reason_or_to_what_objects_tell_of_it():
    made = episode((28_000, "a"), seen=28_000)
    segments.precede(made, None)
    assert made.segments[0].from_ms == 0
    made = episode((28_000, "a"), seen=28_000)
    segments.precede(made, Segment(28_000, "gang_incomplete"))
    made.end_ms = 30_000
    assert parts(made) == [("gang_incomplete", 0, 28_000), ("a", 28_000, 30_000)]
