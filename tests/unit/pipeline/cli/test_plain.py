"""Values that need no check: they arrive as with typer's own check, and without its import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from pipeline.cli import invoke
from pipeline.errors import BadUsage


def run(*arguments: str) -> dict[str, Any]:
    """What a command gets to see."""
    seen: dict[str, Any] = {}

    def command(
        name: Annotated[str, typer.Argument()],
        more: Annotated[list[str] | None, typer.Argument()] = None,
        each: Annotated[list[str] | None, typer.Option("--each")] = None,
        text: Annotated[str | None, typer.Option("--text")] = None,
        usual: Annotated[str, typer.Option("--usual")] = "table",
        files: Annotated[list[Path] | None, typer.Option("--file")] = None,
        count: Annotated[int, typer.Option("--count", min=0)] = 100,
        flag: Annotated[bool, typer.Option("--flag")] = False,
    ) -> None:
        seen.update(
            name=name, more=more, each=each, text=text, usual=usual, files=files, count=count, flag=flag
        )  # fmt: skip

    invoke.invoke("command", command, list(arguments))
    return seen


def test_what_is_not_given_is_none_or_the_default() -> None:
    assert run("x") == {
        "name": "x", "more": None, "each": None, "text": None, "usual": "table", "files": None, "count": 100, "flag": False,
    }  # fmt: skip


def test_what_is_given_has_its_type() -> None:
    found = run("x", "y", "z", "--each", "a", "--each", "b,c", "--text", "", "--file", "f", "--count", "7", "--flag")
    assert found == {
        "name": "x", "more": ["y", "z"], "each": ["a", "b,c"], "text": "", "usual": "table", "files": [Path("f")],
        "count": 7, "flag": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "missing argument"),
        (("x", "--count", "many"), "valid integer"),
        (("x", "--count", "-1"), "0"),
        (("x", "--text"), "requires an argument"),
        (("x", "--txt", "a"), "no such option"),
    ],
)
def test_what_needs_a_check_gets_it(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(BadUsage) as caught:
        run(*arguments)
    assert said in caught.value.what.lower()


def test_a_command_with_texts_alone_does_not_import_pydantic() -> None:
    program = (
        "import sys; from pipeline.cli import main; main.run(['explain', '0/1 nodes are available: 1 Too many pods.']); "
        "print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "False"
