"""Rebuilding the past on demand: one at a time, and few that wait for it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dashboards import explaining
from pipeline import extensions
from pipeline.config import load
from pipeline.errors import UserError
from pipeline.records.jobs import JobRef
from tests.support.cluster import poll

JOB = JobRef("Job", "ml", "train", "job-1")


class Installed:
    """An explainer that answers when it is let."""

    target = "tests"

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.let_go = threading.Event()

    def load(self):
        def explain(loaded, cluster, job, at_ms):
            self.asked.append(at_ms)
            assert self.let_go.wait(240)
            return []

        return explain


def _is_full(ask) -> bool:
    """Whether a question with a job of its own is turned away; one that is not would wait for ever."""
    places = next(
        cell.cell_contents for cell in ask.__closure__ if isinstance(cell.cell_contents, threading.BoundedSemaphore)
    )
    return places._value == 0


def test_more_than_a_few_questions_about_the_past_at_once_are_told_to_come_again(tmp_path, monkeypatch):
    installed, loaded = Installed(), load.load([], {}, {"data_dir": str(tmp_path)})
    monkeypatch.setattr(extensions, "found", lambda group: [installed])
    (tmp_path / "spool" / "records").mkdir(parents=True)
    ask = explaining.explainer(loaded)
    assert ask is not None
    with ThreadPoolExecutor(explaining.MOST_AT_ONCE) as threads:
        waiting = [threads.submit(ask, "c", JOB, at_ms) for at_ms in range(explaining.MOST_AT_ONCE)]
        poll("one is worked on", lambda: installed.asked)

        poll("the others wait for it", lambda: _is_full(ask))
        with pytest.raises(UserError, match="at once"):
            ask("c", JOB, 99)
        assert len(installed.asked) == 1
        installed.let_go.set()
        assert [each.result(120) for each in waiting] == [[]] * explaining.MOST_AT_ONCE
    assert ask("c", JOB, 99) == []
