"""Filters that name what nobody has."""

from __future__ import annotations

import pytest

from dashboards.figures import unknown
from dashboards.figures.asked import Asked
from dashboards.filters import MOST_KNOWN, Filters
from dashboards.objects import Unknown


class Store:
    """A warehouse that has these jobs, and notes what it is asked."""

    max_rows = 10

    def __init__(self, *rows):
        names = ("cluster", "namespace", "tenant", "queue", "job_kind")
        self._rows = [dict(zip(names, row, strict=True)) for row in rows]
        self.asked = []

    def rows(self, name, **_):
        self.asked.append(name)
        return self._rows


ROWS = (
    ("prod", "team-vision", "vision", "vision-a", "VolcanoJob"),
    ("prod", "research", "", "", "Job"),
    ("test", "sandbox", "", "", "Job"),
)


def of(filters, found=False, rows=ROWS):
    return unknown.values(Asked(Store(*rows), "en", 0), filters, found)


def test_a_slip_is_told_with_the_nearest_and_with_all_that_are_known():
    assert of(Filters(namespace=("team-visoin",))) == [
        Unknown("namespace", "team-visoin", "team-vision", ["research", "sandbox", "team-vision"])
    ]
    assert [(each.filter, each.near) for each in of(Filters(queue=("x",), tenant=("visio",)))] == [
        ("tenant", "vision"), ("queue", None),
    ]  # fmt: skip


def test_of_several_values_only_those_that_nobody_has_are_told():
    assert [each.value for each in of(Filters(namespace=("research", "reserch")), found=True)] == ["reserch"]


def test_a_kind_is_known_in_any_case():
    assert of(Filters(kind=("volcanojob", "JOB"))) == []
    assert of(Filters(kind=("volcanjob",)))[0].near == "VolcanoJob"


def test_names_are_those_of_the_clusters_that_are_asked_about():
    assert of(Filters(cluster=("prod",), namespace=("sandbox",)))[0].known == ["research", "team-vision"]
    assert [each.filter for each in of(Filters(cluster=("pord",), namespace=("sandbox",)))] == ["cluster"]


@pytest.mark.parametrize(
    "filters", [Filters(), Filters(phase=("waiting",), text="x"), Filters(queue=("-",), tenant=("-",))]
)
def test_what_names_nothing_cannot_be_wrong(filters):
    assert of(filters) == []


def test_an_answer_by_one_value_each_shows_that_all_are_known_without_a_question():
    store = Store(*ROWS)
    assert unknown.values(Asked(store, "en", 0), Filters(namespace=("research",), kind=("Job",)), True) == []
    assert store.asked == []


def test_nothing_is_told_while_nothing_is_stored_or_more_than_is_read():
    assert of(Filters(namespace=("x",)), rows=()) == []
    assert of(Filters(namespace=("x",)), rows=ROWS * 4) == []


def test_so_many_are_listed_as_a_person_reads():
    rows = [("prod", f"n{number:02}", "", "", "Job") for number in range(30)]
    store = Store(*rows)
    store.max_rows = 100
    (told,) = unknown.values(Asked(store, "en", 0), Filters(namespace=("x",)), False)
    assert told.known == [f"n{number:02}" for number in range(MOST_KNOWN)]
