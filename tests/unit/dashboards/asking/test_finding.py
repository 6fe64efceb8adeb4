"""Which job a person means."""

from __future__ import annotations

import pytest

from dashboards.asking import finding, listing
from dashboards.filters import Filters, Named
from pipeline.errors import BadUsage, NotFound


def job(name, namespace="team-a", kind="Job", cluster="prod", uid=""):
    return {"cluster": cluster, "namespace": namespace, "kind": kind, "name": name, "uid": uid or name}


class Jobs:
    """A source that knows some jobs."""

    def __init__(self, *jobs):
        self.known = jobs

    def jobs(self, filters, sort, limit, cursor):
        found = [
            each
            for each in self.known
            if (not filters.name or each["name"] in filters.name)
            and (not filters.namespace or each["namespace"] in filters.namespace)
            and filters.text in each["name"]
        ]
        return {"items": [{"job": each} for each in found[:limit]], "now_ms": 47, "next": None}


def test_the_one_job_of_the_name_is_meant_in_whatever_namespace():
    found = finding.one(Jobs(job("train"), job("eval")), "train", Filters())
    assert found == finding.Found(Named("prod", "team-a", "Job", "train"), 47)


def test_a_name_that_was_used_again_is_the_newest_job_and_the_others_are_known():
    source = Jobs(job("train", uid="new"), job("train", uid="old"))
    found = finding.one(source, "train", Filters())
    assert (found.named.name, found.named.uid, found.others) == ("train", "", ("old",))
    found = finding.one(source, "train", Filters(), uid="old")
    assert (found.named.uid, found.others) == ("old", ())
    with pytest.raises(NotFound, match="with uid other") as caught:
        finding.one(source, "train", Filters(), uid="other")
    assert caught.value.fix == "Known uids of that name: new, old."


def test_a_namespace_may_stand_before_the_name_as_answers_print_it():
    source = Jobs(job("train"), job("train", "team-b"))
    assert finding.one(source, "team-b/train", Filters()).named.namespace == "team-b"
    with pytest.raises(NotFound, match="kind or namespace team-c") as caught:
        finding.one(source, "team-c/train", Filters())
    assert "There is one elsewhere: Job/train in namespace team-a" in caught.value.fix


def test_several_jobs_are_all_named_and_none_is_guessed():
    source = Jobs(job("train"), job("train", "team-b"), job("train", kind="VolcanoJob"))
    with pytest.raises(BadUsage) as caught:
        finding.one(source, "train", Filters())
    assert "3 jobs are called train" in caught.value.what
    assert "VolcanoJob/train in namespace team-a of cluster prod" in caught.value.what
    assert "-n, --kind or --cluster" in caught.value.fix


def test_a_kind_tells_them_apart_before_the_name_or_as_an_option_in_any_case():
    source = Jobs(job("train"), job("train", kind="VolcanoJob"))
    assert finding.one(source, "volcanojob/train", Filters()).named.kind == "VolcanoJob"
    assert finding.one(source, "train", Filters(), "job").named.kind == "Job"


def test_a_slip_gets_the_nearest_name():
    with pytest.raises(NotFound) as caught:
        finding.one(Jobs(job("train-llama"), job("eval")), "train-lama", Filters())
    assert caught.value.fix == "Did you mean train-llama?"


def test_a_slip_among_other_filters_gets_the_nearest_name_and_never_its_own():
    source = Jobs(job("train-llama"), job("trian"))
    with pytest.raises(NotFound) as caught:
        finding.one(source, "trian-llama", Filters(name=("trian-llama",)))
    assert caught.value.fix == "Did you mean train-llama?"
    with pytest.raises(NotFound) as caught:
        finding.one(Jobs(job("train", kind="Job")), "Pod/train", Filters())
    assert "Did you mean train?" not in caught.value.fix and "Job/train" in caught.value.fix


def test_a_job_of_another_namespace_is_pointed_to():
    with pytest.raises(NotFound) as caught:
        finding.one(Jobs(job("train", "team-b")), "train", Filters(namespace=("team-a",)))
    assert caught.value.what == "there is no job train in namespace team-a"
    assert "Job/train in namespace team-b of cluster prod" in caught.value.fix


def test_with_nothing_near_the_list_is_named():
    with pytest.raises(NotFound, match="kube-collector jobs -A"):
        finding.one(Jobs(), "train", Filters())


class Pages:
    """A list of so many rows that is asked for in pages."""

    def __init__(self, total):
        self.total = total
        self.asked = []

    def __call__(self, size, cursor):
        begin = int(cursor or 0)
        self.asked.append(size)
        end = min(self.total, begin + size)
        return {"items": list(range(begin, end)), "next": str(end) if end < self.total else None, "total": self.total}


def test_pages_are_put_together_up_to_the_limit(capsys):
    assert listing.pages(Pages(5), 100) == list(range(5))
    assert listing.pages(Pages(2000), 0) == list(range(2000))
    ask = Pages(2000)
    assert listing.pages(ask, 700) == list(range(700)) and ask.asked == [500, 200]
    assert "700 of 2000 are shown" in capsys.readouterr().err
