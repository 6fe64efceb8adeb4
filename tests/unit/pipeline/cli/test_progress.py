"""Progress: on stderr, for a person, or not at all."""

from __future__ import annotations

import pytest

from pipeline.cli import progress, terminal


@pytest.mark.parametrize(("is_terminal", "quiet"), [(False, False), (True, True)])
def test_nobody_looking_means_nothing_printed(
    is_terminal: bool, quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda stream: is_terminal)
    monkeypatch.setattr(terminal.wishes, "quiet", quiet)
    with progress.track("replaying", total=3) as advance:
        advance(2)
    assert capsys.readouterr() == ("", "")


def test_a_person_sees_what_how_far_and_of_how_much(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm")  # on a dumb one nothing can be drawn
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(terminal, "is_terminal", lambda stream: True)
    monkeypatch.setattr(terminal.wishes, "quiet", False)
    with progress.track("replaying", total=3, unit="frames") as advance:
        advance(2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "replaying" in err and "2/3" in err and "frames" in err
