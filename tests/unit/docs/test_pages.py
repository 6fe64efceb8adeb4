"""What the written pages show can be done: links lead somewhere, settings are valid, commands and options exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from pipeline import extensions
from pipeline.cli import invoke
from pipeline.config.load import load

ROOT = Path(__file__).parents[3]
WRITTEN = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("[!r]*/*.md")])
"""All but the generated pages of docs/reference."""
COMMANDS = {each.name: each for each in extensions.found(extensions.COMMANDS) if each.own}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def command_lines() -> list[str]:
    """Every `kube-collector …` of a shell block, without what follows a pipe, a `>` or a `#`."""
    lines = (line for page in WRITTEN for block in blocks(page, "sh") for line in block.splitlines())
    parts = (part.strip() for line in lines for part in re.split(r"[|>]| #", line))
    return sorted({part[part.index("kube-collector ") :] for part in parts if re.match(r"(\w+=\S+ )?kube-coll", part)})


def settings_blocks() -> list[object]:
    shown = [(page, text) for page in WRITTEN for text in blocks(page, "yaml") if "apiVersion:" not in text]
    return [pytest.param(text, id=f"{name_of(page)}-{at}") for at, (page, text) in enumerate(shown)]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_every_link_leads_to_a_file_or_heading_of_the_tree(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), f"{target}: there is no such file"
        assert not anchor or anchor in anchors(place), f"{target}: there is no such heading"


@pytest.mark.parametrize("text", settings_blocks())
def test_settings_that_are_shown_are_valid(text: str, tmp_path: Path) -> None:
    secret = tmp_path / "doris-password"
    secret.write_text("x")
    file = tmp_path / "kube-collector.yaml"
    file.write_text(text.replace("/etc/kube-collector/doris-password", str(secret)))
    assert load([file], {}).origins


@pytest.mark.parametrize("line", command_lines())
def test_a_command_that_is_shown_can_be_typed(line: str) -> None:
    _, name, *arguments = shlex.split(line)
    command = invoke.prepare(name, COMMANDS[name].load())
    while arguments and arguments[0] in getattr(command, "commands", {}):
        command = command.commands[arguments.pop(0)]
    try:
        with command.make_context(name, arguments):
            pass
    except typer.Exit as ended:  # --help is answered at once
        assert ended.exit_code == 0
