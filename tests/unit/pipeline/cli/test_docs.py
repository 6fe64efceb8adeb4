"""Generated pages: written from code, checked against it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cli import docs


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(docs, "FOLDER", tmp_path / "reference")
    return tmp_path / "reference"


def test_pages_are_written_once_and_then_current(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert docs.main([]) == 0
    assert {"cli.md", "config.md", "config.schema.json", "metrics.md"} <= {path.name for path in folder.iterdir()}
    assert str(folder / "cli.md") in capsys.readouterr().out
    assert docs.main([]) == 0
    assert capsys.readouterr().out == ""
    assert docs.main(["--check"]) == 0


def test_a_page_that_is_not_what_the_code_says_fails_the_check_and_is_left_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs.main([])
    (folder / "config.md").write_text("edited by hand\n")
    (folder / "metrics.md").unlink()
    assert docs.main(["--check"]) == 5
    err = capsys.readouterr().err
    assert "config.md" in err and "metrics.md" in err and "cli.md" not in err and "make docs" in err
    assert (folder / "config.md").read_text() == "edited by hand\n"


def test_the_page_of_commands_holds_the_help_of_each_as_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    page = docs.cli_page()
    assert "## config show\n\n```\nUsage: kube-collector config show [OPTIONS] [KEY]...\n" in page
    assert "kube-collector config show --changed" in page
    assert "| 6 | a dependency does not answer; trying again may help |" in page
