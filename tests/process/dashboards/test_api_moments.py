"""What a scheduler decided, and what was known at moments of the past."""

from __future__ import annotations

import json

import msgspec
import pytest

from dashboards.app import Dashboards
from dashboards.settings import Settings
from pipeline.errors import NotFound
from pipeline.records.decisions import Decision
from tests.process.dashboards.conftest import Page, at, store_of
from tests.support.waiting import DAY_MS, Waiting


@pytest.fixture
def asked_of(doris):
    """Starts a page with an explainer of one's own."""
    stages = []

    def start(explain):
        stages.append(Dashboards(Settings(port=0), store_of(doris), explain=explain))
        stages[-1].start()
        return Page(stages[-1])

    yield start
    for stage in stages:
        stage.stop(10.0)


def test_what_a_scheduler_decided_comes_before_the_usual_help(page, doris):
    made = Waiting("decided")
    job = made.job("j")
    made.wait(job, 0)
    made.part(job, 1, 0, None, "insufficient_resource")
    made.now(10)
    for minute, helps in ((3, ["old"]), (9, ["free 2 GPUs on node-a", "ask for 6 GPUs"]), (20, ["later"])):
        made.add(
            "decision", day=DAY_MS, id=f"d{minute}", source="shadow", policy="volcano", job_uid="uid-j", kind="attribution",
            session_at=at(minute), reason="insufficient_resource", helps=json.dumps(helps),
        )  # fmt: skip
    made.load(doris)
    assert page.api("/jobs/decided/team-a/Job/j/why")["helps"] == ["free 2 GPUs on node-a", "ask for 6 GPUs"]
    assert page.api(f"/jobs/decided/team-a/Job/j/why?at={at(5)}")["helps"] == ["old"]


def test_words_and_figures_that_came_after_the_moment_are_not_told_of_it(page, doris):
    made = Waiting("late")
    job = made.job("j")
    made.wait(job, 0)
    made.part(job, 1, 0, None, "node_affinity", nodes=28, total_nodes=28, message="0/28 nodes are available")
    made.now(10)
    for minute, total in ((1, 26), (4, 28), (6, 28)):
        made.add(
            "event", day=DAY_MS, uid=f"e{total}", object_version=str(minute), job_uid="uid-j", observed_at=at(minute),
            reason="FailedScheduling", message=f"0/{total} nodes are available",
        )  # fmt: skip
    made.add(
        "decision", day=DAY_MS, id="d", source="shadow", policy="volcano", job_uid="uid-j", kind="attribution",
        session_at=at(2), reason="node_affinity", nodes=14, total_nodes=26,
    )  # fmt: skip
    made.load(doris)

    def now(query):
        told = page.api(f"/jobs/late/team-a/Job/j/why{query}")["now"]
        return told["message"], told["nodes"], told["total_nodes"]

    assert now(f"?at={at(1)}") == (None, None, None)
    assert now(f"?at={at(3)}") == (None, 14, 26)
    assert now(f"?at={at(5)}") == ("0/28 nodes are available", 28, 28)
    assert now("") == ("0/28 nodes are available", 28, 28)


def test_words_that_stand_in_a_condition_alone_are_not_told_before_it_was_seen(page, doris):
    """As Kueue's of a Workload."""
    words = 'couldn\'t assign flavors: "gpu" — 8 more needed'
    made = Waiting("condition")
    job = made.job("j")
    made.wait(job, 0)
    made.part(job, 1, 0, None, "quota", nodes=3, total_nodes=9, message=words)
    made.now(10)
    for minute, message in ((1, "8 more needed"), (4, words), (6, words)):
        conditions = [{"type": "QuotaReserved", "status": "False", "message": message}]
        made.add(
            "object_change", day=DAY_MS, uid="w", object_version=str(minute), job_uid="uid-j", observed_at=at(minute),
            change="modified", kind="Workload", summary=msgspec.json.encode({"conditions": conditions}).decode(),
        )  # fmt: skip
    made.load(doris)

    def now(query):
        told = page.api(f"/jobs/condition/team-a/Job/j/why{query}")["now"]
        return told["message"], told["nodes"], told["total_nodes"]

    assert now(f"?at={at(3)}") == (None, None, None)
    assert now(f"?at={at(5)}") == (words, 3, 9)
    assert now("") == (words, 3, 9)


def test_of_a_part_that_a_scheduler_decided_the_figures_are_those_of_its_decision_at_the_moment(page, doris):
    made = Waiting("decided-later")
    job = made.job("j")
    made.wait(job, 0)
    made.part(job, 1, 0, None, "quota", evidence="decision", nodes=9, total_nodes=26, message="9 nodes")
    made.now(10)
    for minute, nodes in ((2, 14), (4, 9), (6, 9)):
        made.add(
            "decision", day=DAY_MS, id=f"d{minute}", source="shadow", policy="volcano", job_uid="uid-j", kind="attribution",
            session_at=at(minute), reason="quota", nodes=nodes, total_nodes=26, message=f"{nodes} nodes",
        )  # fmt: skip
    made.load(doris)

    def now(query):
        told = page.api(f"/jobs/decided-later/team-a/Job/j/why{query}")["now"]
        return told["message"], told["nodes"], told["total_nodes"]

    assert now(f"?at={at(1)}") == (None, None, None)
    assert now(f"?at={at(3)}") == (None, 14, 26)
    assert now(f"?at={at(5)}") == ("9 nodes", 9, 26)
    assert now("") == ("9 nodes", 9, 26)


def test_what_a_scheduler_sees_is_that_of_the_moment(page, doris):
    made = Waiting("seen")
    job = made.job("j")
    made.wait(job, 0)
    made.part(job, 1, 0, None, "insufficient_resource")
    made.now(10)
    for minute, kind, task, nodes in ((2, "attribution", None, 12), (4, "attribution", "team-a/j-0", 1), (6, "attribution", None, 3),
                                      (8, "discard", None, 0)):  # fmt: skip
        sets = [{"filters": ["NodeResourcesFit/gpu"], "nodes": nodes}, {"filters": ["TaintToleration"], "nodes": 5}]
        made.add(
            "decision", day=DAY_MS, id=f"d{minute}", source="shadow", policy="volcano", job_uid="uid-j", kind=kind,
            task=task, session_at=at(minute), reason="insufficient_resource" if nodes else None, nodes=nodes,
            failure_sets=json.dumps(sets) if nodes else None, message="said",
        )  # fmt: skip
    made.load(doris)

    def sees(minute, path="/jobs/seen/team-a/Job/j"):
        return page.api(f"{path}/why?at={at(minute)}")["scheduler"]

    assert sees(1) is None
    assert sees(2)["sentence"] == "12 of 17 nodes lack gpu, 5 have an untolerated taint."
    assert (sees(5)["task"], sees(5)["session_ms"]) == (None, at(2))
    assert [each["nodes"] for each in sees(7)["node_sets"]] == [5, 3]
    assert sees(9)["task"] == "team-a/j-0" and sees(9)["message"] == "said"
    assert page.api("/jobs/seen/team-a/Job/j")["scheduler"] == sees(10)
    assert page.api(f"/jobs/seen/team-a/Job/j/why?at={at(2)}&lang=zh")["scheduler"]["sentence"].startswith(
        "17 个节点中"
    )


def test_a_moment_of_which_nothing_is_stored_is_made_anew_only_on_demand(doris, asked_of):
    made = Waiting("unseen")
    job = made.job("j")
    made.wait(job, 0)
    made.part(job, 1, 0, None, "insufficient_resource")
    made.now(10)
    made.load(doris)
    asked = []

    def explain(cluster, job, at_ms):
        asked.append((cluster, job.uid, at_ms))
        if at_ms < at(3):
            raise NotFound("the log begins later")
        return [
            Decision(
                source="shadow", policy="volcano", session_ms=at_ms, kind="attribution", reason="quota", message="no"
            )
        ]

    page = asked_of(explain)
    path = "/jobs/unseen/team-a/Job/j/why?at="
    assert page.api(f"{path}{at(5)}")["scheduler"] is None and asked == []
    answer = page.api(f"{path}{at(5)}&rebuild=true")
    assert (answer["scheduler"]["rebuilt"], answer["scheduler"]["session_ms"]) == (True, at(5))
    assert asked == [("unseen", "uid-j", at(5))]
    note = page.api(f"{path}{at(2)}&rebuild=true")["scheduler_note"]
    assert note == "What the scheduler saw then cannot be told: the log begins later"
    assert "nothing that reads the log" in asked_of(None).api(f"{path}{at(4)}&rebuild=true")["scheduler_note"]
