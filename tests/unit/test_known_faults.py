"""The table of known faults is whole, and names only tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "reference" / "known-faults.md"
CLASSES = {"A": 13, "B": 11, "C": 17, "D": 7, "E": 10, "F": 8, "G": 9, "I": 6, "K": 7}
"""Numbers of each class of what exists; H and J come with Kafka and Prometheus."""
_ROW = re.compile(r"^\| ([A-Z]\d+) \|([^|]+)\|([^|]+)\|([^|]+)\|$", re.MULTILINE)
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)(?:\[([\w-]+)\])?`")


def rows() -> list[tuple[str, str, str, str]]:
    return [(row[0], row[1].strip(), row[2].strip(), row[3].strip()) for row in _ROW.findall(TABLE.read_text())]


@cache
def names_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))


def test_no_number_is_missing_and_none_stands_twice() -> None:
    wanted = [f"{letter}{number}" for letter, count in CLASSES.items() for number in range(1, count + 1)]
    assert [row[0] for row in rows()] == wanted


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_a_fault_has_words_and_tests_that_exist(row: tuple[str, str, str, str]) -> None:
    _, fault, answer, tests = row
    assert fault.endswith((".", "?"))
    assert answer.endswith(".")
    parts = tests.split("<br>")
    named = [_NAMED.fullmatch(part) for part in parts]
    assert all(named), parts
    for each in named:
        assert each is not None
        path, name, case = each.groups()
        assert name.startswith("test_")
        assert name in names_in(ROOT / path), f"{path} has no {name}"
        if case is not None:
            assert (ROOT / "tests" / "cases" / "watch-shapes" / f"{case}.json").is_file(), case
