"""Help: fast, complete, and with two examples under every command."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pipeline import extensions
from pipeline.cli import catalogue, invoke

HEAVY = (
    "typer",
    "pydantic",
    "pydantic_core",
    "yaml",
    "rich",
    "structlog",
    "stamina",
    "prometheus_client",
    "duckdb",
    "kubernetes",
    "fastapi",
)
STAGES = ("collector", "aggregation", "sinks", "dashboards", "scheduler_core")

OWN = [extension for extension in extensions.found(extensions.COMMANDS) if extension.own]
TREE = [
    pytest.param(path, command, id=path)
    for extension in OWN
    for path, command in invoke.walk(invoke.prepare(extension.name, extension.load()), extension.name)
]


def imported_by(*arguments: str) -> set[str]:
    """The modules that a run of the program has imported when it ends."""
    program = (
        "import sys; from pipeline.cli import main; code = main.run(sys.argv[1:]); sys.stdout.flush(); "
        "print('\\n'.join(sys.modules), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines())


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_the_programs_help_imports_no_stage_and_nothing_heavy(arguments: list[str]) -> None:
    imported = imported_by(*arguments)
    assert {name.split(".")[0] for name in imported}.isdisjoint(HEAVY + STAGES)
    assert len(imported) < 90, "each import is start-up time; what was added?"


def test_completing_a_command_name_imports_nothing_heavy_but_typer() -> None:
    assert {name.split(".")[0] for name in imported_by("__complete", "conf")}.isdisjoint(
        {*STAGES, "duckdb", "kubernetes", "fastapi"}
    )


def test_the_help_lists_own_commands_by_group_and_others_with_their_distribution() -> None:
    installed = [
        extensions.Extension("why", "x:y", extensions.OWN, "1"),
        extensions.Extension("up", "x:y", extensions.OWN, "1"),
        extensions.Extension("extra", "x:y", "acme-sinks", "2.1"),
    ]
    text = catalogue.text(installed)
    assert text.index("Ask:") < text.index("  why ") < text.index("Run:") < text.index("  up ")
    assert "extra         (from acme-sinks 2.1)" in text
    assert "  jobs " not in text, "what is not installed is not offered"


def test_no_line_of_the_help_is_wider_than_a_terminal() -> None:
    everything = [extensions.Extension(line.name, "x:y", extensions.OWN, "1") for line in catalogue.COMMANDS]
    assert [line for line in catalogue.text(everything).splitlines() if len(line) > 110] == []


@pytest.mark.parametrize("extension", OWN, ids=lambda extension: extension.name)
def test_every_own_command_has_its_line_in_the_catalogue(extension: extensions.Extension) -> None:
    assert catalogue.line_of(extension.name) is not None


def test_the_catalogue_names_a_command_once_and_under_a_group_that_exists() -> None:
    names = [line.name for line in catalogue.COMMANDS]
    assert len(names) == len(set(names))
    assert {line.group for line in catalogue.COMMANDS} <= set(catalogue.GROUPS)


@pytest.mark.parametrize(("path", "command"), TREE)
def test_the_help_of_every_command_ends_with_two_examples(path: str, command: object) -> None:
    _, marker, examples = invoke.help_of(path, command).partition("\n  Examples:\n")
    lines = [line.strip() for line in examples.splitlines()]
    assert marker and len(lines) == 2, f"{path}: end its docstring with `Examples:` and two lines"
    for line in lines:
        assert line.startswith(f"kube-collector {path}"), line


@pytest.mark.parametrize(("path", "command"), TREE)
def test_every_command_says_what_it_does_and_explains_each_option(path: str, command: object) -> None:
    assert command.help and command.help.strip()[0].isupper(), path  # type: ignore[attr-defined]
    silent = [param.name for param in command.params if not getattr(param, "help", None)]  # type: ignore[attr-defined]
    assert silent == [], path
    assert command.rich_markup_mode is None  # type: ignore[attr-defined]


@pytest.mark.parametrize(("path", "command"), [each for each in TREE if hasattr(each.values[1], "commands")])
def test_the_help_of_a_group_cuts_no_sentence(path: str, command: object) -> None:
    _, marker, commands = invoke.help_of(path, command, width=60).partition("\nCommands:\n")
    assert marker and "..." not in commands


def test_help_command_is_the_help_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    from pipeline.cli import main

    assert main.run(["help", "config", "check"]) == 0
    assert "Usage: kube-collector config check" in capsys.readouterr().out
