"""Completion: what may come next, and a script that a real shell can use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.cli import completion, main


def words(*typed: str) -> list[str]:
    return [word for word, _ in completion.candidates(list(typed))]


def test_commands_come_first_then_a_groups_own_then_options() -> None:
    assert words("conf") == ["config"]
    assert {"config", "doctor", "version"} <= set(words(""))
    assert words("config", "s") == ["show", "schema"]
    assert words("config", "show", "--cha") == ["--changed"]
    assert "--output" in words("version", "--")


def test_nothing_is_offered_after_an_unknown_command() -> None:
    assert words("nonsense", "") == []


def test_each_candidate_comes_with_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["__complete", "version"]) == 0
    assert capsys.readouterr().out == "version\tPrint the version.\n"


def test_an_unknown_shell_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["completion", "bsh"]) == 2
    assert "did you mean bash?" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash on this machine to try the script in")
def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    program = tmp_path / "kube-collector"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m pipeline.cli.main "$@"\n')
    program.chmod(0o755)
    ask = 'COMP_WORDS=(kube-collector config sh); COMP_CWORD=2; _kube_collector; echo "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", f"{completion.SCRIPTS['bash']}\n{ask}"],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "show\n"
