"""Doctor: all checks of everything installed, each failure with its fix, and a code that scripts can use."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline import extensions
from pipeline.cli import checks, main
from pipeline.cli.checks import CheckResult
from pipeline.config.load import Loaded, load

Install = Callable[[Callable[[Loaded], list[CheckResult]]], None]


class Fake(extensions.Extension):
    function: Any

    def load(self) -> Any:
        return self.function


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Install:
    """Makes one function the only checks installed, and an empty folder the working one."""
    monkeypatch.chdir(tmp_path)
    real = extensions.found

    def put(function: Callable[[Loaded], list[CheckResult]]) -> None:
        fake = Fake("probe", "probe.checks:all", extensions.OWN, "0")
        fake.function = function
        monkeypatch.setattr(extensions, "found", lambda group: (fake,) if group == extensions.CHECKS else real(group))

    return put


RESULTS = [
    CheckResult("pipeline", "lag", "fail", "40 minutes behind", "Add a replica."),
    CheckResult("doris", "backend", "ok", "answers"),
    CheckResult("config", "old key", "warn", "spool.max is old", "Write spool.limit."),
]


def test_results_are_grouped_in_order_with_cause_and_fix(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install(lambda loaded: RESULTS)
    assert main.run(["doctor"]) == 5
    out, err = capsys.readouterr()
    assert out == (
        "config\n  warn  old key: spool.max is old\n        Write spool.limit.\n\n"
        "doris\n  ok    backend: answers\n\n"
        "pipeline\n  FAIL  lag: 40 minutes behind\n        Add a replica.\n\n"
        "1 ok, 1 warning, 1 failed\n"
    )
    assert err == "Error: 1 of 3 checks failed\n"


def test_warnings_do_not_fail_and_pre_leaves_out_the_running_pipeline(install: Install) -> None:
    install(lambda loaded: RESULTS)
    assert main.run(["doctor", "--pre"]) == 0


def test_json_holds_every_field(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install(lambda loaded: RESULTS)
    assert main.run(["doctor", "doris", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"category": "doris", "name": "backend", "outcome": "ok", "cause": "answers", "fix": ""}
    ]


def test_an_unknown_category_is_bad_usage(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install(lambda loaded: RESULTS)
    assert main.run(["doctor", "dorsi"]) == 2
    assert "no category 'dorsi'" in capsys.readouterr().err


def test_checks_that_break_are_one_failure_among_the_others(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(loaded: Loaded) -> list[CheckResult]:
        raise ImportError("no httpx")

    install(broken)
    assert main.run(["doctor"]) == 5
    assert "the check itself failed: ImportError: no httpx" in capsys.readouterr().out


def test_settings_that_cannot_be_used_are_the_only_failures(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install(lambda loaded: RESULTS)
    assert main.run(["doctor", "--set", "log.levl=x", "-o", "json"]) == 5
    [result] = json.loads(capsys.readouterr().out)
    assert (result["category"], result["outcome"]) == ("config", "fail")
    assert "did you mean level?" in result["cause"]


def own(tmp_path: Path) -> dict[str, CheckResult]:
    return {each.name: each for each in checks.own(load([], {}, {"data_dir": str(tmp_path)}))}


def test_the_disk_is_tried_without_leaving_anything_behind(tmp_path: Path) -> None:
    found = own(tmp_path / "new" / "data")
    assert found["data folder"].outcome == "ok" and f"can be made in {tmp_path}" in found["data folder"].cause
    assert "ms" in found["write speed"].cause
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> float:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(checks, "_fsync_ms", refuse)
    found = own(tmp_path)["data folder"]
    assert (found.outcome, found.cause) == ("fail", f"{tmp_path} cannot be written: Permission denied")


def test_little_room_and_a_slow_disk_are_warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_fsync_ms", lambda folder: 120.0)
    monkeypatch.setattr(checks.shutil, "disk_usage", lambda folder: Usage())
    found = own(tmp_path)
    assert (found["free space"].outcome, found["free space"].cause) == ("warn", "1.0 GiB free")
    assert (found["write speed"].outcome, found["write speed"].cause) == (
        "warn",
        "a write reaches the disk in 120.0 ms",
    )


class Usage:
    free = 2**30


@pytest.mark.parametrize(
    ("zone", "outcome"), [("Europe/Berlin", "ok"), ("Erope/Berlin", "warn"), ("UTC", "ok"), ("", "ok")]
)
def test_a_zone_that_is_not_known_is_a_warning(
    zone: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    assert own(tmp_path)["time zone"].outcome == outcome
