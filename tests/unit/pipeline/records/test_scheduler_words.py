"""A scheduler's decision in words, in every language."""

from __future__ import annotations

import re
import typing

import numpy as np
import pytest

from pipeline.records import reasons, words
from pipeline.records.decisions import FailureSet
from pipeline.records.words import en, scheduler, zh
from scheduler_core.model.checks import Blocker, Check
from scheduler_core.model.refusal import Report
from scheduler_core.model.why import Bound, Over, Why
from scheduler_core.plugins import predicates
from scheduler_core.session import codes, helps

CHECKS = [codes.NOT_READY, *(each for each in vars(predicates).values() if isinstance(each, Check))]
CHINESE = re.compile("[\u4e00-\u9fff]")


class Axis:
    """Names of amounts as a session's axis has them; the second place is no memory."""

    names = ("cpu", "memory", "nvidia.com/gpu")

    @staticmethod
    def whole(place, value):
        return float(value)


def report(*blockers, counts=()):
    return Report(counts, 20, 20, blockers, Why(reasons.QUOTA), np.zeros(1, bool))


def known(lang, text):
    """Recognised and told in Chinese, without an English word of the sentence left."""
    told = scheduler.said(lang, text)
    assert CHINESE.search(told) and not re.search(r"\b(would|node\(s\)|the|nodes|freed)\b", told), told
    return told


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.text)
@pytest.mark.parametrize("nodes", [1, 4])
def test_every_change_that_the_core_names_is_told_in_chinese(check, nodes):
    (text,) = helps.of_report(report(Blocker(check, nodes, row=0)), Axis(), None, ["gpu-1"])
    assert str(nodes) in known("zh", text) or "gpu-1" in text


@pytest.mark.parametrize("named", ["pool=b, zone=z1", "team:NoSchedule", "8080/TCP"])
@pytest.mark.parametrize("nodes", [1, 4])
def test_what_a_change_is_about_is_named_in_both_languages(named, nodes):
    blocker = Blocker(predicates.CORDON, nodes, row=0, named=named)
    (text,) = helps.of_report(report(blocker), Axis(), None, ["gpu-1"])
    assert text.endswith(f"not cordoned ({named})")
    assert f"未被封锁（{named}）" in known("zh", text)


@pytest.mark.parametrize("nodes", [1, 4])
def test_a_missing_amount_is_told_in_chinese(nodes):
    blocker = Blocker(CHECKS[0], nodes, place=2, short=3, asked=8, row=0)
    (text,) = helps.of_report(report(blocker), Axis(), None, ["gpu-1"])
    told = known("zh", text)
    assert "gpu-1" in told and "3 nvidia.com/gpu" in told and ("4 个节点" in told) == (nodes == 4)


@pytest.mark.parametrize(("nodes", "short"), [(1, 3), (4, 3), (1, 8), (4, 8)])
def test_a_node_that_is_too_small_is_told_in_chinese(nodes, short):
    blocker = Blocker(CHECKS[0], nodes, place=2, short=short, asked=8, row=0, small=True)
    (text,) = helps.of_report(report(blocker), Axis(), None, ["gpu-1"])
    told = known("zh", text)
    assert "gpu-1" in told and f"{short} nvidia.com/gpu" in told and ("4 个节点" in told) == (nodes == 4)
    assert ("少申请" in told) == (short < 8)


@pytest.mark.parametrize("nodes", [1, 4])
@pytest.mark.parametrize("short", [8, 9])
def test_a_request_of_which_all_is_missing_is_not_told_to_ask_for_nothing(nodes, short):
    blocker = Blocker(CHECKS[0], nodes, place=2, short=short, asked=8, row=0)
    (text,) = helps.of_report(report(blocker), Axis(), None, ["gpu-1"])
    others = "; 4 nodes lack nothing else" if nodes == 4 else ""
    assert text == f"it would fit on node gpu-1 if {short} more nvidia.com/gpu were free there{others}"
    told = known("zh", text)
    assert f"{short} nvidia.com/gpu" in told and "少申请" not in told and ("4 个节点" in told) == (nodes == 4)


@pytest.mark.parametrize("needed", ["1 place with 8 free nvidia.com/gpu", "2 places with 8 free nvidia.com/gpu each"])
def test_places_are_told_without_nodes_that_have_some_free_where_there_are_none(needed):
    told = known("zh", f"it needs {needed}; 0 exist")
    assert "现有 0 处。" in told and "个节点" not in told


def test_checks_that_keep_nodes_shut_together_are_told_in_chinese():
    made = codes.Codes(Axis())
    code = made.resource_bit(2)
    for check in CHECKS:
        code |= made.bit(check)
    (text,) = helps.of_report(report(counts=((code, 7),)), Axis(), made, [])
    assert "20 个节点中有 7 个" in known("zh", text) and "nvidia.com/gpu 不足" in scheduler.said("zh", text)


@pytest.mark.parametrize(("queue", "bound"), [("", ""), *(("team-a", each) for each in typing.get_args(Bound))])
def test_a_refusal_by_quota_is_told_in_chinese(queue, bound):
    over = (Over("nvidia.com/gpu", 4, 8, 12, bound), Over("memory", 2**30, 2**31, 2**33, bound))
    freed, less, *raised = helps.of_quota(Why(reasons.QUOTA, queue=queue, over=over))
    for text in (freed, less, *raised):
        assert "4 nvidia.com/gpu、1Gi memory" in known("zh", text)
    assert (queue or "集群") in scheduler.said("zh", freed) and len(raised) == bool(bound)


def test_english_and_what_nobody_knows_are_given_as_they_are():
    text = "it would fit on node a if the node was ready"
    assert scheduler.said("en", text) == text
    assert scheduler.said("zh", "free 2 GPUs") == "free 2 GPUs"


def test_every_check_of_the_core_has_words_and_the_reason_it_stands_for():
    for check in CHECKS:
        assert check.name in en.CHECKS
        if check.reason != reasons.POD_ANTI_AFFINITY:
            assert scheduler.reason_of((check.name,)) == check.reason


def test_languages_have_the_same_words():
    for name in ("PHASES", "DETAILS", "DETAILS_PAST", "CHECKS", "LISTS", "SAID", "SEES"):
        assert getattr(en, name).keys() == getattr(zh, name).keys(), name
    for name in ("SAID", "SEES"):
        for key, text in getattr(en, name).items():
            assert set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", getattr(zh, name)[key])), key


def test_details_of_the_closed_list_have_words():
    assert {detail for details in reasons.DETAILS.values() for detail in details} == en.DETAILS.keys()


def test_what_could_never_fit_only_did_not_when_that_is_over():
    assert words.detail_past("en", "insufficient_resource", "never_fits") == "did not fit any node then"
    assert words.detail_past("zh", "insufficient_resource", "never_fits") == "当时没有节点放得下"
    assert words.detail_past("en", "queue_limit", "never_fits") == "did not fit its limit then"
    assert words.detail_past("en", "scheduler_backlog", "not_tried") == words.detail("en", "not_tried")


def test_one_node_and_several_are_told_alike_in_number():
    lack, alone = FailureSet(("NodeResourcesFit/cpu", "NodeResourcesFit/memory"), 1), FailureSet(("Own",), 2)
    assert scheduler.counts("en", (lack, alone)) == "2 of 3 nodes fail Own, 1 lacks cpu and memory."
    assert scheduler.counts("zh", (lack, alone)) == "3 个节点中，2 个未通过 Own，1 个缺少 cpu、memory。"
    assert scheduler.counts("en", (FailureSet((), 2),)) == "2 of 2 nodes have room."
    assert scheduler.counts("en", ()) == ""


def test_a_phase_is_one_word_everywhere():
    assert (words.phase("en", "scheduled"), words.phase("zh", "scheduled")) == ("Placed", "已调度")
    assert words.phase("en", "new") == "new"
