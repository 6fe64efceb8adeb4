"""How fresh the data is, also before the first progress is there."""

from __future__ import annotations

from datetime import datetime
from types import SimpleNamespace

from dashboards.figures.asked import LEFT_MS, Asked, fresh


def test_the_first_rows_of_a_replay_are_told_as_a_replays_before_any_progress():
    rows = {"progress": [], "choices": [{"cluster": "kube-a@replay"}]}
    store = SimpleNamespace(max_rows=10, rows=lambda name, **_: rows[name])
    assert fresh(Asked(store, "en", 0)).replay
    assert not fresh(Asked(store, "en", 0), ("prod",)).replay


LOADED_MS = 1_767_225_600_000
PROGRESS = {
    "cluster": "kube-a@replay", "stage": "loader", "log_at": datetime(2025, 1, 1), "loaded_at": datetime(2026, 1, 1),
}  # fmt: skip


def told(status, age_ms, **row):
    """(whether a replay is over, how old its data is) of something loaded so long ago."""
    store = SimpleNamespace(max_rows=10, rows=lambda name, **_: [PROGRESS | row])
    found = fresh(Asked(store, "en", LOADED_MS + age_ms, None, status))
    return found.replay_over, found.lag_ms


def plays(done, cluster="kube-a@replay"):
    return lambda: {"sink": {"failure": None}, "collector": {"cluster": cluster, "replay": {"done": done}}}


def test_a_replay_that_is_over_does_not_grow_old():
    assert told(plays(True), 3_000) == told(plays(True), 3_600_000) == (True, None)


def test_a_replay_that_goes_on_has_an_age_however_slow_it_is():
    assert told(plays(False), 3_600_000) == (False, 3_600_000)


def test_a_replay_that_somebody_else_plays_is_over_when_nothing_was_loaded_for_long():
    for status in (None, lambda: None, plays(False, "kube-b@replay")):
        assert told(status, LEFT_MS) == (None, LEFT_MS)
        assert told(status, LEFT_MS + 1) == (True, None)


def test_a_live_cluster_is_never_over():
    assert told(plays(True, "prod"), 3_600_000, cluster="prod") == (None, 3_600_000)
