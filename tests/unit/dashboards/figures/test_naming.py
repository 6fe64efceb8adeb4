"""Which job a person means."""

from __future__ import annotations

import pytest

from dashboards.figures import naming
from dashboards.figures.asked import Asked
from dashboards.filters import Wanted
from pipeline.errors import BadUsage, NotFound


def job(name, namespace="team-a", kind="Job", cluster="prod", uid=""):
    return {"cluster": cluster, "namespace": namespace, "job_kind": kind, "job_name": name, "job_uid": uid or name}


class Jobs:
    """A warehouse that knows some jobs."""

    max_rows = 100

    def __init__(self, *jobs):
        self.known = jobs

    def rows(self, question, /, name="", uid="", **given):
        found = [
            each
            for each in self.known
            if (given["any_namespace"] or each["namespace"] in given["namespace"])
            and (given["any_cluster"] or each["cluster"] in given["cluster"])
        ]
        if question == "names":
            begin, end = given["begin"].strip("%"), given["end"].strip("%")
            return [each for each in found if each["job_name"].startswith(begin) or each["job_name"].endswith(end)]
        return [each for each in found if each["job_name"] == name and uid in ("", each["job_uid"])]


def found(jobs, text, **wanted):
    return naming.wanted(Asked(jobs, "en", 0), Wanted(text, **wanted))


def test_the_one_job_of_the_name_is_meant_in_whatever_namespace():
    assert found(Jobs(job("train"), job("eval")), "train") == [job("train")]


def test_a_name_that_was_used_again_is_all_its_jobs_unless_a_uid_says_which():
    jobs = Jobs(job("train", uid="new"), job("train", uid="old"))
    assert naming.uids(found(jobs, "train")) == ["new", "old"]
    assert naming.uids(found(jobs, "train", uid="old")) == ["old"]
    with pytest.raises(NotFound, match="with uid other") as caught:
        found(jobs, "train", uid="other")
    assert caught.value.fix == "Known uids of that name: new, old."


def test_a_namespace_may_stand_before_the_name_as_answers_print_it():
    jobs = Jobs(job("train"), job("train", "team-b"))
    assert found(jobs, "team-b/train") == [job("train", "team-b")]
    with pytest.raises(NotFound, match="kind or namespace team-c") as caught:
        found(jobs, "team-c/train")
    assert "There is one elsewhere: Job/train in namespace team-a" in caught.value.fix


def test_several_jobs_are_all_named_and_none_is_guessed():
    with pytest.raises(BadUsage) as caught:
        found(Jobs(job("train"), job("train", "team-b"), job("train", kind="VolcanoJob")), "train")
    assert "3 jobs are called train" in caught.value.what
    assert "VolcanoJob/train in namespace team-a of cluster prod" in caught.value.what
    assert "-n, --kind or --cluster" in caught.value.fix


def test_a_kind_tells_them_apart_before_the_name_or_beside_it_in_any_case():
    jobs = Jobs(job("train"), job("train", kind="VolcanoJob"))
    assert found(jobs, "volcanojob/train") == [job("train", kind="VolcanoJob")]
    assert found(jobs, "train", kind="job") == [job("train")]


def test_a_slip_gets_the_nearest_name_and_never_its_own():
    with pytest.raises(NotFound) as caught:
        found(Jobs(job("train-llama"), job("eval")), "train-lama")
    assert caught.value.fix == "Did you mean train-llama?"
    with pytest.raises(NotFound) as caught:
        found(Jobs(job("train", kind="Job")), "Pod/train")
    assert "Did you mean train?" not in caught.value.fix and "Job/train" in caught.value.fix


def test_a_job_of_another_namespace_is_pointed_to():
    with pytest.raises(NotFound) as caught:
        found(Jobs(job("train", "team-b")), "train", namespace=("team-a",))
    assert caught.value.what == "there is no job train in namespace team-a"
    assert "Job/train in namespace team-b of cluster prod" in caught.value.fix


def test_with_nothing_near_the_list_is_named():
    with pytest.raises(NotFound) as caught:
        found(Jobs(), "train")
    assert "kube-collector jobs -A" in caught.value.fix
