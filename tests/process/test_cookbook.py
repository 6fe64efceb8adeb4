"""The SQL of the cookbook runs on the local Doris and answers what its page says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import cookbook, straight
from tests.support.cluster import poll
from tests.support.running import Pipeline

RECORDING = Path(__file__).parents[2] / "examples" / "kube-a"
QUESTIONS = cookbook.questions(cookbook.PAGE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """The recording of the demo, judged and loaded to its end."""
    data = tmp_path_factory.mktemp("cookbook") / "data"
    with Pipeline(data, "--replay", str(RECORDING), "--speed", "max") as running:
        end_ms = json.loads((RECORDING / "expected.json").read_text(encoding="utf-8"))["end_ms"]

        def loaded() -> bool:
            rows = running.sql(
                "SELECT COUNT(*) AS n FROM v_pipeline_health WHERE UNIX_TIMESTAMP(log_at) * 1000 >= %s", end_ms
            )
            return bool(rows[0]["n"] == 3)

        poll("all of the recording is loaded", loaded, straight.LIMIT_S)
        poll("figures came", lambda: running.sql("SELECT 1 FROM node_minute LIMIT 1"), straight.LIMIT_S)
        yield running


def test_the_page_has_about_ten_questions_and_most_have_an_answer() -> None:
    assert len(QUESTIONS) >= 10
    assert sum(bool(each.answer) for each in QUESTIONS) >= len(QUESTIONS) - 2


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.title)
def test_a_question_has_the_answer_that_the_page_shows(pipeline: Pipeline, question: cookbook.Question) -> None:
    assert cookbook.table(pipeline.sql(question.statement)) == question.answer
