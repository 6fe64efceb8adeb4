"""How fresh the data is, also before the first progress is there."""

from __future__ import annotations

from types import SimpleNamespace

from dashboards.figures.asked import Asked, fresh


def test_the_first_rows_of_a_replay_are_told_as_a_replays_before_any_progress():
    rows = {"progress": [], "choices": [{"cluster": "kube-a@replay"}]}
    store = SimpleNamespace(max_rows=10, rows=lambda name, **_: rows[name])
    assert fresh(Asked(store, "en", 0)).replay
    assert not fresh(Asked(store, "en", 0), ("prod",)).replay
