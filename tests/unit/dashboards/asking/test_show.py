"""One answer in a terminal."""

from __future__ import annotations

import io

import pytest

from dashboards.asking import show
from pipeline.cli import terminal

ANSWER = {
    "sentence": "Waiting for 47m of a 30m promise, broken 17m ago.",
    "job": {"cluster": "prod", "namespace": "research", "kind": "Job", "name": "train", "queue": "q", "tenant": "t"},
    "promise_ms": 1_800_000, "deadline_ms": 1_767_227_400_000, "sla": "violated",
    "reasons": [
        {"title": "Quota in use", "detail": None, "ms": 1_860_000, "share": 0.66, "resource": "nvidia.com/gpu"},
        {"title": "Not enough resources", "detail": None, "ms": 960_000, "share": 0.34, "resource": None},
    ],
    "now": {"title": "Not enough resources", "resource": "gpu", "nodes": 2, "total_nodes": 3, "message": "0/3 nodes",
            "since_ms": 1_767_227_460_000},
    "helps": ["Free gpu.", "Or wait."], "scheduler": None, "scheduler_note": None,
    "now_ms": 1_767_228_420_000, "lag_ms": 3_000, "replay": False,
}  # fmt: skip


REST = ANSWER["reasons"][1]


def shown(answer, lang="en"):
    terminal.reset()
    out = io.StringIO()
    show.why(answer, lang, utc=True, out=out)
    return out.getvalue()


def test_the_sentence_is_first_and_the_data_last():
    assert shown(ANSWER).splitlines() == [
        "Waiting for 47m of a 30m promise, broken 17m ago.",
        "",
        "Job research/train  (prod · q · t)",
        "",
        "REASON                WAITED  SHARE                    RESOURCE",
        "Quota in use             31m   66 %  ███████████████▉  nvidia.com/gpu",
        "Not enough resources     16m   34 %  ████████▏         -",
        "",
        "Promise  30m, deadline 2026-01-01 00:30:00Z, broken",
        "Now      Not enough resources (gpu), 2 of 3 nodes, since 2026-01-01 00:31:00Z",
        "         0/3 nodes",
        "Helps    Free gpu.",
        "         Or wait.",
        "Data     until 2026-01-01 00:47:00Z, loaded 3s ago",
    ]


def test_what_could_never_fit_is_told_as_past_once_it_holds_the_job_no_more():
    too_large = {"reason": "insufficient_resource", "detail": "never_fits", "resource": "cpu"}
    answer = ANSWER | {"reasons": [REST | too_large], "now": ANSWER["now"] | too_large}
    assert "Not enough resources (can never fit)" in shown(answer)
    for now in (None, ANSWER["now"] | too_large | {"detail": None}):
        assert "Not enough resources (did not fit any node then)" in shown(answer | {"now": now})


def test_what_is_not_there_is_left_out():
    answer = ANSWER | {"reasons": [], "now": None, "helps": [], "promise_ms": None, "now_ms": None, "lag_ms": None}
    assert shown(answer).splitlines()[3:] == [
        "",
        "Promise  none",
        "Data     nothing loaded yet",
    ]


def test_a_reason_that_counts_no_nodes_names_none():
    now = ANSWER["now"] | {"title": "Volume", "resource": None, "nodes": None, "total_nodes": 26}
    assert "Now      Volume, since 2026-01-01 00:31:00Z\n" in shown(ANSWER | {"now": now})


def test_a_replays_data_is_marked_and_never_late():
    assert "replay, until 2026-01-01 00:47:00Z" in shown(ANSWER | {"replay": True, "lag_ms": 10**9})


def test_a_replay_that_is_over_says_so():
    over = ANSWER | {"replay": True, "lag_ms": None, "replay_over": True}
    assert shown(over).splitlines()[-1] == "Data     replay, over at 2026-01-01 00:47:00Z"


def test_labels_are_in_the_language_of_the_sentence():
    lines = shown(ANSWER, "zh").splitlines()
    assert lines[4].split()[:4] == ["原因", "时长", "占比", "资源"]
    assert any(line.startswith("承诺  30m，期限") and line.endswith("，已违约") for line in lines) and any(
        line.startswith("办法  Free gpu.") for line in lines
    )


@pytest.mark.parametrize(("columns", "longest"), [(120, 24), (80, 20), (60, 0)])
def test_bars_give_way_on_a_narrow_terminal(columns, longest, monkeypatch):
    monkeypatch.setattr(terminal, "width", lambda stream: columns)
    out = io.StringIO()
    show.reasons(
        ANSWER["reasons"] + [{"title": "All", "detail": None, "ms": 1, "share": 1.0, "resource": None}], "en", out=out
    )
    assert out.getvalue().count("█" * 4) > 0 if longest else "█" not in out.getvalue()
    assert max(line.count("█") for line in out.getvalue().splitlines()) == longest


def test_a_sum_names_all_its_resources():
    row = ANSWER["reasons"][0] | {"resource": "gpu", "resources": ["gpu", "cpu"]}
    out = io.StringIO()
    show.reasons([row], "en", out=out)
    assert out.getvalue().splitlines()[1].endswith("gpu, cpu")


def test_a_share_that_is_not_whole_never_reads_as_nothing_or_all():
    rows = [REST | {"share": share} for share in (0.0004, 0.9996)]
    out = io.StringIO()
    show.reasons(rows, "en", out=out)
    assert "< 1 %" in out.getvalue() and "> 99 %" in out.getvalue()


@pytest.mark.parametrize(("share", "bar"), [(1, "████"), (0.5, "██"), (0.53, "██▏"), (0, "▏"), (7, "████")])
def test_a_bar_is_as_long_as_its_share(share, bar):
    assert show.bar(share, 4) == bar


SEES = {
    "sentence": "12 of 20 nodes lack gpu, 8 are cordoned.", "source": "shadow", "policy": "volcano",
    "session_ms": 1_767_228_000_000, "rebuilt": False, "helps": ["node n1 would take it"], "ahead": "2 jobs before it",
    "diverged": None, "message": "0/20 nodes take it", "more": "1 of 2 placed",
}  # fmt: skip


def test_what_a_scheduler_sees_is_told_with_whose_word_it_is():
    lines = shown(ANSWER | {"scheduler": SEES}).splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("Scheduler"))
    assert lines[at : at + 5] == [
        "Scheduler  12 of 20 nodes lack gpu, 8 are cordoned.",
        "           2 jobs before it",
        "           node n1 would take it",
        "           1 of 2 placed",
        "           shadow volcano, decided at 2026-01-01 00:40:00Z",
    ]


def test_what_the_scheduler_said_is_not_told_twice():
    now = ANSWER["now"] | {"message": "0/20 nodes take it"}
    text = shown(ANSWER | {"now": now, "helps": SEES["helps"], "scheduler": SEES})
    assert text.count("0/20 nodes take it") == text.count("node n1 would take it") == 1 and "1 of 2" not in text


def test_a_rebuilt_answer_says_so_and_a_missing_one_says_why():
    assert "volcano, made anew from the log as of 2026" in shown(ANSWER | {"scheduler": SEES | {"rebuilt": True}})
    assert "Scheduler  the log begins later" in shown(ANSWER | {"scheduler_note": "the log begins later"})


def test_two_reasons_of_one_title_are_told_apart_by_their_details():
    rows = [
        {"title": "Scheduler has not tried", "detail": detail, "ms": 1000, "share": 0.5, "resource": None}
        for detail in ("not_tried", "not_enqueued", None)
    ]
    out = io.StringIO()
    show.reasons(rows, "en", out=out)
    assert [line.split("  ")[0] for line in out.getvalue().splitlines()[1:]] == [
        "Scheduler has not tried (not tried yet)",
        "Scheduler has not tried (not let in yet)",
        "Scheduler has not tried",
    ]
