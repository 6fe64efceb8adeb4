"""The shadow as the settings want it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.telemetry.event import ROOT
from scheduler_core.settings import Settings
from scheduler_core.shadow import building


def test_what_should_be_said_about_a_policy_is_said_once_however_often_it_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    policy = tmp_path / "said-once.conf"
    policy.write_text('actions: "enqueue, allocate, shuffle"\ntiers:\n- plugins:\n  - name: gang\n', encoding="utf-8")
    with caplog.at_level("WARNING", logger=f"{ROOT}.scheduler_core.shadow.building"):
        for _ in range(2):
            building.machine(Settings(policy=policy), "c")
    (line,) = [str(each.msg) for each in caplog.records]
    assert "the action shuffle is not built here" in line
