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
        {"title": "Quota in use", "ms": 1_860_000, "share": 0.66, "resource": "nvidia.com/gpu"},
        {"title": "Not enough resources", "ms": 960_000, "share": 0.34, "resource": None},
    ],
    "now": {"title": "Not enough resources", "resource": "gpu", "nodes": 2, "total_nodes": 3, "message": "0/3 nodes"},
    "helps": ["Free gpu.", "Or wait."],
    "now_ms": 1_767_228_420_000, "lag_ms": 3_000, "replay": False,
}  # fmt: skip


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
        "Now      Not enough resources (gpu) on 2 of 3 nodes",
        "         0/3 nodes",
        "Helps    Free gpu.",
        "         Or wait.",
        "Data     until 2026-01-01 00:47:00Z, loaded 3s ago",
    ]


def test_what_is_not_there_is_left_out():
    answer = ANSWER | {"reasons": [], "now": None, "helps": [], "promise_ms": None, "now_ms": None, "lag_ms": None}
    assert shown(answer).splitlines()[3:] == [
        "",
        "Promise  none",
        "Data     nothing loaded yet",
    ]


def test_a_replays_data_is_marked_and_never_late():
    assert "replay, until 2026-01-01 00:47:00Z" in shown(ANSWER | {"replay": True, "lag_ms": 10**9})


def test_labels_are_in_the_language_of_the_sentence():
    lines = shown(ANSWER, "zh").splitlines()
    assert any(line.startswith("承诺  30m，期限") and line.endswith("，已违约") for line in lines) and any(
        line.startswith("办法  Free gpu.") for line in lines
    )


@pytest.mark.parametrize(("columns", "longest"), [(120, 24), (80, 20), (60, 0)])
def test_bars_give_way_on_a_narrow_terminal(columns, longest, monkeypatch):
    monkeypatch.setattr(terminal, "width", lambda stream: columns)
    out = io.StringIO()
    show.reasons(ANSWER["reasons"] + [{"title": "All", "ms": 1, "share": 1.0, "resource": None}], "en", out=out)
    assert out.getvalue().count("█" * 4) > 0 if longest else "█" not in out.getvalue()
    assert max(line.count("█") for line in out.getvalue().splitlines()) == longest


def test_both_languages_have_all_labels():
    assert show.LABELS["en"].keys() == show.LABELS["zh"].keys()


@pytest.mark.parametrize(("share", "bar"), [(1, "████"), (0.5, "██"), (0.53, "██▏"), (0, "▏"), (7, "████")])
def test_a_bar_is_as_long_as_its_share(share, bar):
    assert show.bar(share, 4) == bar
