"""Settings of a process that plays a recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cli import replays


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KUBE_COLLECTOR_CONFIG", raising=False)


@pytest.mark.parametrize(
    ("sets", "name"),
    [([], "kube-a@replay"), (["cluster.name=prod"], "prod@replay"), ([" cluster.name =prod@replay"], "prod@replay")],
)
def test_a_replay_is_never_called_as_a_live_cluster_is(sets: list[str], name: str) -> None:
    assert replays.settings(Path("kube-a"), "1x", None, sets).ground.cluster.name == name


def test_what_else_is_set_by_hand_comes_before_what_the_command_chose() -> None:
    loaded = replays.settings(Path("kube-a"), "1x", None, ["collector.speed=30x", "data_dir=mine"], {"data_dir": "its"})
    assert loaded.sections["collector"].speed == "30x"
    assert loaded.ground.data_dir == Path("mine")
