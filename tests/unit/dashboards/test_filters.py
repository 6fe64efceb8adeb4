"""What a person asks for."""

from __future__ import annotations

import pytest

from dashboards import filters
from dashboards.filters import Filters
from pipeline.errors import BadUsage


def test_values_are_split_at_commas_and_repeated_ones_add_up():
    made = filters.made({"namespace": ["a,b", "c"], "queue": None, "phase": ["waiting,scheduled"]}, "x")
    assert made == Filters(namespace=("a", "b", "c"), phase=("waiting", "scheduled"), text="x")


@pytest.mark.parametrize(
    ("name", "value", "near"),
    [
        ("phase", "wating", "waiting"),
        ("sla", "violate", "violated"),
        ("reason", "qouta", "quota"),
        ("state", "opn", "open"),
    ],
)
def test_a_value_that_does_not_exist_is_refused_with_the_nearest(name, value, near):
    with pytest.raises(BadUsage, match=f"did you mean {near}"):
        filters.made({name: [value]})


def test_text_is_looked_for_as_it_stands():
    assert Filters(text="50%_Off\\").like() == "%50\\%\\_off\\\\%"
    assert Filters().like() == ""


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1767225600000", 1_767_225_600_000),
        ("2026-01-01T00:00:00Z", 1_767_225_600_000),
        ("2026-01-01T08:00:00+08:00", 1_767_225_600_000),
        ("2026-01-01T08:00:00 08:00", 1_767_225_600_000),
        ("2025-12-31T22:00:00-0200", 1_767_225_600_000),
    ],
)
def test_a_moment_is_rfc_3339_or_milliseconds(text, ms):
    assert filters.moment("at", text) == ms


@pytest.mark.parametrize("text", ["", "yesterday", "2026-01-01", "-5", "²"])
def test_what_is_no_moment_is_refused(text):
    with pytest.raises(BadUsage, match=r"at .* is no time"):
        filters.moment("at", text)


def test_widths_of_buckets():
    assert filters.bucket_ms("auto") is None
    assert filters.bucket_ms("1m30s") == 90_000
    for bad in ("", "x", "0", "999ms", "-1h"):
        with pytest.raises(BadUsage, match="is no width"):
            filters.bucket_ms(bad)


def test_a_phase_may_be_called_as_people_read_it_or_as_answers_have_it():
    assert filters.made({"phase": ["Placed,waiting", "scheduled"]}).phase == ("scheduled", "waiting", "scheduled")
    with pytest.raises(BadUsage) as caught:
        filters.made({"phase": ["done"]})
    assert caught.value.fix == "Use one of waiting, placed, cancelled."


@pytest.mark.parametrize("text", ["batch/Job", "job.batch", "-", "J ob", "4", "x" * 64])
def test_what_no_kind_can_be_called_is_refused(text):
    with pytest.raises(filters.NoSuchValue, match="cannot exist"):
        filters.made({"kind": [text]})


def test_any_kind_that_can_be_is_taken():
    assert filters.made({"kind": ["job,PyTorchJob"]}).kind == ("job", "PyTorchJob")


@pytest.mark.parametrize("text", ["", " ", "Job/", "/"])
def test_a_job_without_a_name_is_none(text):
    with pytest.raises(BadUsage, match="names no job"):
        filters.job_name(text)
    assert filters.job_name("research/train") == "research/train"
