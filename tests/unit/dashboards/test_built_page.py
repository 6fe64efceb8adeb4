"""The built page as it is served: complete, small, without a word to any other host, and in step with what it shows."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from pipeline.records import reasons, words

ROOM = Path(__file__).parents[3] / "dashboards"
STATIC = ROOM / "static"
WEB = ROOM / "web"
BUDGET_BYTES = 350 * 1024
"""What the whole page may weigh compressed."""

# Names of formats and links that libraries print in warnings; nothing is ever fetched from them.
NAMED_HOSTS = {"www.w3.org"}


def files() -> list[Path]:
    return sorted(path for path in STATIC.rglob("*") if path.is_file())


def test_what_the_page_names_is_there() -> None:
    html = (STATIC / "index.html").read_text()
    named = re.findall(r'(?:src|href)="([^"]+)"', html)
    assert len(named) >= 3
    for name in named:
        assert name.startswith("./"), f"{name} would break under a sub-path"
        assert (STATIC / name).is_file(), name


def test_nothing_in_the_page_is_refused_by_a_strict_policy() -> None:
    html = (STATIC / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)", html) == []
    assert re.findall(r"<style|\bstyle=|\bon\w+=", html) == []


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_no_file_speaks_to_another_host(path: Path) -> None:
    hosts = set(re.findall(r"https?://([\w.-]+)", path.read_text()))
    assert hosts <= NAMED_HOSTS
    assert "sourceMappingURL" not in path.read_text()


def test_the_page_keeps_its_budget() -> None:
    size = sum(len(gzip.compress(path.read_bytes())) for path in files())
    assert 0 < size < BUDGET_BYTES


@pytest.mark.parametrize("lang", list(words.LANGUAGES))
def test_phases_and_details_are_called_as_the_commands_call_them(lang: str) -> None:
    texts = json.loads((WEB / f"src/i18n/{lang}.json").read_text())
    own = words.LANGUAGES[lang]
    for prefix, known in (("phase", own.PHASES), ("detail", own.DETAILS), ("detail_past", own.DETAILS_PAST)):
        assert {key.partition(".")[2]: text for key, text in texts.items() if key.startswith(f"{prefix}.")} == known


def test_every_reason_has_a_look_in_the_order_in_which_charts_stack() -> None:
    source = (WEB / "src/reasons/palette.ts").read_text()
    looks = re.findall(r"^  (\w+): look\(", source, re.M)
    assert looks == list(reasons.CODES)


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_every_detail_of_a_reason_has_a_text(language: str) -> None:
    texts = json.loads((WEB / f"src/i18n/{language}.json").read_text())
    details = {detail for several in reasons.DETAILS.values() for detail in several}
    assert {f"detail.{detail}" for detail in details} == {name for name in texts if name.startswith("detail.")}


def test_durations_read_as_in_the_sentence() -> None:
    cases = json.loads((WEB / "tests/durations.json").read_text())
    assert len(cases) > 10
    for millis, text in cases:
        assert words.duration(millis) == text
