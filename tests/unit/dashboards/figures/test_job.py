"""Why one job waits, from a warehouse that has no decision of a scheduler for the moment."""

from __future__ import annotations

from datetime import datetime

import pytest

from dashboards.figures import job
from dashboards.figures.asked import Asked
from pipeline.records import reasons, words

BEGAN = datetime(2026, 1, 1, 8)
ASKED_MS = 1_767_254_460_000
"""08:01, while it waits."""
NOTHING = words.LANGUAGES["en"].SEES["nothing"]

WAIT = dict.fromkeys((
    "namespace", "job_kind", "tenant", "queue", "cause", "created_at", "scheduled_at", "ended_at", "promise_ms",
    "deadline_at", "overrun_ms", "leading_reason", "tasks", "minimum", "gpus", "cpus_milli", "memory_bytes",
    "priority_class", "partial",
)) | {
    "cluster": "prod", "job_name": "train", "job_uid": "u1", "episode": 1, "day": BEGAN.date(), "phase": "waiting",
    "started_at": BEGAN, "now_at": BEGAN.replace(hour=9), "wait_ms": 3_600_000, "sla": "none",
}  # fmt: skip


class Store:
    """One wait with one part."""

    max_rows = 100

    def __init__(self, reason, detail):
        self.part = dict.fromkeys(("resource", "to_at", "nodes", "total_nodes", "message", "also", "estimated")) | {
            "episode": 1, "n": 1, "reason": reason, "detail": detail, "from_at": BEGAN, "ms": 1, "evidence": "condition",
        }  # fmt: skip

    def rows(self, question, /, **given):
        return [self.part] if question == "segments" else []


def note(reason, detail=""):
    asked = Asked(Store(reason, detail), "en", 0, explain=lambda cluster, ref, at_ms: [])
    answer = job.why(asked, [WAIT], ASKED_MS, rebuild=True)
    assert answer.now.reason == reason and answer.scheduler is None
    return answer.scheduler_note


@pytest.mark.parametrize(
    ("reason", "detail"),
    [
        (reasons.QUOTA, ""),
        (reasons.QUEUE_LIMIT, "never_fits"),
        (reasons.NOT_ADMITTED, "queue_missing"),
        (reasons.NOT_ADMITTED, "gated"),
        (reasons.GANG_INCOMPLETE, "members_missing"),
        (reasons.PODS_NOT_CREATED, "controller"),
    ],
)
def test_of_a_reason_that_no_scheduler_gives_it_is_not_said_that_none_gave_one(reason, detail):
    assert note(reason, detail) is None


@pytest.mark.parametrize(
    ("reason", "detail"),
    [(reasons.SCHEDULER_BACKLOG, "not_tried"), (reasons.QUOTA, "queue_refused"), (reasons.INSUFFICIENT_RESOURCE, "")],
)
def test_where_a_scheduler_would_have_the_reason_it_is_said_that_it_had_none(reason, detail):
    assert note(reason, detail) == NOTHING
